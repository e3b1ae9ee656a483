"""Tells cudalint from which Python lines the ledger was called: one JSON object for each call."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from types import FrameType, TracebackType

VARIABLE = "CUDALINT_PYTHON_STACKS"
_OWN = str(Path(__file__).resolve().parent.parent)
_LIBRARY = os.sep + "runpy.py"
_lock = threading.Lock()
_file = None


def current() -> list[list[object]]:
    """The stack of the program, innermost first: ``[file, line, function]``."""
    frame: FrameType | None = sys._getframe(1)
    found: list[list[object]] = []
    while frame is not None:
        _add(found, frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return found


def of_traceback(traceback: TracebackType | None) -> list[list[object]]:
    """The stack of an exception, innermost first."""
    found: list[list[object]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        _add(found, code.co_filename, traceback.tb_lineno, code.co_name)
        traceback = traceback.tb_next
    return found[::-1]


def _add(found: list[list[object]], filename: str, line: int, function: str) -> None:
    own = filename.startswith((_OWN, "<frozen")) or filename.endswith(_LIBRARY)
    if not own:
        found.append([str(Path(filename).absolute()), line, function])


def write(record: dict[str, object]) -> None:
    """Add a record; what cannot be written is lost, the program goes on."""
    global _file
    path = os.environ.get(VARIABLE)
    if not path:
        return
    with _lock:
        try:
            if _file is None or _file.name != f"{path}.{os.getpid()}":
                _file = Path(f"{path}.{os.getpid()}").open("a", encoding="utf-8")  # noqa: SIM115
            _file.write(json.dumps(record, separators=(",", ":")) + "\n")
            _file.flush()
        except OSError:
            pass
