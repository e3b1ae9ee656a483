"""Writes what happened, one JSON object per line, to ``CUDALINT_FRAMEWORK_TRACE`` and the pid."""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import time
from types import FrameType
from typing import Any, TextIO

VARIABLE = "CUDALINT_FRAMEWORK_TRACE"
SEGMENT = "segment"
"""The family of what an allocator itself takes, to hand it out in blocks."""
OWN = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
_MOST_FRAMES = 48
_MOST_TEXT = 2000
_lock = threading.RLock()
_file: TextIO | None = None
_process = 0
_stacks: dict[tuple[tuple[str, int, str], ...], int] = {}
_told: set[str] = set()
_live: dict[tuple[str, int], dict[str, Any]] = {}
_at_end: list[Any] = []
_ended = False


def stack() -> list[tuple[str, int, str]]:
    """The program's stack, innermost first; frames of this package are left out."""
    frame: FrameType | None = sys._getframe(1)
    found: list[tuple[str, int, str]] = []
    while frame is not None and len(found) < _MOST_FRAMES:
        add_frame(found, frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return found


def add_frame(found: list[tuple[str, int, str]], filename: str, line: int, function: str) -> None:
    """Add a frame unless it is ours or the interpreter's."""
    if not filename.startswith((OWN, "<frozen")) and os.sep + "runpy.py" not in filename:
        found.append((os.path.abspath(filename), line, function))  # noqa: PTH100


def write(kind: str, *, at: list[tuple[str, int, str]] | None = None, **values: Any) -> None:
    """Add a record. What cannot be written is lost; the program goes on."""
    global _file, _process
    path = os.environ.get(VARIABLE)
    if not path or _ended:
        return
    with _lock:
        try:
            if _file is None or _process != os.getpid():
                _process = os.getpid()
                _file = open(f"{path}.{_process}", "a", encoding="utf-8")  # noqa: PTH123, SIM115
                _stacks.clear()
            values.setdefault("time", time.time_ns())
            if at is not None:
                key = tuple(at)
                if key not in _stacks:
                    _stacks[key] = len(_stacks) + 1
                    _line({"kind": "stack", "number": _stacks[key], "frames": at})
                values["stack"] = _stacks[key]
            _line({"kind": kind, **values})
            _file.flush()
        except Exception:  # The disk is full, the interpreter ends, ...
            return


def _line(record: dict[str, Any]) -> None:
    assert _file is not None
    _file.write(json.dumps(record, separators=(",", ":")) + "\n")


def acquired(
    family: str, address: int, size: int, api: str, *, owned: bool = True, **more: Any
) -> None:
    """Memory came to be. ``owned``: an object of Python holds it, so that its end is no leak."""
    at = stack()
    with _lock:
        if owned:
            _live[family, address] = {"family": family, "address": address, "bytes": size}
        write("acquire", at=at, family=family, address=address, bytes=size, api=api, **more)


def released(family: str, address: int, size: int, api: str, **more: Any) -> None:
    """Memory is gone."""
    at = stack()
    with _lock:
        _live.pop((family, address), None)
        write("release", at=at, family=family, address=address, bytes=size, api=api, **more)


def live_bytes(family: str) -> int:
    """What objects of Python hold of a family."""
    with _lock:
        return sum(one["bytes"] for (kind, _), one in _live.items() if kind == family)


def live_addresses(family: str) -> list[int]:
    """Where it lies."""
    with _lock:
        return [address for kind, address in _live if kind == family]


def raised(error: BaseException) -> None:
    """An error that ends the program, with where it came from."""
    found: list[tuple[str, int, str]] = []
    at = error.__traceback__
    while at is not None:
        code = at.tb_frame.f_code
        add_frame(found, code.co_filename, at.tb_lineno, code.co_name)
        at = at.tb_next
    if isinstance(error, SystemExit):
        if error.code not in (None, 0):
            write("exit", at=found[::-1])
    else:
        text = f"{type(error).__name__}: {error}"[:_MOST_TEXT]
        write("raised", at=found[::-1][:_MOST_FRAMES], text=text)


def note(text: str) -> None:
    """Something to tell, once."""
    if text not in _told:
        _told.add(text)
        write("note", text=text)


def failed(what: str, error: BaseException) -> None:
    """A hook did not work: the program goes on, unwatched as far as that goes."""
    note(f"{what} is not watched: {type(error).__name__}: {error}")


def at_end(function: Any) -> None:
    """Called when the program ends, before the end is written."""
    _at_end.append(function)


def _end() -> None:
    global _ended
    for function in _at_end:
        try:
            function()
        except Exception as error:
            failed("the end of the program", error)
    with _lock:
        # Their owners live until the interpreter ends.
        for one in list(_live.values()):
            write("release", at=[], api="end of the program", **one)
        _live.clear()
        write("end")
        _ended = True


def start() -> None:
    """Begin; the end is written when the interpreter ends."""
    write("start", executable=sys.executable)
    atexit.register(_end)
