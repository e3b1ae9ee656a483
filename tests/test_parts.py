"""Large groups of linked files are split; what is found stays the same."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.grouping import parts
from cudalint.grouping.groups import Links
from cudalint.grouping.parts import MOST_CONTEXT, MOST_LINKED, parts_of

FIXTURES = Path(__file__).parent.parent / "fixtures"


def links(defines: list[str], calls: list[str]) -> Links:
    return Links(defines, [], {}, [], calls, [], [], [], [])


@given(
    st.dictionaries(
        st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join),
        st.lists(st.integers(0, 400), max_size=4),
        max_size=40,
    ),
    st.integers(1, 400),
)
def test_every_file_is_in_one_part(folders: dict[str, list[int]], count: int) -> None:
    files = {f"{folder}/file{n}.py": links([f"{folder}.f{n}"], ["shared"])
             for folder, numbers in folders.items() for n in numbers}  # fmt: skip
    files |= {f"many/file{n}.py": links([f"many.f{n}"], ["shared"]) for n in range(count)}
    files["base.py"] = links(["shared"], [])
    found = parts_of(files)
    told = [name for part in found for name in part.files]
    assert sorted(told) == sorted(files)
    for part in found:
        assert len(part.files) <= MOST_LINKED
        assert len(part.context) <= MOST_CONTEXT
        assert not set(part.files) & set(part.context)
        assert "base.py" in (*part.files, *part.context)


def test_what_is_needed_most_comes_along_then_who_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_LINKED", 2)
    monkeypatch.setattr(parts, "MOST_CONTEXT", 1)
    files = {
        "one/a.py": links(["a"], ["pool", "tool"]),
        "one/b.py": links(["b"], ["pool"]),
        "two/pool.py": links(["pool"], []),
        "two/tool.py": links(["tool"], []),
    }
    first, second = parts_of(files)
    assert (first.files, first.context) == (("one/a.py", "one/b.py"), ("two/pool.py",))
    assert (second.files, second.context) == (("two/pool.py", "two/tool.py"), ("one/a.py",))


@pytest.mark.parametrize(("most", "context"), [(1, ()), (2, ("two/f.cu", "two/g.cu"))])
def test_of_two_definitions_both_come_along_or_none(
    most: int, context: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MOST_LINKED", 1)
    monkeypatch.setattr(parts, "MOST_CONTEXT", most)
    caller, definer = links(["main"], ["step"]), links(["step"], [])
    files = {"one/a.cu": caller, "two/f.cu": definer, "two/g.cu": definer}
    assert parts_of(files)[0] == parts.Part(("one/a.cu",), context)


def test_the_other_definition_of_an_own_one_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_LINKED", 2)
    monkeypatch.setattr(parts, "MOST_CONTEXT", 1)
    files = {
        "a.cu": links(["main"], ["step", "tool", "pool"]),
        "b.cu": links(["step"], ["tool"]),
        "y.cu": links(["tool"], []),
        "z.cu": links(["step"], []),
    }
    assert parts_of(files)[0] == parts.Part(("a.cu", "b.cu"), ("z.cu",))


def test_folders_stay_together() -> None:
    files = {f"{folder}/file{n}.py": links([f"{folder}.f{n}"], ["shared"])
             for folder in ("left", "right", "top") for n in range(60)}  # fmt: skip
    files["base.py"] = links(["shared"], [])
    found = [{name.partition("/")[0] for name in part.files} for part in parts_of(files)]
    assert found == [{"base.py", "left"}, {"right"}, {"top"}]


def _is_told_by_callers(finding: dict[str, object]) -> bool:
    """Who wrote a checkpoint, which model is handed over, who goes on after an exception: a file
    that nothing here calls tells it, and it is unknown where that is in another part."""
    python = str(finding["filename"]).endswith(".py")
    return python and finding["code"] in ("GPU103", "GPU602", "GPU605")


@pytest.mark.parametrize("most", [1, 2])
def test_the_findings_are_the_same(most: int, tmp_path: Path) -> None:
    projects = [path for path in FIXTURES.glob("GPU*/*") if path.is_dir()]
    assert len(projects) > 10
    for project in projects:
        shutil.copytree(project, tmp_path / f"{project.parent.name}-{project.name}")

    def found(limit: int) -> object:
        script = (
            "import sys; from cudalint.grouping import parts; from cudalint.cli import main;"
            f"parts.MOST_LINKED = {limit}; sys.exit(main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", script, "check", "--isolated", "--no-cache", "-q"]
        command += ["--exit-zero", "--output-format", "json", "."]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        report = json.loads(done.stdout)
        assert report["errors"] == []
        return [finding for finding in report["findings"] if not _is_told_by_callers(finding)]

    whole = found(1000)
    assert whole
    assert found(most) == whole
