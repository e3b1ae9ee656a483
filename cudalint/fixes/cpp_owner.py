"""A scoped owner in C++: it releases however the function is left."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.repair import ReleaseOnExits
from cudalint.fixes.cpp import CppText
from cudalint.fixes.spelling import last_name, release_call
from cudalint.fixes.text import LONGEST_LINE, demand
from cudalint.source import Span

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
    demand("goto" not in function and name in function and not repair.number)
    owned = _handle_type(repair, text) if repair.handle else "void"
    demand(repair.handle or function[function.index(name) - 1] == "*")
    # An owner of the first is none of what the variable is given later.
    demand(sum(pair == ("&", name) for pair in itertools.pairwise(function)) < 2)
    call, _ = release_call(repair, text)
    release = call.partition("(")[0]
    demand(release in map(last_name, repair.releases) and call == f"{release}({name})")
    owner = f"{name}_owner"
    demand(owner not in function)
    begin = text.statement_start(text.number(text.bounds(repair.acquired)[0]))
    last = _last(begin, text)
    behind = text.tokens[last].end
    scope = text.block(behind)
    spans = [*(way.span for way in repair.ways), *(site.span for site in repair.released)]
    places = [text.bounds(span)[0] for span in spans]
    demand(all(place >= behind and scope.holds(place) for place in places))
    demand(all(text.compiled_with(repair.acquired, place) for place in places))
    declared = f"std::unique_ptr<{owned}, decltype(&{release})> {owner}({name}, &{release});"
    indentation = text.indentation(behind)
    if len(indentation) + len(declared) > LONGEST_LINE:
        further = f"\n{indentation}{text.step_in(behind)}"
        declared = declared.replace(f"> {owner}", f">{further}{owner}")
    edits = [
        _on_a_line(declared, last, text),
        *(_without(one.span, name, owner, scope.end, text) for one in repair.released),
        *_include(text),
    ]
    return Fix(
        f"Let a `std::unique_ptr` own `{name}`, which calls `{release}` on every way out",
        tuple(sorted(edits, key=lambda edit: edit.span)),
        Applicability.UNSAFE,
    )


def _handle_type(repair: ReleaseOnExits, text: CppText) -> str:
    """What a handle points to, by the type that it is declared with."""
    start, end = text.bounds(repair.function)
    first = next(token for token in text.between(start, end) if token.text == repair.name)
    number = text.number(first.start)
    begin = text.statement_start(number)
    words = [token.text for token in text.tokens[begin:number]]
    kind = re.match(r"\w+(?: : : \w+)* ?", " ".join([*words, ""]))
    demand(kind and text.tokens[begin].start > start)
    assert kind is not None
    others = " ".join([*words, ""])[kind.end() :]
    demand(re.fullmatch(r"(?:\w+(?: = (?:nullptr|NULL|0))? , )*", others))
    demand(words[0] not in ("auto", "const", "static", "return"))
    return f"std::remove_pointer_t<{kind[0].replace(' ', '')}>"


def _last(begin: int, text: CppText) -> int:
    """The number of the last token of the statement that acquires, or of the one that looks at its
    status."""
    demand(not text.in_branch(begin))
    if text.word(begin) == "if":
        return _end_of_if(begin, text)
    end = text.statement_end(begin)
    demand(text.word(begin) not in ("return", "throw"))
    status = _assigned([token.text for token in text.tokens[begin:end]])
    return end if status is None else _end_of_check(status, end, text)


def _on_a_line(statement: str, last: int, text: CppText) -> Edit:
    """A statement on a line of its own, behind a token and the comment beside it."""
    behind = text.tokens[last].end
    indentation = text.indentation(behind)
    rest = text.text[behind : text.line_end(behind)].strip()
    if not rest or rest.startswith("//"):
        return text.insert(text.line_end(behind), f"\n{indentation}{statement}")
    following = text.tokens[last + 1]
    demand(following.text != "}" and not text.text[behind : following.start].strip())
    return text.edit(behind, following.start, f"\n{indentation}{statement}\n{indentation}")


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


def _without(site: Span, name: str, owner: str, end: int, text: CppText) -> Edit:
    """A release that the owner makes: away where the scope ends right after, else by it. Where its
    status is looked at, the owner hands over what is released."""
    start, stop = text.bounds(site)
    number = text.number(start)
    begin = text.statement_start(number)
    written = [token.text for token in text.tokens[begin:number]]
    if not written or (len(written) == 2 and written[1] == "("):
        last = text.statement_end(begin)
        first, semicolon = text.tokens[begin].start, text.tokens[last].end
        rest = text.text[semicolon : text.line_end(semicolon)].strip()
        alone = text.leads(first) and not rest and not text.in_branch(begin)
        if alone and _ends_soon(last + 1, end, text):
            line_end = text.text.find("\n", semicolon) + 1 or len(text.text)
            return text.edit(text.line_start(first), line_end, "")
        if not written:
            return text.edit(first, semicolon, f"{owner}.reset();")
    found = [token for token in text.between(start, stop) if token.text == name]
    demand(len(found) == 1)
    return text.edit(found[0].start, found[0].end, f"{owner}.release()")


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
