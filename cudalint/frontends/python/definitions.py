"""Lowers definitions: functions, lambdas, classes and the module's own code."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from cudalint.frontends.python.bindings import all_parameters
from cudalint.frontends.python.constants import encodable
from cudalint.frontends.python.graph import GraphTooLarge
from cudalint.frontends.python.kernels import kernel_kind
from cudalint.frontends.python.module import OBJECT, ModuleReader, method_kind
from cudalint.frontends.python.scopes import ClassInfo, Defined, Dotted, Local, Scope
from cudalint.frontends.python.statements import StatementLowering
from cudalint.program.expressions import (
    Expression,
    FunctionReference,
    Type,
    Unknown,
    variables,
)
from cudalint.program.functions import (
    Dropped,
    Field,
    Function,
    FunctionKind,
    Parameter,
    Record,
    Return,
)
from cudalint.source import Span

_TOO_DEEP = "nested too deeply"
_TOO_LARGE = "too many paths through its clean-up code"


class FunctionLowering(StatementLowering):
    """Lowers one function, and the definitions inside it."""

    # -- bodies ----------------------------------------------------------------------------------

    def top_level(self, statements: Sequence[cst.CSTNode]) -> None:
        """Lower the statements of a body; one that is nested too deeply is dropped."""
        for statement in statements:
            frames, unwind, scope = list(self.frames), self.graph.unwind, self.scope
            try:
                self.statement(statement)
            except RecursionError:
                self.reader.dropped.append(
                    Dropped(self.reader.span(statement), "statement", _TOO_DEEP)
                )
                self.frames, self.scope = frames, scope
                self.graph.set_unwind(unwind)

    # -- functions -------------------------------------------------------------------------------

    def function_definition(self, node: cst.FunctionDef) -> None:
        """Lower a nested function, a method or a function of the module."""
        defined = self.scope.functions.get(id(node))
        if defined is None:
            return
        self._decorator_calls(node.decorators)
        if not self.reader.begin(node):
            return
        if kernel_kind(node, self.scope) is not None:
            self.reader.kernel_of(defined)
            return
        lower_function(self, defined)
        meaning = self.scope.lookup(node.name.value)
        if isinstance(meaning, Local):
            # Bound in several ways: which function it is depends on the path.
            place = self.note(meaning)
            reference = FunctionReference(defined.key, defined.key)
            self.store(place, reference, self.reader.span(node.name))

    def _decorator_calls(self, decorators: Sequence[cst.Decorator]) -> None:
        """What the arguments of decorators call. The decorators' own calls are not written: they
        stand in ``Function.decorators``."""
        for decorator in decorators:
            if isinstance(decorator.decorator, cst.Call):
                for argument in decorator.decorator.args:
                    if isinstance(argument.value, cst.Call):
                        self.lower_call(argument.value, None, wanted=False)

    def lower_lambda(self, node: cst.Lambda) -> Expression:
        """Lower a lambda to a function of its own."""
        known = self.reader.lambda_keys.get(id(node))
        if known is not None:
            return FunctionReference("<lambda>", known)
        scope = self.scope
        home = scope
        while home.kind == "comprehension" and home.parent is not None:
            home = home.parent
        prefix = home.prefix
        key = self.reader.unique_key(f"{prefix}<lambda>")
        self.reader.lambda_keys[id(node)] = key
        inner = self.reader.function_scope(node, scope, key)
        state = FunctionLowering(self.reader, inner, key)
        parameters = self.parameters(node.params, inner, None)
        span = self.reader.span(node)
        value = state.lower(node.body)
        state.graph.end(Return(value, self.reader.span(node.body)))
        self.reader.functions.append(
            Function(
                key,
                "<lambda>",
                self.reader.source.filename,
                span,
                parameters,
                state.graph.finish(span),
                state.variables,
                kind="lambda",
                parent=self.key,
                is_generator=state.is_generator,
            )
        )
        return FunctionReference("<lambda>", key)

    def parameters(
        self, node: cst.Parameters, scope: Scope, receiver: str | None
    ) -> tuple[Parameter, ...]:
        """The parameters of a function, its receiver left out. Defaults are evaluated here."""
        found: list[Parameter] = []
        keyword_only = {id(item) for item in node.kwonly_params}
        for item in all_parameters(node):
            name = item.name.value
            if name == receiver:
                continue
            default: Expression | None = None
            if item.default is not None:
                default = self.lower(item.default)
                if any(not symbol.startswith("::") for symbol in variables(default)):
                    default = Unknown("default", (default,))
            found.append(
                Parameter(
                    name,
                    scope.symbol(name),
                    self.annotated_type(item.annotation),
                    by="reference",
                    default=default,
                    keyword_only=id(item) in keyword_only,
                    starred=item.star if isinstance(item.star, str) else "",
                )
            )
        return tuple(found)

    def annotated_type(self, annotation: cst.Annotation | None) -> Type:
        """The type that an annotation names: resolved if it is a name, else as written."""
        if annotation is None:
            return OBJECT
        node = annotation.annotation
        meaning = self.scope.meaning(node)
        if isinstance(meaning, Dotted):
            return Type(meaning.name.removeprefix("builtins."))
        if isinstance(meaning, ClassInfo):
            return Type(meaning.key, "record", record=meaning.key)
        return Type(self.short_text(node).strip("\"'"))

    def decorators(self, nodes: Sequence[cst.Decorator]) -> tuple[str, ...]:
        """The names of decorators, imports resolved, with their arguments as written."""
        found: list[str] = []
        for decorator in nodes:
            node = decorator.decorator
            target = node.func if isinstance(node, cst.Call) else node
            meaning = self.scope.meaning(target)
            name = self.short_text(target)
            if isinstance(meaning, Dotted):
                name = meaning.name
            elif isinstance(meaning, Defined | ClassInfo):
                name = meaning.key
            if isinstance(node, cst.Call):
                whole = " ".join(self.reader.text(node).split())
                name += encodable(whole[len(" ".join(self.reader.text(target).split())) :])
            found.append(name)
        return tuple(found)

    # -- classes ---------------------------------------------------------------------------------

    def class_definition(self, node: cst.ClassDef) -> None:
        """Lower a class: its body here, its methods as functions."""
        owner = self.scope.classes.get(id(node))
        if owner is None:
            return
        self._decorator_calls(node.decorators)
        if not self.reader.begin(node):
            return
        outer = self.scope
        self.scope = owner.scope
        try:
            self.top_level(node.body.body)
        finally:
            self.scope = outer
        self.reader.records.append(self._record(owner))
        meaning = self.scope.lookup(node.name.value)
        if isinstance(meaning, Local):
            reference = FunctionReference(owner.key, owner.key)
            self.store(self.note(meaning), reference, self.reader.span(node.name))

    def _record(self, owner: ClassInfo) -> Record:
        fields: dict[str, Field] = {}
        for name, bindings in owner.scope.bindings.names.items():
            if name not in owner.methods and bindings:
                fields[name] = Field(name, OBJECT, self.reader.span(bindings[0].node))
        for name, targets in owner.attributes.items():
            fields.setdefault(name, Field(name, OBJECT, self.reader.span(targets[0][0])))
        bases: list[str] = []
        for base in owner.node.bases:
            meaning = self.scope.meaning(base.value)
            if isinstance(meaning, Dotted):
                bases.append(meaning.name)
            elif isinstance(meaning, ClassInfo | Defined):
                bases.append(meaning.key)
            else:
                bases.append(self.short_text(base.value))
        return Record(
            owner.key,
            owner.name,
            self.reader.source.filename,
            self.reader.span(owner.node),
            tuple(fields.values()),
            tuple(bases),
            tuple(method.key for methods in owner.methods.values() for method in methods),
            destructor="defined" if "__del__" in owner.methods else "none",
        )


_METHOD_KINDS: dict[str, FunctionKind] = {"__init__": "constructor", "__del__": "destructor"}


def lower_function(outer: FunctionLowering, defined: Defined) -> None:
    """Lower a function that stands in another's body, a class's or the module's."""
    reader, node = outer.reader, defined.node
    home = reader.home_of(defined)
    scope = reader.function_scope(node, home, defined.key)
    state = FunctionLowering(reader, scope, defined.key)
    span = reader.span(node)
    record: str | None = None
    kind: FunctionKind = "function"
    is_static = False
    if home.kind == "class" and home.owner is not None:
        record = home.owner.key
        kind = _METHOD_KINDS.get(node.name.value, "method")
        is_static = method_kind(node, home) != "instance"
    parameters = outer.parameters(node.params, scope, scope.receiver)
    end = reader.positions.span_after(node.body)
    try:
        state.top_level(node.body.body)
        state.graph.end(Return(None, end, implicit=True))
        blocks = state.graph.finish(span)
    except GraphTooLarge:
        reader.dropped.append(Dropped(reader.span(node.name), defined.name, _TOO_LARGE))
        return
    around = home.function_scope
    reader.functions.append(
        Function(
            defined.key,
            defined.name,
            reader.source.filename,
            span,
            parameters,
            blocks,
            state.variables,
            kind=kind,
            record=record,
            parent=outer.key if around is not None else None,
            # A script's `main` is its program: the process ends with it.
            is_main=defined.name == "main" and record is None and around is None,
            is_static=is_static,
            is_generator=state.is_generator,
            decorators=outer.decorators(node.decorators),
            decorator_spans=tuple(reader.span(d.decorator) for d in node.decorators),
            returns=outer.annotated_type(node.returns) if node.returns is not None else None,
            handlers=tuple(state.handlers),
        )
    )


def lower_module(reader: ModuleReader, span: Span) -> None:
    """Lower a module: its own code is a function, too."""
    key = f"{reader.module.name}.<module>"
    state = FunctionLowering(reader, reader.scope, key)
    try:
        state.top_level(reader.tree.body)
        end = Span(span.end_row, span.end_column, span.end_row, span.end_column)
        state.graph.end(Return(None, end, implicit=True))
        blocks = state.graph.finish(span)
    except GraphTooLarge:
        reader.dropped.append(Dropped(span, "module", _TOO_LARGE))
        return
    reader.functions.insert(
        0,
        Function(
            key,
            "<module>",
            reader.source.filename,
            span,
            (),
            blocks,
            state.variables,
            kind="module",
            is_main=True,
            handlers=tuple(state.handlers),
        ),
    )
