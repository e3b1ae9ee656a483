"""Compiles the sources of a target one by one, and links what came of them: what fails is known by
name, and what was compiled before is not compiled again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cudalint.runtime.processes import ProcessLimits, run_command

_SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c++", ".c")
_FOR_LINKERS = ("-l", "-L", "-Wl,")
_PAIRS_FOR_LINKERS = ("-Xlinker",)
_LIBRARIES = (".o", ".a", ".so")


@dataclass(frozen=True)
class Recipe:
    """How sources are compiled and linked."""

    compiler: tuple[str, ...]
    """With what says how to compile and to link, for every source."""
    sources: tuple[Path, ...]
    arguments: tuple[str, ...]
    """The user's, and what mends the build: options of both, libraries, more sources."""
    libraries: tuple[str, ...]
    languages: bool
    """Whether the compiler has to be told that C++ is what it reads."""

    @property
    def command(self) -> tuple[str, ...]:
        """The one command that does the same."""
        inputs = [word for source in self.sources for word in self._input(source)]
        back = ["-x", "none"] if self.languages else []
        return (
            *self._including(self.sources), *inputs, *back, *self.arguments, *self.libraries,
        )  # fmt: skip

    def all_sources(self) -> list[Path]:
        """Those of the target, and those among the arguments."""
        words = map(Path, self.arguments)
        return [*self.sources, *(path for path in words if path.suffix in _SOURCES)]

    def compiling(self, source: Path) -> list[str]:
        """What makes an object file of a source; where is yet to be said."""
        words = iter(self.arguments)
        kept: list[str] = []
        for word in words:
            if word in _PAIRS_FOR_LINKERS:
                next(words, None)
            elif not word.startswith(_FOR_LINKERS) and not word.endswith((*_SOURCES, *_LIBRARIES)):
                kept.append(word)
        return [*self._including([source]), *kept, "-c", *self._input(source), "-o"]

    def linking(self, objects: Sequence[Path]) -> list[str]:
        """What makes a program of object files; where is yet to be said."""
        given = [word for word in self.arguments if Path(word).suffix not in _SOURCES]
        return [*self.compiler, *map(str, objects), *given, *self.libraries, "-o"]

    def _including(self, sources: Sequence[Path]) -> list[str]:
        folders = dict.fromkeys(f"-I{source.parent}" for source in sources)
        return [self.compiler[0], *folders, *self.compiler[1:]]

    def _input(self, source: Path) -> list[str]:
        language = "c" if source.suffix == ".c" else "c++"
        return ["-x", language, str(source)] if self.languages else [str(source)]


@dataclass(frozen=True)
class Built:
    """What the compiler said, and which sources it did not take."""

    output: str
    broken: tuple[Path, ...] = ()
    timed_out: bool = False


def compile_apart(
    recipe: Recipe, executable: Path, objects: Path, limits: ProcessLimits, *, every: bool
) -> Built:
    """Make a program. ``objects``: where the object files are kept; ``every``: compile the other
    sources too where one is broken that is not the first, which all is for. ``OSError`` where there
    is no such compiler."""
    objects.mkdir(parents=True, exist_ok=True)
    executable.unlink(missing_ok=True)
    environment = {**os.environ, "TMPDIR": str(executable.parent)}
    said: list[str] = []
    broken: list[Path] = []
    made: list[Path] = []

    def run(words: list[str]) -> tuple[bool, bool]:
        done = run_command(words, folder=executable.parent, environment=environment, limits=limits)
        said.append((done.stdout + done.stderr).decode("utf-8", "replace"))
        return done.exit_status == 0, done.timed_out

    for source in recipe.all_sources():
        words = recipe.compiling(source)
        text = "\0".join(words).encode() + source.read_bytes()
        made.append(objects / f"{hashlib.sha256(text).hexdigest()[:24]}.o")
        if made[-1].is_file():
            continue
        fresh = made[-1].with_suffix(".new.o")
        fine, timed_out = run([*words, str(fresh)])
        if timed_out:
            return Built("".join(said), (source,), timed_out)
        if fine:
            fresh.replace(made[-1])
        else:
            broken.append(source)
            if not every or source == recipe.sources[0]:
                break
    if broken:
        return Built("".join(said), tuple(broken))
    fine, timed_out = run([*recipe.linking(made), str(executable)])
    if not fine:
        executable.unlink(missing_ok=True)
    return Built("".join(said), (), timed_out)
