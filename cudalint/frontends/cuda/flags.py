"""The command line that makes clang read CUDA without a toolkit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

from cudalint.frontends.cuda.blanked import blanked
from cudalint.frontends.cuda.options import ParseOptions
from cudalint.frontends.cuda.toolchain import OWN_HEADERS, Toolchain

_LIMITS = (
    # Beyond these libclang reports no more, and makes no templates: what needs one is lost.
    "-ferror-limit=20000",
    "-fbracket-depth=1024",
    "-ftemplate-depth=256",
    "-fconstexpr-steps=200000",
    "-fconstexpr-depth=256",
    "-ftemplate-backtrace-limit=1",
    "-fmacro-backtrace-limit=1",
    "-fconstexpr-backtrace-limit=1",
)

# Spelling correction would read an unknown name as another one. Old code is read as its compilers
# read it: what became an error in newer standards is none here.
_LENIENT = (
    "-w",
    "-fno-spell-checking",
    "-fpermissive",
    "-Wno-error",
    "-Wno-narrowing",
    "-Wno-c++11-narrowing",
    "-Wno-register",
    "-Wno-dynamic-exception-spec",
    "-Wno-reserved-user-defined-literal",
    "-Wno-implicit-function-declaration",
    "-Wno-implicit-int",
    "-Wno-int-conversion",
    "-Wno-incompatible-pointer-types",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-return-mismatch",
    "-Wno-return-type",
    "-Wno-non-pod-varargs",
    "-Wno-address-of-temporary",
    "-Wno-invalid-constexpr",
    "-Wno-enum-constexpr-conversion",
    "-Wno-missing-template-arg-list-after-template-kw",
    "-Wno-unknown-cuda-version",
)

_NEEDS_CXX20 = re.compile(
    r"^\s*#\s*include\s*<(?:concepts|ranges|span|format|compare|coroutine|numbers|bit)>"
    r"|\brequires\s*(?:\(|[\w:]+\s*<)|\bconcept\s+\w+\s*=|\bco_(?:await|yield|return)\b"
    r"|\bstd\s*::\s*ranges\s*::",
    re.MULTILINE,
)
_ASKS_FOR_VERSION = re.compile(
    r"^[ \t]*#[ \t]*(?:el)?if.*\b(?:__cplusplus|_MSVC_LANG|__cpp_\w+|__has_include)\b", re.MULTILINE
)
_CXX_STANDARDS = {"17": "gnu++17", "20": "gnu++20", "2a": "gnu++20", "23": "gnu++23"}
_CXX_STANDARDS |= {"2b": "gnu++23", "26": "gnu++26", "2c": "gnu++26"}
_LIBRARY_HEADERS = ("thrust/", "cub/", "cuda/", "cooperative_groups", "nv/target")
_STANDARD_HEADER = re.compile(
    r"[a-z_]+$|cuda_(fp|bf)16\.h|cublas|cudnn|cusolver|cusparse|nccl|gtest/|gmock/"
)
_USES_CXX = re.compile(r"\bstd\s*::|\bnamespace\s+std\b")
_PARTS = (
    "optional", "variant", "valarray", "charconv", "ranges", "regex", "filesystem", "future",
)  # fmt: skip
"""Headers of the C++ library that take long to read, and that few sources include."""
_LAUNCH = "<<<"


def language_of(filename: str, text: str) -> str:
    """``cuda`` or ``c``. C++ is read as CUDA: the same headers apply."""
    return "c" if PurePath(filename).suffix == ".c" and _LAUNCH not in text else "cuda"


def prefix_for(language: str, text: str, names: Iterable[str]) -> str:
    """Which prefix header suits a file that includes ``names``, and which parts go on top.

    Decided by the text alone, never by what is in the cache, so that results are the same.
    """
    if language == "c":
        return "c"
    names = frozenset(names)
    if any(name.startswith(_LIBRARY_HEADERS) for name in names):
        prefix = "libraries"
    elif any(_STANDARD_HEADER.match(name) for name in names) or _USES_CXX.search(text):
        prefix = "standard"
    else:
        return "runtime"
    return "+".join((prefix, *(part for part in _PARTS if part in names)))


def normal_standard(language: str, standard: str | None) -> str:
    """The standard to parse with: CUDA's headers want C++17 at least."""
    if language == "c":
        return standard if standard and "++" not in standard else "gnu17"
    return _CXX_STANDARDS.get((standard or "").rpartition("++")[2], "gnu++17")


def meant_standard(text: str) -> str | None:
    """The standard that a text cannot do without, where the project names none; what asks for the
    language's version can."""
    found = _NEEDS_CXX20.search(text) and _NEEDS_CXX20.search(blanked(text))
    return "c++20" if found and not _ASKS_FOR_VERSION.search(text) else None


def base_arguments(language: str, standard: str | None, toolchain: Toolchain) -> list[str]:
    """Everything that does not depend on the project; a precompiled header is made with these."""
    arguments = ["-x", language, "--no-default-config"]
    if language == "cuda":
        arguments += ["--cuda-host-only", "-nocudainc", "-nocudalib", "-fgpu-rdc"]
        # Without a toolkit clang takes the CUDA of 2018, and `<<<...>>>` for its launch API.
        arguments += ["-Xclang", "-target-sdk-version=12.8"]
    if toolchain.target:
        arguments += [f"--target={toolchain.target}"]
    arguments += ["-resource-dir", str(toolchain.resource), "-nostdlibinc"]
    arguments += [f"-std={normal_standard(language, standard)}"]
    arguments += [*_LENIENT, *_LIMITS]
    for folder in system_folders(toolchain):
        arguments += ["-isystem", folder]
    if language != "c":
        arguments += ["-cxx-isystem", str(toolchain.resource / "include" / "cuda_wrappers")]
        for path in toolchain.cxx:
            arguments += ["-cxx-isystem", str(path)]
    for path in toolchain.c:
        arguments += ["-idirafter", str(path)]
    arguments += [f"-D{define}" for define in toolchain.defines]
    return arguments


def system_folders(toolchain: Toolchain) -> tuple[str, ...]:
    """CUDA's headers and ours, before any of the machine's."""
    own = (OWN_HEADERS / name for name in ("cuda", "cuda_libraries", "frameworks"))
    return tuple(str(folder) for folder in (*own, *toolchain.cuda))


def all_system_folders(toolchain: Toolchain) -> tuple[str, ...]:
    """Every folder in which a header of no project may stand."""
    others = (*toolchain.cxx, toolchain.resource / "include", *toolchain.c)
    return (*system_folders(toolchain), *(str(folder) for folder in others))


def project_arguments(options: ParseOptions) -> list[str]:
    """The project's own flags."""
    arguments = [f"-I{folder}" for folder in options.include_folders]
    for folder in options.system_folders:
        arguments += ["-isystem", folder]
    arguments += [f"-D{define}" for define in options.defines]
    arguments += [f"-U{name}" for name in options.undefines]
    for header in options.forced_includes:
        arguments += ["-include", header]
    return arguments
