"""Declares what a file uses and no header that was found declares.

A name that clang does not know costs the statement, or the whole function, in which it stands:
``Engine::~Engine() { cudaFree(data_); }`` is lost when ``Engine``'s header is missing. So the file
is read again after declarations that say as little as possible: classes that are made of anything,
namespaces, and values of an unknown type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cudalint.frontends.cuda.blanked import blanked
from cudalint.frontends.cuda.macros import (
    BLOCKS,
    KINDS,
    LARGEST_BLOCK,
    definition,
    is_head,
    macro_kind,
)

_MOST_NAMES = 300
_MOST_USES = 200
_LARGEST_TEXT = 2_000_000

_UNKNOWN = re.compile(
    r"^(use of undeclared identifier|unknown type name|no (?:template|member|type) named)"
    r" '(\w+)'(?: in namespace '([\w:]+)')?"
)
_NO_MEMBER = re.compile(r"^no (?:member|template) named '(\w+)' in '([\w:]+)")
_NO_RANGE = re.compile(r"^invalid range expression of type '(?:const )?([\w:]+)")
_EXPECTED_SCOPE = re.compile(r"^expected (?:namespace|class) name")
_NO_SPECIFIER = "a type specifier is required for all declarations"
_CLASHES = re.compile(
    r"(?:redefinition of|reference to|declaration of|redeclaration of|call to) '(?:\w+::)*(\w+)'"
)
_RETYPED = re.compile(
    r"redefinition of '\w+' with a different type: '(\w+)'(?: \(aka '[^']*'\))? vs "
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_ALIAS = re.compile(r"\bnamespace\s+(\w+)\s*=\s*(?:::)?\s*(\w+)")
_FLOATING = re.compile(r"(?i)real|float|scalar|^fp\d*$|^double|data_?type|value_?t(?:ype)?$|dtype$")
_INTEGER = re.compile(
    r"(?i)^u?int|^u?long|^[ui]\d+$|index|idx|^size|count_?t$|^u(char|short)$|_id_t$"
)
_NUMBER_ARGUMENT = re.compile(r"[\d\s+*/()-]+|[A-Z][A-Z0-9_]+|true|false")
_ARGUMENTS = r"<(?:[^<>;{}()]|<(?:[^<>;{}()]|<[^<>;{}()]*>)*>)*>"
_DECLARED = re.compile(
    r"\b(?:class|struct|union|enum|using)\s+(\w+)\b(?!\s*[,>])|#\s*define\s+(\w+)"
    r"|\btypedef\b[^;{]*?(\w+)\s*;|\}\s*\**(\w+)\s*;"
)
_CHAIN = re.compile(r"((?:\s*::\s*~?\w+)+)")
_TEMPLATE_CHAIN = re.compile(rf"(?:\s*{_ARGUMENTS})?((?:\s*::\s*~?\w+)+)")
_TEMPLATE_METHOD = re.compile(rf"(?:\.|->)\s*(?=(\w+)\s*{_ARGUMENTS}\s*\()")
_MEMBER_OF = re.compile(r"(?:\.|->|\w\s*::)\s*$")
_IN_EXPRESSION = re.compile(r"[:=(,<]\s*$|\breturn\s*$")
_KEYWORDS = frozenset(
    {
        "alignas", "alignof", "auto", "break", "case", "catch", "class", "const", "constexpr",
        "continue", "decltype", "default", "delete", "do", "else", "enum", "explicit", "export",
        "extern", "false", "for", "friend", "goto", "if", "inline", "mutable", "namespace", "new",
        "noexcept", "nullptr", "operator", "private", "protected", "public", "return", "sizeof",
        "static", "std", "struct", "switch", "template", "this", "throw", "true", "try",
        "typedef", "typename", "union", "using", "virtual", "volatile", "while",
    }
)  # fmt: skip


@dataclass
class _Scope:
    """A name to declare, and those declared in it."""

    kind: str = "namespace"
    """namespace, class, template, value, method, range, floating, integer, or one of those of a
    macro."""
    head: str = "template <class...>"
    """Of a template: how its declaration begins."""
    members: dict[str, _Scope] = field(default_factory=dict)


def declared_in(text: str) -> frozenset[str]:
    """The classes, aliases, macros and enumerations that a text has."""
    found = (name for match in _DECLARED.finditer(text) for name in match.groups())
    return frozenset(name for name in found if name)


class Undeclared:
    """The names that a file lacks; grows as further attempts find more."""

    def __init__(self, text: str, is_c: bool) -> None:
        self._is_c = is_c
        self._text = ""
        self._places: dict[str, list[int]] = {}
        self._template_methods: frozenset[str] | None = None
        self._declared: set[str] = set()
        """Classes, aliases, macros and enumerations that the text itself has."""
        self._aliases: dict[str, str] = {}
        self.read(text)
        self._root = _Scope()
        self._refused: set[str] = set()
        self._known: set[tuple[str, str]] = set()

    def learn(self, errors: Iterable[tuple[str, int, int]]) -> bool:
        """Take names from errors (message, row, column); whether there was anything new."""
        if not self._text:
            return False
        before = len(self._known) + len(self._refused)
        for message, row, column in errors:
            retyped = _RETYPED.search(message)
            if retyped:
                self._refuse(retyped.group(1))  # ``returm memory;`` declares nothing
            clash = _CLASHES.search(message)
            if clash:
                self._refuse(clash.group(1))
                continue
            lacking = _NO_MEMBER.match(message)
            if lacking:
                self._add_method(lacking.group(1), lacking.group(2))
            ranged = _NO_RANGE.match(message)
            if ranged:
                self._add_elements(ranged.group(1))
            found = _UNKNOWN.match(message)
            if found:
                is_type = found.group(1) == "unknown type name"
                self._declare(found.group(2), found.group(3) or "", is_type=is_type)
            elif _EXPECTED_SCOPE.match(message):
                word = self._word_at(row, column)
                if word:
                    self._declare(word, "", "scope" if "namespace" in message else "class")
            elif message == _NO_SPECIFIER:
                self._declare_head(self._word_at(row, column))
        return len(self._known) + len(self._refused) > before

    def read(self, text: str) -> None:
        """Take a further text for one that uses names, and declares some: that of a header."""
        if len(self._text) + len(text) > _LARGEST_TEXT:
            return
        new = blanked(text)
        self._text += f"{new}\n"
        self._places.clear()
        self._template_methods = None
        self._declared |= declared_in(new)
        self._aliases |= dict(_ALIAS.findall(new))

    def declarations(self) -> str:
        """A header that declares the names."""
        return "".join(f"{line}\n" for line in self._lines(self._root, "namespace"))

    def _add_method(self, name: str, of: str) -> None:
        """A method template of a class of ours: without it clang takes ``x.data<float>()`` for two
        comparisons, and loses the statement. It fits no call: what each returns stays unknown."""
        scope = self._class(of)
        if scope is None or (of, name) in self._known:
            return
        if self._template_methods is None:
            self._template_methods = frozenset(_TEMPLATE_METHOD.findall(self._text))
        if name in self._template_methods:
            self._known.add((of, name))
            scope.members.setdefault(name, _Scope("method"))

    def _add_elements(self, of: str) -> None:
        """What a ``for`` goes through in a class of ours."""
        if (scope := self._class(of)) is not None:
            self._known.add((of, "begin"))
            scope.members.setdefault("begin", _Scope("range"))

    def _class(self, of: str) -> _Scope | None:
        """A class of ours."""
        scope: _Scope | None = self._root
        for part in of.split("::"):
            scope = scope.members.get(part) if scope is not None else None
        return scope if scope is not None and scope.kind in ("class", "template") else None

    def _declare_head(self, name: str | None) -> None:
        """A function without a type: of a macro that writes its head, if that is what it is."""
        if name and name != "main" and not self._is_c:
            uses = (
                (before, self._text[end : end + LARGEST_BLOCK]) for end, before in self._uses(name)
            )
            if all(is_head(before, after) for before, after in uses):
                self._declare(name, "", "head")

    def _refuse(self, name: str) -> None:
        """Declared after all, by the file itself: ours is in its way."""
        if self._root.members.pop(name, None) is not None:
            self._refused.add(name)

    def _word_at(self, row: int, column: int) -> str | None:
        lines = self._text.split("\n")
        line = lines[row - 1] if 0 < row <= len(lines) else ""
        found = _WORD.match(line, column - 1) if column <= len(line) else None
        return found.group() if found and found.group() not in _KEYWORDS else None

    def _declare(
        self, name: str, namespace: str, kind: str | None = None, is_type: bool = False
    ) -> None:
        key = (namespace, name)
        if key in self._known or name in self._refused or len(self._known) >= _MOST_NAMES:
            return
        self._known.add(key)
        if name in self._aliases or name in _KEYWORDS or name in self._declared:
            return
        scope = self._root
        prefix = ""
        for part in filter(None, namespace.split("::")):
            scope = scope.members.setdefault(part, _Scope())
            prefix += f"{part}::"
        used = kind or self._kind(
            name,
            [
                (before, self._text[end : end + LARGEST_BLOCK])
                for end, before in self._uses(prefix + name)
            ],
        )
        if is_type and used in ("value", *BLOCKS):
            self._known.discard(key)  # as a type: it may be missed as a value yet
            return
        if used is None:
            return
        self._add(scope, name, used, prefix)

    def _uses(self, qualified: str) -> Iterator[tuple[int, str]]:
        """Each use that is no member of something else: where it ends, what stands before it."""
        if not self._places:
            for match in _WORD.finditer(self._text):
                self._places.setdefault(match.group(), []).append(match.start())
        prefix, _, name = qualified.rpartition("::")
        for start in self._places.get(name, ())[:_MOST_USES]:
            before = self._text[max(0, start - 60) : start]
            if prefix:
                whole = re.sub(r"\s*::\s*", "::", before)
                if not whole.endswith(f"{prefix}::"):
                    continue
                before = whole.removesuffix(f"{prefix}::")
            if not _MEMBER_OF.search(before):
                yield start + len(name), before

    def _add(self, scope: _Scope, name: str, kind: str, prefix: str = "") -> None:
        entry = scope.members.setdefault(name, _Scope(kind))
        if kind == "scope":
            entry.kind = "class" if self._is_class(name) else "namespace"
        if kind == "template":
            entry.head = self._template_head(name)
        if entry.kind in ("namespace", "class", "template"):
            for alias in (name, *(a for a, target in self._aliases.items() if target == name)):
                self._members(entry, prefix, alias)

    def _is_class(self, name: str) -> bool:
        """Whether what stands before ``::`` is a class: it is used as a type, or has methods."""
        for end, before in self._uses(name):
            after = self._text[end : end + 400]
            if not re.match(r"\s*::", after):
                if self._is_type_use(name, before, after):
                    return True
                continue
            if re.match(rf"\s*::\s*~?{name}\b", after):
                return True
            method = re.match(r"\s*::\s*\w+", after)
            is_statement = not _IN_EXPRESSION.search(before)
            if method and is_statement and self._is_definition(end + method.end()):
                return True
        return False

    def _members(self, scope: _Scope, prefix: str, name: str) -> None:
        """Declare what the text names as ``name::member``, and what is within that."""
        for end, before in self._uses(prefix + name):
            chain = (_TEMPLATE_CHAIN if scope.kind == "template" else _CHAIN).match(self._text, end)
            if chain:
                parts = [part.strip() for part in chain[1].split("::") if part.strip()]
                self._member(scope, name, parts, before, chain.end())

    def _member(self, scope: _Scope, parent: str, parts: list[str], before: str, end: int) -> None:
        after = self._text[end : end + 200]
        for number, part in enumerate(parts):
            if part.startswith("~") or part == parent or part in _KEYWORDS:
                return
            last = number == len(parts) - 1
            in_class = scope.kind in ("class", "template")
            if last and in_class and self._is_definition(end):
                return
            kind = (self._kind(part, [(before, after)]) or "value") if last else "namespace"
            if kind in ("namespace", "scope"):
                kind = "class" if in_class else "namespace"
            known = scope.members.get(part)
            if known is None:
                known = scope.members[part] = _Scope(kind)
                if kind == "template":
                    known.head = self._template_head(part)
            elif known.kind == "value" or (known.kind == "namespace" and kind == "class"):
                known.kind = kind
            scope, parent = known, part

    def _is_definition(self, end: int) -> bool:
        """Whether a function's parameters and body follow."""
        return bool(
            re.match(r"\s*\([^;{}]*\)[^;{}()]*(?:\{|:\s*\w+\s*[({])", self._text[end : end + 2000])
        )

    def _kind(self, name: str, uses: Sequence[tuple[str, str]]) -> str | None:
        """What a name is, by how it is used; ``None`` where clang does well without it."""
        is_value = is_function = False
        macro = macro_kind(uses, self._is_c)
        if macro:
            return macro
        for before, following in uses:
            after = following[:200]
            if re.match(r"\s*::", after):
                return "scope"
            template = re.match(rf"\s*{_ARGUMENTS}", after)
            if template:
                rest = after[template.end() :]
                if re.match(r"\s*<<<", rest):
                    return "kernel"
                if re.match(r"\s*\(", rest) and not re.search(r"\bnew\s+$", before):
                    is_function = True
                    continue
                if re.match(r"\s*(?:::|[&*>,){]|\w)", rest):
                    return "template"
            if self._is_type_use(name, before, after):
                if _FLOATING.search(name):
                    return "floating"
                return "integer" if _INTEGER.search(name) else "class"
            if not re.match(r"\s*\(", after):
                is_value = True
        if is_function:
            return "function"
        return "value" if is_value else None

    def _is_type_use(self, name: str, before: str, after: str) -> bool:
        """Whether only a type can stand between the two."""
        if re.search(r"\bnew\s*$|\bsizeof\s*\(\s*$|\bconst\s+$|\btypename\s+$", before):
            return True
        if re.search(r"(?:public|private|protected|virtual)\s+$", before):
            return True
        # f<X>, (X *), X name, X *name
        if re.search(r"[<(,]\s*(?:const\s+)?$", before) and re.match(
            r"\s*(?:const\s*)?(?:>(?!>)|[*&]+\s*[>)])", after
        ):
            return True
        if re.match(r"\s+(?:const\s+)?(?!and\b|or\b)[A-Za-z_]\w*\s*[;=,)(\[{:]", after):
            return True
        starred = re.match(r"(\s*)[*&]+(\s*)[A-Za-z_]\w*\s*[=,)\[;]", after)
        if not starred:
            return False
        if re.search(r"(?:^|[;{}])\s*(?:static\s+|const\s+)*$", before):
            return True
        # A product has a space on both sides of its sign, or none, or a constant before it.
        left, right = (bool(space) for space in starred.groups())
        is_product = left == right and (left or name.isupper())
        return not is_product and bool(re.search(r"[(,]\s*(?:const\s+)?$", before))

    def _template_head(self, name: str) -> str:
        defined = re.search(
            rf"template\s*<([^<>]*)>[\w\s:&*]*?\b{name}\s*{_ARGUMENTS}\s*::", self._text
        )
        if defined:
            return f"template <{defined[1].strip()}>"
        used = re.search(rf"\b{name}\s*<([^<>;{{}}()]*)>", self._text)
        kinds = [
            "auto"
            if re.fullmatch(r"[\d\s+*/()-]+|[A-Z][A-Z0-9_]+|true|false", part.strip())
            else "class"
            for part in (used[1].split(",") if used else ())
        ]
        if "auto" not in kinds:
            return "template <class...>"
        return f"template <{', '.join(kinds)}, {kinds[-1]}...>"

    def _lines(self, scope: _Scope, kind: str) -> Iterator[str]:
        for name, member in scope.members.items():
            if member.kind in KINDS:
                yield from definition(name, member.kind, self._is_c)
            elif self._is_c:
                if member.kind in ("class", "floating", "integer"):
                    yield _c_type(name, member.kind)
            else:
                yield from self._declaration(name, member, kind)

    def _declaration(self, name: str, scope: _Scope, within: str) -> Iterator[str]:
        if scope.kind == "namespace" and within == "namespace":
            yield f"namespace {name} {{"
            yield from self._lines(scope, "namespace")
            yield "}"
        elif scope.kind in ("class", "template", "namespace"):
            head = f"{scope.head} " if scope.kind == "template" else ""
            yield f"{head}struct {name} {{"
            yield f"template <class... Anything> {name}(Anything &&...);"
            yield f"~{name}();"
            yield from self._lines(scope, "class")
            yield "};"
        elif scope.kind in ("floating", "integer"):
            yield f"typedef {'float' if scope.kind == 'floating' else 'int'} {name};"
        elif scope.kind in ("kernel", "function"):
            what = "__global__ void" if scope.kind == "kernel" else "int"
            what = f"static {what}" if within == "class" and scope.kind == "function" else what
            if within == "class" and scope.kind == "kernel":
                return
            for head in ("class... T", "auto... T", "class F, auto... T", "auto F, class... T"):
                yield f"template <{head}, class... Anything> {what} {name}(Anything...);"
        elif scope.kind == "range":
            # Elements of any class.
            yield "struct cudalint_element { template <class T> operator T &() const; };"
            yield "cudalint_element *begin() const; cudalint_element *end() const;"
        elif scope.kind == "method":
            yield f"template <class...> auto {name}(struct unlike_any_argument &);"
        else:
            # An error of its own makes the type of each use unknown.
            yield f"static auto {name} = cudalint_unknown();"


def _c_type(name: str, kind: str) -> str:
    if kind == "class":
        return f"typedef struct cudalint_{name} {{ char unknown; }} {name};"
    return f"typedef {'float' if kind == 'floating' else 'int'} {name};"
