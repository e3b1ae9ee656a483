"""Facts: what the analysis tells the rules. Rules query these and nothing else.

All sizes are bytes; ``None`` means unknown. Facts are frozen and hold no engine state.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from cudalint.apis.model import Family
from cudalint.findings.finding import Step
from cudalint.findings.suppressions import UnusedSuppression
from cudalint.program import Dropped, Kernel, Record
from cudalint.source import Span


def readable(api: str) -> str:
    """An API's name as people say it: ``cudaMalloc`` for ``cuda.bindings.runtime.cudaMalloc``,
    ``runtime.malloc`` for ``cupy.cuda.runtime.malloc``; ``cupy.random.rand`` stays."""
    modules = api.split(".")
    name = modules.pop()
    if modules and any(letter.isupper() for letter in name) and modules[0].islower():
        return name
    return api if len(modules) < 3 else f"{modules[-1]}.{name}"


def is_shown(name: str) -> bool:
    """Whether a name stands in the code: not that of a temporary (``%1``), not empty."""
    return bool(name) and "%" not in name


@dataclass(frozen=True)
class Site:
    """A place in the code where something happens: a release, a check, a sibling's release."""

    filename: str
    span: Span
    text: str
    """The API (``cudaFree``) or what the code does there."""


@dataclass(frozen=True)
class Resource:
    """One allocation site's resource, as messages name it."""

    name: str
    """The variable or place that holds it (``d_in``, ``state->d_weights``, ``streams[...]``)."""
    api: str
    """The call that acquired it (``cudaMalloc``)."""
    family: str
    info: Family
    filename: str
    span: Span
    bytes: int | None = None
    through: str | None = None
    """The project's wrapper through which it was acquired, if the API call is not in sight."""
    in_loop: bool = False

    @property
    def is_handle(self) -> bool:
        """Whether it is a handle (stream, context, library handle) rather than memory."""
        return self.info.kind == "handle"

    def __str__(self) -> str:
        api = readable(self.through or self.api)
        return f"`{self.name}` ({api})" if is_shown(self.name) else f"the result of {api}"


class Exit(enum.Enum):
    """How control leaves the resource behind."""

    END = "end"
    """The normal end: the closing brace, or the last return on the success path."""
    RETURN = "return"
    """A return under a condition, or on the failure branch of a call."""
    THROW = "throw"
    """An exception leaves the function."""
    OVERWRITE = "overwrite"
    """The only pointer to it is overwritten."""


@dataclass(frozen=True)
class LeakExit:
    """One way on which a resource is lost."""

    kind: Exit
    span: Span
    reason: str
    """A clause for messages: ``cudaMemcpy fails (line 31)``, ``n == 0``, ``the function ends``."""
    steps: tuple[Step, ...]
    """From the acquisition to the exit."""
    explicit: bool = True
    """Of THROW: a ``throw``/``raise`` in sight, not merely a call that may raise."""
    on_failure: bool = False
    """The path took the failure branch of some call."""
    overwritten_by: str = ""
    """Of OVERWRITE: ``acquire``, ``null`` or ``value``."""
    early: bool = False
    """Of OVERWRITE: the iteration was left early (``continue``), past a release that others reach:
    an early exit in truth."""


@dataclass(frozen=True)
class Leak:
    """A resource that some way out of its function leaves behind, with all such ways."""

    resource: Resource
    exits: tuple[LeakExit, ...]
    released: tuple[Site, ...] = ()
    """Where other paths of the function release it."""
    siblings: tuple[Site, ...] = ()
    """Releases of other resources of the same family that this one misses; ``text`` names the
    variable."""
    place_released: bool = False
    """The variable that held it is released later (with another value in it)."""
    handed_over: tuple[Site, ...] = ()
    """Where other paths of the function pass its ownership on (return it, store it in an owner)."""

    def exits_of(self, *kinds: Exit) -> tuple[LeakExit, ...]:
        """The exits of some kinds."""
        return tuple(leave for leave in self.exits if leave.kind in kinds)


class MisuseKind(enum.Enum):
    """What is wrong with a release or a use."""

    DOUBLE_FREE = "double-free"
    USE_AFTER_FREE = "use-after-free"
    MISMATCH = "mismatch"
    INTERIOR = "interior"
    STACK = "stack"
    UNINITIALIZED = "uninitialized"


@dataclass(frozen=True)
class Misuse:
    """A release or use that the resource's state forbids."""

    kind: MisuseKind
    name: str
    """The variable passed."""
    api: str
    """The function that it is passed to."""
    span: Span
    steps: tuple[Step, ...]
    resource: Resource | None = None
    fitting: tuple[str, ...] = ()
    """Of MISMATCH: functions that would fit."""
    released: Site | None = None
    """Of DOUBLE_FREE and USE_AFTER_FREE: the earlier release."""
    filename: str = ""
    """Where ``span`` is, if not in the function's file (a destructor that runs at its end)."""


@dataclass(frozen=True)
class Allocation:
    """One acquisition call, reached on some path."""

    resource: Resource
    bytes: int | None
    bytes_text: str
    checked: bool
    """Its status is looked at on some path, or cannot be (it throws)."""
    span: Span
    overflow: Overflow | None = None
    element_count: bool = False
    """The size argument is a bare element count (no sizeof), while the pointee is larger than 1."""
    steps: tuple[Step, ...] = ()
    """Where the size comes from (calls with constant arguments)."""


@dataclass(frozen=True)
class Overflow:
    """A size computed in an integer type that cannot hold it."""

    text: str
    value: int
    """The mathematical value."""
    type: str
    span: Span | None = None
    """Where it is computed, if not in the call that uses it."""


@dataclass(frozen=True)
class Endpoint:
    """One side of a copy."""

    name: str
    space: str | None
    """host, pinned, device, managed, array; ``None`` unknown."""
    bytes: int | None
    """Bytes from the pointer to the end of its allocation."""
    bytes_text: str = ""
    element_bytes: int | None = None
    allocation: Site | None = None
    size_ratio: int | None = None
    """Where sizes are symbolic: the allocation's size divided by the copy's, if an exact integer
    (``n * sizeof(float)`` over ``n`` is 4)."""
    overrun_ratio: int | None = None
    """The other way round: the copy's size divided by the allocation's (``n`` allocated,
    ``n * sizeof(float)`` copied: 4)."""


@dataclass(frozen=True)
class Transfer:
    """A copy, a fill (``to`` only) or an implicit host-to-device copy."""

    api: str
    span: Span
    to: Endpoint
    source: Endpoint | None
    bytes: int | None
    bytes_text: str
    direction: str | None
    """``host-to-device``...; ``None`` unknown, ``default`` where the runtime infers it."""
    asynchronous: bool = False
    whole_data_set: bool = False
    in_loop: bool = False
    overflow: Overflow | None = None
    steps: tuple[Step, ...] = ()
    """Where the size comes from (calls with constant arguments)."""
    element_count: bool | None = None
    """The size argument is a bare element count, with no element size in it; ``None``: unknown."""


@dataclass(frozen=True)
class Fill:
    """A memset: ``value`` is the constant passed (a float where the code passes one)."""

    api: str
    span: Span
    to: Endpoint
    value: int | float | None
    value_text: str
    bytes: int | None
    element_bytes: int
    bytes_text: str = ""
    element_count: bool | None = None
    """As ``Transfer.element_count``."""


@dataclass(frozen=True)
class LaunchSite:
    """A kernel launch with what is known of its configuration."""

    kernel_name: str
    span: Span
    grid: tuple[int | None, int | None, int | None]
    block: tuple[int | None, int | None, int | None]
    shared_bytes: int | None
    """Dynamic shared memory; ``None`` unknown, 0 when not given."""
    shared_text: str = ""
    kernel: Kernel | None = None
    opted_in: int | None = None
    """Bytes of a ``cudaFuncSetAttribute`` for this kernel anywhere in the run; -1: unknown amount,
    or the kernel of either side cannot be told; ``None``: there is none."""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Cleanup:
    """A call that looks like clean-up: a release of null, or a device reset."""

    api: str
    span: Span
    null_release: bool
    """``cudaFree(nullptr)``."""
    last: bool
    """No CUDA work follows on any path, other than resets."""
    owned: tuple[Resource, ...] = ()
    """What is still owned when it runs."""
    first: bool = False
    """No CUDA work precedes it in the function: the idiom that creates the context."""


@dataclass(frozen=True)
class OwnerCopy:
    """A copy of an object of a class whose destructor releases a member."""

    record: Record
    members: tuple[str, ...]
    span: Span
    what: str
    """``copy construction``, ``copy assignment``, ``passing by value``."""
    destructor: Site | None = None


@dataclass(frozen=True)
class DanglingPointer:
    """A raw device pointer that outlives its array (Python)."""

    name: str
    array_text: str
    span: Span
    api: str


@dataclass(frozen=True)
class FunctionFacts:
    """Everything the analysis learned of one function."""

    function: str
    filename: str
    span: Span
    is_main: bool = False
    language: str = "cuda"
    leaks: tuple[Leak, ...] = ()
    misuses: tuple[Misuse, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    fills: tuple[Fill, ...] = ()
    launches: tuple[LaunchSite, ...] = ()
    cleanups: tuple[Cleanup, ...] = ()
    copies: tuple[OwnerCopy, ...] = ()
    dangling: tuple[DanglingPointer, ...] = ()


@dataclass(frozen=True)
class MemberAcquisition:
    """A class acquires a resource into one of its members."""

    member: str
    resource: Resource
    method: str
    method_kind: str
    """constructor, method, destructor, or function (C-style init)."""


@dataclass(frozen=True)
class ClassFacts:
    """What the methods of a class (or the functions on a struct) do with its members."""

    record: Record
    filename: str
    acquired: tuple[MemberAcquisition, ...]
    released_by_destructor: dict[str, Site]
    """Member to the release, for the destructor, ``__exit__``, ``__del__``, ``close`` and what
    they call."""
    released_elsewhere: dict[str, Site]
    """Member to the release in any other function of the run."""
    destructor: Site | None
    """The destructor or closing method, if it has one with a body in the run."""
    overwritten: tuple[MemberAcquisition, ...] = ()
    """Re-acquired without a release of the earlier value."""
    escaping: frozenset[str] = frozenset()
    """Members whose value leaves the class (returned, handed to an owner): silence."""
    sometimes: dict[str, Site] = field(default_factory=dict)
    """Member to its release, where the destructor may get past it for a reason that has nothing to
    do with the object (a call of something unrelated decides)."""
    unseen_destructor: bool = False
    """It is declared but its body is not in the run: silence."""
    replaced: frozenset[str] = frozenset()
    """Members whose releases in ``released_elsewhere`` all stand in a function that acquires them:
    they make room for a new value (``resize``) or undo a failed start, and end no lifetime."""


@dataclass(frozen=True)
class FileFacts:
    """One file: its kernels and what could not be read."""

    filename: str
    language: str
    kernels: tuple[Kernel, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    functions_read: int = 0
    unused_suppressions: tuple[UnusedSuppression, ...] = ()
    """Filled by the linter when the findings of all other rules are known."""
