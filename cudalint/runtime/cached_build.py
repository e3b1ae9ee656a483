"""Builds targets once: an executable is kept in the cache under what it was made of."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from cudalint import __version__
from cudalint.apis import loader
from cudalint.project.cache import contents_digest, digest
from cudalint.runtime import libraries
from cudalint.runtime.build import BuildError, BuildOptions, Executable, build
from cudalint.runtime.ledger import build_ledger, cache_folder, compiler_version
from cudalint.runtime.toolkit import ToolkitError, cuda_include, find_compiler, find_nvcc

_HEADERS = (".h", ".hpp", ".cuh", ".hh", ".hxx", ".inl", ".inc", ".ipp", ".tpp")
_MOST_HEADERS = 2000
_MOST_KEPT = 1000
_COMMAND = "command"


def build_cached(
    sources: Sequence[Path],
    options: BuildOptions | None = None,
    *,
    included: Iterable[Path] = (),
    folder: Path | None = None,
    objects: Path | None = None,
) -> Executable:
    """The executable of some sources, from the cache (``folder``, by default the ledger's own)
    where neither they, what they are known to include, the headers beside them nor the way to
    build changed. ``objects`` and ``BuildError`` as ``build``; what cannot be built is tried again
    each time."""
    options = options or BuildOptions()
    sources = tuple(source.absolute() for source in sources)
    kept = (folder or cache_folder()) / "targets" / _key(sources, included, options)
    executable = kept / "target"
    if executable.is_file():
        with contextlib.suppress(OSError):
            os.utime(kept)
        return Executable(executable, sources, _command_of(kept), 0.0)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix="build-") as name:
            work = Path(name) / "out"
            built = build(sources, work, options, objects)
            final = Path(name) / "final"
            final.mkdir()
            shutil.move(built.path, final / "target")
            (final / _COMMAND).write_text(shlex.join(built.command), "utf-8")
            with contextlib.suppress(OSError):  # another process was first
                final.rename(kept)
    except OSError as error:
        raise BuildError(f"cannot keep {executable}: {error.strerror or error}") from error
    if not executable.is_file():
        raise BuildError(f"{executable} was deleted while it was built")
    _prune(kept.parent)
    return Executable(executable, sources, built.command, built.seconds)


def _command_of(kept: Path) -> tuple[str, ...]:
    try:
        return tuple(shlex.split((kept / _COMMAND).read_text("utf-8")))
    except (OSError, ValueError):
        return ()


def _prune(folder: Path) -> None:
    """Delete those that were not used for longest, where there are too many."""
    with contextlib.suppress(OSError):
        kept = [path for path in folder.iterdir() if not path.name.startswith("build-")]
        if len(kept) > _MOST_KEPT:
            kept.sort(key=lambda path: path.stat().st_mtime)
            for path in kept[: len(kept) - _MOST_KEPT]:
                shutil.rmtree(path, ignore_errors=True)


def ledger_environment() -> dict[str, str]:
    """What lets an executable from the cache find the ledger of today."""
    try:
        library = build_ledger(cuda_include(find_nvcc()))
    except ToolkitError:
        return {}
    others = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": f"{library.parent}{os.pathsep + others if others else ''}"}


def _key(sources: Sequence[Path], included: Iterable[Path], options: BuildOptions) -> str:
    nvcc = find_nvcc()
    flags = options.flags
    folders = [source.parent for source in sources]
    folders += [Path(include) for include in flags.include_folders]
    files = tuple(dict.fromkeys((*sources, *included, *_headers(dict.fromkeys(folders)))))
    parts = [__version__, _recipe(), repr(options), str(nvcc)]
    with contextlib.suppress(ToolkitError):  # to build says what is missing
        compiler = find_compiler()
        parts += [str(compiler), compiler_version(compiler)]
    return digest(*parts, *map(str, files), contents_digest(files))[:24]


@functools.cache
def _recipe() -> str:
    """A digest of what decides how a target is built: an installation can change without its
    version changing."""
    return contents_digest(recipe_files())


def recipe_files() -> list[Path]:
    """Our own code and data that an executable is made of."""
    here = Path(__file__).parent
    models = sorted(Path(loader.__file__).parent.glob("*.toml"))
    declarations = sorted(path for path in libraries.HEADERS.rglob("*") if path.is_file())
    return [
        here / "build.py",
        here / "compiling.py",
        here / "device_linking.py",
        Path(libraries.__file__),
        libraries.OLDER_MEMBERS,
        *models,
        *declarations,
    ]


def _headers(folders: Iterable[Path]) -> list[Path]:
    """The headers in some folders and below: what a source may include with quotes."""
    found: list[Path] = []
    for folder in folders:
        for root, below, names in os.walk(folder):
            below[:] = sorted(name for name in below if not name.startswith((".", "build")))
            found += [Path(root, name) for name in sorted(names) if name.endswith(_HEADERS)]
            if len(found) > _MOST_HEADERS:
                return found
    return found
