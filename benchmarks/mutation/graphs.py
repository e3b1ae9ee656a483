"""Whether a value would hold a graph, read from the text alone and without the linter's engine."""

from __future__ import annotations

import ast

from benchmarks.mutation.python_code import CALLER_LEVELS, Function, PythonCode

ATTACHED = ""
"""No reason why it should hold none."""
UNSEEN = "where its value comes from cannot be seen"
NOT_RECORDED = "nothing is recorded there: gradients are switched off"
LET_GO = "it is detached another way too"
PLAIN = "no module and no weights go into it"
FROZEN = "the weights are frozen"

SWITCHES = (
    "torch.no_grad",
    "torch.inference_mode",
    "torch.autograd.no_grad",
    "torch.set_grad_enabled",
)
_HOOKS = ("validation_step", "test_step", "predict_step")
"""The framework calls these with gradients switched off."""
_DETACHING = frozenset(
    {
        "detach", "item", "tolist", "numpy", "argmax", "argmin", "size", "numel",
        "dim", "long", "int", "bool", "byte", "nonzero", "eq", "ne",
        "gt", "ge", "lt", "le", "argsort", "get_device", "element_size", "isnan",
        "isinf", "isfinite", "any", "all",
    }
)  # fmt: skip
_LOSSES = ("Loss", "Similarity", "Distance")
_MOST_EXPRESSIONS = 100
"""Asked of one value: who asks further learns little."""


def switches_off(code: PythonCode, node: ast.expr) -> bool:
    """Whether an expression is ``torch.no_grad()`` or another such."""
    call = node if isinstance(node, ast.Call) else None
    name = code.dotted(call.func if call else node)
    if name not in SWITCHES:
        return False
    if call is not None and call.args and isinstance(call.args[0], ast.Constant):
        return (call.args[0].value is False) == name.endswith("set_grad_enabled")
    return not name.endswith("set_grad_enabled")


def is_off(code: PythonCode, node: ast.AST, without: ast.AST | None = None, level: int = 0) -> bool:
    """Whether gradients are switched off at a place, by anything but ``without``."""
    inner = node
    function: Function | None = None
    for one in code.ancestors(node):
        if (
            isinstance(one, ast.With | ast.AsyncWith)
            and inner in one.body
            and any(
                item is not without and switches_off(code, item.context_expr) for item in one.items
            )
        ):
            return True
        if isinstance(one, Function):
            function = one
            break
        inner = one
    if any(
        isinstance(one, ast.Expr) and switches_off(code, one.value) and one is not without
        for one in code.tree.body
    ):
        return True
    if function is None:
        return False
    for decorator in function.decorator_list:
        if decorator is not without and (
            switches_off(code, decorator) or _own_decorator(code, decorator)
        ):
            return True
    if function.name in _HOOKS and isinstance(code.parents.get(function), ast.ClassDef):
        return True
    calls = [one for one in code.calls.get(function.name, ()) if code.scope(one) is not function]
    return (
        bool(calls)
        and level < CALLER_LEVELS
        and all(is_off(code, call, without, level + 1) for call in calls)
    )


def _own_decorator(code: PythonCode, decorator: ast.expr) -> bool:
    """A decorator of the file that switches gradients off."""
    if not isinstance(decorator, ast.Name):
        return False
    return any(
        switches_off(code, item.context_expr)
        for function in code.functions.get(decorator.id, ())
        for inner in ast.walk(function)
        if isinstance(inner, ast.With)
        for item in inner.items
    )


def freezes(code: PythonCode) -> bool:
    """Whether the file freezes weights."""
    for call in code.calls.get("requires_grad_", ()):
        if call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value is False:
            return True
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and node.value.value is False
        and any(
            isinstance(one, ast.Attribute) and one.attr == "requires_grad" for one in node.targets
        )
        for node in ast.walk(code.tree)
    )


def graph_of(
    code: PythonCode,
    expression: ast.expr,
    seen: dict[ast.AST, str] | None = None,
    without: ast.AST | None = None,
) -> str:
    """``ATTACHED``, or why an expression's value holds no graph.

    ``seen`` holds what is known of the expressions on the way: each is asked once, and one that
    is made of itself is unseen there.
    """
    seen = {} if seen is None else seen
    if expression not in seen and len(seen) <= _MOST_EXPRESSIONS:
        seen[expression] = UNSEEN
        seen[expression] = _graph_of(code, expression, seen, without)
    return seen.get(expression, UNSEEN)


def _graph_of(
    code: PythonCode, expression: ast.expr, seen: dict[ast.AST, str], without: ast.AST | None
) -> str:

    def of(*others: ast.expr) -> str:
        return _any(graph_of(code, one, seen, without) for one in others)

    match expression:
        case ast.Constant() | ast.Compare() | ast.JoinedStr():
            return PLAIN
        case ast.Name(id=name):
            return _of_name(code, expression, name, seen, without)
        case ast.Attribute(value=value, attr=attribute):
            if attribute in ("data", "grad", "shape", "dtype", "device"):
                return LET_GO
            if ast.unparse(value) == "self":
                return of(*code.member(expression))
            return of(value)
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
            return of(value)
        case ast.UnaryOp(operand=operand):
            return of(operand)
        case ast.BinOp(left=left, right=right):
            found = of(left, right)
            if found == ATTACHED and is_off(code, expression, without):
                return NOT_RECORDED
            return found
        case ast.IfExp(body=body, orelse=orelse):
            return of(body, orelse)
        case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
            return of(*values)
        case ast.Dict(values=values):
            return of(*values)
        case ast.Await(value=value):
            return of(value)
        case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
            return of(elt)
        case ast.Call():
            return _of_call(code, expression, seen, without)
    return UNSEEN


def _any(found: object) -> str:
    reasons = list(found)  # type: ignore[call-overload]
    if not reasons:
        return UNSEEN
    if ATTACHED in reasons:
        return ATTACHED
    for reason in (FROZEN, NOT_RECORDED, LET_GO, UNSEEN):
        if reason in reasons:
            return reason
    return str(reasons[0])


def _of_name(
    code: PythonCode, node: ast.expr, name: str, seen: dict[ast.AST, str], without: ast.AST | None
) -> str:
    scope = code.scope(node)
    lambdas = [one for one in code.ancestors(node) if isinstance(one, ast.Lambda)]
    if any(argument.arg == name for one in lambdas for argument in one.args.args):
        return ATTACHED if _is_hook(code, lambdas[0]) else UNSEEN
    values = list(code.assigned(name, scope))
    reasons = [graph_of(code, value, seen, without) for value in values]
    if isinstance(scope, Function):
        arguments = [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]
        if any(one.arg == name for one in arguments):
            if _is_hook(code, scope) and not is_off(code, scope):
                return ATTACHED
            given = code.arguments_for(scope, name)
            reasons.append(_any(graph_of(code, value, seen, without) for value in given))
        elif not values:
            outer = code.assigned(name, code.scope(scope))
            reasons += [graph_of(code, value, seen, without) for value in outer]
    return _any(reasons)


def _is_hook(code: PythonCode, function: Function | ast.Lambda) -> bool:
    """Whether a function is registered to be called at a module's forward."""
    for name, calls in code.calls.items():
        if "register_" not in name or "hook" not in name:
            continue
        for call in calls:
            for argument in call.args:
                if argument is function:
                    return not is_off(code, call)
                if (
                    isinstance(function, Function)
                    and isinstance(argument, ast.Name | ast.Attribute)
                    and ast.unparse(argument).rpartition(".")[2] == function.name
                ):
                    return not is_off(code, call)
    return False


def _of_call(
    code: PythonCode, call: ast.Call, seen: dict[ast.AST, str], without: ast.AST | None
) -> str:
    function = call.func
    arguments = [*call.args, *(one.value for one in call.keywords)]
    wants = any(
        one.arg == "requires_grad" and isinstance(one.value, ast.Constant) and one.value.value
        for one in call.keywords
    )
    if wants:
        return ATTACHED
    through = list(arguments)
    if isinstance(function, ast.Attribute) and not code.dotted(function):
        if function.attr in _DETACHING:
            return LET_GO
        if function.attr == "requires_grad_":
            return ATTACHED
        if function.attr in code.functions:
            return _returned(code, call, function.attr, seen, without)
        if ast.unparse(function.value) not in ("self", "super()"):
            receiver = graph_of(code, function.value, seen, without)
            if receiver in (ATTACHED, LET_GO, NOT_RECORDED):
                if receiver == ATTACHED and is_off(code, call, without):
                    return NOT_RECORDED
                return receiver
    if isinstance(function, ast.Name):
        if function.id in code.functions:
            return _returned(code, call, function.id, seen, without)
        if function.id in ("float", "int", "len", "range", "round", "str", "bool"):
            return PLAIN
    name = code.dotted(function)
    root = name.partition(".")[0]
    if not name and not _is_builtin(function) and _is_module(code, function):
        return (
            NOT_RECORDED if is_off(code, call, without) else FROZEN if freezes(code) else ATTACHED
        )
    if not name and isinstance(function, ast.Attribute):
        through.append(function.value)
    if root in ("numpy", "math", "random", "time", "pathlib", "sys", "os", "cupy"):
        return PLAIN
    found = _any(graph_of(code, one, seen, without) for one in through) if through else PLAIN
    if found == ATTACHED and is_off(code, call, without):
        return NOT_RECORDED
    if found == UNSEEN and root == "torch":
        return PLAIN
    return found


def _is_builtin(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id in (
        "max", "min", "sum", "abs", "zip", "enumerate", "list", "tuple", "dict", "next", "iter",
        "sorted", "reversed", "map", "tqdm", "getattr", "print",
    )  # fmt: skip


def _is_module(code: PythonCode, function: ast.expr) -> bool:
    """Whether what is called is an object with weights: not a loss or an activation."""
    values: list[ast.expr] = []
    if isinstance(function, ast.Name):
        values = list(code.assigned(function.id, code.scope(function))) or list(
            code.assigned(function.id, code.tree)
        )
    elif isinstance(function, ast.Attribute):
        if ast.unparse(function.value) == "self":
            values = list(code.member(function))
        elif values := [function.value]:
            # `model.generate(x)`: a method of something that is a module itself.
            made = isinstance(function.value, ast.Name) and list(
                code.assigned(function.value.id, code.scope(function))
            )
            return bool(made) and any(_makes_module(code, one) for one in made)  # type: ignore[union-attr]
    for value in values:
        made_by = code.dotted(value.func) if isinstance(value, ast.Call) else code.dotted(value)
        if made_by.startswith("torch.nn.functional") or made_by.endswith(_LOSSES):
            return False
        if made_by.startswith(("cupy", "numpy", "numba", "jax")):
            return False
    return True


def _makes_module(code: PythonCode, value: ast.expr) -> bool:
    made = code.dotted(value.func) if isinstance(value, ast.Call) else ""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not made:
        return _makes_module(code, value.func.value)
    return made.startswith("torch.nn.") and not made.startswith("torch.nn.functional")


def _returned(
    code: PythonCode, call: ast.Call, name: str, seen: dict[ast.AST, str], without: ast.AST | None
) -> str:
    """The graph of what a function of the file returns, as this call uses it."""
    values: list[ast.expr] = []
    for function in code.functions[name]:
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value is not None:
                values += _part(code, call, node.value)
    if is_off(code, call, without):
        return NOT_RECORDED
    return _any(graph_of(code, value, seen, without) for value in values)


def _part(code: PythonCode, call: ast.Call, value: ast.expr) -> list[ast.expr]:
    """Of ``return loss, count``: all parts; of a dictionary too."""
    parent = code.parents.get(call)
    if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
        key = parent.slice.value
        if isinstance(value, ast.Dict):
            return [
                one
                for name, one in zip(value.keys, value.values, strict=True)
                if isinstance(name, ast.Constant) and name.value == key
            ] or [value]
        if isinstance(value, ast.Tuple) and isinstance(key, int) and key < len(value.elts):
            return [value.elts[key]]
    return [value]
