"""The planted causes: how each is planted, and which cause must come first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
RECORDINGS = Path(__file__).parent.parent.parent / "tests" / "doctor" / "recordings"


@dataclass(frozen=True)
class Planted:
    """One cause. ``expected`` are the names that tell it; either a program that runs simulated, or
    a recording of one that needs a GPU and a framework."""

    name: str
    expected: tuple[str, ...]
    program: str = ""
    library: str = ""
    options: tuple[str, ...] = ()
    recording: str = ""
    gpu: str = ""
    """The program for a real GPU; empty where that shows nothing more."""


PLANTED = (
    Planted("leak", ("leak",), "leak.cpp", gpu="leak.py"),
    Planted("fragmentation", ("fragmentation", "cache-fragmentation"), "fragmentation.cpp",
            gpu="fragmentation.py"),
    Planted("another process", ("another-process",), recording="another_process.json",
            gpu="victim.py"),
    Planted("a cached pool", ("cached-pool",), recording="cached_pool.json", gpu="cached_pool.py"),
    Planted("an oversize request", ("oversize-request",), "oversize.cpp", gpu="oversize.py"),
    Planted("pinned limits", ("pinned-limit",), "pinned.cpp", gpu="pinned.py"),
    Planted("a MIG-like cap", ("capped-device",), "capped.cpp",
            options=("--device-memory", "10GiB")),
    Planted("a growing list", ("growing-collection",), "growing.cpp", gpu="growing.py"),
    Planted("a kept graph", ("kept-graph",), recording="kept_graph.json", gpu="kept_graph.py"),
    Planted("a library", ("library",), "library.cpp", "vendor.cpp", gpu="library.py"),
)  # fmt: skip
