"""The simulated devices: their memory by address, and what it holds."""

from __future__ import annotations

import bisect
import os
from typing import Any

import numpy
from _cudalint_frameworks import on_bindings, recorder

HOLLOW = 256 * 1024**2
"""Arrays above so many bytes have their size only: one element stands for all of them."""
INVALID_VALUE, OUT_OF_MEMORY = 1, 2
_NAMES = {1: "cudaErrorInvalidValue", 2: "cudaErrorMemoryAllocation", 17: "cudaErrorInvalidDevice"}
_PAGE = 512
_FIRST = 0x7F00_0000_0000
_given = dict(part.partition("=")[::2] for part in os.environ.get("CUDALINT_DEVICE", "").split(";"))


class CUDARuntimeError(RuntimeError):
    """A call of the runtime failed."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"{_NAMES.get(status, f'cudaError {status}')}: simulated")


def given(name: str, default: int) -> int:
    """A number of the device's profile."""
    return int(_given.get(name, default))


def limits(name: str, default: str) -> tuple[int, ...]:
    """What a block or a grid may have in each dimension."""
    return tuple(int(one) for one in _given.get(name, default).split("x"))


COUNT = given("count", 1)
CAPACITY = given("memory", 16 * 1024**3)
NAME = _given.get("name", "cudalint simulated")
CAPABILITY = (given("major", 9), given("minor", 0))
current = 0


class Memory:
    """What one device holds."""

    def __init__(self) -> None:
        self.used = 0
        self._next = _FIRST
        self._sizes: dict[int, int] = {}

    def take(self, size: int) -> int:
        """The address of so many bytes; 0 where they are not there."""
        rounded = -(-max(size, 1) // _PAGE) * _PAGE
        if self.used + rounded > CAPACITY:
            return 0
        address, self._next = self._next, self._next + rounded + _PAGE
        self._sizes[address] = rounded
        self.used += rounded
        return address

    def give_back(self, address: int) -> None:
        """Nothing lies there any longer."""
        self.used -= self._sizes.pop(address)


memories = [Memory() for _ in range(COUNT)]
for _number, _memory in enumerate(memories):
    _memory._next += _number << 44

# What lies where ----------------------------------------------------------------------------------

_starts: list[int] = []
_held: dict[int, tuple[int, Any]] = {}


def place(address: int, size: int, contents: Any) -> None:
    """Say that NumPy's ``contents`` lie at an address; ``None``: they are not known."""
    if address not in _held:
        bisect.insort(_starts, address)
    _held[address] = size, contents


def forget(address: int) -> None:
    """Nothing is there any more."""
    if _held.pop(address, None) is not None:
        del _starts[bisect.bisect_left(_starts, address)]


def holds(address: int) -> bool:
    """Whether an address is the device's: anything else is the host's."""
    return _FIRST <= address < _FIRST + (COUNT << 44)


def find(address: int) -> tuple[int, int | None] | None:
    """How many bytes there are from an address of the device on, and where they lie on the host
    (``None``: nowhere); ``None`` where nothing is there."""
    at = bisect.bisect_right(_starts, address) - 1
    if at < 0:
        return None
    start = _starts[at]
    size, contents = _held[start]
    left = size - (address - start)
    if left <= 0:
        return None
    dense = isinstance(contents, numpy.ndarray) and contents.flags.c_contiguous
    return left, contents.ctypes.data + address - start if dense else None


# Calls --------------------------------------------------------------------------------------------


def called(api: str, **values: Any) -> int:
    """Count a call; ``CUDARuntimeError`` where it is to fail."""
    number, status = on_bindings.next_call(api)
    if status:
        recorder.write(
            "call", at=recorder.stack(), api=api, status=status, call=number, injected=True,
            **values,
        )  # fmt: skip
        raise CUDARuntimeError(status)
    return number


def refuse(api: str, status: int, number: int, **values: Any) -> None:
    """The call is wrong by itself."""
    recorder.write("call", at=recorder.stack(), api=api, status=status, call=number, **values)
    raise CUDARuntimeError(status)
