"""What it takes to lower a file: its parse options, its cache key, and what else it depends on."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from cudalint.frontends.python.prefilter import may_embed
from cudalint.jobs import LoweringJob, encode_options
from cudalint.plan import Plan
from cudalint.project.cache import digest
from cudalint.project.compile_commands import (
    CompileCommands,
    CompileCommandsError,
    find_compile_commands,
)
from cudalint.project.files import FileError, SourceFile
from cudalint.project.paths import absolute, display_name
from cudalint.source import Source

_QUOTED_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


HEADER_CACHE = "headers"


@contextlib.contextmanager
def header_folder(plan: Plan) -> Iterator[Path]:
    """Where precompiled headers are kept: in the cache, else for this run only."""
    if plan.cache_folder is not None:
        yield plan.cache_folder / HEADER_CACHE
    else:
        with tempfile.TemporaryDirectory(prefix="cudalint-") as folder:
            yield Path(folder)


@dataclass(frozen=True)
class Lowering:
    """A file that is ready to be lowered."""

    job: LoweringJob
    key: str
    """The cache key: everything that decides the result, except included files."""
    path: Path

    def without_embedded(self) -> Lowering:
        """The same Python file, its strings left alone."""
        job = msgspec.structs.replace(self.job, parse={})
        return dataclasses.replace(self, job=job, key=digest("not embedded", self.key))

    def dependencies(self, included: list[str]) -> list[str]:
        """The files whose change changes the result: those included, and the places where a
        header that was not found would be looked for."""
        if self.job.language == "python":
            return included + self.job.models
        found = {Path(name).name for name in included}
        folders = [self.path.parent, *map(Path, self.job.parse.get("include_folders", ()))]
        missing = [
            str(folder / name)
            for name in _QUOTED_INCLUDE.findall(self.job.text)
            if Path(name).name not in found
            for folder in folders
        ]
        return included + missing


class Preparer:
    """Prepares the files of one run."""

    def __init__(
        self,
        plan: Plan,
        header_folder: Path | None,
        together: frozenset[str] = frozenset(),
        unsaved: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.plan = plan
        self.unsaved = unsaved
        self.together = together
        """Macros that files of the run need to have any CUDA."""
        self.header_folder = header_folder
        self.notes: list[FileError] = []
        self._databases: dict[Path, CompileCommands | None] = {}

    def prepare(self, file: SourceFile, data: bytes, source: Source) -> Lowering:
        """What a worker needs to lower a file."""
        python = file.language == "python"
        models = [str(path) for path in self.plan.models] if python else []
        parse: dict[str, Any] = {}
        if file.language == "cuda":
            parse = self._parse_options(file, source.text)
        elif may_embed(source.text):
            parse = self._embedded_options()
        job = LoweringJob(source.filename, source.text, file.language, parse, models)
        key = digest(
            "program",
            self.plan.lowering_version,
            file.language,
            source.filename,
            str(Path.cwd()),
            data,
            msgspec.json.encode(parse, order="sorted"),
        )
        return Lowering(job, key, file.path)

    def _embedded_options(self) -> dict[str, Any]:
        """How CUDA C++ in a Python file's strings is parsed: no compile database knows it."""
        from cudalint.frontends.cuda.options import ParseOptions

        return encode_options(ParseOptions(root=self.plan.root, cache_folder=self.header_folder))

    def _parse_options(self, file: SourceFile, text: str) -> dict[str, Any]:
        from cudalint.frontends.cuda.conditional import also_defined
        from cudalint.frontends.cuda.options import ParseOptions, with_compile_flags

        plan, settings = self.plan, self.plan.settings
        options = ParseOptions(
            include_folders=tuple(str(absolute(folder)) for folder in settings.include_folders),
            defines=settings.defines,
            defined_together=also_defined(text, self.together),
            standard=settings.standard,
            root=plan.root,
            cache_folder=self.header_folder,
            unsaved=self.unsaved,
        )
        database = plan.compile_commands or self._nearest_database(file.path.parent)
        flags = database.flags_for(file.path) if database else None
        return encode_options(with_compile_flags(options, flags))

    def _nearest_database(self, folder: Path) -> CompileCommands | None:
        path = find_compile_commands(folder, self.plan.root)
        if path is None:
            return None
        if path not in self._databases:
            try:
                self._databases[path] = CompileCommands.load(path)
            except CompileCommandsError as error:
                # Nobody asked for this one: the files are linted without it.
                message = str(error).removeprefix(f"{path}: ")
                self.notes.append(FileError(display_name(path), message))
                self._databases[path] = None
        return self._databases[path]
