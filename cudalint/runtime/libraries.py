"""Stands in for NVIDIA's libraries (cuBLAS, cuFFT, NCCL, ...) on a simulated device.

What a library's functions make and destroy stands in the API models; from them C++ is generated
for just those functions that a program could not be linked without. Handles are made and destroyed
in the ledger; nothing is computed, and what device memory a function was given counts as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from cudalint.apis import loader

HEADERS = Path(loader.__file__).parent.parent / "frontends" / "cuda" / "headers" / "cuda_libraries"
"""Our own declarations, for where a library's headers are not installed."""

OLDER_MEMBERS = HEADERS.parent / "cuda" / "cudalint_older_members.h"
"""A macro that gives ``cudaDeviceProp`` the members that programs still read."""

_UNDEFINED = re.compile(r"undefined reference to [`'‘](\w+)['’]")
_UNDECLARED = re.compile(
    r"identifier \"(\w+)\" is undefined"
    r"|[`'‘](\w+)['’] (?:was not declared|has not been declared|does not name a type)"
)
_LINKED = {
    "cublasLt": "cublasLt", "cublas": "cublas", "cufft": "cufft", "curand": "curand",
    "cusolver": "cusolver", "cusparse": "cusparse", "cudnn": "cudnn", "nccl": "nccl",
    "nvrtc": "nvrtc", "nvJitLink": "nvJitLink", "nvjpeg": "nvjpeg", "npp": "npp",
    "cutensor": "cutensor",
}  # fmt: skip
"""How the functions of a library begin, and what it is linked as."""
_PREFIX = "cudalint_stands_in_for_"
_ARGUMENTS = 12
_SIZE_QUERY = re.compile(r"(?i)buffer_?size|workspace_?size|get\w*size|GetSize")
_INTEGER_SIZES = ("cusolver", "npp")


def undefined_functions(output: str) -> frozenset[str]:
    """The library functions that a linker asked for."""
    return frozenset(name for name in _UNDEFINED.findall(output) if _library(name))


def undeclared_headers(output: str) -> list[str]:
    """The headers that declare what a compiler knows nothing of: a build may have defined what
    includes them."""
    names = {name for pair in _UNDECLARED.findall(output) for name in pair if _library(name)}
    texts = {path.name: path.read_text("utf-8") for path in sorted(HEADERS.glob("*.h"))}
    found = (
        next((header for header, text in texts.items() if re.search(rf"\b{name}\b", text)), "")
        for name in sorted(names)
    )
    return list(dict.fromkeys(filter(None, found)))


def link_arguments(names: Iterable[str]) -> list[str]:
    """What links the real libraries."""
    return sorted({f"-l{_LINKED[library]}" for name in names if (library := _library(name))})


def generate(names: Iterable[str], sources: Iterable[str]) -> str:
    """C++ that defines the functions; ``sources`` are the program's texts, which show how many
    arguments a call has."""
    texts = list(sources)
    lines = [
        "// Generated: stands in for libraries that a simulated device has not.",
        '#include <stdint.h>\nextern "C" {',
        "int cudalint_library_create(const char *, const char *, void *, int, void *);",
        "int cudalint_library_destroy(const char *, const char *, uintptr_t, void *);",
        "int cudalint_library_call(const char *, void **, int, void *, int, void *);",
    ]
    lines += [_function(name, texts) for name in sorted(names)]
    return "\n".join([*lines, "}"]) + "\n"


def _library(name: str) -> str | None:
    bare = name.lstrip("_")
    return next((prefix for prefix in _LINKED if bare.startswith(prefix)), None)


def _function(name: str, texts: list[str]) -> str:
    api = re.sub(r"(_v\d+|_\d+_\d+)$", "", name.lstrip("_"))
    model = loader.load("cuda").lookup(api)
    frame = "__builtin_frame_address(0)"
    parameters = ", ".join(f"void *a{index}" for index in range(_ARGUMENTS))
    body = ""
    acquired = () if model is None else model.acquires
    released = () if model is None else model.releases
    if acquired:
        index = _argument(acquired[0].handle)
        family = acquired[0].family
        # A plan of cuFFT is a number, everything else a pointer.
        width = 4 if family.startswith("cufft") else 8
        body = f'return cudalint_library_create("{api}", "{family}", a{index}, {width}, {frame});'
    elif released:
        index = _argument(released[0].handle)
        family = (released[0].families or ("",))[0]
        handle = f"(uintptr_t)a{index}"
        if family.startswith("cufft"):
            handle = f"(uintptr_t)(uint32_t){handle}"
        elif released[0].handle.startswith("*"):
            handle = f"(a{index} ? *(uintptr_t *)a{index} : 0)"
        body = f'return cudalint_library_destroy("{api}", "{family}", {handle}, {frame});'
    elif re.search(r"Get\w*(String|Name)$", api):
        return _named(name, "const char *", "", 'return "status of a library that stands in";')
    elif re.match(r"(nvrtc|nvJitLink)\w*(Compile|Complete)", api):
        # Nothing was compiled: saying so is better than a program made of nothing.
        body = "return 11;"
    else:
        count = 2 if re.match(r"nvrtcGet\w*Size", api) else _called_with(api, texts)
        size = "nullptr"
        width = 4 if api.startswith(_INTEGER_SIZES) else 8
        if _SIZE_QUERY.search(api) and 0 < count <= _ARGUMENTS:
            size = f"a{count - 1}"
        listed = ", ".join(f"a{index}" for index in range(min(count, _ARGUMENTS)))
        body = (
            f"void *all[] = {{{listed or 'nullptr'}}};"
            f' return cudalint_library_call("{api}", all, {min(count, _ARGUMENTS)}, {size},'
            f" {width}, {frame});"
        )
    return _named(name, "int ", parameters, body)


def _named(name: str, result: str, parameters: str, body: str) -> str:
    """A function that only the linker knows by its name: a header may declare another."""
    own = f"{result}{_PREFIX}{name}({parameters})"
    return f'{own} __asm__("{name}");\n{own} {{ {body} }}'


def generated_functions(text: str) -> list[str]:
    """The functions that such C++ defines."""
    return re.findall(rf"\b{_PREFIX}(\w+)\([^()]*\) {{", text)


def _argument(path: str) -> int:
    found = re.search(r"arg(\d+)", path)
    return int(found[1]) if found else 0


def _called_with(api: str, texts: list[str]) -> int:
    """How many arguments the program gives it; 4 where that cannot be seen."""
    for text in texts:
        for found in re.finditer(rf"\b{re.escape(api)}\w*\s*\(", text):
            depth, count = 1, 1
            for character in text[found.end() : found.end() + 2000]:
                depth += character in "([{"
                depth -= character in ")]}"
                count += character == "," and depth == 1
                if depth == 0:
                    return count
    return 4
