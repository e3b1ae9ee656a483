"""Releases of C++: before each way out that misses one."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.repair import ReleaseOnExits, WayOut
from cudalint.fixes.cpp import CppText
from cudalint.fixes.spelling import release_call
from cudalint.fixes.text import LONGEST_LINE, demand, is_place, name_of_result

_HARMLESS = ("GetErrorString", "GetErrorName", "GetStatusString", "GetLastErrorString")
_CASTS = {"static_cast", "const_cast", "reinterpret_cast", "sizeof", "decltype"}
_KEYWORDS = {"if", "while", "for", "switch", "return", "catch"}


def release_before_exits(repair: ReleaseOnExits, text: CppText) -> Fix:
    """The release right before each way out."""
    demand(is_place(repair.name) and repair.ways)
    call, site = release_call(repair, text)
    statement = call if site is None else wrapped(call, text.bounds(site.span)[0], text)
    edits: list[Edit] = []
    safe = repair.sure
    for way in repair.ways:
        demand(_is_there(repair, way, text))
        start, _ = text.bounds(way.span)
        demand(text.compiled_with(repair.acquired, start))
        for name in _names(call):
            demand(text.declared_around(name, repair.function, start))
        number = text.number(start)
        if text.word(number) == "}":
            edits.append(at_end(number, f"{statement};", text))
            continue
        demand(text.word(number) == ("throw" if way.throws else "return"))
        # Where something has failed, that is the news, not what a check of the release says.
        release = call if way.failing or way.throws else statement
        leaving = _Leaving(text, number, repair)
        edits += leaving.with_release(release)
        safe = safe and not leaving.evaluates_first
    return Fix(
        f"Call `{call}` on {'the ways' if len(repair.ways) > 1 else 'the way'} out without it",
        tuple(edits),
        Applicability.SAFE if safe else Applicability.UNSAFE,
    )


def _is_there(repair: ReleaseOnExits, way: WayOut, text: CppText) -> bool:
    """Whether a release before a way out meets the resource, or at worst null."""
    if way.held == "unless failed":
        return not repair.handle and text.starts_empty(repair.name, repair.function)
    return way.held == "always"


def _names(call: str) -> Iterator[str]:
    """The variables that a call needs."""
    _, _, arguments = call.partition("(")
    for one in arguments.removesuffix(")").split(","):
        name = one.replace("->", ".").strip(" &").partition(".")[0]
        if name.isidentifier():
            yield name


def wrapped(call: str, start: int, text: CppText) -> str:
    """The release in what the project wraps its own release at an offset in:
    ``CHECK(cudaFree(p))``."""
    number = text.number(start)
    begin = text.statement_start(number)
    wrapper = [token.text for token in text.tokens[begin:number]]
    if len(wrapper) != 2 or wrapper[1] != "(" or wrapper[0] in _KEYWORDS:
        return call
    closing = text.other(begin + 1)
    last = text.tokens[closing - 1]
    whole = last.text == ")" and text.other(closing - 1) == text.callee_end(number)
    alone = whole and text.word(closing + 1) == ";"
    return f"{wrapper[0]}({call})" if alone else call


def at_end(number: int, statement: str, text: CppText) -> Edit:
    """Right before a closing brace."""
    brace = text.tokens[number].start
    demand(number in text.pairs)
    if not text.leads(brace):
        padding = "" if text.text[brace - 1].isspace() else " "
        return text.insert(brace, f"{padding}{statement} ")
    indentation = text.indentation(brace) + text.step_in(brace)
    return text.insert(text.line_start(brace), f"{indentation}{statement}\n")


class _Leaving:
    """A ``return`` or ``throw`` that gets a release before it."""

    def __init__(self, text: CppText, number: int, repair: ReleaseOnExits) -> None:
        self.text = text
        self.number = number
        self.semicolon = text.statement_end(number)
        self.start, self.end = text.tokens[number].start, text.tokens[self.semicolon].end
        self.value = text.tokens[number + 1 : self.semicolon]
        self.throws = text.word(number) == "throw"
        self.function = text.at(repair.function)
        self.evaluates_first = not self._is_independent(repair.name)

    def with_release(self, release: str) -> list[Edit]:
        """The edits."""
        text, lines, edits = self.text, [f"{release};"], []
        if self.evaluates_first:
            # In C it would need its type, and what a `throw` makes has no name yet.
            demand(not self.throws and self.value[0].text != "{")
            demand(not text.filename.endswith(".c") and text.before(self.number).text != ":")
            name = name_of_result(self.function)
            start, end = self.value[0].start, self.value[-1].end
            lines = [f"const auto {name} = {text.text[start:end]};", *lines]
            edits.append(text.edit(start, end, name))
        if text.in_branch(self.number):
            return [*self._braced(lines), *edits]
        between = f"\n{text.indentation(self.start)}" if text.leads(self.start) else " "
        return [text.insert(self.start, "".join(f"{line}{between}" for line in lines)), *edits]

    def _braced(self, lines: list[str]) -> list[Edit]:
        """The branch of one statement becomes a block, on as many lines as it had."""
        text, start, end = self.text, self.start, self.end
        opening = text.insert(text.before(self.number).end, " {")
        if not text.leads(start):
            return self._inline(lines)
        inner = text.indentation(start)
        written = "".join(f"{line}\n{inner}" for line in lines)
        behind = text.line_end(end)
        rest = text.text[end:behind].strip()
        demand(not rest or rest.startswith("//"))
        other = text.tokens[self.semicolon + 1] if self.semicolon + 1 < len(text.tokens) else None
        if other is not None and other.text == "else" and text.leads(other.start):
            return [opening, text.insert(start, written), text.insert(other.start, "} ")]
        outer = text.indentation(text.tokens[text.statement_start(self.number)].start)
        return [opening, text.insert(start, written), text.insert(behind, f"\n{outer}}}")]

    def _inline(self, lines: list[str]) -> list[Edit]:
        """A block in the line of its condition, if that does not become too long."""
        text, start, end = self.text, self.start, self.end
        before = text.before(self.number)
        line = text.text[text.line_start(start) : end]
        rest = text.text[end : text.line_end(end)].strip()
        added = sum(len(one) + 1 for one in lines) + len("{  }")
        first = text.tokens[text.statement_start(self.number)]
        if len(line) + added <= LONGEST_LINE or not text.leads(first.start):
            written = "".join(f"{one} " for one in lines)
            opening = text.insert(before.end, " {")
            return [opening, text.insert(start, written), text.insert(end, " }")]
        demand(not rest or rest.startswith("//"))
        outer = text.indentation(start)
        inner = outer + text.step_in(start)
        written = "".join(f"{one}\n{inner}" for one in lines)
        return [
            text.edit(before.end, start, f" {{\n{inner}{written}"),
            text.insert(text.line_end(end), f"\n{outer}}}"),
        ]

    def _is_independent(self, name: str) -> bool:
        """Whether what is returned is the same after the release."""
        words = [token.text for token in self.value]
        if name.replace("->", ".").partition(".")[0] in words:
            return False
        calls = [
            number
            for number, word in enumerate(words)
            if word == "(" and number and words[number - 1].isidentifier()
        ]
        if self.throws:
            calls = calls[1:]  # the exception itself
        return all(
            words[number - 1] in _CASTS
            or words[number - 1].endswith(_HARMLESS)
            or words[number - 4 : number - 1] == ["std", ":", ":"]
            for number in calls
        )
