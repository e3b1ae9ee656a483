"""The command line that makes clang read CUDA without a toolkit."""

from __future__ import annotations

from pathlib import PurePath

from cudalint.frontends.cuda.options import ParseOptions
from cudalint.frontends.cuda.toolchain import OWN_HEADERS, Toolchain

_LIMITS = (
    "-ferror-limit=0",
    "-fbracket-depth=1024",
    "-ftemplate-depth=512",
    "-fconstexpr-steps=200000",
    "-fconstexpr-depth=256",
    "-ftemplate-backtrace-limit=1",
    "-fmacro-backtrace-limit=1",
)


def language_of(filename: str) -> str:
    """``cuda`` or ``c``, by the file's name. C++ is read as CUDA: the same headers apply."""
    return "c" if PurePath(filename).suffix == ".c" else "cuda"


def base_arguments(language: str, standard: str | None, toolchain: Toolchain) -> list[str]:
    """Everything that does not depend on the project; a precompiled header is made with these."""
    arguments = ["-x", language]
    if language == "cuda":
        arguments += ["--cuda-host-only", "-nocudainc", "-nocudalib"]
    if toolchain.target:
        arguments += [f"--target={toolchain.target}"]
    arguments += ["-resource-dir", str(toolchain.resource), "-nostdlibinc"]
    arguments += [f"-std={standard or ('gnu17' if language == 'c' else 'gnu++17')}"]
    arguments += ["-w", "-fno-spell-checking", *_LIMITS]
    arguments += ["-isystem", str(OWN_HEADERS / "cuda")]
    arguments += ["-isystem", str(OWN_HEADERS / "cuda_libraries")]
    for folder in toolchain.cuda:
        arguments += ["-isystem", str(folder)]
    if language != "c":
        for folder in toolchain.cxx:
            arguments += ["-cxx-isystem", str(folder)]
    for folder in toolchain.c:
        arguments += ["-idirafter", str(folder)]
    return arguments


def project_arguments(options: ParseOptions) -> list[str]:
    """The project's own flags."""
    arguments: list[str] = []
    arguments += [f"-I{folder}" for folder in options.include_folders]
    for folder in options.system_folders:
        arguments += ["-isystem", folder]
    arguments += [f"-D{define}" for define in options.defines]
    arguments += [f"-U{name}" for name in options.undefines]
    arguments += options.flags
    for header in options.forced_includes:
        arguments += ["-include", header]
    return arguments


def clang_arguments(
    filename: str, text: str, options: ParseOptions, toolchain: Toolchain
) -> list[str]:
    """The whole command line for a file."""
    language = language_of(filename)
    arguments = base_arguments(language, options.standard, toolchain)
    if language == "cuda":
        arguments += ["-include", "__clang_cuda_runtime_wrapper.h"]
    return arguments + project_arguments(options)
