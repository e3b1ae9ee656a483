"""What a function may do to what its caller can reach, read off its whole body, without paths.

A summary of paths is cut where there are too many of them. What its outcomes do not say is then no
news; this is what may be the case all the same, and errs to saying too much.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Ordered
from dataclasses import dataclass, replace

from cudalint.analysis.shape.arguments import bindings, given_at
from cudalint.analysis.shape.members import referred, type_of
from cudalint.analysis.shape.operations import operands, operations
from cudalint.analysis.shape.symbols import Identity, Symbols, identity
from cudalint.analysis.shape.walk import plain
from cudalint.apis.loader import ApiModels
from cudalint.apis.model import ApiFunction
from cudalint.apis.paths import parse_path
from cudalint.program import (
    NUMBERS,
    AddressOf,
    Argument,
    Assign,
    Binary,
    Call,
    Dereference,
    Expression,
    Function,
    Index,
    Member,
    Operation,
    Program,
    Return,
    Type,
    Unary,
    Variable,
    variables,
)

Roots = frozenset[str]
"""Parameters, the receiver, captured variables and globals, by their symbols."""
_NONE: Roots = frozenset()
_OFFSETS = frozenset(("+", "-", "|", "&", "^"))
"""Operators by which an address moves; any other's result is a number of its own."""
_ADDRESS = 8
"""Bytes: a smaller number holds no address."""


@dataclass(frozen=True)
class Effects:
    """What a function may do, itself or through what it calls."""

    released: Roots = _NONE
    """From these it may release something."""
    written: Roots = _NONE
    """Through these it may write."""
    kept: Roots = _NONE
    """These, or what they point to, it may store where it outlives the call."""
    lent: Roots = _NONE
    """These it may give to somebody out of sight."""
    returned: Roots = _NONE
    """These, or a part of them, it may give back."""
    outside: bool = False
    """It may call somebody out of sight, who can reach whatever stands in globals."""

    def joined(self, other: Effects, terms: Mapping[str, str]) -> Effects:
        """What either may do; ``terms``: what roots of the other are called here."""
        kinds = ("released", "written", "kept", "lent", "returned")
        roots = {
            kind: getattr(self, kind) | {terms.get(one, one) for one in getattr(other, kind)}
            for kind in kinds
        }
        return replace(self, **roots, outside=self.outside or other.outside)


NO_EFFECTS = Effects()


class EffectsOf:
    """The effects of the functions of a run, each found once.

    Functions that call each other in a circle are found together, as in Tarjan's algorithm for
    strongly connected components (SIAM J. Comput. 1, 1972), and read again until nothing is new.
    """

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._known: dict[Identity, Effects] = {}
        self._open: list[tuple[Function, Program]] = []
        """Those that are being read, or wait for others of their circle."""
        self._places: dict[Identity, int] = {}
        """Where those stand in the list."""
        self._heads: set[Identity] = set()
        """Those of them that were asked before they were read."""
        self._lowest = 0
        """Of what the function that is being read has asked, the first in the list."""

    def of(self, function: Function, program: Program) -> Effects:
        """What a function may do."""
        asked = identity(function)
        if asked not in self._known:
            self._read(function, program)
        elif asked in self._places:
            self._heads.add(asked)
            self._lowest = min(self._lowest, self._places[asked])
        return self._known[asked]

    def _read(self, function: Function, program: Program) -> None:
        one, place, outer = identity(function), len(self._open), self._lowest
        self._known[one] = NO_EFFECTS
        self._places[one] = self._lowest = place
        self._open.append((function, program))
        self._known[one] = self._body(function, program)
        if self._lowest < place:  # it waits for an earlier one
            self._lowest = min(self._lowest, outer)
            return
        while one in self._heads and self._has_news(self._open[place:]):
            pass
        for member, _ in self._open[place:]:
            del self._places[identity(member)]
        del self._open[place:]
        self._lowest = outer

    def _has_news(self, circle: Ordered[tuple[Function, Program]]) -> bool:
        """Read the functions of a circle again, with what is known of the others by now."""
        found = False
        for function, program in circle:
            known = self._known[identity(function)]
            read = known.joined(self._body(function, program), {})
            self._known[identity(function)] = read
            found = found or read != known
        return found

    def _body(self, function: Function, program: Program) -> Effects:
        return _Body(self._symbols, self, function, program).effects()

    def of_any(self, functions: Ordered[tuple[Function, Program]]) -> Effects:
        """What any of some methods may do that stand for one another, in the terms of the first."""
        found = NO_EFFECTS
        for function, program in functions:
            parameters = zip(function.parameters, functions[0][0].parameters, strict=False)
            terms = {theirs.symbol: mine.symbol for theirs, mine in parameters}
            found = found.joined(self.of(function, program), terms)
        return found

    def may_end(self, call: Call, symbol: str, filename: str, models: ApiModels) -> bool:
        """Whether a call in a file may release, keep or replace what a local that it mentions
        holds."""
        if not any(symbol in variables(operand) for operand in operands(call)):
            return False
        model = models.lookup(call.name)
        if model is not None:
            replaced = bool(model.acquires) and any(
                _is_address(one) and symbol in variables(one.value) for one in call.arguments
            )
            return replaced or bool(model.releases or model.takes or model.inserts)
        found = self._symbols.callees(call, filename)
        if not found:
            return not models.only_borrows(call.name)
        for callee, program in found:
            known = self.of(callee, program)
            bound = bindings(call, callee.parameters)
            for root in known.released | known.kept | known.lent | known.written:
                if root in bound and symbol in variables(bound[root]):
                    return True
        return False


class _Body:
    """One function."""

    def __init__(
        self, symbols: Symbols, known: EffectsOf, function: Function, program: Program
    ) -> None:
        self._symbols = symbols
        self._known = known
        self._function = function
        self._program = program
        self._models = symbols.models(program.language)
        self._python = program.language == "python"
        self._operations = [at.operation for at in operations(function)]
        self._parameters = {one.symbol: one for one in function.parameters}
        self._aliases: dict[str, set[str]] = defaultdict(set)
        self._released: set[str] = set()
        self._written: set[str] = set()
        self._kept: set[str] = set()
        self._lent: set[str] = set()
        self._outside = False

    def effects(self) -> Effects:
        """All that the body may do."""
        self._find_aliases()
        for operation in self._operations:
            self._note(operation)
        return Effects(
            frozenset(self._released),
            frozenset(self._written),
            frozenset(self._kept),
            frozenset(self._lent),
            frozenset(self._roots(*self._results())),
            self._outside,
        )

    def _results(self) -> list[Expression | None]:
        ends = (block.terminator for block in self._function.blocks)
        return [end.value for end in ends if isinstance(end, Return)]

    # Roots ------------------------------------------------------------------------------------

    def _is_root(self, symbol: str) -> bool:
        info = self._function.variables.get(symbol)
        outer = info is not None and info.storage == "captured"
        return symbol in self._parameters or symbol == "this" or symbol.startswith("::") or outer

    def _roots(self, *expressions: Expression | None) -> set[str]:
        mentioned = {s for one in expressions if one is not None for s in variables(one)}
        found = {symbol for symbol in mentioned if self._is_root(symbol)}
        return found.union(*(self._aliases[symbol] for symbol in mentioned))

    def _led_to(self, *values: Expression | None) -> set[str]:
        """The roots that lie where values may lead: a count of elements leads nowhere."""
        return self._roots(*(value for value in values if value and self._may_lead(value)))

    def _given(self, arguments: Iterable[Argument]) -> set[str]:
        """What arguments lead to: by reference, to what they name."""
        given = list(arguments)
        named = self._roots(*(one.value for one in given if one.reference))
        return named | self._led_to(*(one.value for one in given if not one.reference))

    def _may_lead(self, value: Expression) -> bool:
        value = plain(value)
        match value:
            case Binary(operator=operator, left=left, right=right):
                moved = operator in _OFFSETS and (self._may_lead(left) or self._may_lead(right))
                return self._python or moved
            case Unary(operator=operator):
                return self._python or operator != "!"
            case Variable() | Member() | Index() | Dereference():
                kind = referred(type_of(value, self._function, self._program, self._symbols))
                size = kind.bytes if kind is not None and kind.kind in NUMBERS else None
                return size is None or size >= _ADDRESS
            case _:
                return True

    def _find_aliases(self) -> None:
        """What locals may have of the roots."""
        changed = True
        while changed:
            changed = False
            for operation in self._operations:
                if not isinstance(operation, Assign | Call) or operation.target is None:
                    continue
                if not self._may_lead(operation.target):
                    continue
                if isinstance(operation, Assign):
                    roots = self._led_to(operation.value)
                else:
                    roots = self._roots(operation.receiver, operation.callee)
                    roots |= self._given(operation.arguments)
                for symbol in variables(operation.target):
                    if not self._is_root(symbol) and not roots <= self._aliases[symbol]:
                        self._aliases[symbol] |= roots
                        changed = True

    # Operations -------------------------------------------------------------------------------

    def _note(self, operation: Operation) -> None:
        if isinstance(operation, Assign):
            self._store(operation.target, operation.value)
        elif isinstance(operation, Call):
            if operation.target is not None:
                self._store(operation.target, None)
            self._call(operation)

    def _store(self, target: Expression, value: Expression | None) -> None:
        if isinstance(target, Variable):
            parameter = self._parameters.get(target.symbol)
            own = parameter is not None and (parameter.by != "reference" or self._python)
            if own or not self._is_root(target.symbol):
                return  # the function's own copy
        outside = self._roots(*_path(target))
        if not self._is_inside(target):
            self._written |= outside
        if outside:
            self._kept |= self._led_to(value)

    def _is_inside(self, target: Expression) -> bool:
        """Whether it is a part of a local variable itself, reached through no pointer: that it has
        something of a root's does not make it one."""
        match target:
            case Variable(symbol=symbol):
                info = self._function.variables.get(symbol)
                return not self._is_root(symbol) and info is not None and not _leads(info.type)
            case Member(base=base):
                return self._is_inside(base)
            case Index(base=base):
                whole = type_of(base, self._function, self._program, self._symbols)
                return whole is not None and whole.kind == "array" and self._is_inside(base)
            case _:
                return False

    def _call(self, call: Call) -> None:
        model = self._models.lookup(call.name)
        if model is not None:
            self._modelled(call, model)
            return
        found = self._symbols.callees(call, self._function.filename)
        for callee, program in found:
            self._defined(call, callee, program)
        if found:
            return
        if self._copies_members(call):
            self._written |= self._roots(call.receiver)
            self._kept |= self._given(call.arguments)
            return
        if call.assigns:
            # Of a library's class: it ends what there was, and keeps what it is given.
            self._released |= self._roots(call.receiver)
            self._written |= self._roots(call.receiver)
            self._kept |= self._given(call.arguments)
            return
        # Nothing is known of the callee.
        handed = self._roots(
            call.receiver, *(a.value for a in call.arguments if a.reference or _is_address(a))
        )
        self._released |= handed
        self._written |= handed
        self._kept |= handed
        if not self._models.only_borrows(call.name):
            self._outside = True
            self._lent |= self._given(a for a in call.arguments if not a.constant)

    def _copies_members(self, call: Call) -> bool:
        """Whether it is a copy of an object, and its class does nothing else where it is copied."""
        record = self._symbols.record(call.record, self._function.filename)
        if record is None or call.kind not in ("copy", "operator"):
            return False
        return (call.assigns or call.kind == "copy") and self._symbols.copies_members(
            record, call.assigns
        )

    def _modelled(self, call: Call, model: ApiFunction) -> None:
        for release in model.releases:
            root = parse_path(release.handle, model.parameters)
            self._released |= self._roots(given_at(call, root), call.receiver)
        for path in (*model.takes, *model.inserts):
            self._kept |= self._roots(given_at(call, parse_path(path, model.parameters)))
        self._written |= self._roots(*(a.value for a in call.arguments if _is_address(a)))
        if model.acquires:
            self._written |= self._roots(*(argument.value for argument in call.arguments))

    def _defined(self, call: Call, callee: Function, program: Program) -> None:
        inner = self._known.of(callee, program)
        self._outside |= inner.outside
        bound = bindings(call, callee.parameters)
        by = {one.symbol: one.by == "reference" for one in callee.parameters}
        for mine, theirs in (
            (self._released, inner.released),
            (self._written, inner.written),
            (self._kept, inner.kept),
            (self._lent, inner.lent),
        ):
            for root in theirs:
                if root == "this":
                    mine |= self._roots(call.receiver)
                elif root in by:
                    given = self._roots if by[root] else self._led_to
                    mine |= given(bound.get(root))
                elif self._is_root(root):
                    mine.add(root)
                else:
                    mine |= self._aliases[root]  # captured from here


def _leads(kind: Type) -> bool:
    return kind.kind in ("pointer", "reference", "other")


def _path(target: Expression) -> list[Expression]:
    """What a target is reached through; an index only selects."""
    match target:
        case Index(base=base):
            return _path(base)
        case Member(base=base) if base is not None:
            return _path(base)
        case _:
            return [target]


def _is_address(argument: Argument) -> bool:
    return isinstance(plain(argument.value), AddressOf)
