"""PyTorch: graphs that are let go of, or not recorded; calls that leave a loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.repair import (
    Detach,
    DropRetainGraph,
    KeepOnHost,
    MoveBehind,
    WrapInWith,
)
from cudalint.fixes.python import PythonText
from cudalint.fixes.text import GiveUp, demand

_BLOCKS = (ast.For, ast.While, ast.If, ast.With)
_DISPLAYS = (ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Set, ast.SetComp, ast.Tuple)
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def detach(repair: Detach, text: PythonText) -> Fix:
    """``.detach()`` of the one value that a statement keeps."""
    start, end = text.bounds(repair.span)
    found = [
        node
        for node in ast.walk(text.tree)
        if isinstance(node, ast.expr)
        and not isinstance(getattr(node, "ctx", None), ast.Store)
        and start <= text.start(node)
        and text.end(node) <= end
        and _is_shown_as(node, repair.value)
    ]
    demand(len(found) == 1)
    display = _detached_display(found[0], text)
    edits = display or _with_call(found[0], "detach", text)
    # What is put into a dictionary later would be missing in the one that is kept.
    safe = Applicability.SAFE if repair.safe and not display else Applicability.UNSAFE
    return Fix(f"Keep `{repair.value}` without its graph", edits, safe)


def _detached_display(node: ast.expr, text: PythonText) -> tuple[Edit, ...]:
    """What a dictionary of one entry becomes; any other display has no graph to be without."""
    if not isinstance(node, ast.Name):
        return ()
    assigned = [
        one.value
        for one in ast.walk(text.function_at(text.start(node)))
        if isinstance(one, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == node.id for target in one.targets)
    ]
    if not any(isinstance(one, _DISPLAYS) for one in assigned):
        return ()
    value = assigned[0]
    demand(len(assigned) == 1 and isinstance(value, ast.Dict))
    assert isinstance(value, ast.Dict)
    demand(len(value.values) == 1 and isinstance(value.keys[0], ast.Constant))
    demand(isinstance(value.values[0], ast.Name))
    written = f"{{{text.of(value.keys[0])}: {text.of(value.values[0])}.detach()}}"
    return (text.edit(text.start(node), text.end(node), written),)


def _is_shown_as(node: ast.expr, shown: str) -> bool:
    pattern = re.escape(ast.unparse(ast.parse(shown, mode="eval"))) if _parses(shown) else ""
    pattern = pattern.replace(re.escape("(...)"), r"\(.*\)")
    return bool(pattern) and re.fullmatch(pattern, ast.unparse(node), re.DOTALL) is not None


def _parses(shown: str) -> bool:
    try:
        ast.parse(shown, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


def _with_call(node: ast.expr, method: str, text: PythonText) -> tuple[Edit, ...]:
    if isinstance(node, _ATOMS):
        return (text.insert(text.end(node), f".{method}()"),)
    return text.insert(text.start(node), "("), text.insert(text.end(node), f").{method}()")


def keep_on_host(repair: KeepOnHost, text: PythonText) -> Fix:
    """All that a function adds to a list goes to the host first: what is joined is in one place."""
    start, _ = text.bounds(repair.span)
    function = text.function_at(start)
    uses = [
        (node, parent)
        for parent in ast.walk(function)
        for node in ast.iter_child_nodes(parent)
        if isinstance(node, ast.expr) and ast.unparse(node) == repair.place
    ]
    method = repair.method
    if ".detach()" in text.source.line(repair.joined.row):
        method = f"detach().{method}"  # no graph is wanted, which would keep all on the device
    # Another way to fill it may put there what has been left on the device.
    demand(not any(isinstance(parent, ast.AugAssign) for _, parent in uses))
    names = {parent.attr for _, parent in uses if isinstance(parent, ast.Attribute)}
    demand("append" in names and names.isdisjoint({"extend", "insert"}))
    edits: list[Edit] = []
    for call in ast.walk(function):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "append"
            and ast.unparse(call.func.value) == repair.place
        ):
            demand(len(call.args) == 1 and not isinstance(call.args[0], ast.Starred | ast.Tuple))
            if not ast.unparse(call.args[0]).endswith(f".{repair.method}()"):
                edits += _with_call(call.args[0], method, text)
    demand(edits)
    return Fix(
        f"Bring what is added to `{repair.place}` to the host",
        tuple(edits),
        Applicability.UNSAFE,
    )


def drop_retain_graph(repair: DropRetainGraph, text: PythonText) -> Fix:
    """No ``retain_graph``, and nothing that would need it."""
    call = text.call(repair.call)
    edits = list(_without_keyword(call, "retain_graph", text))
    message = "Keep no graph in `backward`"
    if repair.carried is not None:
        name = repair.carried.text
        suite = text.suite_at(text.bounds(repair.carried.span)[0])
        uses = [
            node
            for node in ast.walk(suite.statements[suite.position])
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        ]
        demand(len(uses) == 1)
        edits += _with_call(uses[0], "detach", text)
        message += f", and detach `{name}`"
    return Fix(message, tuple(edits), Applicability.UNSAFE)


def _without_keyword(call: ast.Call, name: str, text: PythonText) -> Iterator[Edit]:
    keyword = next((one for one in call.keywords if one.arg == name), None)
    demand(keyword)
    assert keyword is not None
    start = text.place(keyword.lineno, keyword.col_offset)
    end = text.end(keyword.value)
    following = re.compile(r"\s*,\s*").match(text.text, end)
    preceding = re.compile(r",\s*$").search(text.text[:start])
    if following is not None:
        yield text.edit(start, following.end(), "")
    else:
        yield text.edit(preceding.start() if preceding else start, end, "")


def wrap_in_with(repair: WrapInWith, text: PythonText) -> Fix:
    """A statement, one step further in, under a ``with``."""
    statement = _statement(text, text.bounds(repair.statement)[0])
    module = repair.manager.partition(".")[0]
    imported = (
        alias.asname or alias.name
        for node in text.tree.body
        if isinstance(node, ast.Import)
        for alias in node.names
    )
    demand(module in imported)
    return Fix(
        f"Run the loop in `with {repair.manager}`",
        (text.under(f"with {repair.manager}:", statement.lineno, statement.end_lineno or 0),),
        Applicability.UNSAFE,
    )


def move_behind(repair: MoveBehind, text: PythonText) -> Fix:
    """A call leaves its loop: one that is a statement of the loop's own body, or of one in it."""
    loop = _statement(text, text.bounds(repair.loop)[0])
    suite = text.suite_at(text.bounds(repair.call)[0])
    statement = suite.statements[suite.position]
    if not isinstance(loop, ast.For | ast.While):
        raise GiveUp
    demand(any(statement in one.body for one in ast.walk(loop) if isinstance(one, _BLOCKS)))
    demand(isinstance(statement, ast.Expr) and len(suite.statements) > 1)
    start, end = text.start(statement), text.end(statement)
    call = text.text[start:end]
    demand(call == text.at(repair.call) and "\n" not in call and text.leads(start))
    rest = text.text[end : text.line_end(end)].strip()
    demand(not rest or rest.startswith("#"))
    own_line = text.line_start(start), text.text.find("\n", end) + 1
    behind = text.line_end(text.end(loop))
    indentation = text.indentation(text.start(loop))
    if end == text.end(loop):
        # The last line of the loop moves out of it.
        edits = [text.edit(text.line_start(start), start, indentation)]
    else:
        demand(own_line[1] > 0)
        whole = text.text[start : text.line_end(end)]
        edits = [text.edit(*own_line, ""), text.insert(behind, f"\n{indentation}{whole}")]
    return Fix(f"Call `{call}` once, after the loop", tuple(edits), Applicability.UNSAFE)


def _statement(text: PythonText, offset: int) -> ast.stmt:
    suite = text.suite_at(offset)
    return suite.statements[suite.position]
