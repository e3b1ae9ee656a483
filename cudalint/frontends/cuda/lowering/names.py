"""What a called function is: its key, its qualified name, whether it throws or returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from clang.cindex import Cursor

from cudalint.frontends.cuda.lowering.libclang import (
    Kind,
    address,
    children,
    library,
    name_of,
    related,
    string,
    usr,
)
from cudalint.frontends.cuda.lowering.positions import Positions
from cudalint.frontends.cuda.lowering.templates import Templates

_TEMPLATES = (Kind.FUNCTION_TEMPLATE, Kind.CLASS_TEMPLATE, Kind.PARTIAL_SPECIALIZATION)
FUNCTIONS = (
    Kind.FUNCTION,
    Kind.METHOD,
    Kind.CONSTRUCTOR,
    Kind.DESTRUCTOR,
    Kind.CONVERSION,
    Kind.FUNCTION_TEMPLATE,
)
RECORDS = (
    Kind.STRUCT,
    Kind.CLASS,
    Kind.UNION,
    Kind.CLASS_TEMPLATE,
    Kind.PARTIAL_SPECIALIZATION,
)
_NAMED_SCOPES = (*RECORDS, Kind.NAMESPACE, Kind.ENUM)
_NEVER_RETURN = frozenset(
    (
        "exit", "abort", "_exit", "_Exit", "quick_exit", "terminate", "longjmp",
        "__assert_fail", "__assert", "__assert_rtn", "_wassert",
        "__builtin_unreachable", "__builtin_trap",
        "std::exit", "std::abort", "std::_Exit", "std::quick_exit", "std::terminate",
        "std::rethrow_exception", "std::unreachable",
    )
)  # fmt: skip
# CXCursor_ExceptionSpecificationKind: throw(), noexcept, noexcept(...), __declspec(nothrow).
_NO_THROW = (1, 4, 5, 9)


@dataclass(frozen=True)
class FunctionFacts:
    """What a call needs to know of the function that it calls."""

    name: str
    """Qualified (``thrust::copy``, ``Pool::grow``)."""
    key: str
    kind: int
    declaration: Cursor
    """The pattern, where an instance is not lowered itself."""
    record: Cursor | None
    """The class of a method."""
    may_throw: bool | None
    noreturn: bool
    is_system: bool
    is_static: bool
    is_c: bool


class Names:
    """Facts of functions and qualified names, each found once."""

    def __init__(
        self, positions: Positions, templates: Templates, use: Callable[[Cursor], None]
    ) -> None:
        self._library = library()
        self._positions = positions
        self._templates = templates
        self._use = use
        self._qualified: dict[int, str] = {}
        self._functions: dict[int, FunctionFacts] = {}

    def qualified(self, declaration: Cursor) -> str:
        """The name with its classes and namespaces; inline and unnamed namespaces left out."""
        identity = address(declaration)
        known = self._qualified.get(identity)
        if known is not None:
            return known
        name = name_of(declaration)
        # Constructors of templates are spelled Buffer<T>:
        if declaration._kind_id in (Kind.CONSTRUCTOR, Kind.DESTRUCTOR):
            name = name.partition("<")[0]
        scope = self._scope(declaration)
        qualified = f"{scope}::{name}" if scope and name else name or scope
        self._qualified[identity] = qualified
        return qualified

    def _scope(self, declaration: Cursor) -> str:
        parent = related("parent", declaration)
        while parent is not None and parent._kind_id in _NAMED_SCOPES:
            kind = parent._kind_id
            skipped = kind == Kind.NAMESPACE and (
                self._library.is_inline_namespace(parent) or self._library.is_anonymous(parent)
            )
            if not skipped:
                return self.qualified(parent)
            parent = related("parent", parent)
        return ""

    @contextmanager
    def afresh(self) -> Iterator[None]:
        """Inside, nothing holds that was found of functions so far."""
        kept = self._functions
        self._functions = {}
        try:
            yield
        finally:
            self._functions = kept

    def function(self, declaration: Cursor) -> FunctionFacts:
        """The facts of a function, method or template."""
        identity = address(declaration)
        known = self._functions.get(identity)
        if known is None:
            known = self._functions[identity] = self._facts(declaration)
            self._use(known.declaration)
        return known

    def _facts(self, declaration: Cursor) -> FunctionFacts:
        pattern = self._templates.pattern(declaration)
        lowered = self._templates.chosen(declaration)
        kind = lowered._kind_id
        if kind == Kind.FUNCTION_TEMPLATE:
            kind = self._library.template_kind(lowered)
        key = usr(lowered)
        name = self.qualified(pattern)
        parent = related("parent", lowered)
        record = parent if parent is not None and parent._kind_id in RECORDS else None
        is_system = self._positions.is_system(pattern)
        is_c = record is None and key.endswith(f"@F@{name}")
        may_throw: bool | None = None
        if self._library.exceptions(declaration) in _NO_THROW or (
            is_system and (is_c or (name.startswith(("cuda", "cu")) and "::" not in name))
        ):
            may_throw = False
        return FunctionFacts(
            name,
            key,
            kind,
            lowered,
            record,
            may_throw,
            self._never_returns(declaration, name, is_system),
            is_system,
            record is not None and bool(self._library.is_static(lowered)),
            is_c,
        )

    def _never_returns(self, declaration: Cursor, name: str, is_system: bool) -> bool:
        if name in _NEVER_RETURN:
            return True
        spelled = string(self._library.type_spelling(self._library.type(declaration)))
        if "noreturn" in spelled:
            return True
        if is_system or not self._library.has_attributes(declaration):
            return False
        return any(
            child._kind_id == Kind.UNEXPOSED_ATTRIBUTE
            and "noreturn" in self._positions.text(child).lower()
            for child in children(declaration)
        )

    def overloads(self, cursor: Cursor) -> list[Cursor]:
        """The candidates of an overloaded name."""
        found = []
        for number in range(min(self._library.overloads(cursor), 32)):
            candidate: Any = self._library.overload(cursor, number)
            candidate._tu = cursor._tu
            found.append(candidate)
        return found


def outermost_template(cursor: Cursor) -> Cursor | None:
    """The template that a function or class is, or is part of."""
    found = None
    around: Cursor | None = cursor
    while around is not None and around._kind_id in (*FUNCTIONS, *RECORDS):
        if around._kind_id in _TEMPLATES:
            found = around
        around = related("parent", around)
    return found
