"""Which settings hold for a document: those of its project, as they stand on the disk now."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cudalint.plan import Plan, make_plan
from cudalint.project.config import (
    CONFIG_NAMES,
    Configuration,
    ConfigurationError,
    load,
)
from cudalint.project.ignore import Patterns
from cudalint.project.paths import relative_name, repository_of
from cudalint.registry import RegistryError
from cudalint.server.documents import Document

EDITOR = "the editor's settings"

Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class EditorSettings:
    """What the editor says: when to lint, and what wins over the files of a project."""

    run: Literal["onType", "onSave"] = "onType"
    context: Literal["project", "open"] = "project"
    """Whether what the project's other files say counts, or only those that are open."""
    overrides: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, section: object) -> EditorSettings:
        """The settings of the section ``cudalint``. Raises ``ConfigurationError``."""
        given = dict(section) if isinstance(section, dict) else {}
        values = {key: value for key, value in given.items() if value is not None}
        run, context = values.pop("run", "onType"), values.pop("context", "project")
        # What clients keep for themselves in the same section:
        for key in ("trace", "command"):
            values.pop(key, None)
        if run not in ("onType", "onSave"):
            raise ConfigurationError(f"{EDITOR}: `run` is onType or onSave")
        if context not in ("project", "open"):
            raise ConfigurationError(f"{EDITOR}: `context` is project or open")
        load(isolated=True, overrides=values, origin=EDITOR)
        return cls(run, context, values)


@dataclass(eq=False)
class Project:
    """The documents under one configuration."""

    root: Path
    plan: Plan
    is_folder: bool
    """Whether it is more than a file that lies somewhere."""

    def lints(self, document: Document) -> bool:
        """Whether a document is source that the project does not exclude."""
        if document.language is None or not document.text.strip():
            return False
        settings = self.plan.settings
        excluded = Patterns((*settings.exclude, *settings.extend_exclude))
        name = relative_name(document.path, self.root)
        return Path(name).is_absolute() or not excluded.match(name)


class Projects:
    """The projects that documents belong to. ``complain`` is told what is wrong, once."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        self.folders: tuple[Path, ...] = ()
        """The editor's workspace."""
        self._settings = EditorSettings()
        self._complain = complain
        self._told: set[str] = set()
        self._projects: dict[tuple[Path | None, Path], Project] = {}
        self._by_folder: dict[Path, tuple[Stamp | None, Project]] = {}
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    @property
    def settings(self) -> EditorSettings:
        """The editor's settings."""
        return self._settings

    def configure(self, section: object) -> None:
        """Take over the editor's settings; what is wrong with them is told, the last ones stay."""
        try:
            self._settings = EditorSettings.of(section)
        except ConfigurationError as error:
            self._tell(error)
            return
        self.forget()

    def forget(self) -> None:
        """Look for the configurations of all folders anew."""
        # `()` is the stamp of a folder without any.
        self._by_folder = {folder: (None, known) for folder, (_, known) in self._by_folder.items()}

    def project_of(self, document: Document) -> Project:
        """The project of a document. Where its configuration is broken, the last good one holds."""
        folder = document.path.parent
        before = self._by_folder.get(folder)
        stamp = _stamp(_deciding(folder, before[1].plan if before else None))
        if before is not None and before[0] == stamp:
            return before[1]
        try:
            project = self._planned(self._configuration(folder), folder)
            self._told.clear()
        except (ConfigurationError, RegistryError) as error:
            self._tell(error)
            if before is not None:
                project = before[1]
            else:
                plain = load([folder], isolated=True, overrides={"cache": False})
                project = self._planned(dataclasses.replace(plain, root=folder), folder)
        self._by_folder[folder] = (_stamp(_deciding(folder, project.plan)), project)
        return project

    def close(self) -> None:
        """Remove what was kept for this session only."""
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.cleanup()

    def _configuration(self, folder: Path) -> Configuration:
        overrides = self._settings.overrides
        found = load([folder], overrides=overrides, origin=EDITOR)
        if found.file is not None or repository_of(folder) is not None:
            return found
        return dataclasses.replace(found, root=self._workspace_of(folder) or folder)

    def _workspace_of(self, folder: Path) -> Path | None:
        holding = [one for one in self.folders if folder.is_relative_to(one)]
        return max(holding, key=lambda one: len(one.parts), default=None)

    def _planned(self, configuration: Configuration, folder: Path) -> Project:
        root = configuration.root
        plan = make_plan(configuration)
        is_folder = (
            configuration.file is not None
            or repository_of(folder) is not None
            or self._workspace_of(folder) is not None
        )
        if not is_folder or plan.cache_folder is None:
            plan = dataclasses.replace(plan, cache_folder=self._temporary_folder())
        project = self._projects.setdefault(
            (configuration.file, root), Project(root, plan, is_folder)
        )
        project.plan = plan
        return project

    def _temporary_folder(self) -> Path:
        """For precompiled headers, where nothing may be left behind."""
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="cudalint-server-")
        return Path(self._temporary.name)

    def _tell(self, error: Exception) -> None:
        if str(error) not in self._told:
            self._told.add(str(error))
            self._complain(str(error))


def _deciding(folder: Path, plan: Plan | None) -> Iterable[Path]:
    """The files that decide the settings of a folder, whether they are there or not."""
    for parent in (folder, *folder.parents):
        yield parent / ".git"
        for name in CONFIG_NAMES:
            yield parent / name
    if plan is not None:
        yield from plan.models
        if plan.settings.compile_commands is not None:
            yield Path(plan.settings.compile_commands)


def _stamp(paths: Iterable[Path]) -> Stamp:
    """Which of the files there are, how large and how old."""
    found = []
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            status = path.stat()
            # What git writes into its folder changes nothing for us.
            is_file = path.name != ".git"
            found.append((str(path), status.st_size * is_file, status.st_mtime_ns * is_file))
    return tuple(found)
