"""Compiles a file of the program with a sample before each watched line, and where it is asked
for with the suggested change in that line. The file stays as it is, lines keep their numbers.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

from _cudalint_frameworks import recorder

VARIABLE = "CUDALINT_WATCH"
_PASS, _CHANGE = "__cudalint_passed__", "__cudalint_{}__"
_WRAPPERS = {"peak": "__cudalint_peak__", "kept": "__cudalint_kept__"}
CHANGES = ("detached", "on_host")
RELEASED = "released"
_RETAINS = "retain_graph"


def watches() -> dict[str, list[dict[str, Any]]]:
    """The watched lines, by real path: ``number``, ``row``, ``kind``, ``change`` (or null)."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads(os.environ.get(VARIABLE) or "[]"):
        found.setdefault(os.path.realpath(one["file"]), []).append(one)
    return found


def compiled(source: bytes, filename: str, own: list[dict[str, Any]]) -> CodeType:
    """The code of a file with its watches."""
    tree = ast.parse(source, filename)
    targets = [_statement(tree, one["row"]) for one in own]
    for one, target in zip(own, targets, strict=True):
        if target is None:
            recorder.note(f"no statement at {filename}:{one['row']}")
            continue
        kind, change = one["kind"], one.get("change")
        if kind == "peak":
            _wrap(tree, target, kind, one["number"], change)
            continue
        if change is not None and not _changed(target, change):
            recorder.note(f"the change cannot be made at {filename}:{one['row']}")
        if kind == "kept":
            _wrap(tree, target, kind, one["number"])
            continue
        if kind == "calls":
            target = _function_around(tree, target)
        if target is not None:
            _insert_before(tree, target, one["number"])
    return compile(ast.fix_missing_locations(tree), filename, "exec", dont_inherit=True)


def _statement(tree: ast.Module, row: int) -> ast.stmt | None:
    """The innermost statement that a row belongs to."""
    fitting = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and _first(node) <= row <= (node.end_lineno or node.lineno)
    ]
    return max(fitting, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)


def _first(node: ast.stmt) -> int:
    """The row that a statement begins in, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _function_around(tree: ast.Module, statement: ast.stmt) -> ast.stmt | None:
    """The innermost function that a statement is in; ``None`` where it is in none."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno < statement.lineno <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def _changed(statement: ast.stmt, change: str) -> bool:
    """Make a change in a statement; whether it could be."""
    if change == RELEASED:
        return _released(statement)
    return _change(statement, _CHANGE.format(change))


def _released(statement: ast.stmt) -> bool:
    retaining = [
        keyword
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == _RETAINS
    ]
    for keyword in retaining:
        keyword.value = ast.copy_location(ast.Constant(False), keyword.value)
    return bool(retaining)


def _change(statement: ast.stmt, function: str) -> bool:
    def call(value: ast.expr) -> ast.expr:
        if isinstance(value, ast.Starred):
            return value
        name = ast.copy_location(ast.Name(function, ast.Load()), value)
        return ast.copy_location(ast.Call(name, [value], []), value)

    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        if statement.value is None:
            return False
        statement.value = call(statement.value)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        statement.value.args = [call(one) for one in statement.value.args]
        for keyword in statement.value.keywords:
            keyword.value = call(keyword.value)
    else:
        return False
    return True


def _insert_before(tree: ast.Module, target: ast.stmt, number: int) -> None:
    """Of a function, what comes by is a call of it that its decorators do not answer."""
    if isinstance(target, ast.FunctionDef | ast.AsyncFunctionDef):
        documented = ast.get_docstring(target, clean=False) is not None
        target = target.body[documented and len(target.body) > 1]
    for body in _bodies(tree):
        for at, statement in enumerate(body):
            if statement is target:
                call = ast.Call(ast.Name(_PASS, ast.Load()), [ast.Constant(number)], [])
                body.insert(at, ast.copy_location(ast.Expr(call), target))
                return


def _wrap(tree: ast.Module, target: ast.stmt, kind: str, *values: int | str | None) -> None:
    """Put the statement into a ``with`` that measures it."""
    for body in _bodies(tree):
        for at, statement in enumerate(body):
            if statement is target:
                given: list[ast.expr] = [ast.Constant(value) for value in values]
                call = ast.Call(ast.Name(_WRAPPERS[kind], ast.Load()), given, [])
                body[at] = ast.copy_location(ast.With([ast.withitem(call)], [target]), target)
                return


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                yield body


def install() -> None:
    """Give the watched modules their code when they are imported."""
    watched = watches()
    if not watched:
        return
    provide()
    original: Callable[[SourceFileLoader, str], CodeType | None] = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = os.path.realpath(self.path)
        if path not in watched:
            return original(self, fullname)
        try:
            return compiled(self.get_data(self.path), self.path, watched[path])
        except Exception as error:
            recorder.failed(path, error)
            return original(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def provide() -> None:
    """Put what the inserted code calls where every module finds it."""
    from _cudalint_frameworks import sampling

    setattr(builtins, _PASS, sampling.passed)
    setattr(builtins, _WRAPPERS["peak"], sampling.Peak)
    setattr(builtins, _WRAPPERS["kept"], sampling.Kept)
    for name in CHANGES:
        setattr(builtins, _CHANGE.format(name), getattr(sampling, name))


def code_of_script(path: str) -> CodeType:
    """The code of the script that is run."""
    with open(path, "rb") as file:  # noqa: PTH123
        source = file.read()
    own = watches().get(os.path.realpath(path), [])
    try:
        if own:
            return compiled(source, path, own)
    except SyntaxError:
        raise
    except Exception as error:
        recorder.failed(path, error)
    return compile(source, path, "exec", dont_inherit=True)
