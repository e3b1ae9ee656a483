"""Reads pickles of plain data, and nothing else.

This is no unpickler: it knows the opcodes that dicts, lists, tuples, strings and numbers are made
of. What names a class, calls, builds or loads is refused before anything happens, and no number in
the file decides how much memory is taken: a file can cost no more than a few times its own size."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

PROTOCOL = b"\x80"
"""How each pickle of protocol 2 or later begins."""
_LARGEST_INTEGER = 16
_MARK = object()
_SIZES = {1: struct.Struct("<B"), 4: struct.Struct("<I"), 8: struct.Struct("<Q")}
_INTEGERS = {b"K": struct.Struct("<B"), b"M": struct.Struct("<H"), b"J": struct.Struct("<i")}
_FLOAT = struct.Struct(">d")
_TEXTS = {b"\x8c": 1, b"X": 4, b"\x8d": 8}
"""Strings, by how many bytes their length has."""
_PLAIN: dict[bytes, Callable[[], Any]] = {
    b"N": lambda: None, b"\x88": lambda: True, b"\x89": lambda: False,
    b"}": dict, b"]": list, b")": tuple, b"(": lambda: _MARK,
}  # fmt: skip
_REFUSED = {
    b"c": "names a class or function", b"\x93": "names a class or function",
    b"i": "names a class", b"R": "calls something", b"o": "makes an object",
    b"\x81": "makes an object", b"\x92": "makes an object", b"b": "sets the state of an object",
    b"\x82": "names a registered class", b"\x83": "names a registered class",
    b"\x84": "names a registered class", b"P": "refers to something outside",
    b"Q": "refers to something outside",
}  # fmt: skip


class PickleError(ValueError):
    """What cannot be read, and why."""


def load(data: bytes) -> Any:
    """The plain data in a pickle of protocol 2 or later."""
    try:
        return _Reader(data).read()
    except (IndexError, struct.error):
        raise PickleError("the file is cut off, or no pickle") from None
    except UnicodeDecodeError:
        raise PickleError("a string in the file is not UTF-8") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def read(self) -> Any:
        data, stack = self._data, self._stack
        if data[:1] != PROTOCOL or not 2 <= data[1] <= 5:
            raise PickleError("this is no pickle of protocol 2 to 5")
        self._at = 2
        while True:
            code = data[self._at : self._at + 1]
            self._at += 1
            if code in _TEXTS:
                stack.append(self._text(self._number(_TEXTS[code])))
            elif code in _INTEGERS:
                stack.append(self._take(_INTEGERS[code]))
            elif code in _PLAIN:
                made = _PLAIN[code]()
                if made is _MARK:
                    self._marks.append(len(stack))
                else:
                    stack.append(made)
            elif code == b".":
                return self._pop()
            elif not self._step(code):
                raise self._refusal(code)

    def _step(self, code: bytes) -> bool:
        """The rarer opcodes; whether it was one."""
        stack = self._stack
        if code == b"\x94":
            self._memo[len(self._memo)] = self._top()
        elif code in (b"q", b"r"):
            self._memo[self._number(1 if code == b"q" else 4)] = self._top()
        elif code in (b"h", b"j"):
            number = self._number(1 if code == b"h" else 4)
            if number not in self._memo:
                raise PickleError(f"it refers to its entry {number}, and there is none")
            stack.append(self._memo[number])
        elif code == b"e":
            items = self._marked()
            self._container(list).extend(items)
        elif code == b"a":
            item = self._pop()
            self._container(list).append(item)
        elif code in (b"u", b"s"):
            pairs = self._marked() if code == b"u" else [self._pop(), self._pop()][::-1]
            self._fill(self._container(dict), pairs)
        elif code in (b"\x85", b"\x86", b"\x87"):
            items = [self._pop() for _ in range(code[0] - 0x84)]
            stack.append(tuple(items[::-1]))
        elif code == b"t":
            stack.append(tuple(self._marked()))
        elif code == b"G":
            stack.append(self._take(_FLOAT))
        elif code == b"\x8a":
            length = self._number(1)
            if length > _LARGEST_INTEGER:
                raise PickleError(f"an integer of {length} bytes")
            stack.append(int.from_bytes(self._bytes(length), "little", signed=True))
        elif code == b"\x95":
            self._number(8)
        elif code == b"0":
            self._pop()
        else:
            return False
        return True

    def _refusal(self, code: bytes) -> PickleError:
        if not code:
            return PickleError("the file is cut off")
        why = _REFUSED.get(code, "is not of plain data")
        return PickleError(
            f"refused: at byte {self._at - 1} it {why} (opcode {code!r}); a snapshot needs none of"
            " that, and this file was not executed"
        )

    @staticmethod
    def _fill(into: dict[Any, Any], pairs: list[Any]) -> None:
        if len(pairs) % 2:
            raise PickleError("a dict with a key that has no value")
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            if not isinstance(key, str | int | float | bool | None):
                raise PickleError("a dict with a key that is no string or number")
            into[key] = value

    def _container(self, kind: type) -> Any:
        found = self._top()
        if type(found) is not kind:
            raise PickleError(f"something is added to what is no {kind.__name__}")
        return found

    def _marked(self) -> list[Any]:
        if not self._marks:
            raise PickleError("an end without its beginning")
        mark = self._marks.pop()
        items = self._stack[mark:]
        del self._stack[mark:]
        return items

    def _pop(self) -> Any:
        self._top()
        return self._stack.pop()

    def _top(self) -> Any:
        if not self._stack or (self._marks and len(self._stack) <= self._marks[-1]):
            raise PickleError("it takes what is not there")
        return self._stack[-1]

    def _text(self, length: int) -> str:
        return self._bytes(length).decode("utf-8", "surrogatepass")

    def _bytes(self, length: int) -> bytes:
        found = self._data[self._at : self._at + length]
        if len(found) < length:
            raise PickleError(f"the file is cut off: {length} bytes announced, {len(found)} there")
        self._at += length
        return found

    def _number(self, width: int) -> int:
        return int(self._take(_SIZES[width]))

    def _take(self, layout: struct.Struct) -> Any:
        (value,) = layout.unpack_from(self._data, self._at)
        self._at += layout.size
        return value
