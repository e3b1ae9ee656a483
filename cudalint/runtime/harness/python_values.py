"""What a harness passes to a Python function: an expression for each parameter, by its annotation,
else by its name and by what the function does with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from cudalint.runtime.harness.subjects import HarnessError
from cudalint.source import UNPARSABLE

Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEEPEST = 3
_BY_ANNOTATION = {
    "int": "number()",
    "float": "1.0",
    "bool": "True",
    "str": "'cudalint'",
    "bytes": "bytes(number())",
    "bytearray": "bytearray(number())",
    "Path": "temporary_file()",
    "PathLike": "temporary_file()",
    "object": "None",
    "None": "None",
    "ndarray": "array()",
    "NDArray": "array()",
    "ArrayLike": "array()",
    "Tensor": "tensor()",
    "CUdeviceptr": "block()",
    "cudaStream_t": "stream()",
    "CUstream": "stream()",
}
_SEQUENCES = frozenset({
    "list", "List", "Sequence", "MutableSequence", "Iterable", "Collection", "Iterator", "deque",
})  # fmt: skip
_SETS = frozenset({"set", "Set", "frozenset", "FrozenSet"})
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping"})
_TUPLES = frozenset({"tuple", "Tuple"})
_WRAPPERS = frozenset({"Annotated", "Final", "ClassVar", "Required", "NotRequired"})
_NUMBERS = re.compile(
    r"(?:^|_)(?:n|m|k|num|number|count|counts|size|sizes|bytes|nbytes|length|len|width|height|depth"
    r"|rows|cols|columns|batch|dim|dims|steps|iterations|iters|capacity|elements|items|total)(?:_|$)"
)
_ORDINALS = re.compile(
    r"(?:^|_)(?:device|dev|gpu|rank|ordinal|index|idx|id|kind|mode|flags?)(?:_|$)"
)
_STREAMS = re.compile(r"(?:^|_)stream(?:_|$)")
_PATHS = re.compile(r"(?:^|_)(?:path|file|filename|folder)(?:_|$)")
_TEXTS = re.compile(r"(?:^|_)(?:name|label|title|text|message|key)(?:_|$)")
_SHAPES = re.compile(r"(?:^|_)shape(?:_|$)")
_ARRAYS = frozenset({
    "shape", "dtype", "nbytes", "ctypes", "ndim", "itemsize", "astype", "reshape", "ravel", "flat",
    "__array_interface__", "tobytes", "flags", "copy", "T",
})  # fmt: skip
"""What only arrays have, of the host as well as of the device."""


class PythonValues:
    """Makes the arguments of one harness."""

    def __init__(self, classes: Mapping[str, ast.ClassDef]) -> None:
        """``classes``: those that the source defines at its top."""
        self._classes = classes

    def arguments(self, function: Function, *, method: bool, depth: int = 0) -> str:
        """The arguments of a call; those with defaults are left to these. ``method``: the first
        parameter is the object."""
        given = function.args
        positional = [*given.posonlyargs, *given.args]
        plain = positional[method : len(positional) - len(given.defaults)]
        made = [self._of(one, function, depth) for one in plain]
        for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
            if default is None:
                made.append(f"{one.arg}={self._of(one, function, depth)}")
        return ", ".join(made)

    def constructed(self, definition: ast.ClassDef, depth: int = 0) -> str:
        """The construction of a class of the source."""
        if depth > _DEEPEST:
            raise HarnessError(f"what `{definition.name}` needs is too deep")
        name = f"source.{definition.name}"
        bases = {_last(base) for base in definition.bases}
        if bases & {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}:
            return f"next(iter({name}))"
        if bases & {"ABC", "Protocol"} or any(_is_abstract(one) for one in definition.body):
            raise HarnessError(f"`{definition.name}` is abstract")
        constructor = self._constructor(definition)
        if constructor is not None:
            return f"{name}({self.arguments(constructor, method=True, depth=depth + 1)})"
        decorators = {_last(one) for one in definition.decorator_list}
        if "dataclass" in decorators or "NamedTuple" in bases:
            fields = [
                self._annotated(one.annotation, depth + 1)
                for one in definition.body
                if isinstance(one, ast.AnnAssign) and one.value is None
            ]
            return f"{name}({', '.join(fields)})"
        return f"{name}()"

    def _constructor(self, definition: ast.ClassDef) -> Function | None:
        for one in definition.body:
            if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                return one
        for base in definition.bases:
            inherited = self._classes.get(_last(base))
            if inherited is not None and inherited is not definition:
                return self._constructor(inherited)
        return None

    def _of(self, parameter: ast.arg, function: Function, depth: int) -> str:
        if parameter.annotation is not None:
            return self._annotated(parameter.annotation, depth)
        return _by_use(parameter.arg, function)

    def _annotated(self, annotation: ast.expr, depth: int) -> str:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            text = annotation.value
            try:
                annotation = ast.parse(text, mode="eval").body
            except UNPARSABLE:
                raise HarnessError(f"`{text}` is no type") from None
        if isinstance(annotation, ast.Constant):
            return "None"
        if isinstance(annotation, ast.BinOp):
            return self._first(_alternatives(annotation), depth)
        if isinstance(annotation, ast.Subscript):
            return self._subscripted(annotation, depth)
        name = _last(annotation)
        if name in _BY_ANNOTATION:
            return _BY_ANNOTATION[name]
        if name in _SEQUENCES:
            return "[number()] * 4"
        if name in _MAPPINGS | _SETS | _TUPLES:
            return f"{'dict' if name in _MAPPINGS else 'set' if name in _SETS else 'tuple'}()"
        if name == "Callable":
            return "nothing"
        if name in self._classes:
            return self.constructed(self._classes[name], depth)
        raise HarnessError(f"a `{ast.unparse(annotation)}` cannot be constructed")

    def _subscripted(self, annotation: ast.Subscript, depth: int) -> str:
        name = _last(annotation.value)
        inner = annotation.slice
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name in ("Optional", "Union"):
            return self._first(parts, depth)
        if name in _WRAPPERS:
            return self._annotated(parts[0], depth)
        if name == "Literal":
            return ast.unparse(parts[0])
        if name in _SEQUENCES:
            return f"[{self._annotated(parts[0], depth)} for _ in range(4)]"
        if name in _SETS:
            return f"{{{self._annotated(parts[0], depth)}}}"
        if name in _MAPPINGS:
            made = [self._annotated(part, depth) for part in parts[:2]]
            return f"{{{': '.join(made)}}}"
        if name in _TUPLES:
            if isinstance(parts[-1], ast.Constant) and parts[-1].value is Ellipsis:
                return f"({self._annotated(parts[0], depth)},) * 2"
            return f"({''.join(f'{self._annotated(part, depth)}, ' for part in parts)})"
        return self._annotated(annotation.value, depth)

    def _first(self, parts: Sequence[ast.expr], depth: int) -> str:
        failed = HarnessError("a union of nothing cannot be constructed")
        for part in parts:
            if isinstance(part, ast.Constant) and part.value is None:
                continue
            try:
                return self._annotated(part, depth)
            except HarnessError as error:
                failed = error
        raise failed


def _by_use(name: str, function: Function) -> str:
    """What a parameter without an annotation is: by what is done with it, else by its name."""
    attributes: set[str] = set()
    called = looped = False
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and _is(node.value, name):
            attributes.add(node.attr)
        called |= isinstance(node, ast.Call) and _is(node.func, name)
        looped |= isinstance(node, ast.For | ast.comprehension) and _is(node.iter, name)
    if attributes & _ARRAYS:
        return "array()"
    if attributes:
        used = ", ".join(sorted(attributes))
        raise HarnessError(f"`{name}` has no annotation, and is used as something with {used}")
    if called:
        return "nothing"
    for pattern, value in (
        (_SHAPES, "(number(), number())"), (_STREAMS, "0"), (_PATHS, "str(temporary_file())"),
        (_TEXTS, "'cudalint'"), (_NUMBERS, "number()"), (_ORDINALS, "0"),
    ):  # fmt: skip
        if pattern.search(name):
            return f"[{value}] * 4" if looped else value
    if looped:
        return "[number()] * 4"
    if _is_number(name, function):
        return "number()"
    raise HarnessError(f"`{name}` has no annotation, and nothing tells what it is")


def _is_number(name: str, function: Function) -> bool:
    """Whether a function calculates with a parameter, or compares it with a number."""
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and (_is(node.left, name) or _is(node.right, name)):
            return True
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            numbers = any(
                isinstance(one, ast.Constant) and isinstance(one.value, int) for one in sides
            )
            if numbers and any(_is(one, name) for one in sides):
                return True
        if isinstance(node, ast.Call) and _last(node.func) == "range":
            return any(_is(one, name) for one in node.args)
    return False


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _last(node: ast.expr) -> str:
    """The last name of ``numpy.ndarray``, of ``dataclass(frozen=True)``."""
    if isinstance(node, ast.Call | ast.Subscript):
        return _last(node.func if isinstance(node, ast.Call) else node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _alternatives(annotation: ast.expr) -> list[ast.expr]:
    if isinstance(annotation, ast.BinOp):
        return [*_alternatives(annotation.left), *_alternatives(annotation.right)]
    return [annotation]


def _is_abstract(statement: ast.stmt) -> bool:
    return isinstance(statement, Function) and "abstractmethod" in set(decorators(statement))


def decorators(function: Function) -> Iterator[str]:
    """Their last names."""
    return (_last(one) for one in function.decorator_list)
