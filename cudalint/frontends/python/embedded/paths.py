"""Files that a script reads its CUDA sources from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

import libcst as cst

from cudalint.frontends.python.constants import fold, string_value
from cudalint.frontends.python.embedded.texts import Text, copied
from cudalint.frontends.python.scopes import Dotted, Scope
from cudalint.program.expressions import Constant
from cudalint.project.paths import absolute, display_name
from cudalint.project.reading import UnreadableError, check_content, decode, read_bytes
from cudalint.source import Source, Span

_SUFFIXES = frozenset(
    [".cu", ".cuh", ".hip", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".inl", ".cuda", ".kernel"]
)
_LARGEST = 1_000_000
_MAXIMUM_DEPTH = 20
_SAME = frozenset(["resolve", "absolute", "expanduser", "as_posix", "__str__", "__fspath__"])
_FUNCTIONS = {
    "os.path.join": "join",
    "os.path.dirname": "parent",
    "os.path.abspath": "same",
    "os.path.realpath": "same",
    "os.path.normpath": "same",
    "os.fspath": "same",
    "builtins.str": "same",
    "pathlib.Path": "join",
    "pathlib.PurePath": "join",
    "pathlib.PosixPath": "join",
}
Bound = Callable[[cst.Name | cst.Attribute, Scope], tuple[cst.BaseExpression, Scope] | None]


def path_of(
    node: cst.CSTNode, scope: Scope, bound: Bound, filename: str, depth: int = 0
) -> Path | None:
    """The path that an expression means: next to the script if it is relative."""

    def inner(part: cst.CSTNode) -> Path | None:
        return path_of(part, scope, bound, filename, depth + 1)

    if depth > _MAXIMUM_DEPTH:
        return None
    match node:
        case cst.SimpleString() | cst.ConcatenatedString():
            text = string_value(node)
            return Path(text) if text and "\0" not in text else None
        case cst.Name(value="__file__"):
            return absolute(filename)
        case cst.BinaryOperation(operator=cst.Divide()):
            return _joined([inner(node.left), inner(node.right)])
        case cst.BinaryOperation(operator=cst.Add()):
            folder, name = inner(node.left), string_value(node.right)
            if folder is None or not name or "\0" in name:
                return None
            return Path(f"{folder}{name}")
        case cst.Attribute() if node.attr.value == "parent":
            base = inner(node.value)
            return base.parent if base is not None else None
        case cst.Subscript():
            return _ancestor(node, scope, inner)
        case cst.Name() | cst.Attribute():
            value = bound(node, scope)
            if value is not None:
                return path_of(value[0], value[1], bound, filename, depth + 1)
        case cst.Call():
            return _called(node, scope, inner)
    return None


def _called(
    node: cst.Call, scope: Scope, inner: Callable[[cst.CSTNode], Path | None]
) -> Path | None:
    meaning = scope.meaning(node.func)
    values = [argument.value for argument in node.args if not argument.star]
    if isinstance(meaning, Dotted):
        kind = _FUNCTIONS.get(meaning.name)
        if kind is None or not values:
            return None
        if kind == "join":
            return _joined([inner(value) for value in values])
        base = inner(values[0])
        return base.parent if base is not None and kind == "parent" else base
    if not isinstance(node.func, cst.Attribute):
        return None
    base = inner(node.func.value)
    name = node.func.attr.value
    if base is None or name in _SAME:
        return base
    text = string_value(values[0]) if values else None
    try:
        if name == "joinpath":
            return _joined([base, *(inner(value) for value in values)])
        if name == "with_name" and text:
            return base.with_name(text)
        if name == "with_suffix" and text is not None:
            return base.with_suffix(text)
    except ValueError:
        pass
    return None


def _ancestor(
    node: cst.Subscript, scope: Scope, inner: Callable[[cst.CSTNode], Path | None]
) -> Path | None:
    """``path.parents[1]``."""
    if not isinstance(node.value, cst.Attribute) or node.value.attr.value != "parents":
        return None
    base = inner(node.value.value)
    first = node.slice[0].slice
    index = fold(first.value, scope) if isinstance(first, cst.Index) else None
    if base is None or not isinstance(index, Constant) or not isinstance(index.value, int):
        return None
    parents = absolute(base).parents
    return parents[index.value] if 0 <= index.value < len(parents) else None


def _joined(parts: list[Path | None]) -> Path | None:
    if any(part is None for part in parts):
        return None
    return Path(*[part for part in parts if part is not None])


class FileTexts:
    """The script and the files that it reads, in one space of offsets."""

    def __init__(self, source: Source) -> None:
        self._sources = [source]
        self._bases = [0]
        self._known: dict[Path, int] = {}
        self.asked: dict[str, None] = {}
        """The files that would be read, those that do not exist as well."""

    def text(self, path: Path) -> Text | None:
        """The text of a file of CUDA next to the script."""
        full = absolute(absolute(self._sources[0].filename).parent / path)
        if full.suffix not in _SUFFIXES:
            return None
        name = display_name(full)
        self.asked[name] = None
        if full not in self._known:
            try:
                data = read_bytes(full)
                check_content(data, _LARGEST)
                content = decode(data, "cuda").text
            except UnreadableError:
                return None
            self._append(full, Source(name, content))
        number = self._known[full]
        return copied(self._sources[number].text, self._bases[number])

    def moved(self, text: Text, source: Source) -> Text:
        """A text of another source, in this space of offsets."""
        path = absolute(source.filename)
        if path not in self._known:
            self._append(path, source)
        base = self._bases[self._known[path]]
        return Text(text.value, [s + base for s in text.starts], [e + base for e in text.ends])

    def _append(self, path: Path, source: Source) -> None:
        self._known[path] = len(self._sources)
        self._bases.append(self._bases[-1] + len(self._sources[-1].text) + 1)
        self._sources.append(source)

    def place(self, start: int, end: int) -> tuple[str, Span]:
        """The file and the span that a range of offsets means."""
        number = bisect_right(self._bases, start) - 1
        source, base = self._sources[number], self._bases[number]
        last = min(max(end, start) - base, len(source.text))
        return source.filename, source.span(start - base, last)
