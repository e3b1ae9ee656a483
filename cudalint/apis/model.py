"""The format of API models: what one function acquires, releases, copies, returns.

A model file is TOML: a ``language`` key, ``[families.NAME]`` tables and one table per function,
named as ``Call.name`` is (``cudaMalloc``, ``"cupy.cuda.runtime.malloc"``, ``".close"`` for a method
of any object of a family, see ``receiver``). Users write the same format for their own wrappers
(``[tool.cudalint] models = [...]``).

*Paths* say where a value stands: ``arg0`` (positional), ``*arg0`` (what argument 0 points to),
``return``, ``return[1]``, ``this`` (the receiver), or a name from ``parameters`` (``size``,
``*size``). *Amounts* are arithmetic over paths that hold values: ``"arg1 * arg2"``,
``"product(shape) * itemsize(dtype)"``, ``"nbytes(arg0)"``, ``"arg1 * template_bytes"``.
``cudalint.apis.paths`` has their grammar, ``cudalint.apis.loader`` a file's reserved keys.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Space = Literal["host", "pinned", "device", "managed", "array"]
Direction = Literal[
    "host-to-device", "device-to-host", "device-to-device", "host-to-host", "default"
]

Integer = Literal[
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "unbounded"
]


class Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A kind of resource: what it is called, and whose functions release it."""

    kind: Literal["memory", "handle"]
    noun: str
    """``device memory``, ``CUDA stream``, ``cuBLAS handle``."""
    releases: tuple[str, ...] = ()
    """Functions that release it, the usual one first; for messages."""
    space: Space | None = None
    """Where the memory lives; ``None`` for handles."""
    reset: bool = False
    """``cudaDeviceReset`` releases it too."""
    attached: bool = False
    """It belongs to memory that was there before (registered host memory)."""
    indirect: bool = False
    """What releases it takes its address, or more than it: no fix writes that call."""
    small: bool = False
    """A handle that holds next to no device memory: one a process is no loss."""
    light: bool = False
    """A handle of some hundred bytes: a few of them are no loss."""
    number: bool = False
    """A handle that is a number to C, and no pointer."""
    managed: bool = False
    """Reference-counted or collected (CuPy, PyTorch, PyCUDA arrays): no release is owed."""
    holds: bool = False
    """What is acquired after it ends with it: it is a context that is destroyed."""
    current: bool = False
    """A context: the thread's own from then on, and what is acquired next lives in it."""


class Acquisition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A resource that a call acquires."""

    family: str
    handle: str
    """Path of the pointer or handle."""
    bytes: str | None = None
    """Amount of memory."""
    at_least: bool = False
    """``bytes`` is a lower bound (pitched and array allocations)."""
    status: str | None = None
    """Path of the status value; on another value than ``success`` nothing was acquired."""
    null_on_failure: bool = False
    """The handle is null when it fails (``malloc``)."""
    of: str | None = None
    """Path of what an earlier call may have ``provided`` it for: then nothing is acquired."""
    managed: bool = False
    """As ``Family.managed``, for one function."""
    pinned: bool = False


class Provision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A resource that the caller gives, and that a later call hands back where it would acquire one
    (``cudaStreamBeginCaptureToGraph``)."""

    family: str
    handle: str
    of: str
    """Path of what both calls are about."""


class ReleaseEffect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A resource that a call releases."""

    handle: str
    families: tuple[str, ...] = ()
    """Families that it fits; releasing another one is GPU203."""
    null: Literal["ignored", "error"] = "ignored"
    idempotent: bool = False
    """Releasing twice does no harm (``close`` of a Python object)."""


class CopyInParts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a copy that makes what it copies to is made in parts (the fix of GPU401). In both,
    ``{from}`` is what is copied, ``{module}`` what stands before the function's name."""

    new: str
    """The whole, not filled yet; ``{device}`` is the only argument."""
    fill: str
    """A part of it filled: ``{to}`` of it with ``{part}`` of what is copied, which ``{call}``
    copies."""
    device: str = ""
    """The device where the call names none."""


class CopyEffect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Bytes that a call copies."""

    to: str
    source: str = msgspec.field(name="from")
    bytes: str | None = None
    direction: str = "default"
    """A ``Direction``, or a path of a ``cudaMemcpyKind`` argument, with what it is when the caller
    leaves it out after ``|``: ``arg4|host-to-device``."""
    stream: str | None = None
    asynchronous: bool = False
    asynchronous_when: str | None = None
    """The argument that makes it asynchronous where it is given and true (``non_blocking``,
    ``stream``); after ``not``, where it is given and false (``not blocking``)."""
    into: str | None = None
    """The argument that is the target instead of ``to`` where it is given (``out``)."""
    rows: str | None = None
    """2D copies: number of rows (``bytes`` is then the width of one)."""
    symbol: Literal["to", "from", ""] = ""
    """The side that is a variable of the device itself, by its name."""
    offset: str | None = None
    """From where in that variable, in bytes."""
    whole_data_set: bool = False
    """The argument is typically a whole data set of unknown size (``cudf.DataFrame(df)``)."""
    numbers: tuple[str, ...] = ()
    """Paths of addresses that C code passes as numbers (``CUdeviceptr``)."""
    in_parts: CopyInParts | None = None


class SetEffect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Memory that a call fills."""

    to: str
    value: str
    bytes: str | None = None
    element_bytes: int = 1


class ReturnValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The array that a call returns (Python libraries)."""

    space: Literal["host", "device", "pinned", "same", "unknown"] = "unknown"
    """``same``: where the first array among receiver and arguments lives. A parameter
    ``device=`` given as "cuda..." overrides (PyTorch)."""
    shape: str | None = None
    """A parameter name or path (an int or a tuple), ``args`` (all positional arguments), or
    ``like PATH``."""
    dtype: str | None = None
    """A parameter name or path, with a default after ``|``: ``dtype|float64``; or ``like PATH``."""
    temporary_bytes: str | None = None
    """Memory that the call needs only while it runs, beside its result."""
    second: str | None = None
    """Element type of a second array of the same shape, which is returned in a tuple with the first
    (the indices of a sort)."""
    second_if: str | None = None
    """Path of the argument without which there is no second array."""
    workspace: str | None = None
    """What the first call allocates to keep: its name, a colon and its bytes."""
    in_place: str | None = None
    """Path of the array that the call changes and returns."""
    view_of: str | None = None
    """Path of the array whose memory it shares: the result keeps it alive."""
    may_alias: str | None = None
    """Path of the array that may itself be the result (``asarray`` of a device array): as
    ``view_of``, unless it is known to be something else."""


class LaunchEffect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A launch by function call (``cudaLaunchKernel``, ``cuLaunchKernel``)."""

    kernel: str
    grid: tuple[str, ...]
    """One path of a ``dim3``, or three paths of numbers."""
    block: tuple[str, ...]
    shared: str | None = None
    stream: str | None = None


class KernelLookup(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Gives the kernel of a name (``cuModuleGetFunction``)."""

    handle: str
    name: str
    module: str | None = None
    """What the kernel is in, and has to stay loaded as long as it is used."""


class OptIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Raises a kernel's dynamic shared memory limit (``cudaFuncSetAttribute``)."""

    kernel: str
    value: str
    attribute: str | None = None
    only: tuple[str, ...] = ()
    """Spellings of ``attribute`` for which it applies."""


class PoolThreshold(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Sets how much memory a pool keeps (``cudaMemPoolSetAttribute``)."""

    attribute: str
    value: str
    only: tuple[str, ...]
    """Spellings of ``attribute`` for which it applies."""


class StreamOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a call stands in the order of streams and events."""

    stream: str | None = None
    """The stream that its work is put on, or that it waits for; the default stream where the call
    leaves it out. Copies and launches say it themselves."""
    uses: tuple[str, ...] = ()
    """Memory that its work reads or writes."""
    records: str | None = None
    """The event that stands for all work of the stream so far."""
    waits: str | None = None
    """The event that the stream waits for, or the host where the call ``synchronizes``."""
    flags: str | None = None
    """Of a call that makes a stream: its flags. Where bit 0 is set, the stream does not wait for
    the default stream."""


class EmbeddedSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """CUDA C++ source text that a call compiles (Python libraries)."""

    source: tuple[str, ...]
    """Paths of the texts; an argument may be a list of them."""
    kernel: str | None = None
    """Path of the name of the kernel that the call returns; without it, it returns a module."""
    kernels: tuple[str, ...] = ()
    """Methods of that module which return the kernel that their first argument names."""
    modules: tuple[str, ...] = ()
    """Methods of what the call returns (a program) which return the module."""
    options: str | None = None
    """Path of the compiler's options, for the macros that they define."""
    host: bool = False
    """The text holds host code too, and is compiled as a whole (``load_inline``)."""


class Adoption(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An object that owns what a pointer points to, and calls a function to end it."""

    pointer: str
    """Path of the pointer; a call without it leaves the object empty."""
    deleter: str | None = None
    """Path of the function, where it is given by value."""
    argument: int | None = None
    """Which template argument of the object's class is the class of the function."""
    standard: str = ""
    """The class that stands for ``default``."""
    default: str = ""
    """The function that ends it where no other is named."""
    null: bool = False
    """A function that is given by value is called for a null pointer too."""


class ApiFunction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one API function does."""

    parameters: tuple[str, ...] = ()
    """Names of the parameters in order, for keywords and for paths by name."""
    receiver: str | None = None
    """For ``.method`` entries: the family (or ``array``) that the receiver must hold."""
    acquires: tuple[Acquisition, ...] = ()
    provides: Provision | None = None
    releases: tuple[ReleaseEffect, ...] = ()
    copies: CopyEffect | None = None
    sets: SetEffect | None = None
    returns: ReturnValue | None = None
    launches: LaunchEffect | None = None
    opts_in: OptIn | None = None
    finds_kernel: KernelLookup | None = None
    status: str | None = None
    """Path of the status value, for calls that acquire nothing too."""
    success: int | bool = 0
    """The status that means success."""
    reads_last_error: bool = False
    """Looks at the status of earlier calls (``cudaGetLastError``)."""
    takes: tuple[str, ...] = ()
    """Paths whose ownership the call takes: escape."""
    destroys: str | None = None
    """The object that this path points to ends: its destructors run first."""
    adopts: Adoption | None = None
    """Its receiver ends what it owned, and owns something else from now on."""
    disowns: bool = False
    """The receiver gives back what it owned: the result points to it."""
    aliases: str | None = None
    """The result is this path's value (an identity: ``std::move``, ``numpy.asarray``)."""
    advances: int = 0
    """The result is the first argument, an iterator, moved by so many times the second, or one
    (``std::next``)."""
    swaps: tuple[str, ...] = ()
    """Two paths whose values it exchanges."""
    assigns: tuple[str, ...] = ()
    """Two paths: afterwards the first has the second's value (``std::exchange``)."""
    fills: tuple[str, ...] = ()
    """Two paths: afterwards all elements behind the first, a pointer, an iterator or a range, have
    the second's value (``std::fill``). Only null is followed."""
    carries: tuple[str, ...] = ()
    """Paths of two pointers: what stands at the first stands at the second too. Without a second it
    goes out of sight, as with ``copies``."""
    inserts: tuple[str, ...] = ()
    """Paths whose values become elements of the receiver, as in ``list.append``. They stand in
    ``takes`` too, for where the receiver is out of sight."""
    unwraps: str | None = None
    """Takes the path's (status, value...) tuple or status, raises or exits on failure, returns the
    values."""
    invokes: str | None = None
    """Calls the function value at this path later, at an unknown time (``atexit.register``)."""
    dangles: str | None = None
    """The result is a raw device pointer into the array at this path, which does not keep it
    alive (``.data_ptr``)."""
    keeps: tuple[str, ...] = ()
    """Paths of arrays that the result keeps alive."""
    host_reads: tuple[str, ...] = ()
    """Paths of memory that the host reads during the call."""
    saves: tuple[str, ...] = ()
    """Paths of the arrays that automatic differentiation keeps for the backward pass."""
    host_writes: tuple[str, ...] = ()
    """Paths of memory that the host writes during the call."""
    synchronizes: bool = False
    """The host waits: for the stream or the event of ``order``, a copy for its stream, else for
    the device."""
    only_sticky: bool = False
    """It fails, if its arguments are right, only by what has gone wrong on the device: after such
    an error the context is of no more use, and nothing in it can be released (CUDA guide, *Error
    Checking*). What copies, sets or launches fails only so as well."""
    asks_about: str | None = None
    """It tells what stands at this path, and uses none of it: what is released may be asked for
    (``cudaPointerGetAttributes``). Where there is memory, it is as with ``only_sticky``."""
    order: StreamOrder | None = None
    selects_device: bool = False
    """Later calls go to another device (``cudaSetDevice``, ``with cupy.cuda.Device(i)``)."""
    tells_device: bool = False
    """Writes the current device through a pointer (``cudaGetDevice``)."""
    serves: bool = False
    """The result hands out what it is given in parts (``TensorDataset``, ``DataLoader``)."""
    serves_along: str | None = None
    """Of a call that cuts (``torch.split``): path of the axis, which is the first unless given."""
    resets: bool = False
    """Destroys the device's context: everything of a ``reset`` family is gone."""
    cleans_up: bool = False
    """A step towards a release (unmapping): as with a release, nothing can be done if it fails."""
    may_throw: bool | None = None
    noreturn: bool = False
    integer: Integer | None = None
    """The result is an integer: of a fixed width (``numpy.int32``), as is then what is computed of
    two of them, or ``unbounded``."""
    embeds: EmbeddedSource | None = None
    elements: bool = False
    """The result is an element of the receiver, a container (``std::vector::back``)."""
    iterates: bool = False
    """The result is an iterator over the receiver: it points to an element of it
    (``std::vector::begin``, ``std::map::find``)."""
    at: str = ""
    """Which element ``inserts``, ``elements``, ``iterates`` and ``removes`` mean: ``first``,
    ``last``, ``end`` (behind the last), or the path of an index or a key; any of them without."""
    entries: bool = False
    """The elements of the receiver are pairs of a key and a value."""
    holds: bool = False
    """Its receiver, a container, holds afterwards what the arguments say: nothing without any, the
    values in braces, or a number of equal ones."""
    removes: Literal["", "first", "last", "all", "some"] = ""
    """What it takes out of the receiver; ``some``: what ``at`` selects."""
    counts: Literal["", "elements", "none"] = ""
    """The result is the number of the receiver's elements, or whether there are none."""
    boxes: str = ""
    """Its receiver holds the first argument, or nothing where that is spelled so
    (``std::nullopt``)."""
    makes_one: bool = False
    """Its arguments are those of a constructor of what it makes: one alone may be copied, of
    several none is."""
    owned_new: str = ""
    """It makes an object of its template's argument with ``new``, and gives it to an owner of this
    class: ``std::make_unique``."""
    literal: bool = False
    """A constructor: a temporary object made of a literal is as good as the literal."""
    unboxes: bool = False
    """The result is what its receiver holds (``std::optional::value``)."""
    table: bool = False
    """The result points to the first element of the receiver (``std::vector::data``)."""
    flushes_cache: bool = False
    """Gives the unused blocks of a caching allocator back to the driver (``empty_cache``)."""
    measures_memory: bool = False
    """Begins a measurement of peak memory: what stood before is no part of it."""
    answer: bool | None = None
    """What it answers wherever it matters (``sys.is_finalizing``)."""
    compares_texts: bool = False
    """The result is 0 where two texts are equal (``strcmp``)."""
    asks_device: bool = False
    """Tells whether there is a device: the same answer each time."""
    builds_model: bool = False
    """Makes or loads a whole model: a loop around it goes over models, not over batches."""
    stream_ordered: bool = False
    """Allocates from, or gives back to, a stream-ordered pool."""
    trims_pool: bool = False
    """Makes a stream-ordered pool give memory back."""
    pool_threshold: PoolThreshold | None = None
    guess: bool = False
    """Set by the loader where only the beginning or the end of the name is known (``cublas*``,
    ``*.checkCudaErrors``): a body in the run says more."""


class TensorEffect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What functions do to tensors and their gradients: one behaviour of several ``names``.

    Names are those of ``Call.name``: dotted (``torch.cat``), a method of any receiver
    (``.detach``; attributes too: ``.data``), or a beginning (``torch.nn.functional.*``; the longest
    one that fits counts). A name that ends in ``=`` is a keyword argument, and says what is called.
    """

    names: tuple[str, ...]
    result: Literal["tensor", "number", "module", "function", "list", "other", ""] = ""
    """``module``: something with weights, whose call's result has a gradient; ``function``: one
    without (a loss, an activation), whose call's result has one if an argument has."""
    gradient: Literal["follows", "detached", "attached", ""] = ""
    """Whether the result has a gradient: as the receiver and arguments have, never, always."""
    device: Literal["follows", "argument", "device", "host", ""] = ""
    """Where the result lives: as receiver and arguments do, or where ``device=`` says."""
    lends: bool = False
    """What a method is given says of which type, shape or device its result is, or which elements
    it takes; gradients come from the receiver alone."""
    scalar: int | None = None
    """With at most so many arguments the result is one number in size."""
    along: tuple[str, ...] = ()
    """Where some are named here, other arguments that are given by name do not count as such."""
    mode: Literal["disabled", "enabled", "argument", ""] = ""
    """A context manager or decorator that switches the recording of gradients."""
    immediate: bool = False
    """It switches when it is called, not only when it is entered."""
    harmless: bool = False
    """A context manager or decorator that leaves gradients as they are."""
    backward: str | None = None
    """Path of the tensor whose gradients it computes."""
    retain: str | None = None
    """The parameter that keeps the graph of ``backward``."""
    create: str | None = None
    """The parameter that records the gradients' own graph."""
    steps: bool = False
    """An optimizer's update of the weights."""
    module: bool = False
    """Its receiver is a module."""
    evaluates: bool = False
    """Puts its receiver in evaluation mode; ``trains`` puts it back."""
    trains: bool = False
    freezes: bool = False
    """Its receiver's weights need no gradient any more (where its argument is false)."""
    calls_module: bool = False
    """It is a call of its receiver (``.forward``)."""
    detaches: bool = False
    """It is there to let go of the graph."""
    detaches_receiver: bool = False
    needs_detached: bool = False
    """It raises where its receiver has a gradient."""
    inserts: str | None = None
    """Path of the value that becomes an element of the receiver."""
    accumulates: bool = False
    """Adds its argument to its receiver, in place."""
    buffers: str | None = None
    """Path of the name of a member that it makes of its receiver, a module, and that no gradient
    is computed of."""
    clears: bool = False
    """Takes elements out of the receiver."""
    bound: str | None = None
    """The parameter that limits the length of the list it makes."""
    concatenates: bool = False
    """Makes one tensor of the tensors in a list."""
    passes: bool = False
    """Its result holds what it is given, as it is (``zip``)."""
    asks: Literal["itself", "class", "member", ""] = ""
    """Whether its first argument is a tensor: it says so itself, or by the class or the member that
    the second one names."""
    element_type: Literal["integer", "floating", ""] = ""
    """What it is the type of: tensors of integers have no gradient."""
    unrecorded: str | None = None
    """The keyword that keeps what is computed of its result from being recorded
    (``Variable(x, volatile=True)``, which counted before PyTorch 0.4)."""
    without_arguments: bool = False
    """Only a call without arguments is meant (``.get`` of an array, not of a dictionary)."""
    packages: tuple[str, ...] = ()
    """Only what is known to be an array is meant, or in a file that names one of these packages
    (``.get`` of CuPy's arrays, not of what a pool of processes has yet to give)."""


HOOK_KINDS = ("differentiated", "collected", "without_gradients", "once", "each_batch")
"""The lists of methods in a ``HookModel``."""


class HookModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Methods that a framework calls for every batch, by the base class that declares them."""

    bases: tuple[str, ...]
    """Names of classes; a beginning ends in ``*``."""
    differentiated: tuple[str, ...] = ()
    """The gradient of what they return is computed."""
    collected: tuple[str, ...] = ()
    """What they return beside that is kept over several batches."""
    without_gradients: tuple[str, ...] = ()
    """Called with the recording of gradients switched off."""
    once: tuple[str, ...] = ()
    """Not called for every batch: at the start or the end of an epoch."""
    each_batch: tuple[str, ...] = ()
    """Called for every batch: what they append to a member is one more each time."""


class TestModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How the functions of a test framework are recognised."""

    names: tuple[str, ...]
    """Patterns of their own names, without what encloses them."""
    language: Literal["cuda", "python"] | None = None
    """The only language that they are written in."""
    method: bool = False
    """They are methods of some class."""
    bases: tuple[str, ...] = ()
    """They are methods of classes that derive from one of these."""
    files: tuple[str, ...] = ()
    """Patterns of the names of the files that they stand in."""


class LifetimeEffect(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What functions do that decides how long device memory is held: one behaviour of several
    ``names`` (those of ``Call.name``; exception classes and decorators by their dotted names)."""

    names: tuple[str, ...]
    waits: str | None = None
    """It waits: the path of the seconds, or ``forever`` where only something outside ends it."""
    unit: float | None = None
    """The names are types of durations, in units of so many seconds."""
    loads: str | None = None
    """It reads tensors from a file, and this parameter (a path) says on which device they land."""
    restores: bool = False
    """It copies the weights that it is given into its receiver."""
    changes: bool = False
    """It changes its receiver, a tensor, by what it is given."""
    values: bool = False
    """The names are attributes through which the values of a tensor are written."""
    gives_state: bool = False
    """It gives what its receiver has learned, to be written to a file."""
    stores: str | None = None
    """It writes the value at this path to a file."""
    path: str | None = None
    """The parameter that says which file is read or written."""
    offloads: str | None = None
    """The parameter that has checkpoints collected on the CPU before they are written."""
    data_sets: bool = False
    """The names are classes of data sets, whose items are asked for one by one."""
    hooks: bool = False
    """It registers a function with its receiver and returns the handle that removes it."""
    hooks_graph: bool = False
    """It registers a function with its receiver, a tensor or a node of the graph."""
    graph_nodes: bool = False
    """The names are attributes that give a tensor's node of the graph."""
    weak: bool = False
    """Its result does not keep alive what it is given."""
    unhooks: bool = False
    """It removes the hook whose handle is its receiver."""
    left_by: tuple[str, ...] = ()
    """Its result does what it was given to do when one of these methods is called
    (``ExitStack``)."""
    out_of_memory: bool = False
    """An exception class that says that the device's memory is exhausted."""
    message: str | None = None
    """An exception class that says so only where its message holds this text."""
    computes: bool = False
    """It runs a model, where its arguments are no constants (``.decode`` is one of texts too)."""
    clears_frames: bool = False
    """It lets go of what the frames of an exception hold."""
    memoizes: str | None = None
    """A decorator that keeps results: the parameter that bounds how many, or ``unbounded``."""
    ends_object: bool = False
    """The language, or its library, ends an object's life by methods of these names."""
    few: bool = False
    """The names are attributes of arrays that have few values in one run."""
    extents: bool = False
    """The names are functions and attributes whose values are extents of arrays."""
    rounds: bool = False
    """It makes a whole number of any number."""
    devices: bool = False
    """The names are functions, classes and attributes whose values are devices."""
    lives_elsewhere: bool = False
    """Its result was there before, and somebody else looks after it."""
    evicts: bool = False
    """It takes elements out of its receiver, a container."""
    serves: tuple[str, ...] = ()
    """The names are classes of services: a function that one of these methods of an object
    decorates is called for each request."""
    generator: Literal["resumed", "context", ""] = ""
    """A decorator of generators: of one that is ``resumed`` whatever the consumer did (a fixture of
    pytest), or is a ``context`` manager, to which what it yields comes back."""
    opaque: bool = False
    """The state of its result is no tensors of a device (a serialized engine), or that of its
    receiver."""
    device_of_its_own: bool = False
    """Called in a process that is one of several, each with a device."""
    tensor_types: bool = False
    """The names are classes of arrays that live, or may live, on a device."""
    modules: bool = False
    """The names are classes that own weights."""
    per_parameter: bool = False
    """The names are classes whose objects keep something for each weight of a model."""
    of_parameters: bool = False
    """The names are attributes in which the weights of a model have something."""
    host: bool = False
    """It knows nothing of tensors, and hands them to nobody who does."""


class KernelModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How Python code makes, launches or prepares kernels: one way of several ``names`` (dotted
    ones; methods and attributes of kernels with a dot in front)."""

    names: tuple[str, ...]
    makes: Literal["decorated", "device", "kernel", "settings", "named", "shared", "local", ""] = ""
    """A decorator of kernels or of device functions, a class of kernels, or one of what a launch is
    configured with; a method which returns the kernel that its first argument names; a declaration
    of an array that is shared by a kernel's block, or local to its thread."""
    dialect: Literal["numba", "triton", "cupy"] = "numba"
    """Of a decorator: how its kernels are launched, and what they declare shared memory with."""
    parameters: tuple[str, ...] = ()
    """Of settings: their parameters, among them ``grid``, ``block`` and ``shmem_size``; of an
    array: its ``shape`` (or ``size``) and ``dtype``, in order; of a call: its own."""
    least: int | None = None
    """Of a launch by arguments: dimensions below it are raised to it."""
    launches: Literal["settings", "arguments", "prepared", "sized", ""] = ""
    """A function of a stream, settings, a kernel and its arguments; or a call of a kernel with its
    configuration and its arguments as one tuple; or a method of a kernel whose
    arguments follow ``leading`` ones (grid, block, and a stream as the third); or one that is given
    a number of threads and returns what launches it."""
    leading: int = 0
    limits: str = ""
    """Raises a limit: the API function that says what it does, given the kernel first."""
    attribute: str = ""
    """Only where its first argument is called so, unless the receiver is a kernel for certain."""


class AttributeModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An attribute of arrays (Python), by the end of its dotted name (``data.ptr``)."""

    libraries: tuple[str, ...]
    """Packages whose arrays have it."""
    dangles: bool = True
    """It is a raw device pointer that does not keep the array alive."""
    integer_dangles: bool = False
    """It is an object that owns the memory; ``int()`` of it is a pointer that does not."""


class ModelFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One parsed model file."""

    path: str
    language: Literal["cuda", "python", "both"]
    families: dict[str, Family]
    functions: dict[str, ApiFunction]
    """Names as in the file, with its ``prefix``; a method of one receiver as ``.close@stream``."""
    aliases: dict[str, str] = {}
    """Exact names, and prefixes that end in ``.`` or ``::``."""
    attributes: dict[str, AttributeModel] = {}
    tensors: dict[str, TensorEffect] = {}
    hooks: dict[str, HookModel] = {}
    lifetimes: dict[str, LifetimeEffect] = {}
    kernels: dict[str, KernelModel] = {}
    constants: dict[str, int] = {}
    """What enumerators are worth, by their own name."""
    borrows: tuple[str, ...] = ()
    """Names, and beginnings that end in ``*``, ``.`` or ``::``, of functions that only borrow."""
    calm: tuple[str, ...] = ()
    """Beginnings of the names of functions and classes that wait for nothing."""
    exceptions: dict[str, str] = {}
    """Classes of exceptions, with what each derives from (Python)."""
    raises: dict[str, str] = {}
    """What functions raise whose names begin so (Python)."""
    waits: tuple[str, ...] = ()
    """Names of those among them that do wait, also in the arguments of templates."""
    pageable: tuple[str, ...] = ()
    """Class templates whose memory is pageable, unless they are given another allocator."""
    tests: dict[str, TestModel] = {}
