"""What holds for every rule: its metadata, its page, its size and its fixtures."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import cudalint_rules
from benchmarks.common import EVERYWHERE, preview_rules
from benchmarks.first_sight.__main__ import ROUNDS
from benchmarks.first_sight.judged import load, unproven
from cudalint.analysis.rules import ClassRule, FileRule, FunctionRule
from cudalint.findings.rule import Rule
from cudalint.registry import all_rules

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
FOLDER = Path(cudalint_rules.__path__[0])
RULES = [rule for rule in all_rules().values() if rule.__module__.startswith("cudalint_rules.")]

REQUIRED = ["What it does", "Why is this bad?", "Example", "Use instead", "Known problems"]
"""In this order; *References* last, where there is one."""
NO_REFERENCE = {"GPU001"}
"""About our own comments: nothing outside to refer to."""
MATURE = {
    "cuda": "GPU101-106 GPU108 GPU201-206 GPU207 GPU301-305 GPU306 GPU401 GPU403-408 GPU501-503"
    " GPU505-507",
    "cuda-python": "GPU101-106 GPU108 GPU201-203 GPU206 GPU403 GPU405-407 GPU503 GPU506 GPU507",
    "cupy": "GPU208 GPU301-304 GPU402 GPU404 GPU502 GPU504 GPU603 GPU608",
    "numba": "GPU301-305 GPU401 GPU403 GPU404 GPU408 GPU508",
    "triton": "GPU302 GPU304",
    "embedded": "GPU301-305",
    "torch": "GPU402 GPU404 GPU408 GPU502 GPU504 GPU601-609",
    "jax": "GPU603",
}
"""The rules that each language or library is spoken in: at least two bad programs, and two good."""
_DIALECTS = {
    "cuda-python": r"cuda\.bindings|from cuda import|cuda\.cudart",
    "cupy": r"\bcupy\b",
    "numba": r"\bnumba\b",
    "triton": r"\btriton\b",
    "embedded": r"RawKernel|RawModule|SourceModule|load_inline|nvrtc|cuda\.core",
    "torch": r"\btorch\b|\blightning\b",
    "jax": r"\bjax\b",
}


def _codes(text: str) -> set[str]:
    found: set[str] = set()
    for word in text.split():
        first, _, last = word.removeprefix("GPU").partition("-")
        found |= {f"GPU{number}" for number in range(int(first), int(last or first) + 1)}
    return found & {rule.code for rule in RULES}


def _dialects(unit: Path) -> set[str]:
    files = [unit] if unit.is_file() else [path for path in unit.rglob("*") if path.is_file()]
    found: set[str] = set()
    for path in files:
        if path.suffix in (".cu", ".cpp", ".c", ".cuh"):
            found.add("cuda")
        elif path.suffix == ".py":
            text = path.read_text(encoding="utf-8")
            found |= {name for name, said in _DIALECTS.items() if re.search(said, text)}
    return found


@pytest.mark.parametrize("dialect", MATURE)
def test_two_bad_and_two_good_programs_in_each_dialect(dialect: str) -> None:
    thin = []
    for rule in RULES:
        if rule.code not in _codes(MATURE[dialect]):
            continue
        units = [unit for unit in folder(rule).iterdir() if dialect in _dialects(unit)]
        bad = sum(unit.name.startswith("bad_") for unit in units)
        good = sum(unit.name.startswith("good_") for unit in units)
        if min(bad, good) < 2:
            thin.append(f"{rule.code}: {bad} bad, {good} good")
    assert thin == []


each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


def sections(rule: type[Rule]) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", rule.documentation(), flags=re.MULTILINE)
    return {title: body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def examples(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def test_what_was_wrong_too_often_at_first_sight_is_preview() -> None:
    rounds = {path.stem: load(path) for path in ROUNDS.glob("*.toml")}
    assert preview_rules() == unproven(rounds) | EVERYWHERE


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


@each_rule
def test_code_and_name(rule: type[Rule]) -> None:
    assert re.fullmatch(r"GPU\d{3}", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert Path(inspect.getfile(rule)).stem == rule.name.replace("-", "_")
    assert issubclass(rule, FunctionRule | ClassRule | FileRule)


@each_rule
def test_the_page_has_its_sections(rule: type[Rule]) -> None:
    found = sections(rule)
    expected = REQUIRED if rule.code in NO_REFERENCE else [*REQUIRED, "References"]
    assert [title for title in found if title != "Fix"] == expected
    if "Fix" in found:
        assert list(found).index("Fix") == list(found).index("Use instead") + 1
    assert all(found.values())
    summary = rule.documentation().partition("\n")[0]
    assert summary.endswith(".")
    assert len(summary) < 100


@each_rule
def test_the_examples_are_real(rule: type[Rule]) -> None:
    found = sections(rule)
    shown, instead = examples(found["Example"]), examples(found["Use instead"])
    assert shown and instead
    for language, code in (*shown, *instead):
        assert language in ("cuda", "python", "toml")
        assert code.strip()
        if language == "python":
            ast.parse(code)


@each_rule
def test_the_example_is_in_every_language_of_the_fixtures(rule: type[Rule]) -> None:
    suffixes = {path.suffix for path in folder(rule).rglob("bad_*/*")}
    suffixes |= {path.suffix for path in folder(rule).glob("bad_*")}
    languages = {language for language, _ in examples(sections(rule)["Example"])}
    if ".py" in suffixes:
        assert "python" in languages
    if suffixes & {".cu", ".cpp", ".c"}:
        assert "cuda" in languages


@each_rule
def test_the_references_are_links(rule: type[Rule]) -> None:
    text = sections(rule).get("References", "")
    links = re.findall(r"\]\((https://[^)\s]+)\)", text)
    assert len(links) == len(re.findall(r"^- ", text, flags=re.MULTILINE))


def folder(rule: type[Rule]) -> Path:
    return FIXTURES / f"{rule.code}-{rule.name}"


@each_rule
def test_each_rule_has_fixtures(rule: type[Rule]) -> None:
    names = [path.name for path in folder(rule).iterdir()]
    assert [name for name in names if name.startswith("bad_")]
    assert [name for name in names if name.startswith("good_")]


@pytest.mark.parametrize(
    "path", [p for p in sorted(FOLDER.glob("*.py")) if p.stem[0] != "_"], ids=lambda path: path.stem
)
def test_a_rule_s_module(path: Path) -> None:
    """One rule per file, short, and without a tree, a file or an API of its own to look at."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert 40 <= len(text.splitlines()) <= 150
    here = [rule for rule in RULES if rule.__module__ == f"cudalint_rules.{path.stem}"]
    assert len(here) == 1
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    forbidden = ("clang", "libcst", "pathlib", "os", "cudalint.frontends", "cudalint.linter")
    assert not [name for name in imported if name.startswith(forbidden)]
