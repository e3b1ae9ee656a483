"""Runs a script as Python would, and tells where it called ``sys.exit`` with an error."""

from __future__ import annotations

import os
import runpy
import sys

from _cudalint_simulated import stacks


def main() -> None:
    """``python -m _cudalint_simulated SCRIPT [ARGUMENT]...``."""
    script = os.path.abspath(sys.argv[1])  # noqa: PTH100
    sys.argv = [sys.argv[1], *sys.argv[2:]]
    sys.path[0] = os.path.dirname(script)  # noqa: PTH120
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ending:
        if ending.code not in (None, 0):
            stacks.write({"exit": stacks.of_traceback(ending.__traceback__)})
        raise


main()
