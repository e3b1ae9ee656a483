"""Makes harnesses that can be run: writes them to files, builds those in C++."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cudalint.findings.finding import Finding
from cudalint.project.compile_commands import CompileFlags
from cudalint.runtime.build import (
    SOURCES,
    BuildError,
    BuildOptions,
    Executable,
    links_anyway,
)
from cudalint.runtime.cached_build import build_cached, ledger_environment
from cudalint.runtime.definitions import defining, missing_names, sources_in, written_as
from cudalint.runtime.devices import Device
from cudalint.runtime.harness.python_writing import PythonWriter
from cudalint.runtime.harness.subjects import HarnessError
from cudalint.runtime.harness.writing import Harness, Writer
from cudalint.runtime.ledger import build_ledger, cache_folder, host_environment
from cudalint.runtime.scripts import prepared_script
from cudalint.runtime.sweep import Prepared
from cudalint.runtime.targets import needed_sources
from cudalint.runtime.toolkit import ToolkitError, cuda_include, find_nvcc

_LENIENT = {".c": ("-fpermissive",)}
"""What C needs to be read as C++."""
_MOST_INCLUDERS = 2
_HEADERS = (".h", ".hpp", ".cuh")
_MOST_ADDED = 12
_MOST_ROUNDS = 8

FlagsOf = Callable[[Sequence[Path]], CompileFlags]


@dataclass(frozen=True)
class HarnessOptions:
    """How harnesses are built."""

    flags_of: FlagsOf = lambda sources: CompileFlags()
    """How the project compiles a source."""
    keep: Path | None = None
    """Where they are kept to be read."""


@dataclass(frozen=True)
class Made:
    """A harness that can be run."""

    file: Path
    ready: Prepared
    incomplete: bool = False
    """Whether functions are missing that other sources may define."""


class Maker(Protocol):
    """Makes the harnesses of one source; ``HarnessError`` says why one cannot be made."""

    def make(
        self, finding: Finding, *, complete: bool = False, further: int = 0
    ) -> tuple[Harness, Made]:
        """The harness for a finding, and what can be run of it; ``complete``: with all that other
        sources define; ``further``: by another function than the nearest that leads there."""


@dataclass
class PythonMaker:
    """Those of a Python source."""

    source: Path
    options: HarnessOptions
    device: Device
    seconds: float
    _writer: PythonWriter | None = None

    def make(
        self, finding: Finding, *, complete: bool = False, further: int = 0
    ) -> tuple[Harness, Made]:
        """The harness for a finding, and what can be run of it."""
        if further:
            raise HarnessError("nothing else is called")
        if self.source.suffix != ".py":
            raise HarnessError("a notebook cannot be imported")
        self._writer = self._writer or PythonWriter(self.source)
        harness = self._writer.harness(finding)
        file = _written(harness, self.options.keep, None)
        try:
            ready = prepared_script(file, (self.source,), self.device, self.seconds)
        except ToolkitError as error:
            raise HarnessError(str(error)) from error
        return harness, Made(file, ready)


@dataclass
class NativeMaker:
    """Those of a source in C++."""

    source: Path
    options: HarnessOptions
    device: Device
    seconds: float
    arguments: tuple[str, ...] = ()
    cache: Path | None = None

    def __post_init__(self) -> None:
        self._flags = self.options.flags_of([self.source])
        self._writers: dict[Path, Writer] = {}
        self._objects = tempfile.TemporaryDirectory(prefix="cudalint-objects-")

    def make(
        self, finding: Finding, *, complete: bool = False, further: int = 0
    ) -> tuple[Harness, Made]:
        """The harness for a finding, and what can be run of it: it is built."""
        failed: HarnessError | None = None
        for included in (self.source, *self._includers()):
            try:
                if included not in self._writers:
                    self._writers[included] = Writer(included, self._flags)
                harness = self._writers[included].harness(finding, further)
                executable = self._built(harness, included, complete=complete)
            except HarnessError as error:
                failed = failed or error
                continue
            ready = Prepared(
                (str(executable.path),),
                ledger_environment(),
                seconds=self.seconds,
                roots=(self.source.parent,),
                built=(executable.command,),
                host_calls=_host_calls(),
            )
            missing = links_anyway(executable.command)
            return harness, Made(executable.sources[0], ready, missing)
        assert failed is not None
        raise failed

    def _includers(self) -> list[Path]:
        """Files beside a header that include it, and before it what it counts on."""
        if self.source.suffix.lower() in SOURCES:
            return []
        beside = (
            path
            for folder in (self.source.parent, self.source.parent.parent / "src")
            if folder.is_dir()
            for path in sorted(folder.iterdir(), key=lambda path: path.suffix not in SOURCES)
            if path.suffix.lower() in (*SOURCES, *_HEADERS) and path.is_file()
        )
        wanted = re.compile(rf'#\s*include\s*["<](?:[^">]*/)?{re.escape(self.source.name)}[">]')
        found = (path for path in beside if wanted.search(path.read_text("utf-8", "replace")))
        return list(itertools.islice(found, _MOST_INCLUDERS))

    def _built(self, harness: Harness, included: Path, *, complete: bool) -> Executable:
        file = _written(harness, self.options.keep, self.cache)
        include = (str(self.source.parent), *self._flags.include_folders)
        options = BuildOptions(
            target=self.device.target,
            flags=dataclasses.replace(self._flags, include_folders=include),
            arguments=(*self.arguments, *_LENIENT.get(self.source.suffix, ())),
        )
        folders = [Path(name) for name in self._flags.include_folders]
        others = tuple(one for one in needed_sources(included, folders) if one != included)
        try:
            if complete:
                return self._linked(file, others, included, options)
            return self._with_fewer(
                file, others, dataclasses.replace(options, incomplete=True), _MOST_ROUNDS
            )
        except BuildError as error:
            if not complete and missing_names(error.output):
                with contextlib.suppress(BuildError):
                    return self._linked(file, others, included, options)
            raise HarnessError(
                f"that of `{harness.name}` does not build: {error.reason}"
            ) from error

    def _with_fewer(
        self, file: Path, others: tuple[Path, ...], options: BuildOptions, rounds: int
    ) -> Executable:
        """Built without those of the other sources that do not compile or define the same again."""
        try:
            return self._cached((file, *others), options)
        except BuildError as error:
            fewer = tuple(one for one in others if one not in _unfit(error, others))
            if file in error.broken or len(fewer) == len(others) or not rounds:
                raise
            return self._with_fewer(file, fewer, options, rounds - 1)

    def _linked(
        self, file: Path, others: tuple[Path, ...], included: Path, options: BuildOptions
    ) -> Executable:
        """Built with the sources that define what these miss; without what none defines."""
        folders = [included.parent, *map(Path, self._flags.include_folders)]
        used = {file, included, *others}
        added = others
        for _ in range(_MOST_ROUNDS):
            try:
                return self._cached((file, *added), options)
            except BuildError as error:
                if file in error.broken:
                    raise
                unfit = _unfit(error, added)
                added = tuple(path for path in added if path not in unfit)
                names = missing_names(error.output)
                candidates = (path for path in sources_in(folders, included) if path not in used)
                names |= written_as(names, _headers_in(folders))
                more = defining(names, candidates)[: len(others) + _MOST_ADDED - len(added)]
                if not more and not unfit:
                    break
                used.update(more)
                added += more
        return self._with_fewer(
            file, added, dataclasses.replace(options, incomplete=True), _MOST_ROUNDS
        )

    def _cached(self, sources: Sequence[Path], options: BuildOptions) -> Executable:
        return build_cached(
            sources, options, included=[self.source], folder=self.cache,
            objects=Path(self._objects.name),
        )  # fmt: skip


def _unfit(error: BuildError, added: Sequence[Path]) -> set[Path]:
    """Those of some sources that do not compile, or define what others have defined."""
    again = re.findall(r"(\S+?):\d+: multiple definition of", error.output)
    again = [name.rpartition(":")[2] for name in again]
    return {path for path in added if path in error.broken or str(path) in again}


def _written(harness: Harness, keep: Path | None, cache: Path | None) -> Path:
    folder = keep
    if folder is None:
        name = hashlib.sha256(harness.text.encode()).hexdigest()[:16]
        folder = (cache or cache_folder()) / "harnesses" / name
    file = folder.absolute() / harness.filename
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(harness.text, "utf-8")
    except OSError as error:
        raise HarnessError(f"{file}: {error.strerror or error}") from error
    return file


def _headers_in(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in dict.fromkeys(folders):
        if folder.is_dir():
            yield from (one for one in sorted(folder.iterdir()) if one.suffix in _HEADERS)


def _host_calls() -> dict[str, str]:
    try:
        return dict(host_environment(build_ledger(cuda_include(find_nvcc()))))
    except ToolkitError:
        return {}
