"""The baseline: what is in it is not told, it only shrinks, and a file that is none is refused."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.cli import main
from cudalint.findings.baseline import Baseline, BaselineError, Entry, render
from cudalint.findings.finding import Confidence, Finding, Known, Severity
from cudalint.source import Span

LEAK = """#include <cuda_runtime.h>

bool twice(size_t n) {
    float *d_in, *d_out;
    if (cudaMalloc(&d_in, n) != cudaSuccess) return false;
    if (cudaMalloc(&d_out, n) != cudaSuccess) { cudaFree(d_in); return false; }
    /* more */
    if (n < 64) { /* mend */ return false; }
    cudaFree(d_in);
    cudaFree(d_out);
    return true;
}
"""
ONE_MENDED = LEAK.replace("/* mend */", "cudaFree(d_in);")
MENDED = LEAK.replace("/* mend */", "cudaFree(d_in); cudaFree(d_out);")
MORE = """float* d_more;
    if (cudaMalloc(&d_more, n) != cudaSuccess) { cudaFree(d_in); cudaFree(d_out); return false; }"""
A_THIRD = LEAK.replace("/* more */", MORE).replace("    return t", "    cudaFree(d_more); return t")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cudalint.toml").write_text('baseline = "known.toml"\n')
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cu").write_text(LEAK)
    return tmp_path


@pytest.fixture
def cudalint(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def entries() -> list[dict[str, str]]:
    found = tomllib.loads(Path("known.toml").read_text())["findings"]
    assert isinstance(found, list)
    return found


def test_what_is_in_the_baseline_is_counted_and_not_told(cudalint: Any) -> None:
    status, _, err = cudalint()
    assert status == 2 and "no such file (`--write-baseline` makes it)" in err
    status, out, err = cudalint("--write-baseline")
    assert (status, err) == (0, "cudalint: known.toml: written, 2 in it\n")
    assert out == "No CUDA memory misuse found in 1 file (1 in the baseline).\n"
    assert cudalint() == (0, out, "")
    for entry in entries():
        assert (entry["path"], entry["code"], entry["function"]) == ("src/a.cu", "GPU102", "twice")
    assert [entry["subject"] for entry in entries()] == ["d_in", "d_out"]
    _, out, _ = cudalint("--output-format", "json")
    report = json.loads(out)
    assert report["findings"] == []
    assert report["summary"]["baseline"] == 1 and report["summary"]["suppressed"] == 0


def test_it_holds_from_any_folder_and_when_lines_move(
    cudalint: Any, monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    cudalint("--write-baseline")
    Path("src/a.cu").write_text("// moved\n\n" + LEAK)
    monkeypatch.chdir("src")
    assert cudalint("a.cu")[0] == 0
    monkeypatch.chdir("/")
    status, out, _ = cudalint(str(project))
    assert status == 0 and "(1 in the baseline)" in out


def test_one_part_mended_leaves_the_others_known(cudalint: Any) -> None:
    cudalint("--write-baseline")
    Path("src/a.cu").write_text(ONE_MENDED)
    status, out, err = cudalint()
    assert status == 0 and "(1 in the baseline)" in out
    assert "mended, but still in the baseline: src/a.cu: GPU102 `d_in` of `twice` (" in err
    status, _, err = cudalint("--write-baseline")
    assert (status, err) == (0, "cudalint: known.toml: 1 kept, 1 taken out, 0 added\n")
    assert [entry["subject"] for entry in entries()] == ["d_out"]
    # Broken again, it is new:
    Path("src/a.cu").write_text(LEAK)
    status, out, _ = cudalint()
    assert status == 1 and "`d_in`" in out and "`d_out`" not in out
    Path("src/a.cu").write_text(MENDED)
    cudalint("--write-baseline")
    assert entries() == []


def test_a_new_part_is_new_and_only_force_takes_it_in(cudalint: Any) -> None:
    cudalint("--write-baseline")
    before = Path("known.toml").read_text()
    Path("src/a.cu").write_text(A_THIRD)
    status, out, _ = cudalint()
    assert status == 1 and "`d_more`" in out and "`d_in`" not in out
    status, out, err = cudalint("--write-baseline")
    assert status == 1 and "`d_more`" in out
    assert "1 new finding not taken in: a baseline only shrinks (`--force-baseline`" in err
    assert Path("known.toml").read_text() == before
    status, _, err = cudalint("--force-baseline")
    assert (status, err) == (0, "cudalint: known.toml: 2 kept, 0 taken out, 1 added\n")
    assert cudalint()[0] == 0


def test_only_what_was_looked_at_is_stale(cudalint: Any) -> None:
    Path("src/b.cu").write_text(LEAK.replace("twice", "again"))
    Path("src/c.cu").write_text(LEAK.replace("twice", "third"))
    cudalint("--write-baseline")
    Path("src/a.cu").write_text(MENDED)
    # A hook that is told one file knows less than the whole: it does not judge.
    assert cudalint("src/a.cu")[2] == ""
    # Rules that did not run and files that could not be read say nothing of their entries.
    assert cudalint("--select", "GPU2")[2] == ""
    Path("src/c.cu").write_bytes(b"\0")
    status, _, err = cudalint("--write-baseline")
    assert status == 0 and "4 kept, 2 taken out" in err
    Path("src/b.cu").unlink()
    Path("src/c.cu").unlink()
    Path("src/a.cu").write_text("int x;\n")
    assert "`d_in` of `again`; " in cudalint()[2] and not cudalint("-q")[2]
    cudalint("--write-baseline")
    assert entries() == []


def test_a_suppressed_finding_needs_no_baseline(cudalint: Any) -> None:
    cudalint("--write-baseline")
    Path("src/a.cu").write_text("// cudalint: file-ignore[GPU102]\n" + LEAK)
    status, out, _ = cudalint("--write-baseline")
    assert status == 0 and "(2 suppressed)" in out and entries() == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"int main() {}\n", "is no baseline of cudalint: "),
        (b"version = 1\nfindings = 3\n", "is no baseline of cudalint: "),
        (b"version = 1\nfindings = []\nmore = 1\n", "unknown field `more`"),
        (b"version = 9\nfindings = []\n", "is a baseline of version 9; this cudalint reads 1"),
        (b"\xff\xfe\0", "is no baseline of cudalint: "),
        (b"a = " + b"[" * 100_000, "is no baseline of cudalint: "),
        (b"version = 1\n<<<<<<< ours\nfindings = [\n]\n", "line 2: a merge was not finished"),
        (
            b"version = 1\nfindings = [{path='', code='', function='', subject='', "
            b"fingerprint='../x'}]",
            "no fingerprint: '../x'",
        ),
        (b"version = 1\nfindings = [{path = 1}]\n", "is no baseline of cudalint: "),
    ],
)
def test_a_file_that_is_none_is_refused_and_kept(
    cudalint: Any, content: bytes, message: str
) -> None:
    Path("known.toml").write_bytes(content)
    for arguments in ((), ("--write-baseline",), ("--force-baseline",)):
        status, out, err = cudalint(*arguments)
        assert (status, out) == (2, "") and message in err and err.count("\n") == 1
    assert Path("known.toml").read_bytes() == content


def test_what_is_no_file_is_refused(cudalint: Any, tmp_path: Path) -> None:
    os.mkfifo("known.toml")
    assert "is not a regular file" in cudalint()[2]
    status, _, err = cudalint("--baseline", str(tmp_path), "--write-baseline")
    assert status == 2 and "is not a regular file" in err
    status, _, err = cudalint("--baseline", "no/such/b.toml", "--write-baseline")
    assert status == 2 and "cannot be written: No such file or directory" in err
    status, _, err = cudalint("--isolated", "--write-baseline")
    assert status == 2 and "to which file?" in err
    status, _, err = cudalint("--baseline", "b", "--write-baseline", "--diff-base", "HEAD")
    assert status == 2 and "not with --diff-base" in err


# The file ---------------------------------------------------------------------------------------

NAMES = st.text(alphabet='a"\\\n\x7f\u2028\u202e漢😀\0', max_size=5)


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, NAMES, NAMES, st.sampled_from(["0" * 32, "a1" * 16])), max_size=4))
def test_any_names_survive_and_stay_on_one_line(rows: list[tuple[str, str, str, str]]) -> None:
    written = [Entry(path, "GPU101", function, subject, fp) for path, function, subject, fp in rows]
    text = render(written)
    assert len(text.splitlines()) == 5 + len(written)
    assert text == render(reversed(written))
    assert [Entry(**one) for one in tomllib.loads(text)["findings"]] == sorted(written)


def finding(subject: str, fingerprint: str = "ab" * 16, **more: Any) -> Finding:
    return Finding(
        code="GPU102",
        name="early-exit-leak",
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message="",
        filename="a.cu",
        span=Span(1, 1, 1, 2),
        subject=subject,
        fingerprint=fingerprint,
        **more,
    )


def baseline(*findings: Finding) -> Baseline:
    return Baseline(Path("b"), tuple(Entry.of(one, str) for one in findings))


def known(base: Baseline, *findings: Finding) -> list[bool]:
    return [one.known is Known.BASELINE for one in base.marked(findings)]


def test_equal_ones_are_counted_and_those_of_one_name_belong_together() -> None:
    base = baseline(finding("a"), finding("b"))
    assert known(base, finding("a"), finding("b"), finding("c")) == [True, True, False]
    assert known(base, finding("c"), finding("b"), finding("a")) == [False, True, True]
    # A variable that was renamed is what it was:
    assert known(base, finding("c"), finding("b")) == [True, True]
    assert [one.subject for one in base.missing([finding("b")])] == ["a"]
    assert known(base, finding("a", "cd" * 16)) == [False]
    assert known(base, replace(finding("a"), suppressed="x"), finding("b")) == [False, True]


def test_a_name_that_is_not_utf8_can_be_written(tmp_path: Path) -> None:
    odd = replace(finding("a\x7f\u202e\n"), filename=os.fsdecode(b"\xff.cu"))
    path = tmp_path / "b.toml"
    path.write_text(render([Entry.of(odd, str)]))
    (entry,) = Baseline.load(path).entries
    assert (entry.path, entry.subject) == ("\\udcff.cu", "a\x7f\u202e\n")
    assert known(Baseline.load(path), odd) == [True]
    path.write_bytes(b"#" * 70_000_000)
    with pytest.raises(BaselineError, match="too large"):
        Baseline.load(path)
