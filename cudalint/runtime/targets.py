"""What is built and run: sources with a ``main``, the projects they belong to, scripts, and what
the configuration names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cudalint.project.compile_commands import CompileFlags
from cudalint.runtime.build import SOURCES
from cudalint.runtime.frameworks.programs import IMPORTS

_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_MAIN = re.compile(r"^[ \t]*(?:extern\s+\"C\"\s+)?(?:int|auto|void)\s+main\s*\(", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_LIBRARIES = "cuda|cupyx?|numba|pycuda|torch|rmm|cudf|cuml|jax|(?:pytorch_)?lightning"
_PROGRAM = re.compile(rf"{IMPORTS}(?:{_LIBRARIES})\b", re.MULTILINE)

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([\w.]+)", re.MULTILINE)
_GUARD = re.compile(r"^if\s+__name__\s*==", re.MULTILINE)


@dataclass(frozen=True)
class Target:
    """Something that can be run."""

    name: str
    """For people: the path of the source, or the name in the configuration."""
    sources: tuple[Path, ...] = ()
    """What is compiled into it; empty where it builds itself, or needs no building."""
    fewer: tuple[Path, ...] = ()
    """Those of the sources that it is known to need: enough, where another does not compile."""
    flags: CompileFlags = field(default_factory=CompileFlags)
    """How the project's own build compiles the sources."""
    script: Path | None = None
    """A Python program."""
    build: tuple[tuple[str, ...], ...] = ()
    """Commands that build it, one after another."""
    run: tuple[str, ...] = ()
    """The command that runs it, where it is no source and no script."""
    folder: Path | None = None
    """Where those commands run."""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    """Its own time limit."""
    covers: tuple[Path, ...] = ()
    """The files whose findings it can show, headers included; empty: any."""

    roots: tuple[Path, ...] = ()
    """Where its own sources are, where it has no ``sources``."""

    @property
    def key(self) -> str:
        """Tells targets apart."""
        return "\0".join([self.name, *map(str, self.sources)])


@dataclass(frozen=True)
class _Text:
    path: Path
    has_main: bool
    includes: tuple[str, ...]


FoldersOf = Callable[[Path], Sequence[Path]]
"""Where the headers of a source are looked for, besides its own folder."""


def has_main(text: str) -> bool:
    """Whether a C++ source defines ``main``."""
    return _MAIN.search(_COMMENT.sub(_blank, text)) is not None


def targets_of(
    files: Iterable[Path], include_folders: FoldersOf = lambda path: ()
) -> tuple[Target, ...]:
    """The targets among some files that were linted: each source with a ``main``, with the other
    sources that it needs, and each script."""
    paths = sorted({Path(os.path.realpath(file)) for file in files})
    scripts = [path for path in paths if path.suffix == ".py"]
    folders = {path.parent for path in paths if path.suffix != ".py"}
    known = {
        path: _read(path)
        for folder in sorted(folders)
        for path in sorted(folder.iterdir())
        if path.suffix.lower() in SOURCES and path.is_file()
    }
    found = [
        _program(text, known, include_folders)
        for path, text in known.items()
        if text.has_main and path in paths
    ]
    # A project whose main does not mention CUDA belongs to the sources that do.
    covered = {path for target in found for path in target.covers}
    for path in paths:
        if path.suffix == ".py" or path in covered:
            continue
        for text in known.values():
            if text.has_main:
                target = _program(text, known, include_folders)
                if path in target.covers and target not in found:
                    found.append(target)
                    covered.update(target.covers)
    return (*found, *_scripts(scripts))


def target_for(targets: Sequence[Target], path: Path) -> Target | None:
    """The target that shows what a file does: the one it is the main file of, else the smallest."""
    real = Path(os.path.realpath(path))
    fitting = [target for target in targets if not target.covers or real in target.covers]
    return min(
        fitting,
        key=lambda t: (not t.covers, real not in t.sources[:1] and real != t.script, len(t.covers)),
        default=None,
    )


def _program(main: _Text, known: Mapping[Path, _Text], include_folders: FoldersOf) -> Target:
    """A main with the sources that define what it includes; the only main with all others: of the
    run, or of its folder."""
    beside = [text for path, text in known.items() if path.parent == main.path.parent]
    for group in (known.values(), beside):
        if sum(text.has_main for text in group) == 1:
            others = [text for text in group if not text.has_main]
            break
    else:
        others = []
    needed, _ = _needed([main], known, include_folders)
    every, headers = _needed([main, *others], known, include_folders)
    # A source that another one includes is no translation unit.
    ordered = [main.path, *sorted(every - {main.path} - headers)]
    return Target(
        name=str(main.path),
        sources=tuple(ordered),
        fewer=tuple(path for path in ordered if path in needed),
        covers=(*ordered, *sorted(headers)),
    )


def needed_sources(path: Path, include_folders: Sequence[Path]) -> tuple[Path, ...]:
    """The other sources that define what one includes; none with a ``main``."""
    known = {
        other: _read(other)
        for other in sorted(path.parent.iterdir())
        if other.suffix.lower() in SOURCES and other.is_file()
    }
    text = _read(path)
    sources, headers = _needed([text], known, lambda one: include_folders)
    return tuple(sorted(sources - headers - {path}))


def _needed(
    texts: Iterable[_Text], known: Mapping[Path, _Text], include_folders: FoldersOf
) -> tuple[set[Path], set[Path]]:
    """Some sources with those that define what they include; and the headers."""
    pending = list(texts)
    sources = {text.path for text in pending}
    headers: set[Path] = set()
    while pending:
        text = pending.pop()
        for name in text.includes:
            header, beside = _header(text.path, name, include_folders)
            if header is None or header in headers:
                continue
            headers.add(header)
            pending.append(_read(header))
            for other in known.values():
                same = other.path.stem == header.stem
                near = other.path.parent == header.parent or not beside
                if same and near and not other.has_main and other.path not in sources:
                    sources.add(other.path)
                    pending.append(other)
    return sources, headers


def _header(path: Path, name: str, include_folders: FoldersOf) -> tuple[Path | None, bool]:
    """The header that an include means, and whether it lies relative to the file itself."""
    for number, folder in enumerate((path.parent, *include_folders(path))):
        header = Path(os.path.realpath(folder / name))
        if header.is_file():
            return header, number == 0
    return None, False


def _read(path: Path) -> _Text:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return _Text(path, False, ())
    return _Text(path, has_main(text), tuple(_INCLUDE.findall(text)))


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n") + " "


def _scripts(paths: Sequence[Path]) -> list[Target]:
    """Each Python file that is a program by itself, with the modules beside it that it imports."""
    texts = {path: _python(path) for path in paths}
    imports = {path: _imported(path, text) for path, text in texts.items()}
    imported = {module for modules in imports.values() for module in modules}
    found: list[Target] = []
    for path, text in texts.items():
        covers = [path]
        for module in covers:
            covers += [m for m in imports.get(module, ()) if m not in covers]
        mentions = any(_PROGRAM.search(texts.get(module) or _python(module)) for module in covers)
        if mentions and (path not in imported or _GUARD.search(text)):
            found.append(Target(name=str(path), script=path, covers=tuple(covers)))
    return found


def _python(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _imported(path: Path, text: str) -> list[Path]:
    names = dict.fromkeys(match[1].split(".")[0] for match in _IMPORT.finditer(text))
    modules = (path.parent / f"{name}.py" for name in names)
    return [module for module in modules if module.is_file() and module != path]
