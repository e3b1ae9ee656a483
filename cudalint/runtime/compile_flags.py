"""How a project's own build compiles a target's sources: what its compile database says of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cudalint.frontends.cuda.flags import all_system_folders
from cudalint.frontends.cuda.includes import find_includes
from cudalint.frontends.cuda.toolchain import find_toolchain
from cudalint.plan import Plan
from cudalint.project.compile_commands import (
    CompileCommands,
    CompileCommandsError,
    CompileFlags,
    find_compile_commands,
)
from cudalint.project.paths import absolute


class ProjectFlags:
    """The flags of the files of a run; those of the configuration come first."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._databases: dict[Path, CompileCommands | None] = {}

    def include_folders(self, file: Path) -> tuple[Path, ...]:
        """Where a file's headers are looked for."""
        return tuple(map(Path, self.of([file]).include_folders))

    def of(self, sources: Sequence[Path]) -> CompileFlags:
        """The flags with which some sources are built into one program."""
        settings = self._plan.settings
        known = [flags for source in sources if (flags := self._flags(source)) is not None]
        standards = (flags.standard for flags in known)
        folders = _all(
            [str(absolute(folder)) for folder in settings.include_folders],
            *(flags.include_folders for flags in known),
        )
        return CompileFlags(
            include_folders=_all(folders, *(self._guessed(one, folders) for one in sources)),
            system_folders=_all(*(flags.system_folders for flags in known)),
            defines=_all(*(flags.defines for flags in known), settings.defines),
            undefines=_all(*(flags.undefines for flags in known)),
            forced_includes=_all(*(flags.forced_includes for flags in known)),
            standard=settings.standard or next(filter(_is_cpp, standards), None),
            relocatable=any(flags.relocatable for flags in known),
        )

    def _guessed(self, source: Path, folders: Sequence[str]) -> tuple[str, ...]:
        """Where linting found headers that no given folder has."""
        try:
            text = source.read_text("utf-8", "replace")
        except OSError:
            return ()
        system = all_system_folders(find_toolchain())
        return find_includes(str(source), text, folders, system, self._plan.root).folders

    def _flags(self, source: Path) -> CompileFlags | None:
        database = self._plan.compile_commands or self._nearest(source.parent)
        return database.flags_for(source) if database is not None else None

    def _nearest(self, folder: Path) -> CompileCommands | None:
        path = find_compile_commands(folder, self._plan.root)
        if path is None:
            return None
        if path not in self._databases:
            try:
                self._databases[path] = CompileCommands.load(path)
            except CompileCommandsError:
                self._databases[path] = None  # linting has said why
        return self._databases[path]


def _all(*parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for part in parts for one in part))


def _is_cpp(standard: str | None) -> bool:
    return standard is not None and "++" in standard
