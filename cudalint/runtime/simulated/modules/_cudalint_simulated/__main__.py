"""Runs a script as Python would, and tells where it gave up: where it called ``sys.exit`` with an
error, or an assertion failed that nobody caught, which is how C++ programs give up too."""

from __future__ import annotations

import os
import runpy
import sys
from types import TracebackType

from _cudalint_simulated import kept, stacks


def main() -> None:
    """``python -m _cudalint_simulated SCRIPT [ARGUMENT]...``."""
    script = os.path.abspath(sys.argv[1])  # noqa: PTH100
    sys.argv = [sys.argv[1], *sys.argv[2:]]
    sys.path[0] = os.path.dirname(script)  # noqa: PTH120
    names: dict[str, object] = {}
    try:
        names = runpy.run_path(script, run_name="__main__")
    except SystemExit as ending:
        names = _globals(ending.__traceback__, script)
        if ending.code not in (None, 0):
            stacks.write({"exit": stacks.of_traceback(ending.__traceback__)})
        raise
    except BaseException as error:
        names = _globals(error.__traceback__, script)
        if isinstance(error, AssertionError):
            stacks.write({"exit": stacks.of_traceback(error.__traceback__)})
        raise
    finally:
        kept.tell(names)


def _globals(traceback: TracebackType | None, script: str) -> dict[str, object]:
    """The globals of a script that an exception left."""
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == script:
            return dict(traceback.tb_frame.f_globals)
        traceback = traceback.tb_next
    return {}


main()
