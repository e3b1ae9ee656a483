"""cuFFT keeps a workspace for each plan, and a plan is made for each batch."""

import ctypes
import importlib.util
import sys
from pathlib import Path

C2C = 0x29
spec = importlib.util.find_spec("nvidia")
folders = list(spec.submodule_search_locations or ()) if spec is not None else []
found = [path for folder in folders for path in Path(folder).rglob("libcufft.so.*")]
cufft = ctypes.CDLL(str(found[0]) if found else "libcufft.so")
for number in range(400):
    plan = ctypes.c_int(0)
    status = cufft.cufftPlan1d(ctypes.byref(plan), 1 << 27, C2C, 1)
    if status:
        sys.exit(f"cufftPlan1d: {'CUFFT_ALLOC_FAILED' if status == 2 else status} ({number})")
