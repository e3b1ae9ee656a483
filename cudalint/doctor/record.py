"""What is known of a machine and of a failure: frozen, written and read as JSON.

Everywhere ``None`` is *not known*, which is told apart from nothing: 0 or an empty tuple."""

from __future__ import annotations

from typing import Literal

import msgspec

RECORD_VERSION = 1


class Holder(msgspec.Struct, frozen=True):
    """A process that holds memory of a device."""

    pid: int
    name: str = ""
    user: str = ""
    bytes: int | None = None
    """``None`` where the driver does not tell (WSL, MIG without rights, a container)."""
    alive: bool | None = None
    """``None``: it is not in this PID namespace."""
    job: str = ""
    """Of Slurm."""
    container: str = ""
    ours: bool = False
    """Whether it is cudalint's, or what cudalint started."""


class Slice(msgspec.Struct, frozen=True):
    """A MIG instance."""

    uuid: str
    profile: str = ""
    total: int = 0
    free: int = 0


class Pool(msgspec.Struct, frozen=True):
    """The default memory pool of a device, as a fresh process sees it."""

    reserved: int
    used: int
    threshold: int


class Measured(msgspec.Struct, frozen=True):
    """What a child process saw of a device that CUDA shows it."""

    ordinal: int
    uuid: str = ""
    name: str = ""
    total: int = 0
    free: int = 0
    """With the context of the child."""
    largest: int | None = None
    """The largest block that it could have."""
    context: int | None = None
    """What its context took."""
    pool: Pool | None = None
    error: str = ""
    """Why nothing could be measured: ``CUDA_ERROR_OUT_OF_MEMORY`` of the context itself."""


class Health(msgspec.Struct, frozen=True):
    """What memory errors have cost."""

    ecc: bool | None = None
    corrected: int = 0
    uncorrected: int = 0
    remapped: int = 0
    """Rows that spare ones stand in for."""
    pending: bool = False
    """Whether a reset is needed before a remapping holds."""
    failed: bool = False
    """Whether a remapping failed: no spare row was left."""


class Gpu(msgspec.Struct, frozen=True):
    """A device of the machine, as the driver tells it."""

    index: int
    uuid: str = ""
    name: str = ""
    total: int = 0
    used: int = 0
    """By processes and their contexts."""
    free: int = 0
    reserved: int | None = None
    """By the driver itself."""
    compute_mode: Literal["default", "exclusive", "prohibited", "unknown"] = "unknown"
    mig: bool = False
    slices: tuple[Slice, ...] = ()
    holders: tuple[Holder, ...] = ()
    health: Health = Health()


class Host(msgspec.Struct, frozen=True):
    """The host's memory and its limits."""

    total: int | None = None
    available: int | None = None
    locked: int | None = None
    """``ulimit -l`` in bytes; ``None`` is unlimited or not known."""
    address_space: int | None = None
    data: int | None = None
    cgroup_limit: int | None = None
    cgroup_used: int | None = None
    shared: int | None = None
    """``/dev/shm``: its size, and how much of it is taken."""
    shared_used: int | None = None


class Grant(msgspec.Struct, frozen=True):
    """What this process may use of what there is."""

    visible: str | None = None
    """``CUDA_VISIBLE_DEVICES``; ``None`` where it is not set."""
    job: str = ""
    slurm: str = ""
    """The devices that Slurm granted: ``SLURM_JOB_GPUS`` or ``SLURM_STEP_GPUS``."""
    wrong: tuple[str, ...] = ()
    """Entries of ``CUDA_VISIBLE_DEVICES`` that name no device."""
    hidden: tuple[str, ...] = ()
    """Devices that exist but come after a wrong entry, or are not named."""
    nodes: tuple[str, ...] = ()
    """``/dev/nvidia*``."""
    denied: tuple[str, ...] = ()
    """Of these, those that cannot be opened."""


class Setting(msgspec.Struct, frozen=True):
    """A variable of the environment that decides about memory."""

    name: str
    value: str
    problem: str = ""
    """What is wrong with it; empty where nothing is."""
    meaning: str = ""
    advice: str = ""


class Missing(msgspec.Struct, frozen=True):
    """What is missing to ask a device, and what to do about it."""

    what: str
    why: str
    next: str


class Machine(msgspec.Struct, frozen=True):
    """A machine at one moment."""

    driver: str = ""
    cuda: str = ""
    gpus: tuple[Gpu, ...] = ()
    measured: tuple[Measured, ...] = ()
    host: Host = Host()
    grant: Grant = Grant()
    settings: tuple[Setting, ...] = ()
    missing: tuple[Missing, ...] = ()
    container: str = ""
    """What this process runs in itself: ``docker``, ``kubernetes``, ``WSL``."""


class Site(msgspec.Struct, frozen=True):
    """What lives, by where it was allocated."""

    place: str
    """``file:line (function)``, or the library that allocated it."""
    bytes: int
    count: int = 1
    api: str = ""
    stack: tuple[str, ...] = ()
    library: str = ""
    """The library that allocated it of its own accord; empty where it was the program's line."""
    owner: Literal["pointer", "object"] = "pointer"
    """Whether an object of Python holds each block, so that it cannot be lost."""
    growth: int = 0
    """How many times it grew in a row without a release; 0 where it did not keep growing."""
    released_later: bool | None = None
    """Whether the program released it after the failure; ``None`` where it did not live on."""
    graph: bool = False
    """Whether it was allocated in a model's forward pass: what autograd saves."""


class Failure(msgspec.Struct, frozen=True):
    """One out of memory, as far as its source tells."""

    source: Literal["command", "text", "snapshot"]
    memory: Literal["device", "pinned", "host", "unknown"] = "device"
    call: str = ""
    """The call that failed, or the exception."""
    framework: str = ""
    device: int | None = None
    device_name: str = ""
    asked: int | None = None
    total: int | None = None
    product: int | None = None
    """Memory of the whole product, where ``total`` is a part of it."""
    free: int | None = None
    largest: int | None = None
    live: int | None = None
    """What the program itself held."""
    cached: int | None = None
    """What its allocators held without use."""
    process: int | None = None
    """What the process held in all."""
    others: int | None = None
    limit: int | None = None
    """A limit of the framework itself."""
    sites: tuple[Site, ...] = ()
    """The most bytes first."""
    between: tuple[Site, ...] = ()
    """Who lies between the free ranges."""
    holes: int | None = None
    """How many free ranges there are between blocks."""
    room: tuple[Site, ...] = ()
    """The smallest set of what lives whose release would have made room."""
    stack: tuple[str, ...] = ()
    peak: int | None = None
    growth: int | None = None
    """Bytes that a trace ended with above those it began with."""
    pid: int | None = None
    signs: tuple[str, ...] = ()
    """What the text says besides numbers: ``killed``, ``slurm``, ``nccl``, ``library``, ..."""
    notes: tuple[str, ...] = ()


class Case(msgspec.Struct, frozen=True):
    """All that is known: what a report explains, and what ``--record`` writes."""

    version: int = RECORD_VERSION
    machine: Machine | None = None
    failure: Failure | None = None
    command: tuple[str, ...] = ()


class RecordError(ValueError):
    """A file that is no record."""


def encode(case: Case) -> bytes:
    """As JSON."""
    return msgspec.json.format(msgspec.json.encode(case), indent=2) + b"\n"


def decode(data: bytes) -> Case:
    """From JSON; ``RecordError`` says what is wrong with it."""
    try:
        case = msgspec.json.decode(data, type=Case)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise RecordError(f"no record of `doctor --record`: {error}") from None
    if case.version != RECORD_VERSION:
        raise RecordError(f"a record of version {case.version}; this reads {RECORD_VERSION}")
    return case
