"""Releases of Python: before the ways out that miss one, or in a ``finally``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.repair import ReleaseOnExits
from cudalint.fixes.python import PythonText, Suite
from cudalint.fixes.spelling import release_call
from cudalint.fixes.text import demand, is_place, name_of_result

_HARMLESS = {"str", "len", "repr", "int", "float", "bool"}


def release_before_exits(repair: ReleaseOnExits, text: PythonText) -> Fix:
    """The release right before each way out."""
    demand(is_place(repair.name) and repair.ways and text.call(repair.acquired))
    demand(not repair.raised_over)
    call, statement = _release(repair, text)
    edits: list[Edit] = []
    safe = repair.sure
    for way in repair.ways:
        demand(way.held == "always")
        suite = text.suite_at(text.bounds(way.span)[0])
        leaving = suite.statements[suite.position]
        release = call if way.failing or way.throws else statement
        if not isinstance(leaving, ast.Return | ast.Raise):
            demand(not way.throws and suite.is_last and suite.of_function)
            indentation = text.indentation(text.start(leaving))
            edits.append(text.insert(text.line_end(text.end(leaving)), f"\n{indentation}{release}"))
            continue
        demand(isinstance(leaving, ast.Raise) == way.throws)
        more, evaluated_first = _before(leaving, release, repair, text)
        edits += more
        safe = safe and not evaluated_first
    return Fix(
        f"Call `{call}` on {'the ways' if len(repair.ways) > 1 else 'the way'} out without it",
        tuple(edits),
        Applicability.SAFE if safe else Applicability.UNSAFE,
    )


def _release(repair: ReleaseOnExits, text: PythonText) -> tuple[str, str]:
    """The call that releases a resource, and the statement that makes it."""
    call, site = release_call(repair, text)
    return call, call if site is None else _wrapped(call, text.bounds(site.span)[0], text)


def _wrapped(call: str, offset: int, text: PythonText) -> str:
    """The release in what the project wraps its own release at an offset in."""
    suite = text.suite_at(offset)
    statement = suite.statements[suite.position]
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return call
    outer = statement.value
    if len(outer.args) != 1 or outer.keywords or text.start(outer.args[0]) != offset:
        return call
    return f"{text.text[text.start(outer) : text.end(outer.func)]}({call})"


def _before(
    leaving: ast.Return | ast.Raise, release: str, repair: ReleaseOnExits, text: PythonText
) -> tuple[list[Edit], bool]:
    """The release before a ``return`` or ``raise``, and whether that is evaluated first."""
    value = leaving.value if isinstance(leaving, ast.Return) else leaving.exc
    lines, edits = [release], []
    root = repair.name.partition(".")[0]
    if value is not None and not _is_independent(value, root, isinstance(leaving, ast.Raise)):
        demand(isinstance(leaving, ast.Return))
        name = name_of_result(text.at(repair.function))
        start, end = text.start(value), text.end(value)
        demand("\n" not in text.text[start:end])
        lines = [f"{name} = {text.text[start:end]}", release]
        edits.append(text.edit(start, end, name))
    at = text.start(leaving)
    if text.leads(at):
        between = f"\n{text.indentation(at)}"
        return [text.insert(at, "".join(f"{line}{between}" for line in lines)), *edits], bool(edits)
    before = text.text[text.line_start(at) : at].rstrip()
    if before.endswith(";"):
        return [text.insert(at, "".join(f"{line}; " for line in lines)), *edits], bool(edits)
    demand(before.endswith(":"))
    colon = text.line_start(at) + len(before)
    inner = text.indentation(at) + text.step
    opened = "".join(f"\n{inner}{line}" for line in lines)
    return [text.edit(colon, at, f"{opened}\n{inner}"), *edits], bool(edits)


def _is_independent(value: ast.expr, root: str, raised: bool) -> bool:
    """Whether a value is the same after the release."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    if raised and calls and calls[0] is value:
        calls = calls[1:]  # the exception itself
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return root not in names and all(
        isinstance(call.func, ast.Name) and call.func.id in _HARMLESS for call in calls
    )


# In a `finally` ---------------------------------------------------------------------------------


def release_in_finally(repair: ReleaseOnExits, text: PythonText) -> Fix:
    """What follows the acquisition goes into a ``try``, the release into its ``finally``."""
    demand(is_place(repair.name) and not repair.handed_over and text.call(repair.acquired))
    suite = text.suite_at(text.bounds(repair.acquired)[0])
    acquires = suite.statements[suite.position]
    demand(isinstance(acquires, ast.Assign | ast.AnnAssign))
    first = _behind_checks(repair.name, acquires, suite)
    places = [text.bounds(site.span)[0] for site in repair.released]
    last, releases = first, suite.statements[:0]
    for position in range(len(suite.statements) - 1, first - 1, -1):
        statement = suite.statements[position]
        if any(text.start(statement) <= at < text.end(statement) for at in places):
            demand(isinstance(statement, ast.Expr | ast.Assign))
            last = position
            releases = _with_check(suite.statements, position)
            break
    added = ""
    if not releases and repair.raised_over:
        demand(suite.of_function and not places)
        added, last = _release(repair, text)[1], len(suite.statements)
    demand((releases or added) and last > first)
    body = suite.statements[first:last]
    start, end = text.start(body[0]), text.end(body[-1])
    ends = text.end((releases or body)[-1])
    for way in repair.ways:
        left, right = text.bounds(way.span)
        demand((start <= left and right <= ends) or (way.throws and _passes(start, left, text)))
    removed = _removed([at for at in places if start <= at < end], text)
    return Fix(
        f"Release `{repair.name}` in a `finally`",
        (_guarded(suite.statements[first - 1], body, releases or added, removed, text),),
        Applicability.UNSAFE,
    )


def _passes(start: int, left: int, text: PythonText) -> bool:
    """Whether an exception gets from an offset through the ``finally`` at another one."""
    return any(
        text.start(one.body[0]) <= start <= text.end(one.body[-1])
        and text.start(one.finalbody[0]) <= left <= text.end(one.finalbody[-1])
        for one in ast.walk(text.tree)
        if isinstance(one, ast.Try) and one.finalbody
    )


def _behind_checks(name: str, acquires: ast.stmt, suite: Suite) -> int:
    """The position of the first statement that does not look at whether it was acquired."""
    assigned = {
        node.id
        for node in ast.walk(acquires)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } - {name}
    position = suite.position + 1
    for statement in suite.statements[position:]:
        used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        if not isinstance(statement, ast.If | ast.Expr | ast.Assert) or name in used:
            break
        if used.isdisjoint(assigned):
            break
        position += 1
    return position


def _with_check(statements: Sequence[ast.stmt], position: int) -> list[ast.stmt]:
    """A release, and the statement behind it that looks at its status."""
    release = statements[position]
    targets = release.targets if isinstance(release, ast.Assign) else []
    names = {node.id for one in targets for node in ast.walk(one) if isinstance(node, ast.Name)}
    following = statements[position + 1 : position + 2]
    if following and isinstance(following[0], ast.Expr | ast.Assert):
        used = {node.id for node in ast.walk(following[0]) if isinstance(node, ast.Name)}
        if not names.isdisjoint(used):
            return [release, *following]
    return [release]


def _removed(places: Sequence[int], text: PythonText) -> set[int]:
    """The rows of the releases that the ``finally`` makes needless."""
    rows: set[int] = set()
    for at in places:
        suite = text.suite_at(at)
        statement = suite.statements[suite.position]
        demand(isinstance(statement, ast.Expr) and len(suite.statements) > 1)
        demand(text.leads(text.start(statement)))
        demand(not text.text[text.end(statement) : text.line_end(text.end(statement))].strip())
        rows |= set(range(statement.lineno, (statement.end_lineno or 0) + 1))
    return rows


def _guarded(
    before: ast.stmt,
    body: Sequence[ast.stmt],
    releases: Sequence[ast.stmt] | str,
    removed: set[int],
    text: PythonText,
) -> Edit:
    """The edit: all lines from behind the acquisition to the release, or one that is written
    behind the last of them."""
    there = [] if isinstance(releases, str) else releases
    for statement in (*body, *there):
        demand(text.leads(text.start(statement)))
    first, last = (before.end_lineno or 0) + 1, (there or body)[-1].end_lineno or 0
    middle = there[0].lineno if there else last + 1
    while there and text.source.line(middle - 1).strip().startswith("#"):
        middle -= 1  # what is said of the release
    cells = {text.source.cell_at(row) for row in (first, last)}
    demand(len(cells) == 1)
    while not text.source.line(first).strip():
        first += 1
    indentation = text.indentation(text.start(body[0]))
    inside = list(text.indented(row for row in range(first, middle) if row not in removed))
    while not inside[-1].strip():
        inside.pop()
    lines = [
        f"{indentation}try:",
        *inside,
        f"{indentation}finally:",
        *text.indented(range(middle, last + 1)),
        *([f"{indentation}{text.step}{releases}"] if isinstance(releases, str) else ()),
    ]
    start, end = text.offset(first, 1), text.line_end(text.offset(last, 1))
    return text.edit(start, end, "\n".join(lines))
