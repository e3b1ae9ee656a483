"""One large copy to the device becomes a loop over parts of it."""

from __future__ import annotations

import ast
import re

from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.repair import InChunks
from cudalint.fixes.cpp import CppText, Token
from cudalint.fixes.python import PythonText
from cudalint.fixes.spelling import last_name, prefix_of
from cudalint.fixes.text import GiveUp, demand, is_place
from cudalint.project.units import size_text

_CASTS = ("(char *)", "(const char *)")
_SIGNS = frozenset("+-?:<>=!|^%/*&")


def in_chunks(repair: InChunks, text: CppText) -> Fix:
    """``cudaMemcpy`` and its like, alone or in the project's check."""
    start, _ = text.bounds(repair.call)
    number = text.number(start)
    opening = text.callee_end(number)
    demand(repair.of_bytes and last_name(text.word(opening - 1)) == last_name(repair.api))
    to, source, size, *rest = _arguments(opening, text)
    begin = text.statement_start(number)
    wrapper = [token.text for token in text.tokens[begin:number]]
    demand(not wrapper or (len(wrapper) == 2 and wrapper[0].isidentifier() and wrapper[1] == "("))
    end = text.tokens[text.statement_end(begin)].end
    demand(text.text[text.tokens[text.other(opening)].end : end].strip(" \t);") == "")
    first = text.tokens[begin].start
    done, total, chunk, part = _names(("done", "total", "chunk", "part"), text.at(repair.function))
    casts = ["" if i in repair.numbers else cast for i, cast in enumerate(_CASTS)]
    ends = (
        f"{cast}{_operand(one)} + {done}" for cast, one in zip(casts, (to, source), strict=True)
    )
    given = (*ends, part, *rest)
    before, behind = text.text[first : text.tokens[opening].end], ")" * len(wrapper[1:])
    outer = text.indentation(first)
    inner = outer + text.step_in(first)
    written = (
        f"for (size_t {done} = 0, {total} = {size}, {chunk} = {_bytes(repair.most)}; "
        f"{done} < {total}; {done} += {chunk}) {{\n"
        f"{inner}const size_t {part} = {total} - {done} < {chunk} ? {total} - {done} : {chunk};\n"
        f"{inner}{before}{', '.join(given)}){behind};\n{outer}}}"
    )
    return _fix(repair, text.edit(first, end, written))


def _arguments(opening: int, text: CppText) -> list[str]:
    """What is written for each argument of a call."""
    found: list[str] = []
    number = first = opening + 1
    closing = text.other(opening)
    while number <= closing:
        token: Token = text.tokens[number]
        if token.text == "," or number == closing:
            written = text.text[text.tokens[first].start : text.tokens[number - 1].end]
            demand(first < number and "//" not in written)
            found.append(" ".join(written.split()))
            first = number + 1
        number = text.other(number) + 1 if token.text in ("(", "[", "{") else number + 1
    return found


def _operand(written: str) -> str:
    """What a cast may stand before."""
    return f"({written})" if _SIGNS & set(written.replace("->", "")) else written


def _names(wanted: tuple[str, ...], function: str) -> tuple[str, ...]:
    """Names, or longer ones, that a function does not have."""
    for prefix in ("", "copy_"):
        names = tuple(prefix + name for name in wanted)
        if not any(re.search(rf"\b{name}\b", function) for name in names):
            return names
    raise GiveUp


def _bytes(most: int) -> str:
    return f"(size_t){most >> 20} << 20" if most % (1 << 20) == 0 else f"{most}u"


def in_chunks_in_python(repair: InChunks, text: PythonText) -> Fix:
    """A copy of bytes, or of a host array into a new one on the device."""
    call = text.call(repair.call)
    suite = text.suite_at(text.start(call))
    statement = suite.statements[suite.position]
    demand(isinstance(statement, ast.Assign | ast.Expr) and text.leads(text.start(statement)))
    demand(getattr(statement, "value", None) is call)
    start, end = text.start(statement), text.end(statement)
    demand("\n" not in text.text[start:end] and "#" not in text.text[start:end])
    function = text.at(repair.function)
    if repair.of_bytes:
        lines = _of_bytes(statement, call, repair, function, text)
    else:
        lines = _of_array(statement, call, repair, function, text)
    joined = f"\n{text.indentation(start)}".join(line.replace("\t", text.step) for line in lines)
    return _fix(repair, text.edit(start, end, joined))


def _of_bytes(
    statement: ast.stmt, call: ast.Call, repair: InChunks, function: str, text: PythonText
) -> list[str]:
    """The status of each copy is looked at as that of the one was, if it was: behind the loop."""
    demand(not call.keywords and not any(isinstance(one, ast.Starred) for one in call.args))
    to, source, size, *rest = (text.of(one) for one in call.args)
    done, chunk = _names(("done", "chunk"), function)
    demand(is_place(to) and is_place(source))
    part = f"min({chunk}, {size} - {done})"
    arguments = ", ".join((f"{to} + {done}", f"{source} + {done}", part, *rest))
    again = f"{text.of(call.func)}({arguments})"
    checked = []
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        demand(isinstance(target, ast.Tuple | ast.List) and len(target.elts) == 1)
        assert isinstance(target, ast.Tuple | ast.List)
        again = f"{text.text[text.start(statement) : text.start(call)]}{again}"
        checked = [f"\tif {text.of(target.elts[0])}:", "\t\tbreak"]
    return [
        f"{chunk} = {_shifted(repair.most)}",
        f"for {done} in range(0, {size}, {chunk}):",
        f"\t{again}",
        *checked,
    ]


def _of_array(
    statement: ast.stmt, call: ast.Call, repair: InChunks, function: str, text: PythonText
) -> list[str]:
    demand(isinstance(statement, ast.Assign) and len(statement.targets) == 1)
    assert isinstance(statement, ast.Assign)
    name, start, rows = text.of(statement.targets[0]), *_names(("start", "rows"), function)
    demand(name.isidentifier())
    demand(repair.fill and not call.keywords and len(call.args) <= 1)
    is_method = repair.api.startswith(".")
    if is_method:
        demand(isinstance(call.func, ast.Attribute))
        assert isinstance(call.func, ast.Attribute)
        host = text.of(call.func.value)
        module = repair.new.partition(".")[0]
        demand(re.search(rf"^import {module}$", text.text, re.MULTILINE))
    else:
        demand(call.args)
        host, module = text.of(call.args[0]), prefix_of(repair.api, text.of(call))
    device = text.of(call.args[0]) if call.args else repair.device
    demand(device)
    made = repair.new.format(**{"from": host, "module": module, "device": device})
    demand(is_place(host) and host != name)
    part = f"{host}[{start} : {start} + {rows}]"
    again = text.of(call).replace(host, part)
    stored = repair.fill.format(to=f"{name}[{start} : {start} + {rows}]", call=again, part=part)
    return [
        f"{name} = {made}",
        f"{rows} = max(1, ({_shifted(repair.most)}) // {host}[0].nbytes)",
        f"for {start} in range(0, len({host}), {rows}):",
        f"\t{stored}",
    ]


def _shifted(most: int) -> str:
    return f"{most >> 20} << 20" if most % (1 << 20) == 0 else f"{most}"


def _fix(repair: InChunks, edit: Edit) -> Fix:
    message = f"Copy it in chunks of at most {size_text(repair.most)}"
    return Fix(message, (edit,), Applicability.UNSAFE)
