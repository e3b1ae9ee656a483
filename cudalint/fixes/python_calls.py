"""Calls of Python: their arguments."""

from __future__ import annotations

import ast

from cudalint.findings.fix import Applicability, Fix
from cudalint.findings.repair import SetKeyword
from cudalint.fixes.python import PythonText
from cudalint.fixes.text import demand


def set_keyword(repair: SetKeyword, text: PythonText) -> Fix:
    """A keyword argument, in place of one that is there."""
    call = text.call(repair.call)
    written = f"{repair.keyword}={repair.value}"
    safe = Applicability.SAFE if repair.safe else Applicability.UNSAFE
    demand(all(keyword.arg is not None for keyword in call.keywords))
    demand(not any(isinstance(one, ast.Starred) for one in call.args))
    for keyword in call.keywords:
        if keyword.arg == repair.keyword:
            edit = text.edit(text.start(keyword.value), text.end(keyword.value), repair.value)
            return Fix(f"Pass `{written}`", (edit,), safe)
    given: list[ast.expr] = [*call.args, *(keyword.value for keyword in call.keywords)]
    closing = text.end(call) - 1
    if not given:
        return Fix(f"Pass `{written}`", (text.insert(closing, written),), safe)
    last = max(text.end(one) for one in given)
    behind = text.text[last:closing]
    demand(not behind.strip(" \t\r\n,)"))
    parentheses = behind.rfind(")") + 1  # of the last argument
    at = last + parentheses
    comma = text.text.find(",", at, closing)
    if comma < 0:
        return Fix(f"Pass `{written}`", (text.insert(at, f", {written}"),), safe)
    # A comma after the last one: so has the new one, on a line of its own if they have.
    between = text.text[comma + 1 : closing]
    argument = max(given, key=text.end)
    if "\n" in between:
        inserted = f"\n{text.indentation(text.start(argument))}{written},"
    else:
        inserted = f" {written},"
    return Fix(f"Pass `{written}`", (text.insert(comma + 1, inserted),), safe)
