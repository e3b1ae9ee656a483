"""Programs whose device code is linked (``nvcc -rdc=true``): kernels call functions of other files.

Of PTX alone no compiler says that this is needed: nobody assembles it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cudalint.project.compile_commands import translate

RELOCATABLE = "-rdc=true"
_NAMES = ("-rdc", "--relocatable-device-code")
_COMPILES_ONLY = ("-dc", "--device-c")
_EXTERNAL = re.compile(rb"^\.extern \.func\s+(?:\([^()\n]*\)\s*)?(\w+)", re.MULTILINE)
_OF_EVERY_DEVICE = re.compile(rb"vprintf|malloc|free|__\w+|cuda\w+")


def calls_other_files(executable: Path) -> bool:
    """Whether the PTX in an executable, which is not compressed, calls what its file does not
    define."""
    names = _EXTERNAL.findall(executable.read_bytes())
    return any(_OF_EVERY_DEVICE.fullmatch(name) is None for name in names)


def asks_for_linking(arguments: Sequence[str]) -> bool:
    """Whether a compiler's arguments ask for it."""
    return translate(arguments, Path.cwd()).relocatable


def without_linking(arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments without those that say whether device code is linked."""
    kept: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        if argument in _NAMES:
            next(remaining, None)
        elif argument not in _COMPILES_ONLY and argument.partition("=")[0] not in _NAMES:
            kept.append(argument)
    return tuple(kept)
