"""The rules there are, and which of them a selection means.

Rules come through the entry-point group ``cudalint.rules``: each entry point names a module or a
package, and every ``Rule`` in it that can be instantiated counts. cudalint's own rules use the same
door as anybody else's.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType, ModuleType

from cudalint.findings.rule import Rule

GROUP = "cudalint.rules"
ALL = "ALL"
_CODE = re.compile(r"[A-Z]+\d{3}")
_CODE_LIKE = re.compile(r"[A-Z]+\d+")
_PREFIX = re.compile(r"[A-Z]+\d{0,2}")


class RegistryError(Exception):
    """The rules could not be loaded."""


class BrokenPlugin(RegistryError):  # noqa: N818
    """A plug-in that cannot be imported, or whose rules cannot be used."""

    def __init__(self, plugin: str, reason: str) -> None:
        super().__init__(f"the rules of plug-in {plugin} cannot be loaded: {reason}")
        self.plugin = plugin


class UnknownRule(RegistryError):  # noqa: N818
    """A selector that means no rule; ``nearest`` is the one that it resembles most."""

    def __init__(self, selector: str, nearest: str | None) -> None:
        hint = f"; did you mean {nearest}?" if nearest else ""
        super().__init__(f"no rule is called {selector}{hint}")
        self.selector = selector
        self.nearest = nearest


@functools.cache
def all_rules() -> Mapping[str, type[Rule]]:
    """Every rule by its code, in the order of the codes."""
    found: dict[str, type[Rule]] = {}
    owners: dict[str, str] = {}
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda e: e.name):
        plugin = _title(entry)
        for rule in _load(entry, plugin):
            _validate(rule, plugin)
            if found.get(rule.code, rule) is not rule:
                raise BrokenPlugin(plugin, f"{rule.code} is already a rule of {owners[rule.code]}")
            found[rule.code] = rule
            owners[rule.code] = plugin
    if not found:
        raise RegistryError(
            "no rules are installed: the package's metadata, which names them, is missing; "
            "`pip install --force-reinstall --no-deps cudalint` writes it again"
        )
    return MappingProxyType(dict(sorted(found.items())))


def find(rules: Mapping[str, type[Rule]], selector: str) -> type[Rule]:
    """The rule of a code or a name."""
    for rule in _meant(rules, selector):
        if selector.upper() == rule.code or selector.lower() == rule.name:
            return rule
    raise UnknownRule(selector, _nearest(rules, selector))


def select(
    rules: Mapping[str, type[Rule]],
    select: Sequence[str] = (ALL,),
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    preview: bool = False,
) -> list[type[Rule]]:
    """The rules that a selection means, in the order of their codes.

    A selector is a code, the start of a code (``GPU1``), a name or ``ALL``. Of several that mean
    the same rule the most specific one decides, and between equals ``ignore`` does. A preview rule
    needs ``preview``, or its own code or name.
    """
    chosen: dict[str, tuple[int, bool]] = {}
    for selectors, wanted in (((*select, *extend_select), True), (tuple(ignore), False)):
        for selector in selectors:
            meant = _meant(rules, selector)
            if not meant:
                raise UnknownRule(selector, _nearest(rules, selector))
            weight = _weight(selector)
            for rule in meant:
                if weight >= chosen.get(rule.code, (-1, False))[0]:
                    chosen[rule.code] = (weight, wanted)
    exact = len("GPU101")
    return [
        rule
        for code, rule in sorted(rules.items())
        if chosen.get(code, (0, False))[1]
        and (preview or not rule.preview or chosen[code][0] >= exact)
    ]


def matches(rule: type[Rule], selector: str) -> bool:
    """Whether a selector means a rule (also for per-file ignores and suppressions)."""
    text = selector.strip()
    if text.upper() == ALL or text.lower() == rule.name:
        return True
    code = text.upper()
    return code == rule.code or (_PREFIX.fullmatch(code) is not None and rule.code.startswith(code))


def _meant(rules: Mapping[str, type[Rule]], selector: str) -> list[type[Rule]]:
    return [rule for rule in rules.values() if matches(rule, selector)]


def _weight(selector: str) -> int:
    """How specific a selector is: nothing for ALL, a prefix by its length, a name as its code."""
    text = selector.strip().upper()
    if text == ALL:
        return 0
    return len(text) if _PREFIX.fullmatch(text) else max(len(text), len("GPU101"))


def _nearest(rules: Mapping[str, type[Rule]], selector: str) -> str | None:
    text = selector.strip()
    names = difflib.get_close_matches(text.lower(), [rule.name for rule in rules.values()], 1, 0.6)
    if names:
        return names[0]
    if _CODE_LIKE.fullmatch(text.upper()):
        return None  # any other number is as near as the next
    codes = difflib.get_close_matches(text.upper(), [*rules, ALL], 1, 0.6)
    return codes[0] if codes else None


# Loading ----------------------------------------------------------------------------------------


def _title(entry: importlib.metadata.EntryPoint) -> str:
    distribution = entry.dist.name if entry.dist else None
    return f"{entry.name} ({distribution})" if distribution else entry.name


def _load(entry: importlib.metadata.EntryPoint, plugin: str) -> Iterator[type[Rule]]:
    try:
        loaded = entry.load()
        if inspect.isclass(loaded) and issubclass(loaded, Rule):
            yield loaded
            return
        if not isinstance(loaded, ModuleType):
            raise TypeError(f"{entry.value} is neither a module nor a Rule")
        modules = list(_modules(loaded))
    # A plug-in is foreign code: whatever it raises while it is imported names it.
    except Exception as error:
        raise BrokenPlugin(plugin, f"{type(error).__name__}: {error}") from error
    for module in modules:
        yield from _rules_of(module)


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for found in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
        yield importlib.import_module(found.name)


def _rules_of(module: ModuleType) -> Iterable[type[Rule]]:
    """The rules that a module defines: not what it imports, not the abstract bases."""
    for value in vars(module).values():
        if (
            inspect.isclass(value)
            and issubclass(value, Rule)
            and value.__module__ == module.__name__
            and not inspect.isabstract(value)
        ):
            yield value


def _validate(rule: type[Rule], plugin: str) -> None:
    code, name = getattr(rule, "code", None), getattr(rule, "name", None)
    if not isinstance(code, str) or _CODE.fullmatch(code) is None:
        raise BrokenPlugin(plugin, f"{rule.__name__} has no code such as GPU101")
    if not isinstance(name, str) or re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) is None:
        raise BrokenPlugin(plugin, f"{code} has no name such as early-exit-leak")
