"""What it takes to lower a file: its parse options, its cache key, and what else it depends on."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import platform
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from cudalint.frontends.cuda.includes import Includes, find_includes, forget
from cudalint.frontends.cuda.options import ParseOptions, with_compile_flags
from cudalint.frontends.python.prefilter import may_embed
from cudalint.jobs import LoweringJob, encode_options
from cudalint.plan import Plan
from cudalint.project.cache import HEADER_CACHE, contents_digest, digest, is_usable
from cudalint.project.compile_commands import Databases
from cudalint.project.files import FileError, SourceFile
from cudalint.project.paths import absolute, display_name
from cudalint.source import Source


@contextlib.contextmanager
def header_folder(plan: Plan) -> Iterator[Path]:
    """Where precompiled headers are kept: in the cache, else for this run only."""
    if plan.cache_folder is not None and is_usable(plan.cache_folder):
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
    headers: tuple[str, ...]
    """The project's headers that it includes, as far as a scan tells."""

    def without_embedded(self) -> Lowering:
        """The same Python file, its strings left alone."""
        job = msgspec.structs.replace(self.job, parse={})
        return dataclasses.replace(self, job=job, key=digest("not embedded", self.key))

    def dependencies(self, included: Iterable[str]) -> list[str]:
        """The files whose change changes the result."""
        return sorted({*included, *self.headers})


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
        self._databases = Databases(plan.root, plan.compile_commands)
        folder = Path.cwd()
        self._here = "." if folder == plan.root else f"{folder} {plan.root}"
        """Names are relative to the working directory: elsewhere they are other ones."""
        forget()

    def prepare(self, file: SourceFile, data: bytes, source: Source) -> Lowering:
        """What a worker needs to lower a file."""
        python = file.language == "python"
        models = [str(path) for path in self.plan.models] if python else []
        options, found = None, None
        if file.language == "cuda":
            options = self._parse_options(file, source.text)
            found = self._includes(source, options)
            options = dataclasses.replace(options, includes=found)
        elif may_embed(source.text):
            options = self._embedded_options()
            found = self._includes(source, options)
        parse = encode_options(options) if options else {}
        job = LoweringJob(source.filename, source.text, file.language, parse, models)
        key = digest(
            "program",
            self.plan.lowering_version,
            file.language,
            source.filename,
            self._here,
            data,
            self._portable({**parse, "cache_folder": None, "includes": None}),
            self._portable(found) if found else "",
            *(self._machine if parse else ()),
            *((contents_digest(self.plan.models),) if models else ()),
        )
        return Lowering(job, key, found.headers if found else ())

    def _portable(self, data: object) -> bytes:
        """Data as bytes that are the same on each machine that has the project, wherever it is."""
        root = msgspec.json.encode(str(self.plan.root))[:-1]
        text = msgspec.json.encode(data, order="sorted")
        return text.replace(root + b"/", b'"./').replace(root + b'"', b'"."')

    @functools.cached_property
    def _machine(self) -> tuple[str, ...]:
        """What else of the machine decides how C++ is read."""
        from cudalint.frontends.cuda.toolchain import find_toolchain

        toolchain = find_toolchain()
        own = [folder.name for folder in (*toolchain.c, *toolchain.cxx)]
        return (str(toolchain.target), platform.machine(), *own, *toolchain.versions)

    def _includes(self, source: Source, options: ParseOptions) -> Includes | None:
        """Which headers a file means now. One that appears elsewhere can change that."""
        from cudalint.frontends.cuda.flags import all_system_folders
        from cudalint.frontends.cuda.toolchain import find_toolchain

        if "#" not in source.text:
            return None
        system = all_system_folders(find_toolchain())
        known = (*options.include_folders, *options.system_folders)
        return find_includes(source.filename, source.text, known, system, self.plan.root)

    def _embedded_options(self) -> ParseOptions:
        """How CUDA C++ in a Python file's strings is parsed: no compile database knows it."""
        return ParseOptions(root=self.plan.root, cache_folder=self.header_folder)

    def _parse_options(self, file: SourceFile, text: str) -> ParseOptions:
        from cudalint.frontends.cuda.conditional import also_defined

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
        database = self._databases.of(file.path.parent)
        return with_compile_flags(options, database.flags_for(file.path) if database else None)

    @property
    def notes(self) -> list[FileError]:
        """Databases that cannot be read: nobody asked for them, the files are linted without."""
        return [
            FileError(display_name(path), str(error).removeprefix(f"{path}: "))
            for path, error in self._databases.errors
        ]
