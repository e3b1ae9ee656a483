"""What is released twice, and what is acquired twice."""

from __future__ import annotations

import ast
import re

from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.repair import DropRelease, ReleaseFirst
from cudalint.fixes.cpp import CppText
from cudalint.fixes.cpp_release import wrapped
from cudalint.fixes.python import PythonText
from cudalint.fixes.spelling import parts_of_call, release_call
from cudalint.fixes.text import Text, demand, is_place
from cudalint.source import Span

_UNSAFE = Applicability.UNSAFE
_JUMPS = re.compile(r"\b(goto|case)\b")


def drop_release(repair: DropRelease, text: CppText) -> Fix:
    """The second release goes where the first is made on every way to it; else the pointer is null
    after the first, and there is nothing to release."""
    place = _released_place(repair, text)
    begin, end = _statement(repair.first, text)
    demand(not text.in_branch(text.number(begin)))
    again, behind = _statement(repair.second, text)
    demand(text.compiled_with(repair.second, begin) and text.compiled_with(repair.first, again))
    jumps = _JUMPS.search(text.at(repair.function))
    if not jumps and text.block(begin).holds(again) and end <= again:
        demand(not _is_mentioned(place, text.text[end:again]))
        return Fix(f"Release `{place}` once", (_whole_line(again, behind, text),), _UNSAFE)
    demand(repair.memory)
    null = "NULL" if text.filename.endswith(".c") else "nullptr"
    between = f"\n{text.indentation(begin)}" if text.leads(begin) else " "
    edit = text.insert(end, f"{between}{place} = {null};")
    return Fix(f"Set `{place}` to null once it is released", (edit,), _UNSAFE)


def _statement(release: Span, text: CppText) -> tuple[int, int]:
    """The bounds of the statement that a release is, alone or in a check."""
    number = text.number(text.bounds(release)[0])
    begin = text.statement_start(number)
    written = [token.text for token in text.tokens[begin:number]]
    demand(not written or (len(written) == 2 and written[1] == "(" and written[0] != "if"))
    return text.tokens[begin].start, text.tokens[text.statement_end(begin)].end


def _whole_line(start: int, end: int, text: CppText) -> Edit:
    """A statement goes with its line."""
    demand(text.leads(start) and not text.in_branch(text.number(start)))
    return _line(start, end, "//", text)


def _line(start: int, end: int, comment: str, text: Text) -> Edit:
    """A line goes, and what is said behind it."""
    rest = text.text[end : text.line_end(end)].strip()
    demand(not rest or rest.startswith(comment))
    line_end = text.text.find("\n", end) + 1 or len(text.text)
    return text.edit(text.line_start(start), line_end, "")


def _released_place(repair: DropRelease, text: Text) -> str:
    """What both calls release, if it is written alike."""
    _, first = parts_of_call(text.at(repair.first))
    _, second = parts_of_call(text.at(repair.second))
    demand(first and first == second and len(first) == 1 and is_place(first[0]))
    return first[0]


def _is_mentioned(place: str, text: str) -> bool:
    return re.search(rf"(?<![\w.>]){re.escape(place)}\b", text) is not None


def _ends_in(place: str, text: str) -> bool:
    """Whether the last name of a place stands in a text."""
    return re.search(rf"\b{re.findall(r'[A-Za-z_][A-Za-z_0-9]*', place)[-1]}\b", text) is not None


def drop_release_in_python(repair: DropRelease, text: PythonText) -> Fix:
    """The second release goes where the first is made on every way to it."""
    place = _released_place(repair, text)
    first = text.suite_at(text.bounds(repair.first)[0])
    second = text.suite_at(text.bounds(repair.second)[0])
    statement, again = first.statements[first.position], second.statements[second.position]
    demand(isinstance(statement, ast.Expr) and isinstance(again, ast.Expr))
    start, end = text.start(again), text.end(again)
    later = first.statements[first.position + 1 :]
    demand(any(text.start(one) <= start < text.end(one) for one in later))
    demand(len(second.statements) > 1 and text.leads(start))
    demand(not _is_mentioned(place, text.text[text.end(statement) : start]))
    return Fix(f"Release `{place}` once", (_line(start, end, "#", text),), _UNSAFE)


def release_first(repair: ReleaseFirst, text: CppText) -> Fix:
    """What a variable holds is released before it gets another value."""
    lost = repair.lost
    demand(is_place(lost.name) and lost.ways and not lost.released)
    demand(not _JUMPS.search(text.at(lost.function)))
    acquired, _ = text.bounds(lost.acquired)
    held_in = text.block(text.tokens[text.statement_start(text.number(acquired))].start)
    call, site = release_call(lost, text, renewed=True)
    statement = call if site is None else wrapped(call, text.bounds(site.span)[0], text)
    edits = []
    for way in lost.ways:
        number = text.number(text.bounds(way.span)[0])
        begin = text.statement_start(number)
        start = text.tokens[begin].start
        demand(text.leads(start) and not text.in_branch(begin))
        statement_end = text.tokens[text.statement_end(begin)].end
        demand(_ends_in(lost.name, text.text[start:statement_end]))  # else a macro's body writes it
        demand(text.declared_around(lost.name, lost.function, start))
        demand(text.compiled_with(lost.acquired, start))
        if way.span == lost.acquired:  # the first time there is nothing
            demand(not lost.handle and text.starts_empty(lost.name, lost.function))
        else:
            demand(acquired < start and held_in.holds(start))
        edits.append(text.insert(start, f"{statement};\n{text.indentation(start)}"))
    return Fix(f"Call `{call}` before `{lost.name}` gets another value", tuple(edits), _UNSAFE)
