"""Members of classes: the release that a destructor or closing method lacks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from cudalint.findings.fix import Applicability, Fix
from cudalint.findings.repair import Named, ReleaseMember
from cudalint.fixes.cpp import CppText
from cudalint.fixes.cpp_release import at_end, wrapped
from cudalint.fixes.python import PythonText
from cudalint.fixes.spelling import last_name, parts_of_call, prefix_of, usual_release
from cudalint.fixes.text import GiveUp, Text, demand, is_place
from cudalint.source import Span

_CONDITIONED = {"if", "while", "for", "switch", "catch", "constexpr"}


def release_in_destructor(repair: ReleaseMember, text: CppText) -> Fix:
    """The release behind that of a sibling, else where the destructor ends."""
    destructor = [] if repair.destructor is None else _words(repair.destructor, text)
    demand(repair.name not in destructor)  # it is released, in a way that is not seen
    called = [inner for one in repair.siblings for inner in _in_what_is_called(one, repair, text)]
    beside = [one for one in (*repair.siblings, *called) if _stands_alone(one, text)]
    if beside and not repair.last:
        place, call = _call(beside[0], repair, text)
        site, _ = text.bounds(beside[0].span)
        begin = text.statement_start(text.number(site))
        end = text.tokens[text.statement_end(begin)].end
        behind = text.line_end(end)
        rest = text.text[end:behind].strip()
        demand(not rest or rest.startswith("//"))
        statement = wrapped(call, site, text) if _alike(beside[0], call, text) else call
        statement = _guarded(place, statement, repair)
        edit = text.insert(behind, f"\n{text.indentation(end)}{statement};")
        where = f"beside that of `{beside[0].text}`"
    else:
        demand(repair.destructor)
        assert repair.destructor is not None
        _, end = text.bounds(repair.destructor)
        demand(not any(_is_handled(repair.name, one, text) for one in called))
        demand("return" not in destructor and "~" in destructor[: destructor.index("{")])
        demand(repair.constructed or _starts_empty(repair.name, text))
        place, call = _call(None, repair, text)
        number = text.number(end - 1)
        demand(text.word(number) == "}")
        edit = at_end(number, f"{_guarded(place, call, repair)};", text)
        where = "in the destructor"
    return Fix(f"Call `{call}` {where}", (edit,), Applicability.UNSAFE)


def _words(span: Span, text: CppText) -> list[str]:
    return [token.text for token in text.between(*text.bounds(span))]


def _alike(site: Named, call: str, text: CppText) -> bool:
    """Whether both are released by one function, whose status is then looked at alike."""
    return parts_of_call(text.at(site.span))[0] == parts_of_call(call)[0]


def _guarded(place: str, call: str, repair: ReleaseMember) -> str:
    """A handle may not have been made yet, and null cannot be released."""
    return f"if ({place}) {call}" if repair.handle and not repair.constructed else call


def _call(beside: Named | None, repair: ReleaseMember, text: Text) -> tuple[str, str]:
    """The member's place and its release, as that of a sibling is written."""
    owner = repair.owner
    if beside is not None:
        written = " ".join(text.at(beside.span).split())
        callee, arguments = parts_of_call(written)
        demand(len(arguments) == 1 and arguments[0].endswith(beside.text))
        owner = arguments[0].removesuffix(beside.text)
        if callee in map(last_name, repair.releases):
            place = f"{owner}{repair.name}"
            return place, re.sub(rf"(?<![\w.>]){re.escape(arguments[0])}(?!\w)", place, written)
    place = f"{owner}{repair.name}"
    demand(is_place(place))
    usual = usual_release(repair.api, repair.releases)
    demand(usual)
    return place, f"{prefix_of(repair.api, text.at(repair.acquired))}{usual}({place})"


def _stands_alone(site: Named, text: CppText) -> bool:
    """Whether a sibling's release is a statement of a function's own block."""
    _, arguments = parts_of_call(text.at(site.span))
    if len(arguments) != 1 or not re.search(rf"(^|\.|>){re.escape(site.text)}$", arguments[0]):
        return False
    begin = text.statement_start(text.number(text.bounds(site.span)[0]))
    if text.in_branch(begin) or not text.leads(text.tokens[begin].start):
        return False
    opening = text.number(text.block(text.tokens[begin].start).start - 1)
    before = text.before(opening).text
    if before != ")":
        return before not in ("else", "do", "try")
    around = text.other(opening - 1)
    return around > 0 and text.before(around).text not in _CONDITIONED


def _in_what_is_called(site: Named, repair: ReleaseMember, text: CppText) -> Iterator[Named]:
    """Where a function of the file, called in the place of a sibling's release, makes that."""
    releases = set(map(last_name, repair.released_by))
    called = re.match(r"(?:this->)?(\w+)\s*\(", text.at(site.span))
    for number, token in enumerate(text.tokens):
        if called is None or token.text != called[1] or text.word(number + 1) != "(":
            continue
        opening = text.pairs.get(number + 1, number) + 1
        if text.word(opening) == "{":
            for inner in range(opening, text.other(opening)):
                if text.word(inner) in releases and text.word(inner + 1) == "(":
                    end = text.tokens[text.other(inner + 1)].end
                    yield Named(text.source.span(text.tokens[inner].start, end), site.text)


def _is_handled(name: str, site: Named, text: CppText) -> bool:
    """Whether the block of a release does something to a member as well."""
    block = text.block(text.bounds(site.span)[0])
    return any(token.text == name for token in text.between(block.start, block.end))


def _starts_empty(name: str, text: CppText) -> bool:
    """Whether a member is null before something is acquired into it."""
    empty = r"(=\s*(nullptr|NULL|0)\s*[;,]|\{\s*(nullptr|NULL|0)?\s*\}|\(\s*(nullptr|NULL|0)\s*\))"
    return re.search(rf"\b{re.escape(name)}\s*{empty}", text.text) is not None


def release_in_closing_method(repair: ReleaseMember, text: PythonText) -> Fix:
    """The release behind that of a sibling, in the method that closes an object."""
    demand(repair.siblings and not repair.last)
    for site in repair.siblings:
        suite = text.suite_at(text.bounds(site.span)[0])
        statement = suite.statements[suite.position]
        _, arguments = parts_of_call(text.at(site.span))
        alone = isinstance(statement, ast.Expr | ast.Assign) and text.leads(text.start(statement))
        if not alone or not suite.of_function or arguments[-1:] != [f"self.{site.text}"]:
            continue
        _, call = _call(site, repair, text)
        behind = text.line_end(text.end(statement))
        indentation = text.indentation(text.start(statement))
        edit = text.insert(behind, f"\n{indentation}{call}")
        return Fix(f"Call `{call}` beside that of `{site.text}`", (edit,), Applicability.UNSAFE)
    raise GiveUp
