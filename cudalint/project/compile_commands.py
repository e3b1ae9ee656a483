"""``compile_commands.json``: how a project's own build compiles each file.

Only what says where headers are and which macros are defined is taken from a command line: include
folders, defines, forced includes, the standard. Everything else is dropped, so that no entry can
make the parser write a file or load code. The forms of gcc, clang, nvcc and MSVC are understood.
"""

# Databases have tens of thousands of entries: os.path is several times faster than pathlib.
# ruff: noqa: PTH100, PTH118, PTH120, PTH122
from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

DATABASE = "compile_commands.json"
_BUILD_FOLDERS = ("build", "out", "Build", "_build")
_BUILD_PATTERNS = ("build*", "cmake-build-*", "out/*", "build/*")
_LARGEST_DATABASE = 256 * 1024 * 1024
_LARGEST_RESPONSE_FILE = 1024 * 1024
_DEEPEST_RESPONSE_FILE = 4
_LARGEST_FORCED_INCLUDE = 8 * 1024 * 1024
_STANDARD_FOLDERS = frozenset({"/usr/include", "/usr/local/include"})


class CompileCommandsError(ValueError):
    """A compile database that cannot be read; says which and why."""


@dataclass(frozen=True)
class CompileFlags:
    """What a command line says of headers, macros and the language; folders are absolute."""

    include_folders: tuple[str, ...] = ()
    system_folders: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    forced_includes: tuple[str, ...] = ()
    standard: str | None = None
    relocatable: bool = False
    """Device code is linked (``nvcc -rdc=true``): kernels may call what other files define."""


class _Entry(msgspec.Struct):
    file: str
    directory: str = "."
    command: str = ""
    arguments: list[str] = []


class CompileCommands:
    """A compile database. Command lines are only read for files that are asked for."""

    def __init__(self, path: Path, entries: Iterable[_Entry]) -> None:
        self.path = path
        self._entries: dict[str, _Entry] = {}
        self._stems: dict[str, list[str]] = {}
        for entry in entries:
            folder = path.parent / entry.directory
            name = _normal(folder / entry.file)
            if name not in self._entries:
                self._entries[name] = entry
                self._stems.setdefault(Path(name).stem, []).append(name)
        self._flags: dict[str, CompileFlags] = {}

    @classmethod
    def load(cls, path: Path) -> CompileCommands:
        """Read a database."""
        try:
            if path.stat().st_size > _LARGEST_DATABASE:
                raise CompileCommandsError(f"{path}: too large to be a compile database")
            entries = msgspec.json.decode(path.read_bytes(), type=list[_Entry])
        except OSError as error:
            raise CompileCommandsError(f"{path}: {error.strerror or error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CompileCommandsError(f"{path}: not a compile database: {error}") from None
        return cls(path, entries)

    def __len__(self) -> int:
        return len(self._entries)

    def flags_for(self, file: Path) -> CompileFlags | None:
        """The flags of a file; a header's are those of the source that is nearest to it."""
        name = _normal(file)
        chosen = name if name in self._entries else self._nearest(name)
        if chosen is None:
            return None
        if chosen not in self._flags:
            self._flags[chosen] = self._read(self._entries[chosen])
        return self._flags[chosen]

    def leaves_out(self, file: Path) -> bool:
        """Whether it lists others of a file's kind in the same folder, and was written after the
        file, but does not list it."""
        name = _normal(file)
        if name in self._entries or _kind_of(name) not in self._kinds:
            return False
        try:
            return file.stat().st_mtime_ns <= self.path.stat().st_mtime_ns
        except OSError:
            return False

    @functools.cached_property
    def _kinds(self) -> frozenset[tuple[str, str]]:
        """Of each source its folder and suffix."""
        return frozenset(map(_kind_of, self._entries))

    def _nearest(self, name: str) -> str | None:
        """The source of the same name, else any in the folder that shares most with this one."""

        def shared(candidate: str) -> tuple[int, int]:
            try:
                return len(os.path.commonpath([name, candidate])), -len(candidate)
            except ValueError:  # Another drive.
                return 0, -len(candidate)

        if not name.endswith((".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc", ".ipp", ".tpp")):
            return None
        candidates = self._stems.get(Path(name).stem) or list(self._entries)
        return max(candidates, key=shared, default=None)

    def _read(self, entry: _Entry) -> CompileFlags:
        folder = self.path.parent / entry.directory
        arguments = entry.arguments or _split(entry.command)
        return translate(arguments[1:], folder)


class Databases:
    """The database of each folder: the one that the settings name, else the nearest."""

    def __init__(self, root: Path, named: CompileCommands | None = None) -> None:
        self.errors: list[tuple[Path, CompileCommandsError]] = []
        """Those that could not be read."""
        self._root = root
        self._named = named
        self._read: dict[Path, CompileCommands | None] = {}

    def of(self, folder: Path) -> CompileCommands | None:
        """The one that counts for the files of a folder."""
        path = None if self._named else find_compile_commands(folder, self._root)
        if path is None:
            return self._named
        if path not in self._read:
            try:
                self._read[path] = CompileCommands.load(path)
            except CompileCommandsError as error:
                self.errors.append((path, error))
                self._read[path] = None
        return self._read[path]


def find_compile_commands(folder: Path, root: Path | None) -> Path | None:
    """The database nearest to ``folder``: in it, its parents up to ``root``, or a build folder."""
    top = root.absolute() if root is not None else None
    current = folder.absolute()
    while True:
        found = _database_in(current)
        if found is not None or top is None or current == top or current.parent == current:
            return found
        current = current.parent


@functools.lru_cache(maxsize=1024)
def _database_in(folder: Path) -> Path | None:
    try:
        candidates = [folder, *(folder / name for name in _BUILD_FOLDERS)]
        for pattern in _BUILD_PATTERNS:
            candidates += sorted(folder.glob(pattern))[:64]
        for candidate in candidates:
            database = candidate / DATABASE
            if database.is_file():
                return database
    except OSError:
        pass
    return None


def forget_databases() -> None:
    """Look for databases anew: files have come or gone."""
    _database_in.cache_clear()


def translate(arguments: Iterable[str], folder: Path) -> CompileFlags:
    """What a command line (without the compiler's name) says, whichever compiler it is for."""
    return _Translation(folder).run(arguments)


# Flag -> what its value is. Longest first, because a value may follow without a space.
_FLAGS = {
    "--include-path": "include",
    "-I": "include",
    "/I": "include",
    "-iquote": "include",
    "-include-path": "include",
    "--system-include": "system",
    "-isystem": "system",
    "-imsvc": "system",
    "-idirafter": "system",
    "-cxx-isystem": "system",
    "/external:I": "system",
    "-external:I": "system",
    "--define-macro": "define",
    "-D": "define",
    "/D": "define",
    "--undefine-macro": "undefine",
    "-U": "undefine",
    "/U": "undefine",
    "--pre-include": "forced",
    "-include": "forced",
    "/FI": "forced",
    "--std": "standard",
    "-std": "standard",
    "/std": "standard",
    "--compiler-options": "host",
    "-Xcompiler": "host",
    "--options-file": "response",
    "-optf": "response",
    "--relocatable-device-code": "relocatable",
    "-rdc": "relocatable",
}
_BY_LENGTH = sorted(_FLAGS, key=len, reverse=True)
_RELOCATABLE = {
    "-dc": "true", "--device-c": "true", "-dw": "false", "--device-w": "false",
    "-fgpu-rdc": "true", "-fno-gpu-rdc": "false",
}  # fmt: skip
_COMMA_SEPARATED = ("--include-path", "--system-include", "--define-macro", "--pre-include")
# Others whose value is the next argument, so that it is not read as a flag:
_SKIPPED_WITH_VALUE = frozenset(
    {
        "-o", "-MF", "-MT", "-MQ", "-x", "-arch", "-target", "-Xclang", "-Xlinker", "-Xptxas",
        "-Xnvlink", "-ccbin", "-gencode", "-code", "-load", "-plugin", "-L", "-l", "-B", "-T",
        "-mllvm", "-Xpreprocessor", "-Xassembler", "-include-pch", "-imacros", "-iprefix",
        "-isysroot", "--sysroot", "--output-file", "--gpu-architecture", "--gpu-code",
        "--generate-code", "--compiler-bindir", "--linker-options", "--ptxas-options", "-odir",
        "--output-directory", "-diag-suppress", "--diag-suppress", "-Xarch_host", "-Xarch_device",
        "-Xcudafe", "-maxrregcount", "--maxrregcount", "-t", "--threads", "-serialize-diagnostics",
    }
)  # fmt: skip


class _Translation:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.flags = _BY_LENGTH
        self.found: dict[str, list[str]] = {kind: [] for kind in dict.fromkeys(_FLAGS.values())}

    def run(self, arguments: Iterable[str]) -> CompileFlags:
        arguments = list(arguments)
        # Elsewhere an argument that starts with a slash is a file.
        if not any(argument in ("/c", "-nologo", "/nologo") for argument in arguments):
            self.flags = [flag for flag in _BY_LENGTH if not flag.startswith("/")]
        self._read(iter(arguments), 0)
        found = self.found
        return CompileFlags(
            include_folders=tuple(dict.fromkeys(found["include"])),
            system_folders=tuple(dict.fromkeys(found["system"])),
            defines=tuple(found["define"]),
            undefines=tuple(found["undefine"]),
            forced_includes=tuple(found["forced"]),
            standard=found["standard"][-1] if found["standard"] else None,
            relocatable=found["relocatable"][-1:] == ["true"],
        )

    def _read(self, arguments: Iterator[str], depth: int) -> None:
        for argument in arguments:
            if argument.startswith("@"):
                self._response_file(argument[1:], depth)
                continue
            if argument in _RELOCATABLE:
                self.found["relocatable"].append(_RELOCATABLE[argument])
                continue
            if argument in _SKIPPED_WITH_VALUE:
                next(arguments, None)
                continue
            for flag in self.flags:
                if not argument.startswith(flag):
                    continue
                value = argument[len(flag) :]
                if not value:
                    value = next(arguments, "")
                elif flag.startswith("--") or len(flag) > 2:
                    if value[0] not in "=:" and flag not in ("-isystem", "-iquote", "-idirafter"):
                        continue  # Another flag that starts alike, such as -include-pch.
                    value = value.lstrip("=:")
                else:
                    value = value.removeprefix("=")
                self._take(flag, value, depth)
                break

    def _take(self, flag: str, value: str, depth: int) -> None:
        kind = _FLAGS[flag]
        if kind == "host":
            self._read(iter(_split(value.replace(",", " "))), depth + 1)
        elif kind == "response":
            for name in value.split(","):
                self._response_file(name, depth)
        else:
            for part in value.split(",") if flag in _COMMA_SEPARATED else (value,):
                self._keep(kind, part)

    def _keep(self, kind: str, value: str) -> None:
        if not value:
            return
        if kind in ("include", "system"):
            folder = os.path.normpath(self.folder / value.strip("\"'"))
            if folder not in _STANDARD_FOLDERS and not _holds_toolkit(folder):
                self.found[kind].append(folder)
        elif kind == "forced":
            header = Path(os.path.normpath(self.folder / value))
            if header.is_file() and header.stat().st_size <= _LARGEST_FORCED_INCLUDE:
                self.found[kind].append(str(header))
        else:
            self.found[kind].append(value)

    def _response_file(self, name: str, depth: int) -> None:
        path = self.folder / name
        try:
            if (
                depth >= _DEEPEST_RESPONSE_FILE
                or not path.is_file()
                or path.stat().st_size > _LARGEST_RESPONSE_FILE
            ):
                return
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        self._read(iter(_split(text)), depth + 1)


@functools.lru_cache(maxsize=4096)
def _holds_toolkit(folder: str) -> bool:
    """Whether a folder holds CUDA's headers: ours are read instead, whatever is installed."""
    return (Path(folder) / "cuda_runtime.h").is_file()


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command, posix=os.name != "nt")
    except ValueError:
        return command.split()


@functools.lru_cache(maxsize=65536)
def _resolved_folder(folder: str) -> str:
    return os.path.realpath(folder)


def _kind_of(name: str) -> tuple[str, str]:
    return os.path.dirname(name), os.path.splitext(name)[1]


def _normal(path: Path) -> str:
    """A path as the database's key: links in its folders resolved, once per folder."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.normcase(os.path.join(_resolved_folder(folder), name))
