"""The parts of cudalint import downwards only: the layers of pyproject.toml, and no circles."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter import cli

ROOT = Path(__file__).parent.parent
PACKAGES = {"cudalint": ROOT / "cudalint", "cudalint_rules": ROOT / "rules"}


def modules() -> dict[str, Path]:
    found = {}
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((package, *parts)).removesuffix(".__init__")] = path
    return found


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules that a module imports anywhere: in functions and for type checking, too."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in known else base


def circles(graph: dict[str, list[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, and what imports itself."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for other in graph[name]:
            if other not in order:
                visit(other)
            if other in stack:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == order[name]:
            position = stack.index(name)
            component = sorted(stack[position:])
            del stack[position:]
            if len(component) > 1 or name in graph[name]:
                found.append(component)

    for name in graph:
        if name not in order:
            visit(name)
    return found


def test_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert cli.lint_imports(no_cache=True, no_logo=True) == cli.EXIT_STATUS_SUCCESS


def test_a_circle_is_found() -> None:
    graph = {"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}
    assert circles(graph) == [["b", "c"]]


def test_no_module_imports_itself_by_way_of_others() -> None:
    known = modules()
    graph = {
        name: sorted({other for other in imports(name, path, known) if other in known})
        for name, path in known.items()
    }
    found = circles(graph)
    assert not found, "circles: " + "; ".join(" <-> ".join(component) for component in found)


def test_every_package_is_installed() -> None:
    """Those in `modules`, which is none, are for the programs that the runtime starts: data."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages = {name for name, path in modules().items() if path.name == "__init__.py"}
    ours = {name for name in packages if ".modules." not in name}
    assert ours == set(settings["tool"]["setuptools"]["packages"])
