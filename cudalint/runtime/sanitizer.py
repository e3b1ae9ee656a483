"""Runs a program under NVIDIA's compute-sanitizer, and reads the XML that it saves: what a tool
that knows nothing of ours says of the same run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from cudalint.runtime.events import Frame
from cudalint.runtime.processes import ProcessLimits, run_command
from cudalint.runtime.toolkit import find_nvcc, nvidia_wheels

TOOL = "compute-sanitizer"
LEAK, API = "Leak", "Api"
_ROOT = "ComputeSanitizerOutput"
_MOST_BYTES = 256 * 1024**2
_MOST_RECORDS = 10_000
_MOST_DEPTH = 32
_MOST_TEXT = 64 * 1024


class SanitizerError(ValueError):
    """compute-sanitizer could not be run, or what it saved cannot be read; says why."""


@dataclass(frozen=True)
class Record:
    """One thing that compute-sanitizer reports."""

    kind: str
    """Its own word: ``Leak``, ``Api`` (a call that failed), ``Precise`` (an access of a kernel)."""
    message: str
    bytes: int | None = None
    """Leaked, or of one access."""
    api: str = ""
    device: Frame | None = None
    """Where in a kernel."""
    stack: tuple[Frame, ...] = ()
    """Of the host, innermost first."""


def find_sanitizer() -> Path | None:
    """compute-sanitizer: on PATH, beside the CUDA compiler, or in a wheel."""
    on_path = shutil.which(TOOL)
    if on_path:
        return Path(on_path)
    folders = []
    nvcc = find_nvcc()
    if nvcc is not None:
        top = Path(os.path.realpath(nvcc.path)).parent
        folders += [top, top.parent / TOOL]
    for wheel in nvidia_wheels():
        folders += [wheel / "bin", wheel / TOOL]
    for folder in folders:
        if os.access(folder / TOOL, os.X_OK):
            return folder / TOOL
    return None


def run_sanitizer(
    tool: Path,
    command: Sequence[str | Path],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str],
    limits: ProcessLimits,
) -> tuple[Record, ...]:
    """What it reports of a command; ``SanitizerError`` says why it reports nothing at all.

    ``environment`` is the whole of it. Without ``folder`` it runs in a temporary one."""
    with tempfile.TemporaryDirectory(prefix="cudalint-sanitizer-") as name:
        saved = Path(name) / "report.xml"
        work = Path(name) / "work"
        work.mkdir()
        words = [
            tool, "--leak-check", "full", "--print-limit", str(_MOST_RECORDS),
            "--xml", "--save", saved, *command,
        ]  # fmt: skip
        # Only one tool can stand in that place.
        clean = {key: value for key, value in environment.items() if key != "CUDA_INJECTION64_PATH"}
        try:
            done = run_command(words, folder=folder or work, environment=clean, limits=limits)
        except OSError as error:
            raise SanitizerError(f"{tool}: {error.strerror or error}") from error
        if done.timed_out:
            raise SanitizerError(f"{TOOL} was stopped after {done.seconds:.3g} s (time limit)")
        try:
            size = saved.stat().st_size
            if size > _MOST_BYTES:
                raise SanitizerError(f"{TOOL} saved {size:,} bytes: more than can be read")
            return parse(saved.read_bytes())
        except FileNotFoundError:
            said = (done.stdout + done.stderr).decode("utf-8", "replace").strip().splitlines()
            why = next((line for line in said if "rror" in line), said[-1] if said else "nothing")
            raise SanitizerError(f"{TOOL} saved no report; it said: {why[:300]}") from None
        except OSError as error:
            raise SanitizerError(f"{saved}: {error.strerror or error}") from error


def parse(data: bytes) -> tuple[Record, ...]:
    """The records of a saved report. ``SanitizerError`` where it is none, or broken."""
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _no_doctype
    parser.StartElementHandler = reader.start
    parser.CharacterDataHandler = reader.text
    parser.EndElementHandler = reader.end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise SanitizerError(f"the report of {TOOL} is no XML: {error}") from error
    return tuple(reader.records)


def _no_doctype(*_: object) -> None:
    # A declaration could define entities that grow without end or read files; it writes none.
    raise SanitizerError(f"the report of {TOOL} declares a document type, which it never does")


class _Reader:
    """Collects records: a flat reading of a small, known tree."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._path: list[str] = []
        self._text: list[str] = []
        self._length = 0
        self._values: dict[str, str] = {}
        self._frame: dict[str, str] = {}
        self._stack: list[Frame] = []

    def start(self, name: str, _: dict[str, str]) -> None:
        if not self._path and name != _ROOT:
            raise SanitizerError(f"the report of {TOOL} begins with <{name[:40]}>")
        self._path.append(name)
        if len(self._path) > _MOST_DEPTH:
            raise SanitizerError(f"the report of {TOOL} is nested too deeply")
        self._text, self._length = [], 0
        if name == "record":
            self._values, self._stack = {}, []
        elif name == "frame":
            self._frame = {}

    def text(self, text: str) -> None:
        if self._length < _MOST_TEXT:
            self._text.append(text)
            self._length += len(text)

    def end(self, name: str) -> None:
        self._path.pop()
        text = "".join(self._text).strip()
        self._text, self._length = [], 0
        if name == "frame":
            if self._path and self._path[-1] == "hostStack":
                self._stack.append(_frame(self._frame))
        elif name == "record":
            if len(self.records) < _MOST_RECORDS:
                self.records.append(_record(self._values, tuple(self._stack)))
        elif text and self._path[-1:] == ["frame"]:
            self._frame.setdefault(name, text)
        elif text and len(self._path) > 1:
            self._values.setdefault("/".join((*self._path[2:], name)), text)


def _record(values: Mapping[str, str], stack: tuple[Frame, ...]) -> Record:
    where = {key.partition("/")[2]: text for key, text in values.items() if key[:6] == "where/"}
    return Record(
        kind=values.get("kind", ""),
        message=values.get("what/text", ""),
        bytes=_integer(values.get("what/size", "")),
        api=values.get("what/api", ""),
        device=_frame(where) if where else None,
        stack=stack,
    )


def _frame(values: Mapping[str, str]) -> Frame:
    return Frame(
        module=values.get("module", ""),
        offset=_integer(values.get("pc", "")) or 0,
        function=values.get("func", ""),
        filename=values.get("path", ""),
        line=_integer(values.get("line", "")) or 0,
    )


def _integer(text: str) -> int | None:
    try:
        value = int(text, 0)
    except ValueError:
        return None
    return value if 0 <= value < 2**64 else None
