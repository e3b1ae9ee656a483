"""A Python object that closes itself is opened by a ``with``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.repair import OpenInWith
from cudalint.fixes.python import PythonText, Suite
from cudalint.fixes.text import GiveUp, demand

_CLOSING = "contextlib.closing"


def open_in_with(repair: OpenInWith, text: PythonText) -> Fix:
    """What follows the call that makes the object goes into the ``with``: up to where it is closed,
    which is needed no more; else all of it, where that is the rest of a function."""
    call = text.call(repair.call)
    suite = text.suite_at(text.start(call))
    statement = suite.statements[suite.position]
    if not isinstance(statement, ast.Expr | ast.Assign) or statement.value is not call:
        raise GiveUp
    demand(text.leads(text.start(statement)))
    last = _closed(repair, suite, text) if repair.closed else len(suite.statements)
    body = suite.statements[suite.position + 1 : last]
    demand(body and text.leads(text.start(body[0])))
    demand(repair.closed or suite.of_function)
    behind = suite.statements[last] if repair.closed else body[-1]
    head = _head(statement, call, body, repair, text)
    first = (statement.end_lineno or 0) + 1
    end = body[-1].end_lineno or 0
    while text.source.line(first).strip() == "":
        first += 1
    said = text.text[text.end(statement) : text.line_end(text.end(statement))]
    demand(not said.strip() or said.strip().startswith("#"))
    demand(len({text.source.cell_at(row) for row in (statement.lineno, first, end)}) == 1)
    lines = [f"{head}{said}", *text.indented(range(first, end + 1))]
    edit = text.edit(text.start(statement), text.line_end(text.end(behind)), "\n".join(lines))
    message = f"Open it in a `with`: `{head.splitlines()[0]}`"
    return Fix(message, (*_imported(repair, text), edit), Applicability.UNSAFE)


def _closed(repair: OpenInWith, suite: Suite, text: PythonText) -> int:
    """The position of the one statement that closes it, beside the one that opens it."""
    demand(len(repair.closed) == 1)
    at, _ = text.bounds(repair.closed[0])
    closing = text.suite_at(at)
    demand(closing.statements is suite.statements and closing.position > suite.position)
    statement = closing.statements[closing.position]
    rest = text.text[text.end(statement) : text.line_end(text.end(statement))]
    demand(isinstance(statement, ast.Expr) and text.leads(text.start(statement)))
    demand(not rest.strip())
    return closing.position


def _head(
    statement: ast.Expr | ast.Assign,
    call: ast.Call,
    body: Sequence[ast.stmt],
    repair: OpenInWith,
    text: PythonText,
) -> str:
    made = text.of(call)
    if not repair.manager:
        made = f"{_CLOSING}({made})"
    if isinstance(statement, ast.Expr):
        return f"with {made}:"
    demand(len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name))
    name = text.of(statement.targets[0])
    used = {node.id for one in body for node in ast.walk(one) if isinstance(node, ast.Name)}
    if repair.closed and name not in used:
        return f"with {made}:"
    if repair.manager and not _enters_itself(repair.manager, text):
        return f"{name} = {made}\n{text.indentation(text.start(statement))}with {name}:"
    return f"with {made} as {name}:"


def _enters_itself(manager: str, text: PythonText) -> bool:
    """Whether what ``with`` names is the object: so it is with libraries, and with classes here
    that say so."""
    if "." in manager:
        return True
    returned = [
        one.value
        for known in ast.walk(text.tree)
        if isinstance(known, ast.ClassDef) and known.name == manager
        for method in known.body
        if isinstance(method, ast.FunctionDef) and method.name == "__enter__"
        for one in ast.walk(method)
        if isinstance(one, ast.Return)
    ]
    return bool(returned) and all(
        isinstance(value, ast.Name) and value.id == "self" for value in returned
    )


def _imported(repair: OpenInWith, text: PythonText) -> tuple[Edit, ...]:
    """The import of what closes an object that is no context manager itself."""
    if repair.manager or re.search(r"^import contextlib$", text.text, re.MULTILINE):
        return ()
    imports = [one for one in text.tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
    demand(imports)
    late = [one for one in imports if getattr(one, "module", "") != "__future__"]
    demand(late and text.source.shown is None)
    return (text.insert(text.line_start(text.start(late[0])), "import contextlib\n"),)
