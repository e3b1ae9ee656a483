"""When what is linted: after each change, once typing pauses, in a thread that a newer change
stops. Nothing is shown that was found in another text than the one that stands there."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cudalint import jobs
from cudalint.executor import Executor
from cudalint.grouping.parts import context_of
from cudalint.linter import linked, lint
from cudalint.neighbours import Neighbours
from cudalint.project.cache import Memory, MemoryCache, contents_digest, digest, file_digest
from cudalint.project.files import FileError, LargeTreeError, SourceFile, discover, sources_below
from cudalint.project.paths import display_name
from cudalint.project.reading import encode
from cudalint.reports.defects import told_once
from cudalint.reports.report import Report
from cudalint.server.documents import Document
from cudalint.server.projects import Project, Projects

PAUSE_SECONDS = 0.15
"""How long nobody types before what was typed is linted."""
_LARGEST_MEMORY = 192 * 1024**2
_MOST_FILES = 500
"""A project with more files is not read in the background: only what is open counts."""
_MOST_ENTRIES = 20_000
"""So is one whose folders hold more of anything."""
_MOST_CONTEXT = 24


class Abandoned(Exception):  # noqa: N818  (nothing went wrong)
    """What was being linted is no longer what stands there."""


@dataclass(frozen=True)
class Linted:
    """What was found in some documents of one project."""

    project: Project
    documents: tuple[Document, ...]
    report: Report


@dataclass(eq=False)
class _Work:
    """What is to be done for one project, and what is known of its other files."""

    project: Project
    dirty: bool = False
    stale: bool = True
    """Whether its files have to be looked at again, to know which ones belong together."""
    files: tuple[SourceFile, ...] | None = None
    """Its sources on the disk; ``None`` where they have to be looked for."""
    finding: asyncio.Task[None] | None = None
    is_large: bool = False
    context: tuple[SourceFile, ...] = ()
    near: Neighbours = field(default_factory=Neighbours)
    readings: dict[str, jobs.Reading] = field(default_factory=dict)


class Session:
    """The open documents, and the one thread that lints them."""

    def __init__(
        self, projects: Projects, show: Callable[[Linted], None], log: Callable[[str], None]
    ) -> None:
        self.projects = projects
        self.documents: dict[str, Document] = {}
        self._show = show
        self._log = log
        self._memory = Memory(_LARGEST_MEMORY)
        self._works: dict[Project, _Work] = {}
        self._wake = asyncio.Event()
        self._due = 0.0
        self._running: _Work | None = None
        self._stop = threading.Event()
        self._analysts: tuple[object, Executor] | None = None
        """With what they know of the world: another world has others."""
        self._closed = False

    # What happened ------------------------------------------------------------------------------

    def open(self, document: Document) -> None:
        """A document was opened: lint it, and see what belongs to it."""
        self.documents[document.uri] = document
        work = self._work(document)
        work.stale = True
        self._soil(work, 0.0)

    def change(self, document: Document) -> None:
        """The text of a document is another now."""
        self.documents[document.uri] = document
        if self.projects.settings.run == "onType":
            self._soil(self._work(document), PAUSE_SECONDS)

    def remove(self, uri: str) -> Document | None:
        """A document was closed; what others say may depend on it."""
        document = self.documents.pop(uri, None)
        if document is not None:
            self._soil(self._work(document), 0.0)
        return document

    def refresh(self) -> None:
        """Something on the disk is another now: lint everything anew, and look for files."""
        for document in self.documents.values():
            work = self._work(document)
            work.stale = True
            work.files = None
            work.near = Neighbours()
            self._soil(work, 0.0)

    def _work(self, document: Document) -> _Work:
        project = self.projects.project_of(document)
        return self._works.setdefault(project, _Work(project))

    def _soil(self, work: _Work, delay: float) -> None:
        work.dirty = True
        if self._running is work:
            self._stop.set()
        self._due = asyncio.get_running_loop().time() + delay
        self._wake.set()

    # What is done -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Lint what is dirty, for ever; look at the rest of a project while nothing is."""
        try:
            await self._run()
        finally:
            self.close()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            while (delay := self._due - loop.time()) > 0:
                await asyncio.sleep(delay)
            work = next((one for one in self._works.values() if one.dirty), None)
            if work is not None:
                work.dirty = False
                await self._once(work, self._lint)
                continue
            work = next((one for one in self._works.values() if one.stale), None)
            if work is None:
                self._wake.clear()
                continue
            work.stale = False
            if work.files is not None or not self._looks_around(work):
                work.stale = not await self._once(work, self._look)
            elif work.finding is None or work.finding.done():
                # Beside the linting: a walk through a large tree takes long.
                work.finding = asyncio.ensure_future(self._find(work))

    def _looks_around(self, work: _Work) -> bool:
        wanted = self.projects.settings.context == "project"
        return wanted and work.project.is_folder and not work.is_large

    async def _find(self, work: _Work) -> None:
        project = work.project
        settings = project.plan.settings
        # Of a large tree no more is walked than shows that it is large.
        work.is_large = await asyncio.to_thread(_is_large, project)
        if work.is_large:
            work.files = ()
            self._log(f"{project.root}: too large to be read as a whole; only open files count")
        else:
            found = await asyncio.to_thread(discover, [project.root], settings, project.root)
            work.files = found.files
        work.stale = True
        self._wake.set()

    def close(self) -> None:
        """End what is running, for good."""
        self._closed = True
        self._dismiss()
        self.projects.close()

    async def _once(
        self, work: _Work, job: Callable[[_Work, tuple[Document, ...]], Linted | None]
    ) -> bool:
        """Do a job in the thread; whether it came to its end."""
        documents: tuple[Document, ...] = ()
        self._running = work
        self._stop.clear()
        try:
            documents = tuple(self._documents_of(work))
            linted = await asyncio.to_thread(job, work, documents)
            if linted is not None and not work.dirty:
                self._show(linted)
        except Abandoned:
            return False
        except Exception as error:
            self._log(f"internal error: {type(error).__name__}: {error}")
            if job == self._lint and not work.dirty:
                self._show(_failed(work, documents, error))
        finally:
            self._running = None
        return True

    def _documents_of(self, work: _Work) -> Iterator[Document]:
        for document in list(self.documents.values()):
            if self.projects.project_of(document) is work.project:
                yield document

    def _dismiss(self) -> None:
        if self._analysts is not None:
            self._analysts[1].close()
        self._analysts = None

    def _analysts_of(self, project: Project) -> Executor:
        """Who has followed the paths of the files that are linted again and again."""
        plan = project.plan
        known = plan.version, plan.bounds, contents_digest(plan.models)
        if self._analysts is None or self._analysts[0] != known:
            self._dismiss()
            executor = Executor(jobs.analyze_again, workers=1, bounds=plan.bounds, lasting=True)
            self._analysts = known, executor
        return self._analysts[1]

    # In the thread ------------------------------------------------------------------------------

    def _lint(self, work: _Work, documents: tuple[Document, ...]) -> Linted:
        project = work.project
        wanted = [document for document in documents if project.lints(document)]
        report = Report()
        if wanted:
            contents = _contents(documents)
            report = lint(
                [_file(document) for document in wanted],
                project.plan,
                contents=contents,
                context=work.context,
                cache=self._cache(project, contents),
                progress=self._progress,
                near=work.near,
                analysts=self._analysts_of(project),
                readings=work.readings,
            )
        return Linted(project, documents, told_once(report))

    def _look(self, work: _Work, documents: tuple[Document, ...]) -> None:
        """Find out which files of the project belong to those that are open."""
        project, plan = work.project, work.project.plan
        wanted = [document for document in documents if project.lints(document)]
        context: tuple[SourceFile, ...] = ()
        if wanted and work.files and self._looks_around(work):
            contents = _contents(documents)
            files = {file.filename: file for file in (*work.files, *map(_file, wanted))}
            # In the background: one processor is left to whoever types.
            links = linked(
                list(files.values()),
                dataclasses.replace(plan, jobs=1),
                contents=contents,
                cache=self._cache(project, contents),
                progress=self._progress,
            )
            names = [_file(document).filename for document in wanted]
            beside = context_of(names, links, _MOST_CONTEXT)
            context = tuple(files[name] for name in beside if name in files)
        if context != work.context:
            work.context = context
            work.dirty = True

    def _cache(self, project: Project, contents: Mapping[Path, bytes]) -> MemoryCache:
        assert project.plan.cache_folder is not None
        saved = all(file_digest(str(path)) == digest(data) for path, data in contents.items())
        return MemoryCache(
            project.plan.cache_folder,
            self._memory,
            lasting=saved,
            root=project.plan.root,
            largest=project.plan.cache_size,
        )

    def _progress(self, stage: str, done: int, total: int) -> None:
        if self._closed or self._stop.is_set():
            raise Abandoned


def _failed(work: _Work, documents: tuple[Document, ...], error: Exception) -> Linted:
    """What was not linted must not read as it did before."""
    message = f"not linted: internal error: {type(error).__name__}: {error}"
    errors = [FileError(display_name(document.path), message) for document in documents]
    return Linted(work.project, documents, Report(errors=tuple(errors)))


def _is_large(project: Project) -> bool:
    root, settings = project.root, project.plan.settings
    try:
        found = sources_below(root, settings, root, _MOST_ENTRIES)
        return next(itertools.islice(found, _MOST_FILES, None), None) is not None
    except LargeTreeError:
        return True


def _file(document: Document) -> SourceFile:
    assert document.language is not None
    return SourceFile(display_name(document.path), document.path, document.language)


def _contents(documents: Sequence[Document]) -> dict[Path, bytes]:
    return {
        document.path: encode(document.text, document.language or "cuda") for document in documents
    }
