"""The measurements on public repositories, on a small repository of our own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.documents import markdown, write_section
from benchmarks.first_sight import __main__ as first_sight
from benchmarks.first_sight.judged import Judged as Finding
from benchmarks.first_sight.judged import Round, by_round, by_rule, judged_text, load, unproven
from benchmarks.recall import __main__ as recall
from benchmarks.recall.cases import load as load_cases
from cudalint.commands.rule import run_rule
from cudalint.findings.finding import Confidence
from cudalint.findings.judged import Judged, Judgements, judged, judgements, paragraph
from cudalint.registry import all_rules

CLEAN = """\
#include <cuda_runtime.h>

void blur(int n)
{
    float *scratch;
    cudaMalloc(&scratch, n * sizeof(float));
    cudaMemset(scratch, 0, n * sizeof(float));
    cudaFree(scratch);
}
"""


def git(folder: Path, *arguments: str) -> str:
    own = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *own, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def commits(tmp_path: Path) -> tuple[str, str]:
    """The commits before and after the mend of ``image/filters``."""
    place = tmp_path / "image+filters"
    place.mkdir()
    git(place, "init", "--quiet")
    made = []
    for text in (CLEAN.replace("    cudaFree(scratch);\n", ""), "// mended\n" + CLEAN):
        (place / "blur.cu").write_text(text)
        git(place, "add", ".")
        git(place, "commit", "--quiet", "-m", "one")
        made.append(git(place, "rev-parse", "HEAD"))
    return made[0], made[1]


def cases(folder: Path, bad: str, good: str, category: str = "leak") -> Path:
    path = folder / "cases.toml"
    path.write_text(
        f"""
[categories]
leak = ["GPU101"]
double = ["GPU201"]

[[cases]]
name = "blur"
repository = "image/filters"
category = "{category}"
bad = "{bad}"
path = "blur.cu"
lines = [6]
good = "{good}"
good_path = "blur.cu"
"""
    )
    return path


def measured(folder: Path, path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    options = ["cuda", "--repositories", str(folder), "--cases", str(path)]
    assert recall.main(options) == 0
    return capsys.readouterr().out.splitlines()


def test_a_bug_is_found_and_its_mend_is_not_accused(
    tmp_path: Path, commits: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = measured(tmp_path, cases(tmp_path, *commits), capsys)
    assert out[0] == "blur: leak: found by GPU101"
    assert out[-1].split() == ["all", "1", "1", "1", "0"]


def test_a_mend_that_still_leaks_is_accused(
    tmp_path: Path, commits: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = measured(tmp_path, cases(tmp_path, commits[0], commits[0]), capsys)
    assert out[0] == "blur: leak: found by GPU101, and accused after its mend"


def test_other_rules_do_not_count(
    tmp_path: Path, commits: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = measured(tmp_path, cases(tmp_path, *commits, "double"), capsys)
    assert out[0] == "blur: double: missed"


def test_nothing_that_could_be_run_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "image+filters").mkdir()
    git(tmp_path / "image+filters", "init", "--quiet")
    path = cases(tmp_path, "0" * 40, "")
    assert recall.main(["cuda", "--repositories", str(tmp_path), "--cases", str(path)]) == 2


def test_recorded_cases_name_rules() -> None:
    known = list(all_rules())
    for path in sorted(recall.CASES.glob("*.toml")):
        loaded = load_cases(path)
        assert len({case.name for case in loaded.cases}) == len(loaded.cases)
        for beginning in {code for codes in loaded.categories.values() for code in codes}:
            assert any(code.startswith(beginning) for code in known), beginning


def test_an_unknown_category_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="blur: unknown category 'colour'"):
        load_cases(cases(tmp_path, "0" * 40, "", "colour"))


def test_recorded_rounds() -> None:
    rounds = {path.stem: load(path) for path in sorted(first_sight.ROUNDS.glob("*.toml"))}
    findings = [finding for one in rounds.values() for finding in one.findings]
    (head, *body), rules = list(by_round(rounds)), list(by_rule(findings))
    column = head.index("judged")
    assert sum(int(row[column]) for row in body) == len(findings) >= 282
    assert sum(int(row[2]) for row in rules[1:] if row[0] == "all") == len(findings)
    assert first_sight.JUDGED.read_text() == judged_text(rounds)


def test_a_rule_is_unproven_where_it_is_wrong_in_too_many_repositories() -> None:
    one = Finding(
        repository="a/b", commit="0", file="a.cu", line=1, code="GPU101", severity="warning",
        confidence="high", message="", verdict="false", why="",
    )  # fmt: skip
    right = [replace(one, repository=f"a/{n}", verdict="petty") for n in range(5)]
    wrong = [replace(one, repository=f"b/{n}") for n in range(5)]

    def found(*findings: Finding) -> set[str]:
        return set(unproven({"round-1": Round("0", "", "", findings)}))

    assert found(*right, *wrong) == {"GPU101"}
    assert found(*right, *[one] * 5) == set()  # in one repository
    assert found(*wrong[:4]) == set()  # too few to tell
    low = [replace(finding, confidence="low") for finding in wrong]
    since = [replace(finding, since="low") for finding in wrong]
    assert found(*right, *low, *since) == set()


def test_a_rule_s_page_says_how_often_it_was_right(capsys: pytest.CaptureFixture[str]) -> None:
    code = next(code for code, counts in judgements().rules.items() if "high" in counts)
    assert run_rule(code, "text", "never") == 0
    said = capsys.readouterr().out
    counts = judged(code, Confidence.HIGH)
    assert counts is not None and counts.count
    assert f"- high confidence (at least 95 % should not be false): {counts}" in said
    assert run_rule(code, "json", "never") == 0
    assert json.loads(capsys.readouterr().out)["judged"]["high"].get("true", 0) == counts.true


def test_a_page_warns_of_a_rule_that_was_wrong_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = {
        "GPU101": {"high": Judged(true=1, petty=8, false=1), "low": Judged(false=9)},
        "GPU102": {"high": Judged(true=12), "medium": Judged(false=2, uncertain=3)},
        "GPU103": {"high": Judged(false=4)},
    }
    counts = Judgements(rounds={"round-1": "0123abc"}, rules=rules)
    monkeypatch.setattr("cudalint.findings.judged.judgements", lambda: counts)
    assert "trust" not in paragraph("GPU101")
    assert "12 of 14 were right, fewer than 90 in 100." in paragraph("GPU102")
    assert "trust" not in paragraph("GPU103"), "too few to say"


def test_findings_are_told_again(tmp_path: Path, commits: tuple[str, str]) -> None:
    (judged, *_) = load(first_sight.ROUNDS / "round-0.toml").findings
    one = judged.__class__(
        repository="image/filters",
        commit=commits[0],
        file="blur.cu",
        line=6,
        code="GPU101",
        severity="warning",
        confidence="high",
        message="",
        verdict="true",
        why="nothing releases it",
    )
    other = one.__class__(**{name: getattr(one, name) for name in one.__struct_fields__[:3]},
                          line=7, code="GPU201", severity="error", confidence="high", message="",
                          verdict="false", why="released once")  # fmt: skip
    rows = list(first_sight.again([one, other], tmp_path, 1))
    assert rows[1] == ["C++", "1/1", "0/0", "0/1", "0/0"]


def test_a_table_goes_where_it_belongs(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- one -->\nold\n<!-- end of one -->\nafter\n")
    write_section(page, "one", markdown([["a", "b"], ["1", "x|y"]]))
    text = page.read_text()
    assert "| a | b |\n| --- | --- |\n| 1 | x\\|y |" in text
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    with pytest.raises(ValueError, match="no section 'two'"):
        write_section(page, "two", "")
