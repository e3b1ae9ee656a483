"""What the ledger saw a program do: the events of a run, each with its stack.

The names of families are those of ``cudalint/apis/families.toml``, the names of API functions
those of CUDA's documentation. Addresses, sizes and times are plain integers; a time is in
nanoseconds since the run began.
"""

from __future__ import annotations

import enum

import msgspec


class EventKind(enum.IntEnum):
    """What happened. The numbers are those of the trace file."""

    ACQUIRE = 1
    """A resource came to be: ``family``, ``address`` (its handle), ``bytes``."""
    RELEASE = 2
    """A resource is gone: ``family``, ``address``, ``bytes`` as at its acquisition."""
    COPY = 3
    """``bytes`` from ``source`` to ``address``; ``detail`` is a ``CopyDirection``."""
    FILL = 4
    """``bytes`` at ``address`` set to ``value`` (as the caller gave it, not cut to a byte)."""
    LAUNCH = 5
    """A kernel, named by ``text``, with ``launch``."""
    SYNC = 6
    """The host waited: for ``stream``, or for the device."""
    CALL = 7
    """Any other fallible call, and every call that failed: ``status`` is not 0 then. One that found
    no memory has ``bytes`` asked for and their ``family``, and where that is known ``source`` bytes
    free in all and a longest free range of ``address`` bytes."""
    VIOLATION = 8
    """A misuse; ``detail`` is a ``Violation``, ``text`` says it in words."""
    LIBRARY = 9
    """``text`` is the path of a shared library that was loaded."""
    NOTE = 10
    """Something to tell, once: ``text``, such as ``unsupported: cudaEGLStreamConsumerConnect``."""
    TAINTED_READ = 11
    """The host read ``bytes`` at ``address`` that a kernel should have computed: what the program
    does from here on may depend on values that nobody computed (simulated device only)."""
    RESET = 12
    """``cudaDeviceReset``: every resource that a reset takes with it is gone."""
    END = 13
    """The program came to its end by itself."""
    KEPT = 14
    """When the program ended, its own memory still pointed at the resource ``address`` of
    ``family``: a global, a static, a thread-local, or what these lead to."""


class Violation(enum.IntEnum):
    """A misuse that the ledger saw."""

    DOUBLE_FREE = 1
    USE_AFTER_FREE = 2
    OUT_OF_BOUNDS = 3
    INVALID_POINTER = 4
    """A pointer into the middle of an allocation, or to what was never allocated."""
    WRONG_DEALLOCATOR = 5
    LAUNCH_REFUSED = 6
    COPY_DIRECTION = 7
    HOST_DEREFERENCE = 8
    """The host read or wrote device memory; the program dies of it."""
    FILL_VALUE = 9
    """``cudaMemset`` with a value that does not fit a byte."""
    MISSING_SHARED = 10
    """A kernel uses dynamic shared memory, and the launch gives none."""
    INVALID_HANDLE = 11
    """A stream, event, ... that was destroyed, or never was one."""
    STREAM_ORDER = 12
    """Memory of the stream-ordered allocator is used or released on a stream that nothing makes
    wait for its allocation, or for what still uses it."""
    UNSYNCHRONIZED_READ = 13
    """The host reads (or writes) pinned memory that an asynchronous copy may still fill."""

    @property
    def label(self) -> str:
        """In words: ``double free``."""
        return self.name.lower().replace("_", " ")


class CopyDirection(enum.IntEnum):
    """As ``cudaMemcpyKind``."""

    HOST_TO_HOST = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    DEFAULT = 4


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One call on a stack. Fresh from a trace, only ``module`` and ``offset`` are known;
    ``frames.Resolver`` adds the rest. Python frames have no module."""

    module: str = ""
    """The path of the executable or library."""
    offset: int = 0
    """Of the return address, from where the module is loaded."""
    function: str = ""
    filename: str = ""
    line: int = 0
    inlined: bool = False
    """Whether the compiler put this call into the next frame's code."""


class Launch(msgspec.Struct, frozen=True, gc=False):
    """The configuration of a launch."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    static_shared: int
    """-1 where it is not known (a kernel built without PTX)."""
    dynamic_shared: int


class Event(msgspec.Struct, frozen=True):
    """One event. ``stack`` begins with the innermost frame outside of CUDA and the ledger."""

    kind: EventKind
    sequence: int
    """Counts the events of a process, from 1."""
    time: int = 0
    thread: int = 0
    """Counts the threads of a process, from 0 in the order in which they were first seen."""
    api: str = ""
    family: str = ""
    address: int = 0
    bytes: int = 0
    source: int = 0
    stream: int = 0
    status: int = 0
    """As ``cudaError_t``; 0 is success."""
    call: int = 0
    """Counts the fallible calls of a process, from 1, which is how a fault names them; 0 for what
    is no fallible call."""
    device: int = 0
    detail: int = 0
    text: str = ""
    injected: bool = False
    """Whether the failure is a fault that we asked for."""
    asynchronous: bool = False
    order_assumed: bool = False
    """Whether more is taken to be in stream order by this call than CUDA promises; of a NOTE, which
    is told once, by any call of its kind (simulated device only)."""
    stack: tuple[Frame, ...] = ()
    launch: Launch | None = None

    @property
    def value(self) -> int:
        """The value of a FILL."""
        return self.source

    @property
    def violation(self) -> Violation | None:
        """Which misuse a VIOLATION is."""
        return Violation(self.detail) if self.kind is EventKind.VIOLATION else None

    @property
    def identity(self) -> tuple[int, str]:
        """The number and the function of its call: each process numbers its own, and a fault names
        both."""
        return self.call, self.api
