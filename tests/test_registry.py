"""Finding rules through entry points, and selecting them."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from cudalint import registry
from cudalint.findings.rule import Rule
from cudalint.registry import BrokenPlugin, RegistryError, UnknownRule, all_rules, find, select
from cudalint_rules.early_exit_leak import EarlyExitLeak

RULES = all_rules()

HOUSE_RULE = '''
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Severity

class {name}(FunctionRule):
    """A rule of the house."""

    code, name = "{code}", "{title}"

    def check(self, facts):
        yield from ()
'''


def codes(rules: list[type[Rule]]) -> list[str]:
    return [rule.code for rule in rules]


# Selecting --------------------------------------------------------------------------------------


def test_everything_by_default() -> None:
    assert codes(select(RULES)) == [code for code, rule in RULES.items() if not rule.preview]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        (["GPU102"], ["GPU102"]),
        (["early-exit-leak"], ["GPU102"]),
        (["gpu102", "Double-Free"], ["GPU102", "GPU201"]),
        (["GPU30"], ["GPU301", "GPU302", "GPU303", "GPU304", "GPU305"]),
        ([], []),
    ],
)
def test_selectors(selectors: list[str], expected: list[str]) -> None:
    assert codes(select(RULES, selectors)) == expected


def test_the_most_specific_selector_decides() -> None:
    without = codes(select(RULES, ["ALL"], ["GPU1"]))
    assert without and not [code for code in without if code.startswith("GPU1")]
    assert "GPU102" in codes(select(RULES, ["ALL", "GPU102"], ["GPU1"]))
    assert "GPU102" in codes(select(RULES, ["ALL"], ["GPU1"], ["early-exit-leak"]))
    assert "GPU102" not in codes(select(RULES, ["GPU1"], ["GPU102"]))
    assert codes(select(RULES, ["GPU2"], ["ALL"]))[0] == "GPU201"


def test_between_equals_ignore_decides() -> None:
    assert codes(select(RULES, ["GPU102"], ["early-exit-leak"])) == []
    assert codes(select(RULES, ["GPU1"], ["GPU1"], ["GPU1"])) == []
    assert codes(select(RULES, ["ALL"], ["ALL"])) == []


def test_preview_rules_must_be_asked_for() -> None:
    class Early(EarlyExitLeak):
        code, name, preview = "GPU199", "early-rule", True

    rules: dict[str, type[Rule]] = {**RULES, "GPU199": Early}
    assert "GPU199" not in codes(select(rules))
    assert "GPU199" not in codes(select(rules, ["GPU1"]))
    assert "GPU199" in codes(select(rules, preview=True))
    assert codes(select(rules, ["GPU199"])) == ["GPU199"]
    assert codes(select(rules, ["early-rule"])) == ["GPU199"]


@pytest.mark.parametrize(
    ("selector", "nearest"),
    [
        ("erly-exit-leak", "early-exit-leak"),
        ("GPU10B", "GPU108"),
        ("GPU999", None),
        ("zzz", None),
    ],
)
@pytest.mark.parametrize("where", ["select", "ignore", "extend_select"])
def test_unknown_selectors_are_refused(selector: str, nearest: str | None, where: str) -> None:
    with pytest.raises(UnknownRule) as caught:
        select(RULES, **{where: [selector]})  # type: ignore[arg-type]
    assert caught.value.selector == selector
    assert f"no rule is called {selector}" in str(caught.value)
    if nearest:
        assert caught.value.nearest == nearest
        assert f"did you mean {nearest}?" in str(caught.value)


def test_find() -> None:
    assert find(RULES, "GPU102") is find(RULES, "early-exit-leak") is RULES["GPU102"]
    for vague in ("GPU1", "ALL", "early-exit"):
        with pytest.raises(UnknownRule):
            find(RULES, vague)


# Plug-ins ---------------------------------------------------------------------------------------


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose package ``house_rules`` is installed as the plug-in ``house``."""
    entry = importlib.metadata.EntryPoint("house", "house_rules", registry.GROUP)
    ours = importlib.metadata.entry_points(group=registry.GROUP)
    fakes = SimpleNamespace(entry_points=lambda group: [*ours, entry])
    monkeypatch.setattr(importlib, "metadata", fakes)
    monkeypatch.syspath_prepend(tmp_path)
    registry.all_rules.cache_clear()
    package = tmp_path / "house_rules"
    package.mkdir()
    (package / "__init__.py").write_text("")
    yield package
    registry.all_rules.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "house_rules"]:
        del sys.modules[name]


def test_without_any_rules_the_installation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib, "metadata", SimpleNamespace(entry_points=lambda group: []))
    registry.all_rules.cache_clear()
    try:
        with pytest.raises(RegistryError, match=r"no rules are installed.*metadata"):
            all_rules()
    finally:
        registry.all_rules.cache_clear()


def test_a_plug_in_brings_rules(plugin: Path) -> None:
    first = HOUSE_RULE.format(name="First", code="HOUSE001", title="first-rule")
    second = HOUSE_RULE.format(name="Second", code="HOUSE002", title="second-rule")
    (plugin / "first.py").write_text(first)
    (plugin / "inner").mkdir()
    (plugin / "inner" / "__init__.py").write_text(second)
    rules = all_rules()
    assert {"GPU101", "HOUSE001", "HOUSE002"} <= set(rules)
    assert codes(select(rules, ["HOUSE"])) == ["HOUSE001", "HOUSE002"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nowhere_to_be_found", "nowhere_to_be_found"),
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("def broken(:", "SyntaxError"),
        (HOUSE_RULE.format(name="X", code="house", title="a-rule"), "X has no code"),
        (HOUSE_RULE.format(name="X", code="HOUSE001", title="A Rule"), "HOUSE001 has no name"),
        (
            HOUSE_RULE.format(name="X", code="GPU102", title="another-one"),
            "GPU102 is already a rule of cudalint",
        ),
    ],
)
def test_a_broken_plug_in_is_named(plugin: Path, text: str, reason: str) -> None:
    (plugin / "rule.py").write_text(text)
    with pytest.raises(BrokenPlugin) as caught:
        all_rules()
    assert caught.value.plugin == "house"
    assert "plug-in house" in str(caught.value)
    assert reason in str(caught.value)
    assert isinstance(caught.value, RegistryError)


def test_a_plug_in_that_is_not_there(plugin: Path) -> None:
    for file in plugin.iterdir():
        file.unlink()
    plugin.rmdir()
    with pytest.raises(BrokenPlugin, match="house_rules"):
        all_rules()
