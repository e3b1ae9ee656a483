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
    except SystemExit as ending:
        if ending.code not in (None, 0):
            found: list[tuple[str, int, str]] = []
            at = ending.__traceback__
            while at is not None:
                code_ = at.tb_frame.f_code
                recorder.add_frame(found, code_.co_filename, at.tb_lineno, code_.co_name)
                at = at.tb_next
            recorder.write("exit", at=found[::-1])
        raise


main()
