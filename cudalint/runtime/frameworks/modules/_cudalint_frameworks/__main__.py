"""Runs a script as Python would, with its frameworks watched."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from _cudalint_frameworks import bootstrap, recorder, rewriting


def main() -> None:
    """``python -m _cudalint_frameworks SCRIPT [ARGUMENT]...``."""
    script = os.path.abspath(sys.argv[1])  # noqa: PTH100
    sys.argv = [sys.argv[1], *sys.argv[2:]]
    sys.path[0] = os.path.dirname(script)  # noqa: PTH120
    bootstrap.begin()
    code = rewriting.code_of_script(script)
    module = ModuleType("__main__")
    module.__file__ = script
    module.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = module
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        recorder.raised(error)
        raise


main()
