"""Mutants of Python programs that use a framework: one for each thing that keeps memory in bounds.

An *equivalent* mutant changes nothing that matters to memory; each is refused for a reason that is
read from its own text (`graphs`, `keeping`), never from what the linter says of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from benchmarks.mutation import framework_text as text
from benchmarks.mutation.graphs import ATTACHED, PLAIN, freezes, graph_of, is_off, switches_off
from benchmarks.mutation.keeping import kept
from benchmarks.mutation.model import (
    DETACH,
    EMPTY_CACHE,
    FINALLY,
    FLOAT,
    ITEM,
    MAP_LOCATION,
    NO_GRAD,
    WITH,
    Mutant,
    Release,
    Target,
)
from benchmarks.mutation.python_code import Function, Loop, PythonCode, With
from cudalint.apis.loader import ApiModels
from cudalint.source import Source

FLUSHES = ("empty_cache", "free_all_blocks")
OTHERWISE = "gradients are switched off there another way too"
Made = tuple[Release, Mutant | None, str]
"""What is changed, the mutant, and else the reason why there is none."""


def framework_mutants(
    source: Source, releases: Sequence[Release], models: ApiModels
) -> Iterator[Made]:
    """The mutants of one file, and those that are left out with the reason."""
    try:
        code = PythonCode(source)
    except (SyntaxError, ValueError):
        return
    own = [one for one in releases if one.filename == source.filename]
    maker = _Maker(code, own, models)
    for node in ast.walk(code.tree):
        yield from maker.of(node)


class _Maker:
    def __init__(self, code: PythonCode, releases: Sequence[Release], models: ApiModels) -> None:
        self.code = code
        self.releases = releases
        self.models = models
        self.uses_torch = any(
            name.partition(".")[0] in ("torch", "lightning", "pytorch_lightning")
            for name in code.imported.values()
        )

    def of(self, node: ast.AST) -> Iterator[Made]:
        match node:
            case ast.Call(func=ast.Attribute(attr=("detach" | "item") as name), args=[]):
                if self.uses_torch:
                    assert isinstance(node.func, ast.Attribute)
                    kind = DETACH if name == "detach" else ITEM
                    change = partial(text.without_method, self.code, node)
                    yield self._made(kind, node, change, self._graph(node, node.func.value))
            case ast.Call(func=ast.Name(id="float"), args=[argument]):
                if self.uses_torch and not isinstance(argument, ast.Constant):
                    change = partial(text.without_conversion, self.code, node)
                    yield self._made(FLOAT, node, change, self._graph(node, argument))
            case ast.Call(keywords=keywords):
                for keyword in keywords:
                    if keyword.arg == "map_location":
                        change = partial(text.without_keyword, self.code, node, keyword)
                        yield self._made(MAP_LOCATION, node, change, self._location(node, keyword))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for decorator in node.decorator_list:
                    if switches_off(self.code, decorator):
                        change = partial(text.without_decorator, self.code, decorator)
                        why = self._recording(node, node.body, decorator)
                        yield self._made(NO_GRAD, decorator, change, why)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    yield self._with(node, item)
            case ast.Try(finalbody=[_, *_]):
                yield self._finally(node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute) and function.attr in FLUSHES:
                yield self._flush(node, node.value)

    def _made(
        self,
        kind: str,
        node: ast.expr | ast.stmt,
        change: Callable[[], text.Changed],
        why: str,
        targets: Sequence[Target] = (),
    ) -> Made:
        function = self.code.function_of(node)
        shown = self.code.text(node).split("\n")[0]
        release = Release(
            filename=self.code.source.filename,
            span=self.code.span(node),
            api=kind,
            handle=shown[:60],
            function=function.name if function else "the module",
            language="python",
            returns="",
            targets=tuple(dict.fromkeys(targets)),
            found_by="text",
        )
        if why:
            return release, None, why
        try:
            changed = change()
        except text.CannotChange as error:
            return release, None, str(error)
        return release, Mutant(kind, changed.text, changed.row, changed.added_rows), ""

    # What keeps no graph ----------------------------------------------------------------------

    def _graph(self, whole: ast.expr, subject: ast.expr) -> str:
        return graph_of(self.code, subject) or kept(self.code, whole)

    # What records nothing ---------------------------------------------------------------------

    def _recording(
        self, function: Function | None, body: Sequence[ast.stmt], switch: ast.AST
    ) -> str:
        """Why switching gradients on again changes nothing; empty where it does."""
        code = self.code
        place = body[0]
        if is_off(code, place, switch):
            return OTHERWISE
        if freezes(code):
            return "the weights are frozen"
        called = list(self._models_called(body, switch))
        calls = [one for one in called if not is_off(code, one, switch)]
        if not calls:
            return OTHERWISE if called else PLAIN
        if not any(self._is_looped(call, body) for call in calls):
            return "no loop: the graph of one call goes with its result"
        evals = [one for one in code.calls.get("eval", ()) if not one.args]
        scopes = {code.scope(one) for one in [*calls, place]}
        classes = {code.class_of(one) for one in calls} - {None}
        if not any(code.scope(one) in scopes or code.class_of(one) in classes for one in evals):
            return "nothing else says that it is inference: no `eval()` beside it"
        return ""

    def _models_called(
        self, body: Sequence[ast.stmt], switch: ast.AST, level: int = 0
    ) -> Iterator[ast.Call]:
        for statement in body:
            for node in ast.walk(statement):
                if not isinstance(node, ast.Call):
                    continue
                name = node.func.id if isinstance(node.func, ast.Name) else ""
                if name in self.code.functions and level < 2:
                    for function in self.code.functions[name]:
                        yield from self._models_called(function.body, switch, level + 1)
                elif self._is_model(node) or (
                    graph_of(self.code, node, without=switch) == ATTACHED
                ):
                    yield node

    def _is_model(self, call: ast.Call) -> bool:
        """A call of an object that is put in evaluation mode, or made by ``torch.nn``."""
        called = ast.unparse(call.func)
        return any(
            isinstance(one.func, ast.Attribute) and ast.unparse(one.func.value) == called
            for one in self.code.calls.get("eval", ())
        )

    def _is_looped(self, call: ast.Call, body: Sequence[ast.stmt]) -> bool:
        if any(True for _ in self.code.loops_around(call)):
            return True
        function = self.code.function_of(call)
        return self.code.scope(call) is not self.code.scope(body[0]) and self.code.is_repeated(
            function
        )

    # Where checkpoints go ---------------------------------------------------------------------

    def _location(self, call: ast.Call, keyword: ast.keyword) -> str:
        if isinstance(keyword.value, ast.Constant) and keyword.value.value is None:
            return "None is what it is without"
        if not any(word in self.code.source.text for word in ("cuda", "device")):
            return "the program has nothing to do with a device"
        if self._moves_on(call):
            return "the module that is loaded goes to its device next all the same"
        if not self._holds_weights(call):
            return "nothing says that it holds weights: no module is filled from it, or is it"
        return ""

    def _moves_on(self, call: ast.Call) -> bool:
        """Whether what is loaded is itself moved by ``.to`` or ``.cuda``."""
        code = self.code
        statement = code.statement_of(call)
        names = {
            one.id
            for target in getattr(statement, "targets", ())
            for one in ast.walk(target)
            if isinstance(one, ast.Name) and getattr(statement, "value", None) is call
        }
        return any(
            isinstance(one.func, ast.Attribute)
            and (
                one.func.value is call
                or (isinstance(one.func.value, ast.Name) and one.func.value.id in names)
            )
            and code.scope(one) is code.scope(call)
            for name in ("to", "cuda")
            for one in code.calls.get(name, ())
        )

    def _holds_weights(self, value: ast.expr, level: int = 0) -> bool:
        """Whether what is loaded goes into a module, or is used as one."""
        code = self.code
        parents = [one for one in code.ancestors(value) if isinstance(one, ast.Call)]
        called = [
            ast.unparse(one.func).rpartition(".")[2]
            for one in [value, *parents]
            if isinstance(one, ast.Call)
        ]
        if "load_state_dict" in called:
            return True
        parent = code.parents[value]
        if isinstance(parent, ast.Call) and parent.func is value:
            return True
        if isinstance(parent, ast.Attribute) and parent.attr in ("eval", "cuda", "parameters"):
            return True
        if level > 4:
            return False
        names: set[str] = set()
        statement = code.statement_of(value)
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.For):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = {
                one.id
                for target in targets
                for one in ast.walk(target)
                if isinstance(one, ast.Name)
            }
        elif parents and isinstance(parents[-1].func, ast.Attribute):
            names = {ast.unparse(parents[-1].func.value)}  # state.update(torch.load(...))
        elif isinstance(statement, ast.Return):
            function = code.function_of(value)
            calls = code.calls.get(function.name, ()) if function else ()
            return any(self._holds_weights(one, level + 1) for one in calls)
        return any(
            self._holds_weights(one, level + 1)
            for one in ast.walk(code.scope(value))
            if isinstance(one, ast.Name)
            and one.id in names
            and isinstance(one.ctx, ast.Load)
            and one.lineno >= value.lineno
            and code.statement_of(one) is not statement
        )

    # What is released by a block --------------------------------------------------------------

    def _released(self, body: Sequence[ast.stmt]) -> list[Release]:
        return [
            one
            for one in self.releases
            if any(
                statement.lineno <= one.span.row <= (statement.end_lineno or 0)
                for statement in body
            )
        ]

    def _finally(self, block: ast.Try) -> Made:
        found = self._released(block.finalbody)
        targets = [target for one in found for target in one.targets]
        hooks = self._hooks_removed(block.finalbody)
        targets += hooks
        why = ""
        if not targets:
            why = "it releases nothing that is owed"
        elif self._is_program(block):
            why = "an exception there ends the process, and all that it owns"
        elif not self._may_raise(block):
            why = "nothing in the block can raise"
        return self._made(
            FINALLY, block, partial(text.without_finally, self.code, block), why, targets
        )

    def _is_program(self, block: ast.stmt) -> bool:
        """Whether a block stands in the program itself: in ``main`` or at the top of a script."""
        function = self.code.function_of(block)
        if any(True for _ in self.code.loops_around(block)):
            return False
        return function is None or function.name == "main"

    def _hooks_removed(self, body: Sequence[ast.stmt]) -> list[Target]:
        """Hooks that ``handle.remove()`` takes away."""
        found: list[Target] = []
        for statement in body:
            for node in ast.walk(statement):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                    continue
                if node.func.attr != "remove" or node.args:
                    continue
                for name, calls in self.code.calls.items():
                    if name.startswith("register_") and name.endswith("hook"):
                        found += [
                            Target(
                                self.code.source.filename, call.lineno, ast.unparse(call), "hook"
                            )
                            for call in calls
                            if self.code.scope(call) is self.code.scope(statement)
                        ]
        return found

    def _may_raise(self, block: ast.Try) -> bool:
        """Any call of something that is not known to give a status back."""
        for statement in [*block.body, *block.orelse]:
            for node in ast.walk(statement):
                if isinstance(node, ast.Raise | ast.Yield | ast.YieldFrom | ast.Return):
                    return True
                if isinstance(node, ast.Call):
                    model = self.models.lookup(self.code.dotted(node.func))
                    if model is None or model.may_throw is not False:
                        return True
        return False

    def _with(self, block: With, item: ast.withitem) -> Made:
        code = self.code
        context = item.context_expr
        if switches_off(code, context):
            why = self._recording(code.function_of(block), block.body, item)
            drop = partial(text.without_context, code, block, item)
            return self._made(NO_GRAD, context, drop, why)
        targets, why = self._owed_by(block, item)
        if not why and self._is_program(block):
            why = "the process ends there, and all that it owns"
        change = partial(text.assigned_instead, code, block, item, self._owner(item))
        return self._made(WITH, context, change, why, targets)

    def _owner(self, item: ast.withitem) -> ast.expr:
        """``X`` of ``with closing(X)``; else what the block enters itself."""
        context = item.context_expr
        closes = isinstance(context, ast.Call) and (
            self.code.dotted(context.func) == "contextlib.closing"
        )
        return context.args[0] if closes and isinstance(context, ast.Call) else context

    def _owed_by(self, block: With, item: ast.withitem) -> tuple[list[Target], str]:
        """What leaving the block releases: the acquisitions, or why nothing is owed."""
        code = self.code
        context: ast.expr = item.context_expr
        nothing = "leaving it releases nothing that is owed"
        if not isinstance(context, ast.Call):
            return [], nothing
        name = code.dotted(context.func)
        if name == "contextlib.ExitStack" and isinstance(item.optional_vars, ast.Name):
            given = list(self._given_to(block, item.optional_vars.id))
            return given, "" if given else nothing
        owner = self._owner(item)
        if isinstance(owner, ast.Call):
            context, name = owner, code.dotted(owner.func)
        model = self.models.lookup(name) if name else None
        acquires = model.acquires if model is not None else ()
        for acquired in acquires if isinstance(acquires, tuple) else (acquires,):
            family = self.models.families.get(acquired.family)
            if family is not None and not family.managed:
                row = context.lineno
                return [Target(code.source.filename, row, code.text(context), acquired.family)], ""
        if isinstance(context.func, ast.Name) and context.func.id in code.functions:
            return [], "a generator that is not entered acquires nothing"
        for own in ast.walk(code.tree):
            if isinstance(own, ast.ClassDef) and ast.unparse(context.func) == own.name:
                if any(isinstance(one, Function) and one.name == "__del__" for one in own.body):
                    return [], "its `__del__` releases it all the same"
                found = self._released(own.body)
                entering = [
                    (one.lineno, one.end_lineno or 0)
                    for one in own.body
                    if isinstance(one, Function) and one.name == "__enter__"
                ]
                rows = [
                    target.row
                    for one in found
                    for target in one.targets
                    if own.lineno <= target.row <= (own.end_lineno or 0)
                ]
                if entering and all(
                    first <= row <= last for row in rows for first, last in entering
                ):
                    return [], "what is not entered acquires nothing"
                targets = [target for one in found for target in one.targets]
                made = Target(code.source.filename, context.lineno, code.text(context), "")
                return ([*targets, made], "") if targets else ([], nothing)
        return [], nothing

    def _given_to(self, block: With, stack: str) -> Iterator[Target]:
        """What a stack releases: ``stack.callback(cudaFree, pointer)``."""
        for name in ("callback", "push", "enter_context"):
            for call in self.code.calls.get(name, ()):
                own = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == stack
                if not own or block not in self.code.ancestors(call) or not call.args:
                    continue
                model = self.models.lookup(self.code.dotted(call.args[0]))
                if model is not None and model.releases:
                    shown = ast.unparse(call.args[-1])
                    yield Target(self.code.source.filename, call.lineno, shown, "")

    # What gives memory back -------------------------------------------------------------------

    def _flush(self, statement: ast.Expr, call: ast.Call) -> Made:
        before = text.preceding(self.code, statement)
        loop = next((one for one in map(_loop_at_end, before) if one is not None), None)
        why = ""
        if loop is None:
            why = "it follows no loop"
        elif self.code.is_few(loop):
            why = "the loop runs a fixed few times"
        elif any(isinstance(one, Loop) for inner in loop.body for one in ast.walk(inner)):
            why = "each iteration is a phase of its own, with a loop in it"
        return self._made(
            EMPTY_CACHE,
            call,
            partial(text.moved_into, self.code, statement, loop),  # type: ignore[arg-type]
            why,
        )


def _loop_at_end(statement: ast.stmt) -> Loop | None:
    """The loop that a statement is, or ends with: `with no_grad(): for ...`."""
    while isinstance(statement, With):
        statement = statement.body[-1]
    return statement if isinstance(statement, Loop) else None
