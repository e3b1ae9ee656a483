"""The generated programs are what they say: well-formed, labelled, and judged by their labels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.variants import __main__ as variants
from benchmarks.variants.judging import Result, Said
from benchmarks.variants.programs import Case, cases_of
from benchmarks.variants.templates import FLAWS, read_ways
from cudalint.frontends.cuda.options import ParseOptions
from cudalint.frontends.cuda.parse import parse

WAYS = read_ways()
_INCLUDE = re.compile(r'^#(include ([<"].+[">])|pragma once)$')


def test_ways() -> None:
    assert len(WAYS) >= 100
    names = [case.name for way in WAYS for case in cases_of(way)]
    assert len(names) == len(set(names)) >= 600
    assert all(way.has("ACQUIRE") or "cudaMalloc" in str(way.files) for way in WAYS)


def _in_one(cases: list[Case]) -> str:
    """Many programs as one: each file in a namespace of its own, its headers written out."""
    headers: dict[str, None] = {}
    body: list[str] = []

    def add(case: Case, name: str) -> None:
        for line in case.files[name].split("\n"):
            match = _INCLUDE.match(line)
            if match is None:
                body.append(line)
            elif match[2] and match[2].startswith('"'):
                add(case, match[2].strip('"'))
            elif match[2]:
                headers[line] = None

    for number, case in enumerate(cases):
        for part, name in enumerate(one for one in case.files if not one.endswith(".h")):
            body.append(f"namespace case_{number}_{part} {{")
            add(case, name)
            body.append("}")
    return "\n".join([*headers, *body])


@pytest.mark.parametrize("group", sorted({way.group for way in WAYS}))
def test_every_program_is_well_formed(group: str, tmp_path: Path) -> None:
    cases = [case for way in WAYS if way.group == group for case in cases_of(way)]
    parsed = parse(str(tmp_path / "all.cu"), _in_one(cases), ParseOptions())
    lines = parsed.text.split("\n")
    assert [(one.message, lines[one.row - 1]) for one in parsed.errors] == []
    assert not parsed.missing_headers


def cases(name: str) -> dict[tuple[str, str, bool], Case]:
    (way,) = (way for way in WAYS if way.name == name)
    return {
        (one.flaw, one.variant, one.bad): one for one in cases_of(way) if one.resource == "memory"
    }


def test_labels() -> None:
    made = cases("second local")
    assert {flaw for flaw, _, _ in made} == set(FLAWS)
    bad, good = made["double", "backward", True], made["double", "backward", False]
    shown = [line.strip() for line in bad.files["main.cu"].split("\n") if "cudaFree" in line]
    assert shown == ["cudaFree(q);", "cudaFree(p);"]
    assert good.files["main.cu"].count("cudaFree") == 1
    (row,) = [r for r, line in enumerate(bad.files["main.cu"].split("\n"), 1) if "Free(p)" in line]

    def result(case: Case, *said: Said) -> Result:
        return Result(case, said)

    assert result(bad, Said("main.cu", row, "GPU201")).is_found
    assert not result(bad, Said("main.cu", row, "GPU101")).is_found
    assert not result(bad, Said("main.cu", 1, "GPU201")).is_found
    assert result(bad, Said("main.cu", row, "GPU101")).beside
    assert result(good, Said("main.cu", row, "GPU101")).is_accused
    assert not result(good).is_accused


def test_conditions_that_always_hold() -> None:
    made = cases("if (1)")
    text = made["double", "guarded", False].files["main.cu"]
    live, dead = text.partition("if (1) {")[2].split("} else {")
    assert "cudaFree" not in live
    assert "cudaFree" in dead


def test_a_few_ways(capsys: pytest.CaptureFixture[str]) -> None:
    assert variants.main(["--only", "control: plain", "--least", "100", "--workers", "1"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^control: plain +1/1 +1/1 +1/1$", shown, re.MULTILINE)
    assert "1 ways, 7 programs: 3 of 3 found (100.0 %), 0 of 4 twins accused" in shown
