"""How to parse a file: what a compile database, the configuration and guesses say of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from cudalint.frontends.cuda.includes import Includes
from cudalint.project.compile_commands import CompileFlags


@dataclass(frozen=True)
class ParseOptions:
    """What decides how a file is parsed, besides its text."""

    include_folders: tuple[str, ...] = ()
    """Folders searched for headers (``-I``), in this order."""
    system_folders: tuple[str, ...] = ()
    """Folders searched after those (``-isystem``)."""
    defines: tuple[str, ...] = ()
    """``NAME`` or ``NAME=VALUE``."""
    undefines: tuple[str, ...] = ()
    defined_together: tuple[str, ...] = ()
    """What other files of the run are read with (``NAME`` or ``NAME=VALUE``) and this one asks
    about too: one build defines them for all."""
    forced_includes: tuple[str, ...] = ()
    """Files read before the source (``-include``)."""
    standard: str | None = None
    """``c++20``, ``gnu++14``, ``c11``...; ``None`` is a good default for the language."""
    root: Path | None = None
    """The project's folder: missing headers are looked for below it."""
    cache_folder: Path | None = None
    """Where precompiled headers are kept; ``None`` keeps none."""
    unsaved: tuple[tuple[str, str], ...] = ()
    """Headers whose text is not what the disk holds (an editor's buffers): path and text."""
    includes: Includes | None = None
    """What the file includes, where it is known already."""


def with_compile_flags(options: ParseOptions, flags: CompileFlags | None) -> ParseOptions:
    """The options of a file that a compile database knows. What the configuration says wins."""
    if flags is None:
        return options
    return dataclasses.replace(
        options,
        include_folders=(*options.include_folders, *flags.include_folders),
        system_folders=(*options.system_folders, *flags.system_folders),
        defines=(*flags.defines, *options.defines),
        undefines=(*flags.undefines, *options.undefines),
        forced_includes=(*flags.forced_includes, *options.forced_includes),
        standard=options.standard or flags.standard,
    )
