"""A Python file as the framework mutants read it: parents, functions, names, loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from cudalint.source import Source, Span

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
With = ast.With | ast.AsyncWith

FEW = 16
"""A loop of at most so many iterations, written down, is a fixed few."""
CALLER_LEVELS = 4


class PythonCode:
    """The syntax tree of a file. ``SyntaxError`` if it has none."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = ast.parse(source.text)
        self.parents: dict[ast.AST, ast.AST] = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }
        self.functions: dict[str, list[Function]] = {}
        self.calls: dict[str, list[ast.Call]] = {}
        self.imported: dict[str, str] = {}
        for node in ast.walk(self.tree):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self.functions.setdefault(node.name, []).append(node)
                case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                    self.calls.setdefault(name, []).append(node)
                case ast.Import(names=names):
                    for one in names:
                        root = one.name.partition(".")[0]
                        self.imported[one.asname or root] = one.name if one.asname else root
                case ast.ImportFrom(module=module, names=names):
                    for one in names:
                        self.imported[one.asname or one.name] = f"{module}.{one.name}"

    # Places -----------------------------------------------------------------------------------

    def offset(self, row: int, column_bytes: int) -> int:
        """The character offset of a position of the syntax tree."""
        column = len(self.source.line(row).encode()[:column_bytes].decode(errors="replace"))
        return self.source.line_starts[row - 1] + column

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Where a node begins."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Where a node ends."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.expr | ast.stmt) -> str:
        """A node as written."""
        return self.source.text[self.start(node) : self.end(node)]

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """The span of a node."""
        return self.source.span(self.start(node), self.end(node))

    # Around a node ----------------------------------------------------------------------------

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function_of(self, node: ast.AST) -> Function | None:
        """The function that a node stands in."""
        return next((one for one in self.ancestors(node) if isinstance(one, Function)), None)

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The class that a node stands in."""
        return next((one for one in self.ancestors(node) if isinstance(one, ast.ClassDef)), None)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The statement that a node stands in."""
        if isinstance(node, ast.stmt):
            return node
        return next(one for one in self.ancestors(node) if isinstance(one, ast.stmt))

    def loops_around(self, node: ast.AST) -> Iterator[Loop]:
        """The loops of its function that a node is repeated by, innermost first."""
        inner = node
        for one in self.ancestors(node):
            if isinstance(one, Function | ast.Lambda):
                return
            if isinstance(one, Loop) and inner in one.body and not self.is_few(one):
                yield one
            inner = one

    def is_few(self, loop: Loop) -> bool:
        """Whether a loop runs a fixed, small number of times."""
        match loop:
            case ast.For(iter=ast.Tuple() | ast.List() | ast.Set() | ast.Constant()):
                return True
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=arguments)):
                return all(
                    isinstance(one, ast.Constant)
                    and isinstance(one.value, int)
                    and one.value <= FEW
                    for one in arguments
                )
        return False

    def scope(self, node: ast.AST) -> Function | ast.Module:
        """The function, or else the module."""
        return self.function_of(node) or self.tree

    def is_repeated(self, function: Function | None, level: int = 0) -> bool:
        """Whether code of the file calls a function in a loop."""
        if function is None or level > CALLER_LEVELS:
            return False
        return any(
            any(True for _ in self.loops_around(call))
            or self.is_repeated(self.function_of(call), level + 1)
            for call in self.calls.get(function.name, ())
            if self.function_of(call) is not function
        )

    # Names ------------------------------------------------------------------------------------

    def dotted(self, node: ast.expr) -> str:
        """The full name of an imported thing: ``torch.nn.functional.relu``; else empty."""
        if isinstance(node, ast.Name):
            return self.imported.get(node.id, "")
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        return ""

    def assigned(self, name: str, scope: Function | ast.Module) -> Iterator[ast.expr]:
        """The values that are assigned to a variable in a function, or at the top of the module."""
        for node in ast.walk(scope):
            if node is not scope and isinstance(node, Function):
                continue
            if isinstance(node, ast.stmt | ast.NamedExpr) and self.scope(node) is not scope:
                continue
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        yield from _matched(target, value, name)
                case ast.AnnAssign(target=ast.Name(id=found), value=value) if value is not None:
                    if found == name:
                        yield value
                case ast.AugAssign(target=ast.Name(id=found), value=value) if found == name:
                    yield value
                case ast.NamedExpr(target=ast.Name(id=found), value=value) if found == name:
                    yield value
                case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                    if any(
                        isinstance(one, ast.Name) and one.id == name for one in ast.walk(target)
                    ):
                        yield value

    def member(self, attribute: ast.Attribute) -> Iterator[ast.expr]:
        """The values that the class assigns to a member of ``self``."""
        owner = self.class_of(attribute)
        if owner is None or not isinstance(attribute.value, ast.Name):
            return
        for node in ast.walk(owner):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and target.attr == attribute.attr:
                    yield node.value

    def arguments_for(self, function: Function, parameter: str) -> Iterator[ast.expr]:
        """What the calls in the file pass for a parameter."""
        names = [one.arg for one in [*function.args.posonlyargs, *function.args.args]]
        method = isinstance(self.parents.get(function), ast.ClassDef)
        for call in self.calls.get(function.name, ()):
            for keyword in call.keywords:
                if keyword.arg == parameter:
                    yield keyword.value
            bound = int(method and isinstance(call.func, ast.Attribute))
            if parameter in names:
                position = names.index(parameter) - bound
                if 0 <= position < len(call.args):
                    yield call.args[position]


def root_name(node: ast.expr) -> str:
    """The place that a chain of parts starts from: ``history`` of ``history["a"][0]``,
    ``self.losses`` of ``self.losses["a"]``."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call | ast.Starred):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return f"{node.value.id}.{node.attr}" if node.value.id == "self" else node.value.id
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _matched(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Starred):
        yield from _matched(target.value, value, name)
    elif isinstance(target, ast.Tuple | ast.List):
        same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        for number, one in enumerate(target.elts):
            item = value.elts[number] if same else value  # type: ignore[attr-defined]
            yield from _matched(one, item, name)
