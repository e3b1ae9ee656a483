"""``--output KIND[=FILE]``: several reports of one run, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudalint.cli import main
from cudalint.project.config import ConfigurationError, load
from cudalint.project.outputs import KINDS, Output, parse_output

LEAK = """\
from cuda.bindings import runtime as cudart


def keep(size):
    err, block = cudart.cudaMalloc(size)
    assert err == 0
    print(block)
"""


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def cudalint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(LEAK)

    def call(*arguments: str) -> Outcome:
        status = main(["--no-cache", "--jobs=1", *arguments, "a.py"])
        return Outcome(status, *capsys.readouterr())

    return call


def test_several_reports_of_one_run(cudalint: Any) -> None:
    found = cudalint("--output", "sarif=a.sarif", "--output=junit=a.xml", "--output", "github")
    assert found.status == 1 and found.err == ""
    assert found.out.startswith("::warning title=GPU101 unpaired-allocation,file=a.py,line=5,")
    assert found.out.endswith("\nFound 1 warning in 1 file.\n")
    (run,) = json.loads(Path("a.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["GPU101"]
    assert run["tool"]["driver"]["rules"][0]["help"]["markdown"].count("## ") >= 3
    assert Path("a.xml").read_text().startswith('<?xml version="1.0"')


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_to_a_file_and_to_standard_output(cudalint: Any, kind: str) -> None:
    to_file = cudalint("--output", f"{kind}=report")
    assert to_file.out == "Found 1 warning in 1 file.\n"
    for arguments in (["--output", kind], ["--output", f"{kind}=-"], ["--output-format", kind]):
        shown = cudalint(*arguments)
        summary = shown.out.removeprefix(Path("report").read_text("utf-8")).strip()
        assert summary in ("", "Found 1 warning in 1 file.")
        assert shown.status == 1


def test_people_may_share_standard_output(cudalint: Any) -> None:
    found = cudalint("--output=github", "--output=concise", "--quiet").out.splitlines()
    assert [line[:12] for line in found] == ["::warning ti", "a.py:5:18: w"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output=sarfi"], "`output`: no format is called `sarfi`; did you mean `sarif`"),
        (["--output=sarif="], "`output`: `sarif=` names no file"),
        (["--output-format=jnuit"], "invalid enum value 'jnuit'; did you mean junit?"),
        (["--output=json", "--output=github"], "json and github on standard output: json"),
        (["--output=json=x", "--output=sarif=./x"], "output: two reports would be written to "),
        (["--output=json", "--output-format=full"], "`output-format` is short for one"),
        (["--output=json", "-o", "x"], "--output-file x: `--output KIND=FILE` names"),
        (["--output=json=no/such/x"], "No such file or directory"),
        (["--output=json=."], "Is a directory"),
        (["--statistics", "--output=sarif"], "--statistics: counts are shown as text"),
    ],
)  # fmt: skip
def test_what_is_refused_is_one_line(cudalint: Any, arguments: list[str], message: str) -> None:
    found = cudalint(*arguments)
    assert found.status == 2 and found.out == ""
    assert message in found.err and found.err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == ["a.py"]


def test_the_setting(cudalint: Any) -> None:
    Path("sub").mkdir()
    Path("sub/cudalint.toml").write_text('output = ["json=report.json", "concise"]\n')
    found = cudalint("--config", "sub/cudalint.toml")
    assert found.out.startswith("a.py:5:18: warning: ")
    assert json.loads(Path("sub/report.json").read_text())["summary"]["findings"] == 1
    # Those of the command line take its place, in the short form too.
    Path("sub/report.json").unlink()
    for arguments in (["--output", "json"], ["--output-format", "json"]):
        assert cudalint("--config", "sub/cudalint.toml", *arguments).out.startswith("{")
    cudalint("--config", "sub/cudalint.toml", "-o", "own.txt")
    assert Path("own.txt").read_text().startswith("a.py:5:18: ")
    assert not Path("sub/report.json").exists()


def test_settings_name_their_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[tool.cudalint]\noutput = ["githb"]\n')
    with pytest.raises(ConfigurationError, match=r"`tool\.cudalint\.output`: .* mean `github`"):
        load()


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from(KINDS), st.none() | st.text(min_size=1).filter(lambda text: text != "-"))
def test_entries_read_back(kind: str, file: str | None) -> None:
    output = Output(kind, file)
    assert parse_output(str(output)) == output


@given(st.text())
def test_any_text_is_an_entry_or_refused(text: str) -> None:
    try:
        assert parse_output(text).kind in KINDS
    except ValueError as error:
        assert "\n" not in str(error) or "\n" in text


def test_the_page_names_every_kind_and_no_other() -> None:
    page = (Path(__file__).parent.parent / "docs" / "reports.md").read_text("utf-8")
    used = {parse_output(entry).kind for entry in re.findall(r"--output ([a-z][^\s`]*)", page)}
    table = re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|", page, re.MULTILINE)
    listed = re.findall(r"`([a-z-]+)`", " ".join(table))
    assert sorted(listed) == sorted(KINDS)
    assert used > {"github", "sarif", "html", "gitlab", "junit", "markdown", "json", "json-lines"}
