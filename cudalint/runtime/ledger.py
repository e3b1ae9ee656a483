"""Compiles the ledger, once per machine: ``native/ledger.cpp`` and the generated answers of every
entry point of the CUDA runtime API that it does not write itself."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cudalint import __version__
from cudalint.project.cache import contents_digest, digest
from cudalint.runtime.toolkit import ToolkitError, find_compiler

NATIVE = Path(__file__).parent / "native"
LIBRARY = "libcudalint_ledger.so"
HOST_LIBRARY = "libcudalint_host.so"
GIVEN = "CUDALINT_LEDGER_LIBRARY"
_SECONDS = 300.0
_HEADERS = ("cuda_runtime_api.h", "driver_types.h", "cuda.h")


def cache_folder() -> Path:
    """Where the ledger is kept: ``CUDALINT_CACHE_DIR``, else the user's cache folder."""
    chosen = os.environ.get("CUDALINT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cudalint"


def build_ledger(include: Path) -> Path:
    """The ledger for CUDA's headers in ``include``; compiled where the cache has none.

    ``CUDALINT_LEDGER_LIBRARY`` names one that was compiled elsewhere: for machines without libclang
    or a compiler. ``ToolkitError`` says what is missing."""
    given = os.environ.get(GIVEN)
    if given:
        if not Path(given).is_file():
            raise ToolkitError(f"{GIVEN}: {given}: no such file")
        return Path(given).absolute()
    compiler = find_compiler()
    files = [Path(__file__), Path(__file__).with_name("entry_points.py")]
    files += sorted(file for file in NATIVE.iterdir() if file.is_file())
    files += [include / name for name in _HEADERS]
    key = digest(__version__, str(compiler), compiler_version(compiler), contents_digest(files))
    folder = cache_folder() / "ledger" / key[:24]
    library = folder / LIBRARY
    if not library.is_file():
        with only_one(folder.with_suffix(".lock")):
            if not library.is_file():
                _compile(compiler, include, library)
    return library


@contextlib.contextmanager
def only_one(path: Path) -> Iterator[None]:
    """One process compiles, the others wait for it."""
    import fcntl

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise ToolkitError(f"cannot keep the ledger in {path.parent}: {error}") from error


def _compile(compiler: Path, include: Path, library: Path) -> None:
    from cudalint.runtime.entry_points import generate

    try:
        library.parent.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=library.parent.parent, prefix="build-") as name:
            folder = Path(name)
            generated = folder / "generated"
            generated.mkdir()
            (generated / "entry_points.inc").write_text(generate(include, written_by_hand()))
            built = folder / "out"
            built.mkdir()
            always = [
                str(compiler), "-std=c++17", "-O1", "-fPIC", "-shared", "-pthread", "-w",
                "-fvisibility=hidden", "-fno-omit-frame-pointer",
            ]  # fmt: skip
            _call(
                [
                    *always, "-isystem", str(include), f"-I{generated}",
                    str(NATIVE / "ledger.cpp"), "-o", str(built / LIBRARY),
                    f"-Wl,-soname,{LIBRARY}", f"-Wl,--version-script={NATIVE / 'ledger.map'}",
                    "-ldl",
                ]
            )  # fmt: skip
            _call([*always, str(NATIVE / "host.cpp"), "-o", str(built / HOST_LIBRARY), "-ldl"])
            try:
                built.rename(library.parent)
            except OSError:
                # Another process was first.
                if not library.is_file():
                    shutil.copytree(built, library.parent, dirs_exist_ok=True)
    except subprocess.TimeoutExpired as error:
        raise ToolkitError(f"{compiler.name} took more than {_SECONDS:.0f} s") from error
    except OSError as error:
        raise ToolkitError(f"cannot keep the ledger in {library.parent}: {error}") from error


def _call(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, text=True)
    if done.returncode != 0:
        raise ToolkitError(
            f"{Path(command[0]).name} could not compile the ledger:\n{done.stderr[-4000:]}"
        )


def host_environment(library: Path) -> dict[str, str]:
    """What has a ledger count the host's own calls (``fopen``, ``malloc``, ``new``) as well; empty
    where there is no such library beside it."""
    beside = library.with_name(HOST_LIBRARY)
    return {"CUDALINT_HOST_CALLS": "1", "LD_PRELOAD": str(beside)} if beside.is_file() else {}


def written_by_hand() -> frozenset[str]:
    """The entry points that the native sources define."""
    names: set[str] = set()
    for file in NATIVE.iterdir():
        if file.suffix in (".hpp", ".cpp"):
            names.update(re.findall(r"^API\w*\((\w+)\)", file.read_text("utf-8"), re.MULTILINE))
    return frozenset(names)


@functools.cache
def compiler_version(compiler: Path) -> str:
    """What it says of itself, in one line."""
    try:
        done = subprocess.run(
            [compiler, "--version"], capture_output=True, timeout=30, check=False, text=True
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolkitError(f"{compiler} does not run: {error}") from error
    return done.stdout.partition("\n")[0]
