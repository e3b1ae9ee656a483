"""Resources: how they are lost, released wrongly, or outlived by their pointers."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from cudalint.apis.model import Family
from cudalint.findings.finding import Step
from cudalint.findings.repair import Held
from cudalint.program import Record
from cudalint.source import Span

_VERSION = re.compile(r"(?<=\w)_v\d$")
"""What a macro of the driver's header adds to a name."""


def readable(api: str) -> str:
    """An API's name as people say it: ``cudaMalloc`` for ``cuda.bindings.runtime.cudaMalloc``,
    ``runtime.malloc`` for ``cupy.cuda.runtime.malloc``, ``new[]`` for its operator;
    ``cuMemAlloc`` for ``cuMemAlloc_v2``; ``cupy.random.rand`` stays."""
    modules = _VERSION.sub("", api.removeprefix("operator ")).split(".")
    name = modules.pop()
    if modules and any(letter.isupper() for letter in name) and modules[0].islower():
        return name
    return ".".join((*modules[-1:], name) if len(modules) > 2 else (*modules, name))


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
    release: str | None = None
    """The project's function that releases what its wrapper acquires, where there is one."""
    part: str = ""
    """The field of what is named that releases it: ``.ptr`` of a ``cudaPitchedPtr``."""

    @property
    def is_handle(self) -> bool:
        """Whether it is a handle (stream, context, library handle) rather than memory."""
        return self.info.kind == "handle"

    @property
    def released_by(self) -> str | None:
        """The function to call, as messages name it."""
        usual = self.info.releases[0] if self.info.releases else None
        name = self.release or usual
        return readable(name) if name else None

    def __str__(self) -> str:
        api = readable(self.through or self.api)
        return f"`{self.name}` ({api})" if is_shown(self.name) else f"the result of {api}"


class Exit(enum.Enum):
    """How control leaves the resource behind."""

    END = "end"
    """The normal end: the closing brace, or the last return on the success path."""
    RETURN = "return"
    """A return under a condition, or on the failure branch of a call."""
    SCOPE = "scope"
    """The block of the only variable that holds it ends."""
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
    sticky: bool = False
    """What failed was an error of the device, after which nothing can be released any more."""
    overwritten_by: str = ""
    """Of OVERWRITE: ``acquire``, ``null``, ``value``, or ``run``: the function runs again."""
    early: bool = False
    """Of OVERWRITE: the iteration was left early (``continue``), past a release that others reach:
    an early exit in truth."""
    lent: tuple[Site, ...] = ()
    """Callees out of sight that were given the resource on the way: they may own it."""
    held: Held = "sometimes"
    """What a release right before it would meet."""


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
    put_off: bool = False
    """A function that is kept for later releases it, or gets past that."""
    inside: tuple[str, Span] | None = None
    """Where the function that is called acquires it."""
    followed: bool = True
    """Whether paths have shown it, and that they are taken, not the text of functions alone."""

    @property
    def ended_otherwise(self) -> bool:
        """Whether other paths release it, or pass it on."""
        return bool(self.released or self.handed_over)

    def exits_of(self, *kinds: Exit) -> tuple[LeakExit, ...]:
        """The exits of some kinds."""
        return tuple(leave for leave in self.exits if leave.kind in kinds)


class MisuseKind(enum.Enum):
    """What is wrong with a release or a use."""

    DOUBLE_FREE = "double-free"
    LEFT = "left"
    """A release of a member that keeps the pointer, which the destructor releases again."""
    USE_AFTER_FREE = "use-after-free"
    MISMATCH = "mismatch"
    INTERIOR = "interior"
    OFFSET = "offset"
    """As INTERIOR, by an offset that may be 0 for all that is known."""
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
    released: Site | None = None
    """Of DOUBLE_FREE and USE_AFTER_FREE: the earlier release; of MISMATCH: a later one that
    fits."""
    filename: str = ""
    """Where ``span`` is, if not in the function's file (a destructor that runs at its end)."""
    at_end: Site | None = None
    """Where an object ends (named by ``text``) whose destructor makes the second release, or the
    use."""
    by_global: bool = False
    """Of USE_AFTER_FREE: a function that is called uses it, which finds it in a global variable and
    may have put another there first."""
    asks_callers: bool = False
    """The path takes several branches for what the caller passes, and none because a call failed:
    no caller may pass that."""
    certain: bool = False
    """Whether the code can do nothing else: every path that comes to the release or the use does
    it to what is released, or does not fit, already; or control comes there from the earlier
    release whatever it asks in between."""


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
    """What is still owned when it runs, and nothing releases afterwards."""
    late: tuple[tuple[Resource, Site], ...] = ()
    """What is still owned, and where it is released afterwards, when it is gone."""
    first: bool = False
    """No CUDA work precedes it in the function: the idiom that creates the context."""


@dataclass(frozen=True)
class OwnerCopy:
    """A copy of an object of a class whose destructor releases a member."""

    record: Record
    members: tuple[str, ...]
    span: Span
    what: str
    """``copy construction``, ``copy assignment``, ``passing by value``. Empty where none is in
    sight, but the class, of a header, lets its users make one: ``span`` is the class then."""
    destructor: Site | None = None


@dataclass(frozen=True)
class OverwrittenMember:
    """An assignment overwrites a member while the object still owns what it holds."""

    record: Record
    member: str
    span: Span
    destructor: Site


@dataclass(frozen=True)
class DanglingPointer:
    """A raw device pointer that outlives its array (Python)."""

    name: str
    array_text: str
    span: Span
    api: str
