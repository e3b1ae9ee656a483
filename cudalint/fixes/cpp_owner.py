"""A scoped owner in C++: it releases however the function is left."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.repair import ReleaseOnExits
from cudalint.fixes.cpp import CppText
from cudalint.fixes.spelling import last_name, release_call
from cudalint.fixes.text import demand

_INCLUDE = re.compile(
    r"""^[ \t]*\#[ \t]*include[ \t]*(?P<opening>[<"])(?P<name>[^>"\n]*)""",
    re.MULTILINE | re.VERBOSE,
)


def own(repair: ReleaseOnExits, text: CppText) -> Fix:
    """A ``std::unique_ptr`` with the release as its deleter, right behind the acquisition."""
    name = repair.name
    demand(name.isidentifier() and not repair.handed_over and not text.filename.endswith(".c"))
    function = [token.text for token in text.between(*text.bounds(repair.function))]
    # A jump must not pass by the owner, and what is no pointer has no place in it.
    demand("goto" not in function and name in function)
    demand(function[function.index(name) - 1] == "*")
    call, _ = release_call(repair, text)
    release = call.partition("(")[0]
    demand(release in map(last_name, repair.releases) and call == f"{release}({name})")
    owner = f"{name}_owner"
    demand(owner not in function)
    begin = text.statement_start(text.number(text.bounds(repair.acquired)[0]))
    behind = _behind(begin, text)
    scope = text.block(behind)
    spans = [*(way.span for way in repair.ways), *(site.span for site in repair.released)]
    places = [text.bounds(span)[0] for span in spans]
    demand(all(place >= behind and scope.holds(place) for place in places))
    demand(all(text.compiled_with(repair.acquired, place) for place in places))
    indentation = text.indentation(text.tokens[begin].start)
    declared = f"std::unique_ptr<void, decltype(&{release})> {owner}({name}, &{release});"
    edits = [
        text.insert(behind, f"\n{indentation}{declared}"),
        *(_without(text.bounds(one.span)[0], owner, scope.end, text) for one in repair.released),
        *_include(text),
    ]
    return Fix(
        f"Let a `std::unique_ptr` own `{name}`, which calls `{release}` on every way out",
        tuple(sorted(edits, key=lambda edit: edit.span)),
        Applicability.UNSAFE,
    )


def _behind(begin: int, text: CppText) -> int:
    """The end of the statement that acquires and of the one that looks at its status."""
    demand(not text.in_branch(begin) and text.leads(text.tokens[begin].start))
    if text.word(begin) == "if":
        end = _end_of_if(begin, text)
    else:
        end = text.statement_end(begin)
        demand(text.word(begin) not in ("return", "throw"))
        status = _assigned([token.text for token in text.tokens[begin:end]])
        if status is not None:
            end = _end_of_check(status, end, text)
    behind = text.line_end(text.tokens[end].end)
    rest = text.text[text.tokens[end].end : behind].strip()
    demand(not rest or rest.startswith("//"))
    return behind


def _assigned(words: list[str]) -> str | None:
    """What a statement assigns to, if it does."""
    for position, word in enumerate(words[1:-1], start=1):
        around = {words[position - 1], words[position + 1]}
        if word == "=" and around.isdisjoint("=<>!+-*/|&^%"):
            return words[position - 1]
    return None


def _end_of_check(status: str, end: int, text: CppText) -> int:
    """The number of the last token of the statement that looks at a status right after it is set:
    before that, nobody knows whether there is anything to own."""
    first = text.word(end + 1)
    demand(text.word(end + 2) == "(" and first.isidentifier())
    closing = text.other(end + 2)
    demand(status in [token.text for token in text.tokens[end + 2 : closing]])
    return _end_of_if(end + 1, text) if first == "if" else text.statement_end(end + 1)


def _end_of_if(number: int, text: CppText) -> int:
    """The number of the last token of an ``if`` that leaves, and has no ``else``."""
    demand(text.word(number + 1) == "(")
    closing = text.other(number + 1)
    condition = [token.text for token in text.tokens[number:closing]]
    demand("|" not in condition and "&&" not in "".join(condition))
    if text.word(closing + 1) == "{":
        end = text.other(closing + 1)
    else:
        end = text.statement_end(closing + 1)
    words = [token.text for token in text.tokens[closing : end + 1]]
    demand(not {"return", "throw", "exit", "abort"}.isdisjoint(words))
    demand(text.word(end + 1) != "else")
    return end


def _without(site: int, owner: str, end: int, text: CppText) -> Edit:
    """A release that the owner makes: away where the scope ends right after, else by it. What is
    done with its status stays, with the release that gives it."""
    number = text.number(site)
    begin = text.statement_start(number)
    start = text.tokens[begin].start
    written = [token.text for token in text.tokens[begin:number]]
    branch = text.in_branch(begin)
    if written and not (len(written) == 2 and written[1] == "("):
        demand(not branch and text.leads(start) and written[0] not in ("else", "for", "while"))
        return text.insert(start, f"{owner}.release();\n{text.indentation(start)}")
    last = text.statement_end(begin)
    stop = text.tokens[last].end
    whole_line = text.leads(start) and not text.text[stop : text.line_end(stop)].strip()
    if whole_line and not branch and _ends_soon(last + 1, end, text):
        line_start = text.line_start(start)
        return text.edit(line_start, text.text.find("\n", stop) + 1 or len(text.text), "")
    return text.edit(start, stop, f"{owner}.reset();")


def _ends_soon(number: int, end: int, text: CppText) -> bool:
    """Whether a scope ends, or the function is left with something simple, behind nothing but
    releases."""
    for words in _statements(number, end, text):
        if words[0] == "return":
            return "(" not in words
        if not any(re.search("Free|Destroy", word) for word in words):
            return False
    return True


def _statements(number: int, end: int, text: CppText) -> Iterator[list[str]]:
    words: list[str] = []
    while number < len(text.tokens) and text.tokens[number].start < end:
        word = text.word(number)
        words.append(word)
        number += 1
        if word in (";", "{", "}"):
            yield words
            words = []


def _include(text: CppText) -> list[Edit]:
    """What declares ``std::unique_ptr``: among the C++ headers where they are in order, else behind
    the last one in angle brackets."""
    included = list(_INCLUDE.finditer(text.text))
    if any(match["name"] == "memory" for match in included):
        return []
    demand(included)
    system = [match for match in included if match["opening"] == "<"]
    if not system:
        return [text.insert(included[0].start(), "#include <memory>\n")]
    own = [match for match in system if match["name"].isidentifier()]
    names = [match["name"] for match in own]
    later = next((match for match in own if match["name"] > "memory"), None)
    if later is not None and names == sorted(names):
        return [text.insert(later.start(), "#include <memory>\n")]
    last = own[-1] if own else system[-1]
    return [text.insert(text.line_end(last.start()), "\n#include <memory>")]
