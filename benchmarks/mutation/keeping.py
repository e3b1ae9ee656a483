"""Whether a value is kept from one iteration to the next, read from the text alone."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from benchmarks.mutation.python_code import Function, PythonCode, root_name

KEPT = ""
"""No reason why it should not be."""
SHOWN = "its result is only shown, compared or written"
OVERWRITTEN = "its result is overwritten by the next one, not kept"
CONVERTED = "a number is taken out of it all the same"
REFUSED = "the program stops there: NumPy refuses a tensor with a gradient"
BOUNDED = "the place holds a bounded number of values"
NO_LOOP = "it is kept once: no loop in sight repeats it"
OUT_OF_SIGHT = "its result goes to code that cannot be seen"
RETURNED = "its result is returned, and no caller in sight keeps it"

_ORDER = (REFUSED, CONVERTED, BOUNDED, NO_LOOP, OUT_OF_SIGHT, RETURNED, OVERWRITTEN, SHOWN)
_INSERTING = ("append", "extend", "insert", "add", "appendleft", "put", "setdefault")
_NUMBERS = ("float", "int", "bool", "str", "format", "round", "len", "range", "repr")
_SHOWING = ("print", "info", "debug", "warning", "write", "set_postfix", "set_description", "isnan")
_DEPTH = 8


def kept(code: PythonCode, node: ast.expr, depth: int = 0) -> str:
    """``KEPT``, or why the value of an expression is not kept across iterations."""
    if depth > _DEPTH:
        return OUT_OF_SIGHT
    parent = code.parents[node]
    match parent:
        case ast.Attribute(attr=attribute):
            call = code.parents[parent]
            if not (isinstance(call, ast.Call) and call.func is parent):
                return CONVERTED if attribute in ("data", "shape") else kept(code, parent, depth)
            if attribute in ("item", "tolist", "detach", "size", "numel", "argmax", "backward"):
                return CONVERTED if attribute != "backward" else SHOWN
            if attribute == "numpy":
                return REFUSED
            return kept(code, call, depth)
        case ast.Call(func=function) if node is not function:
            return _argument(code, parent, node, depth)
        case ast.keyword():
            call = code.parents[parent]
            return _argument(code, call, node, depth) if isinstance(call, ast.Call) else SHOWN
        case (
            ast.BinOp() | ast.UnaryOp() | ast.IfExp() | ast.Tuple() | ast.List() | ast.Dict()
            | ast.Starred() | ast.Await() | ast.NamedExpr() | ast.ListComp()
        ):  # fmt: skip
            if isinstance(parent, ast.IfExp) and node is parent.test:
                return SHOWN
            return kept(code, parent, depth)
        case ast.Subscript(value=value) if node is value:
            return kept(code, parent, depth)
        case ast.AugAssign(target=target):
            return _place(code, parent, target)
        case ast.Assign(targets=targets):
            return _best(_assigned(code, parent, target, depth) for target in targets)
        case ast.AnnAssign(target=target):
            return _assigned(code, parent, target, depth)
        case ast.Return():
            return _returned(code, parent, depth)
        case ast.Lambda():
            return SHOWN
    return SHOWN


def _best(found: object) -> str:
    reasons = list(found)  # type: ignore[call-overload]
    if KEPT in reasons:
        return KEPT
    return next((one for one in _ORDER if one in reasons), SHOWN)


def _argument(code: PythonCode, call: ast.Call, node: ast.expr, depth: int) -> str:
    function = call.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if isinstance(function, ast.Name) and name in _NUMBERS:
        return CONVERTED
    if name in _SHOWING or (isinstance(function, ast.Attribute) and name.startswith("log")):
        return SHOWN
    if isinstance(function, ast.Name) and name in ("max", "min"):
        return OVERWRITTEN
    if isinstance(function, ast.Attribute) and name in _INSERTING:
        return _place(code, call, function.value)
    if name in code.functions:
        return _best(
            kept(code, found, depth + 1)
            for function in code.functions[name]
            for found in _parameter_uses(code, function, call, node)
        )
    if code.dotted(function).startswith(("torch.stack", "torch.cat", "torch.tensor")):
        return kept(code, call, depth + 1)
    if isinstance(function, ast.Name) and name in ("sum", "abs", "list", "tuple", "dict"):
        return kept(code, call, depth + 1)
    return OUT_OF_SIGHT


def _parameter_uses(
    code: PythonCode, function: Function, call: ast.Call, node: ast.expr
) -> list[ast.Name]:
    names = [one.arg for one in [*function.args.posonlyargs, *function.args.args]]
    parameter = ""
    for keyword in call.keywords:
        if keyword.value is node and keyword.arg:
            parameter = keyword.arg
    if node in call.args:
        method = isinstance(code.parents.get(function), ast.ClassDef)
        position = call.args.index(node) + int(method and isinstance(call.func, ast.Attribute))
        parameter = names[position] if position < len(names) else ""
    return _uses(function, parameter)


def _uses(scope: ast.AST, name: str) -> list[ast.Name]:
    return [
        one
        for one in ast.walk(scope)
        if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)
    ]


def _assigned(code: PythonCode, statement: ast.stmt, target: ast.expr, depth: int) -> str:
    if isinstance(target, ast.Tuple | ast.List):
        return _best(_assigned(code, statement, one, depth) for one in target.elts)
    if isinstance(target, ast.Name):
        value = getattr(statement, "value", None)
        if isinstance(value, ast.BinOp) and _uses(value, target.id):
            return _place(code, statement, target)  # total = total + loss
        uses = _uses(code.scope(statement), target.id)
        return _best([OVERWRITTEN, *(kept(code, one, depth + 1) for one in uses)])
    if isinstance(target, ast.Subscript):
        key = target.slice
        value = getattr(statement, "value", None)
        accumulates = isinstance(value, ast.BinOp) and any(
            ast.unparse(one) == ast.unparse(target) for one in ast.walk(value)
        )
        if isinstance(key, ast.Constant) and not accumulates:
            return _through_key(code, statement, target, depth)
        return _place(code, statement, target)
    if isinstance(target, ast.Attribute):
        value = getattr(statement, "value", None)
        if isinstance(value, ast.BinOp) and any(
            ast.unparse(one) == ast.unparse(target) for one in ast.walk(value)
        ):
            return _place(code, statement, target)
        return OVERWRITTEN
    return OVERWRITTEN


def _through_key(code: PythonCode, statement: ast.stmt, target: ast.Subscript, depth: int) -> str:
    """``row["loss"] = ...``: one value per dictionary; is the dictionary kept?"""
    name = root_name(target)
    if not name or "." in name:
        return OVERWRITTEN
    uses = [
        one
        for one in _uses(code.scope(statement), name)
        if one is not target.value and one.lineno >= statement.lineno
    ]
    return _best([OVERWRITTEN, *(kept(code, one, depth + 1) for one in uses)])


def _returned(code: PythonCode, statement: ast.Return, depth: int) -> str:
    function = code.function_of(statement)
    if function is None:
        return RETURNED
    calls = [one for one in code.calls.get(function.name, ()) if code.scope(one) is not function]
    return _best([RETURNED, *(kept(code, call, depth + 1) for call in calls)])


def _place(code: PythonCode, where: ast.stmt | ast.expr, place: ast.expr) -> str:
    """Whether what is put in a place is still there in the next iteration, with what comes then."""
    name = root_name(place)
    scope = code.scope(where)
    if not name:
        return OUT_OF_SIGHT
    makers = list(code.assigned(name, scope)) or list(code.assigned(name, code.tree))
    if isinstance(place, ast.Attribute) and name.startswith("self."):
        makers = list(code.member(place))
    for maker in makers:
        if isinstance(maker, ast.Call):
            made = ast.unparse(maker.func)
            if made.endswith("deque") and any(one.arg == "maxlen" for one in maker.keywords):
                return BOUNDED
            if code.dotted(maker.func).startswith("numpy"):
                return CONVERTED
    if _is_emptied(code, scope if "." not in name else code.class_of(where) or scope, name, where):
        return BOUNDED
    loops = list(code.loops_around(where))
    for loop in loops:
        if not _renewed(code, loop, name, where):
            return KEPT
    lasting = name.startswith("self.") or name not in _locals(code, scope)
    function = code.function_of(where)
    lambdas = any(isinstance(one, ast.Lambda) for one in code.ancestors(where))
    if lasting and (
        lambdas or code.is_repeated(function) or _is_called_by_framework(code, function)
    ):
        return KEPT
    return NO_LOOP if not loops else OVERWRITTEN


def _locals(code: PythonCode, scope: Function | ast.Module) -> set[str]:
    return {
        one.id
        for one in ast.walk(scope)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and code.scope(one) is scope
    }


def _renewed(code: PythonCode, loop: ast.AST, name: str, where: ast.AST) -> bool:
    own = code.statement_of(where)
    for node in ast.walk(loop):
        if node is own:
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                names = [ast.unparse(one) for one in ast.walk(target) if isinstance(one, ast.expr)]
                bare = not isinstance(target, ast.Subscript | ast.Attribute) or (
                    ast.unparse(target) == name
                )
                if name in names and bare and not _refers(node.value, name):
                    return True
    return False


def _refers(value: ast.expr | None, name: str) -> bool:
    return value is not None and any(
        ast.unparse(one) == name for one in ast.walk(value) if isinstance(one, ast.expr)
    )


def _is_emptied(code: PythonCode, scope: ast.AST, name: str, where: ast.AST) -> bool:
    """``clear()``, ``pop()`` or ``del place[...]``, in the same loop as what is put there."""
    loops = list(code.loops_around(where))
    cut: Sequence[ast.expr]
    for node in ast.walk(loops[0] if loops and "." not in name else scope):
        if isinstance(node, ast.Delete):
            cut = [one for one in node.targets if isinstance(one, ast.Subscript)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            cut = [node.func.value] if node.func.attr in ("clear", "pop", "popleft") else []
        else:
            continue
        if any(root_name(one) == name for one in cut):
            return True
    return False


def _is_called_by_framework(code: PythonCode, function: Function | None) -> bool:
    """A hook of a training framework, or of a module: called for every batch."""
    if function is None or not isinstance(code.parents.get(function), ast.ClassDef):
        return False
    return function.name in ("training_step", "forward", "__call__", "on_train_batch_end")
