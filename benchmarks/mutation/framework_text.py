"""Changes of Python text that take away what keeps memory in bounds; rows stay where they were."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from benchmarks.mutation.python_code import Function, Loop, PythonCode, With


class CannotChange(Exception):  # noqa: N818  (a fact about the text)
    """The text cannot be changed there; the message says why."""


@dataclass(frozen=True)
class Changed:
    """A changed text: the first changed row, and the rows inserted before it."""

    text: str
    row: int
    added_rows: int = 0


def without_method(code: PythonCode, call: ast.Call) -> Changed:
    """``loss.detach().cpu()`` becomes ``loss.cpu()``."""
    assert isinstance(call.func, ast.Attribute)
    start, end = code.end(call.func.value), code.end(call)
    # The parentheses around the receiver are no part of it:
    start = code.source.text.rindex(".", start, code.end(call.func))
    return _replaced(code, start, end, "")


def without_conversion(code: PythonCode, call: ast.Call) -> Changed:
    """``float(loss)`` becomes ``loss``."""
    inner = code.text(call.args[0])
    plain = isinstance(call.args[0], ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return _replaced(code, code.start(call), code.end(call), inner if plain else f"({inner})")


def without_keyword(code: PythonCode, call: ast.Call, keyword: ast.keyword) -> Changed:
    """``load(path, map_location="cpu")`` becomes ``load(path)``."""
    text = code.source.text
    start = code.offset(keyword.lineno, keyword.col_offset)
    end = code.end(keyword.value)
    following = text[end : code.end(call)].lstrip()
    if following.startswith(","):
        end = text.index(",", end) + 1
        while text[end : end + 1] == " ":
            end += 1
    else:
        before = text[:start].rstrip()
        if before.endswith(","):
            start = len(before) - 1
    return _replaced(code, start, end, "")


def without_decorator(code: PythonCode, decorator: ast.expr) -> Changed:
    """The decorator's rows become empty."""
    start = code.source.line_starts[decorator.lineno - 1]
    return _replaced(code, start, code.end(decorator), "")


def without_context(code: PythonCode, block: With, item: ast.withitem) -> Changed:
    """``with no_grad():`` goes, and its body moves to the left."""
    others = [one for one in block.items if one is not item]
    return _unwrapped(code, block, [], others)


def assigned_instead(code: PythonCode, block: With, item: ast.withitem, owner: ast.expr) -> Changed:
    """``with Owner() as one:`` becomes ``one = Owner()``: nobody leaves it any more."""
    value = code.text(owner)
    first = f"{code.text(item.optional_vars)} = {value}" if item.optional_vars else value
    others = [one for one in block.items if one is not item]
    return _unwrapped(code, block, [first], others)


def without_finally(code: PythonCode, block: ast.Try) -> Changed:
    """What ``finally`` does comes after the block instead, as straight code."""
    lines = _lines(code)
    indent = " " * block.col_offset
    place = block.finalbody[0].lineno - 1
    while not lines[place - 1].strip().startswith("finally"):
        place -= 1
        if place <= block.lineno:
            raise CannotChange("its `finally` is not found")
    if place == block.finalbody[0].lineno:
        raise CannotChange("its body is on the same row")
    _dedent(lines, block.finalbody, indent)
    lines[place - 1] = ""
    if not block.handlers:
        if block.body[0].lineno == block.lineno:
            raise CannotChange("its body is on the same row")
        _dedent(lines, block.body, indent)
        lines[block.lineno - 1] = ""
    return _checked("".join(f"{line}\n" for line in lines), block.lineno)


def moved_into(code: PythonCode, statement: ast.stmt, loop: Loop) -> Changed:
    """A statement after a loop becomes the last one of the loop."""
    if statement.lineno != statement.end_lineno:
        raise CannotChange("it takes several rows")
    lines = _lines(code)
    end = loop.body[-1].end_lineno
    assert end is not None
    moved = lines[statement.lineno - 1].strip()
    alone = len(_siblings(code, statement)) == 1
    lines[statement.lineno - 1] = " " * statement.col_offset + "pass" if alone else ""
    lines.insert(end, " " * loop.body[0].col_offset + moved)
    return _checked("".join(f"{line}\n" for line in lines), end + 1, 1)


def _siblings(code: PythonCode, statement: ast.stmt) -> list[ast.stmt]:
    parent = code.parents[statement]
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, [])
        if isinstance(block, list) and statement in block:
            return block
    return [statement]


def preceding(code: PythonCode, statement: ast.stmt) -> list[ast.stmt]:
    """The statements before one in its block, the nearest first."""
    block = _siblings(code, statement)
    return list(reversed(block[: block.index(statement)]))


def _unwrapped(
    code: PythonCode, block: With, first: list[str], others: list[ast.withitem]
) -> Changed:
    body = block.body[0].lineno
    if isinstance(block.body[0], Function | ast.ClassDef):
        body = min([body, *(one.lineno for one in block.body[0].decorator_list)])
    if body == block.lineno:
        raise CannotChange("its body is on the same row")
    lines = _lines(code)
    indent = " " * block.col_offset
    header = list(first)
    if others:
        word = "async with" if isinstance(block, ast.AsyncWith) else "with"
        header.append(f"{word} {', '.join(_item(code, one) for one in others)}:")
    else:
        _dedent(lines, block.body, indent)
    rows = body - block.lineno
    added = max(0, len(header) - rows)
    new = [indent + line for line in header] + [""] * (rows - len(header))
    lines[block.lineno - 1 : body - 1] = new
    return _checked("".join(f"{line}\n" for line in lines), block.lineno + added, added)


def _item(code: PythonCode, item: ast.withitem) -> str:
    value = " ".join(code.text(item.context_expr).split("\n"))
    return f"{value} as {code.text(item.optional_vars)}" if item.optional_vars else value


def _lines(code: PythonCode) -> list[str]:
    return code.source.text.splitlines()


def _dedent(lines: list[str], body: list[ast.stmt], indent: str) -> None:
    first, last = body[0], body[-1].end_lineno
    assert last is not None
    row = first.lineno
    if isinstance(first, Function | ast.ClassDef):
        row = min([row, *(one.lineno for one in first.decorator_list)])
    inner = " " * first.col_offset
    for number in range(row - 1, last):
        if lines[number].startswith(inner):
            lines[number] = indent + lines[number][len(inner) :]


def _replaced(code: PythonCode, start: int, end: int, new: str) -> Changed:
    text = code.source.text
    missing = text[start:end].count("\n") - new.count("\n")
    after = text[end:]
    if missing:
        line, newline, rest = after.partition("\n")
        after = line + "\n" * missing + newline + rest
    return _checked(text[:start] + new + after, code.source.position(start)[0])


def _checked(text: str, row: int, added_rows: int = 0) -> Changed:
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise CannotChange(f"the result cannot be parsed: {error.msg}") from None
    return Changed(text, row, added_rows)
