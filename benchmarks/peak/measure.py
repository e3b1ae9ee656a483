"""Runs one program on the GPU and prints the most memory that its arrays took, as JSON.

It stands alone, with nothing but the program's library: ``python measure.py PROGRAM.py``.
"""

from __future__ import annotations

import json
import runpy
import sys
from typing import Any


def measure_torch(path: str) -> dict[str, Any]:
    """The peak of PyTorch's caching allocator."""
    import torch

    if not torch.cuda.is_available():
        return {"skipped": "PyTorch sees no GPU"}
    main = runpy.run_path(path)["main"]
    torch.cuda.reset_peak_memory_stats()
    main()
    torch.cuda.synchronize()
    return {
        "bytes": torch.cuda.max_memory_allocated(),
        "device": torch.cuda.get_device_name(),
        "library": f"torch {torch.__version__}",
    }


def measure_cupy(path: str) -> dict[str, Any]:
    """The peak of the blocks that CuPy's memory pool handed out."""
    import cupy

    if not cupy.cuda.is_available():
        return {"skipped": "CuPy sees no GPU"}

    class Peak(cupy.cuda.memory_hook.MemoryHook):  # type: ignore[misc]
        """Adds up what is handed out and not given back."""

        name = "peak"

        def __init__(self) -> None:
            self.now = self.most = 0
            self.sizes: dict[int, int] = {}

        def malloc_postprocess(self, **event: Any) -> None:
            self.sizes[event["mem_ptr"]] = event["mem_size"]
            self.now += event["mem_size"]
            self.most = max(self.most, self.now)

        def free_postprocess(self, **event: Any) -> None:
            self.now -= self.sizes.pop(event["mem_ptr"], 0)

    main = runpy.run_path(path)["main"]
    with Peak() as peak:
        main()
        cupy.cuda.Device().synchronize()
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return {"bytes": peak.most, "device": name, "library": f"cupy {cupy.__version__}"}


def measure(path: str) -> dict[str, Any]:
    """What the program needs, or why that cannot be said here."""
    library = "torch" if "torch_" in path else "cupy"
    try:
        return measure_torch(path) if library == "torch" else measure_cupy(path)
    except ImportError as error:
        return {"skipped": f"{library} cannot be imported: {error}"}
    except Exception as error:  # a GPU that is too small, or gone: said, not hidden
        return {"skipped": f"{type(error).__name__}: {error}"[:300]}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
