"""Fast access to libclang's cursors, with its sharp edges covered.

``Cursor.get_children`` makes a native callback per call and ``Cursor.kind`` raises on kinds that
the bindings do not know; these functions do neither. A cursor is touched once: what they compute
is kept on the cursor object.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from clang import cindex
from clang.cindex import Cursor, CursorKind, TranslationUnit

__all__ = [
    "Location",
    "UnknownKind",
    "children",
    "extent",
    "forget_files",
    "in_main_file",
    "kind_of",
    "location",
    "main_file_children",
    "spelling",
]


class Location(NamedTuple):
    """Where something stands: the expansion's place for what comes out of a macro.

    Row and column are 1-based; column and offset count **bytes** of UTF-8, as libclang does.
    """

    file: str
    row: int
    column: int
    offset: int


class _Visit(ctypes.Structure):
    """A cursor that nobody looks at: the parent in the visitor's arguments."""

    _fields_ = (("words", ctypes.c_void_p * 4),)


class _Functions:
    """libclang's functions with cheaper prototypes than the bindings give them."""

    def __init__(self) -> None:
        self.library = library = ctypes.CDLL(cindex.conf.lib._name)
        self.visitor_type = ctypes.CFUNCTYPE(ctypes.c_int, Cursor, _Visit, ctypes.c_void_p)
        self.visit = self._function("visitChildren", ctypes.c_uint, Cursor, self.visitor_type)
        self.visit = library.clang_visitChildren
        self.visit.restype = ctypes.c_uint
        self.visit.argtypes = [Cursor, self.visitor_type, ctypes.c_void_p]
        location, extent = cindex.SourceLocation, cindex.SourceRange
        self.from_main_file = self._function("Location_isFromMainFile", ctypes.c_int, location)
        self.cursor_location = self._function("getCursorLocation", location, Cursor)
        self.cursor_extent = self._function("getCursorExtent", extent, Cursor)
        self.range_start = self._function("getRangeStart", location, extent)
        self.range_end = self._function("getRangeEnd", location, extent)
        self._file_location = library.clang_getFileLocation
        self._file_location.restype = None
        self._file = ctypes.c_void_p()
        self._numbers = (ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint())
        self._places = tuple(ctypes.byref(cell) for cell in (self._file, *self._numbers))
        self.collected: list[Cursor] = []
        # Kept alive as long as the library may call it:
        self.collector = self.visitor_type(self._collect)

    def _function(self, name: str, result: Any, *arguments: Any) -> Any:
        function = getattr(self.library, f"clang_{name}")
        function.restype = result
        function.argtypes = list(arguments)
        return function

    def _collect(self, child: Cursor, parent: _Visit, data: None) -> int:
        self.collected.append(child)
        return 1

    def place(self, location: Any) -> Location:
        """A location in numbers; an argument of a macro keeps its own place."""
        self._file_location(location, *self._places)
        row, column, offset = self._numbers
        handle = self._file.value
        name = _file_name(handle) if handle else ""
        return Location(name, row.value, column.value, offset.value)


_file_names: dict[int, str] = {}


def _file_name(handle: int) -> str:
    name = _file_names.get(handle)
    if name is None:
        file = cindex.File(ctypes.cast(handle, cindex.c_object_p))
        name = _file_names[handle] = file.name
    return name


def forget_files() -> None:
    """To be called after each parse: a new unit's file may stand where an old one's stood."""
    _file_names.clear()


_functions: _Functions | None = None


def _library() -> _Functions:
    global _functions
    if _functions is None:
        _functions = _Functions()
    return _functions


def children(cursor: Cursor) -> list[Cursor]:
    """The children, in the order of the source (mostly)."""
    library = _library()
    found: list[Cursor] = []
    library.collected = found
    library.visit(cursor, library.collector, None)
    unit = cursor._tu
    for child in found:
        child._tu = unit
    return found


class UnknownKind:
    """Stands for a cursor kind that the bindings do not know."""

    name = "UNKNOWN"

    def __repr__(self) -> str:
        return "CursorKind.UNKNOWN"


_KINDS: dict[int, CursorKind] = {}
_UNKNOWN: Any = UnknownKind()


def kind_of(cursor: Cursor) -> CursorKind:
    """The kind; an ``UnknownKind`` (equal to no kind) where the bindings have no name for it."""
    number = cursor._kind_id
    kind = _KINDS.get(number)
    if kind is None:
        try:
            kind = CursorKind.from_id(number)
        except ValueError:
            kind = _UNKNOWN
        _KINDS[number] = kind
    return kind


def spelling(cursor: Cursor) -> str:
    """The name; empty where there is none."""
    name: str = cursor.spelling
    return name


def location(cursor: Cursor) -> Location:
    """Where the cursor's name stands (the file is empty for what stands in no file)."""
    library = _library()
    return library.place(library.cursor_location(cursor))


def extent(cursor: Cursor) -> tuple[Location, Location]:
    """Where the cursor starts, and where it ends (exclusive)."""
    library = _library()
    both = library.cursor_extent(cursor)
    return library.place(library.range_start(both)), library.place(library.range_end(both))


def in_main_file(cursor: Cursor) -> bool:
    """Whether the cursor stands in the file that was parsed, not in a header."""
    library = _library()
    return bool(library.from_main_file(library.cursor_location(cursor)))


def main_file_children(unit: TranslationUnit) -> list[Cursor]:
    """The top-level declarations of the parsed file itself."""
    return [child for child in children(unit.cursor) if in_main_file(child)]
