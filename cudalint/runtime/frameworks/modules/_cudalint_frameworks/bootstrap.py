"""Begins to watch: what ``sitecustomize`` and the runner of scripts share."""

from __future__ import annotations

import os
import sys

from _cudalint_frameworks import imports, recorder, rewriting, stand_ins

HOOKS = {
    "torch": "_cudalint_frameworks.on_torch:hook",
    "cupy": "_cudalint_frameworks.on_cupy:hook",
    "numpy": "_cudalint_frameworks.stand_ins:hook_numpy",
    "numba.cuda.cudadrv.driver": "_cudalint_frameworks.on_numba:hook",
    "pycuda.driver": "_cudalint_frameworks.on_pycuda:hook",
    "cuda.bindings.runtime": "_cudalint_frameworks.on_bindings:hook",
    "cuda.bindings.driver": "_cudalint_frameworks.on_bindings:hook",
}
_STAND_INS = f"{recorder.OWN}{os.sep}stand_ins"
"""Libraries that need a device, for where it is simulated."""
_begun = False


def begin() -> None:
    """Install the hooks, once, where a trace is asked for."""
    global _begun
    if _begun or not os.environ.get(recorder.VARIABLE):
        return
    _begun = True
    recorder.start()
    if os.environ.get("CUDALINT_MODE") == "simulate":
        sys.path.insert(0, _STAND_INS)
    try:
        absent = bool(os.environ.get(stand_ins.VARIABLE))
        imports.install({name: HOOKS[name] for name in HOOKS if name != "numpy" or absent})
        rewriting.install()
    except Exception as error:
        recorder.failed("the program", error)
