"""Functions, blocks, operations, records and kernels: what both frontends lower to.

A ``Function`` is a control-flow graph. A block runs its operations in order, then its terminator.
An operation or terminator that throws leaves for the block's ``unwind`` block, or, where that is
``None``, leaves the function. A frontend writes clean-up code (``finally``, ``__exit__``) out on
each way it is reached. Destructors of locals are not written: the engine knows the scope of a
variable from ``ScopeEnd``.

Everything here encodes to MessagePack with msgspec: the per-file cache and the worker processes
exchange programs as data.
"""

from __future__ import annotations

from typing import Literal, Union

import msgspec

from cudalint.program.expressions import Expression, Type
from cudalint.source import Span

CalleeKind = Literal[
    "function",
    "method",
    "constructor",
    "copy",
    "destructor",
    "indirect",
    "operator",
    "macro",
    "cast",
]


class Argument(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """One argument. ``keyword`` is set for Python's ``f(key=value)``; ``starred`` is ``*`` or
    ``**`` for unpacking."""

    value: Expression
    keyword: str | None = None
    starred: str = ""
    constant: bool = False
    """The parameter points to what is constant: the callee reads it, and no more."""
    reference: bool = False
    """The parameter refers to the place itself, and may change it."""


class Assign(msgspec.Struct, frozen=True, tag="assign"):
    """``target = value``. ``declares``: the variable's definition with an initialiser (or, with an
    ``Unknown("uninitialized")`` value, without one).

    Augmented assignment ``x += y`` is ``Assign(x, Binary("+", x, y), augmented=True)``. Tuple
    targets are written out as one assignment per item, through a temporary.
    """

    target: Expression
    value: Expression
    span: Span
    declares: bool = False
    augmented: bool = False


class Call(msgspec.Struct, frozen=True, tag="call"):
    """A call of a function, method, constructor or callable object.

    ``name`` is what API models are looked up by: the unqualified C API name (``cudaMalloc``), the
    qualified C++ name (``thrust::copy``, ``Pool::grow``), the resolved dotted Python name
    (``cupy.asarray``; imports and aliases resolved). A method of an object of unknown type is
    ``.name`` with its ``receiver``. ``key`` links to a ``Function`` of the run (USR or Python
    qualified name) and is ``None`` where the callee was not resolved.

    A constructor's ``receiver`` is the object under construction; Python's ``C(x)`` is a Call with
    ``kind="constructor"``, ``key`` the record's key, and a target. ``copy`` is the implicit or
    explicit copy construction or copy assignment of a record (receiver: the new object, argument
    0: the source). ``macro`` is an undeclared callee (a check macro of a missing header). ``cast``
    is C++'s ``dynamic_cast`` of a pointer to a ``record``: null if the object is not of the class
    that the target points to.
    """

    name: str
    arguments: tuple[Argument, ...]
    span: Span
    target: Expression | None = None
    key: str | None = None
    receiver: Expression | None = None
    callee: Expression | None = None
    """For ``indirect``: the callable value (a function pointer, a lambda variable)."""
    kind: CalleeKind = "function"
    may_throw: bool | None = None
    """False where the frontend knows (noexcept, C linkage); ``None`` where it does not."""
    noreturn: bool = False
    record: str | None = None
    """Of a constructor, method or copy: the key of the record; of a function that makes an object
    (``std::make_unique``): that of its class."""
    template_bytes: int | None = None
    """``sizeof`` of the first template argument, for typed APIs such as ``cudaMalloc<T>``."""
    expansion: str | None = None
    """The outermost macro whose expansion holds this call, if any."""
    virtual: bool = False
    """Which method runs depends on the class of the object: ``key``, or one that overrides it."""

    @property
    def assigns(self) -> bool:
        """Whether it is an ``operator=`` of a class, one that the compiler wrote too."""
        return self.kind in ("copy", "operator") and self.name.endswith("::operator=")


class Launch(msgspec.Struct, frozen=True, tag="launch"):
    """``kernel<<<grid, block, shared, stream>>>(arguments)`` and its Python counterparts.

    ``shared`` is in bytes; ``None`` where the launch does not give it. ``kernel_key`` links to
    ``Kernel.key``.
    """

    kernel: str
    grid: Expression
    block: Expression
    arguments: tuple[Argument, ...]
    span: Span
    shared: Expression | None = None
    stream: Expression | None = None
    kernel_key: str | None = None
    target: Expression | None = None
    warps: Expression | None = None
    stages: Expression | None = None
    """Triton's ``num_warps`` and ``num_stages``, where the launch gives them."""
    least: int | None = None
    """Dimensions below it are raised to it before the launch."""
    through: Expression | None = None
    """What holds the kernel, where the launch does not name it itself."""


class Delete(msgspec.Struct, frozen=True, tag="delete"):
    """Python's ``del place``. (C++'s ``delete`` is a Call named ``operator delete``.)"""

    place: Expression
    span: Span


class ScopeEnd(msgspec.Struct, frozen=True, tag="scope_end"):
    """C++ locals whose scope ends here, in reverse order of declaration. Only variables that can
    hold a resource or an owner need to be listed (pointers, handles, arrays, records)."""

    symbols: tuple[str, ...]
    span: Span


class Use(msgspec.Struct, frozen=True, tag="use"):
    """A value is read for its effect alone (an expression statement, Python's ``yield`` value,
    host access through a pointer)."""

    value: Expression
    span: Span
    reason: str = ""
    """yield, dereference, await, or empty."""


Operation = Union[Assign, Call, Launch, Delete, ScopeEnd, Use]


class Jump(msgspec.Struct, frozen=True, tag="jump"):
    """Go on at ``target``."""

    target: int


class Branch(msgspec.Struct, frozen=True, tag="branch"):
    """Two ways. The frontend splits ``&&``, ``||``, ``!`` with calls in them, ``switch`` and
    ``match`` into several branches. An ``Unknown`` condition means that either way may be taken."""

    condition: Expression
    then: int
    otherwise: int
    span: Span


class Return(msgspec.Struct, frozen=True, tag="return"):
    """Leave the function. ``implicit``: the closing brace or the end of a Python body."""

    value: Expression | None
    span: Span
    implicit: bool = False


class Throw(msgspec.Struct, frozen=True, tag="throw"):
    """``throw``/``raise``; ``rethrow`` where a handler passes the exception on (no handler matched,
    or a bare ``raise``). ``kinds``: its classes, where they are known."""

    value: Expression | None
    span: Span
    rethrow: bool = False
    kinds: tuple[str, ...] = ()


class Unreachable(msgspec.Struct, frozen=True, tag="unreachable"):
    """After a call that never returns (``exit``, ``abort``, a failed ``assert``): a sink."""

    span: Span


Terminator = Union[Jump, Branch, Return, Throw, Unreachable]


class Block(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A basic block; ``number`` is its position in ``Function.blocks``."""

    number: int
    operations: tuple[Operation, ...]
    terminator: Terminator
    unwind: int | None = None
    loop: bool = False
    """The header of a loop: the target of its back edges."""


class VariableInfo(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A variable of a function, or a global. ``span`` is its declaration."""

    name: str
    type: Type
    storage: Literal["local", "static", "global", "parameter", "captured", "temporary"] = "local"
    span: Span | None = None
    constant: Expression | None = None
    """The value of a ``const``/``constexpr`` variable or a Python module constant, if foldable;
    and of a variable that only its own file can write, where nothing in it does."""
    space: Literal["host", "device", ""] = "host"
    """Where it lives: ``__device__`` and ``__constant__`` variables on the device, of which the
    host has a shadow; empty for one that both reach (``__managed__``), or where nobody knows."""


class Parameter(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A parameter, in order. ``by``: how C++ passes it; Python objects pass by reference."""

    name: str
    symbol: str
    type: Type
    by: Literal["value", "reference", "pointer"] = "value"
    default: Expression | None = None
    keyword_only: bool = False
    starred: str = ""


class Handler(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """An ``except`` clause. While it runs, the exception holds the frames that it passed."""

    kinds: tuple[str, ...]
    """The exception classes, imports resolved; none where it takes all."""
    body: Span
    guarded: Span
    """The body of its ``try``."""
    span: Span
    """The clause's head: its exception classes, or its first word."""


FunctionKind = Literal[
    "function", "method", "constructor", "destructor", "lambda", "module", "kernel"
]


class Function(msgspec.Struct, frozen=True, omit_defaults=True):
    """One function with its body. ``blocks[0]`` is the entry.

    ``key`` is clang's USR or the Python qualified name (``package.module.Class.method``).
    ``name`` is what messages show (``Pool::grow``, ``Pool.grow``). A Python module's own code is a
    function of kind ``module`` named ``<module>``. A lambda's or nested function's free variables
    keep the symbols of the function that defines it (``parent``), so that it can be run in place.
    """

    key: str
    name: str
    filename: str
    span: Span
    parameters: tuple[Parameter, ...]
    blocks: tuple[Block, ...]
    variables: dict[str, VariableInfo]
    kind: FunctionKind = "function"
    record: str | None = None
    parent: str | None = None
    is_main: bool = False
    is_noexcept: bool = False
    is_static: bool = False
    is_generator: bool = False
    decorators: tuple[str, ...] = ()
    decorator_spans: tuple[Span, ...] = ()
    """Where they stand, in the same order (Python)."""
    returns: Type | None = None
    in_macro: bool = False
    for_device: bool = False
    """Code of the device may call it too (``__host__ __device__``)."""
    named_by: Literal["any", "file", "instances", "project"] = "any"
    """Who can call it: ``file``: only what stands in its file, or includes that (``static``, an
    unnamed namespace); ``instances``: it is the pattern of a template, or of a member of one;
    ``project``: nobody else is meant to (Python: a name with an underscore, or of a program)."""
    handlers: tuple[Handler, ...] = ()
    """Python's ``except`` clauses, in order."""


class Field(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A data member."""

    name: str
    type: Type
    span: Span | None = None


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """A class or struct. Methods are ``Function`` entries with ``record == key``."""

    key: str
    name: str
    filename: str
    span: Span
    fields: tuple[Field, ...] = ()
    bases: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    """Keys of all declared methods, with or without a body in this run."""
    virtual: dict[str, tuple[str, ...]] = {}
    """Keys of its virtual methods, each with those of the methods that it overrides itself."""
    destructor: Literal["none", "declared", "defined", "defaulted"] = "none"
    copy_constructor: Literal["implicit", "deleted", "defaulted", "user"] = "implicit"
    copy_assignment: Literal["implicit", "deleted", "defaulted", "user"] = "implicit"
    is_struct: bool = False
    is_union: bool = False
    is_template: bool = False
    is_abstract: bool = False
    """No object is of this class itself."""


class SharedArray(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A statically sized ``__shared__`` variable of a kernel; ``bytes`` is ``None`` if unknown
    (it depends on a template parameter)."""

    name: str
    bytes: int | None
    span: Span


class StagedTile(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A block that a Triton kernel loads in a loop and multiplies. The compiler loads it ahead,
    into several buffers in shared memory: as many as ``num_stages`` less one, or more."""

    name: str
    extents: tuple[Expression, ...]
    """Constants, or variables named as the kernel's parameters."""
    pointer: str
    """The parameter that points to its elements; empty if that is not known."""
    span: Span


class Kernel(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ``__global__`` function, a Numba kernel or a kernel in embedded CUDA source."""

    key: str
    name: str
    filename: str
    span: Span
    shared: tuple[SharedArray, ...] = ()
    dynamic_shared: str | None = None
    """The name of its ``extern __shared__`` array, if it reads one (in its own body or in a device
    function that it calls)."""
    parameters: tuple[Parameter, ...] = ()
    max_threads: int | None = None
    """From ``__launch_bounds__``."""
    is_template: bool = False
    dialect: Literal["cuda", "numba", "triton", "cupy"] = "cuda"
    """What it is written in: CUDA C++ (also inside a string), or a kind of Python."""
    staged: tuple[StagedTile, ...] = ()
    local: tuple[SharedArray, ...] = ()
    """Arrays of which each thread has its own (Numba's ``cuda.local.array``)."""
    instance: str = ""
    """The arguments of the instance of a template whose arrays are in ``shared``: ``<256>``."""
    is_specific: bool = False
    """Its assembler is that of architecture-specific targets (``sm_90a``)."""
    stores: tuple[int, ...] = ()
    """The parameters, from 0, whose pointers it stores where others find them."""


MISSING_HEADER = "missing header"
"""The reason of a ``Dropped`` header; its name is ``what`` was dropped."""


class Dropped(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """Code that could not be read (GPU002): which, where, and why."""

    span: Span
    what: str
    reason: str


class Program(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file, lowered."""

    filename: str
    language: Literal["cuda", "python"]
    functions: tuple[Function, ...] = ()
    records: tuple[Record, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    variables: dict[str, VariableInfo] = {}
    """Globals and Python module variables, by symbol (``::name``)."""
    dropped: tuple[Dropped, ...] = ()
    includes: tuple[str, ...] = ()
    """Files of the project that this one includes or imports (for the cache)."""
    takers: dict[str, tuple[str, ...]] = {}
    """By a class: the functions declared in sight, its methods too, that are given an object of it
    or a pointer to one. Those without a body in the run may do anything with it."""
    embedded: tuple[Program, ...] = ()
    """What strings of a Python file hold: CUDA C++, with spans and file names of where it is
    written, and keys of its own."""
