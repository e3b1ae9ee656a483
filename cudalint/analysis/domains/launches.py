"""Kernel launches: their configuration, their arguments, the limits that a program raises."""

from __future__ import annotations

from cudalint.analysis.domains.ownership import stores
from cudalint.analysis.domains.ownership.recorder import Extent, Recorder
from cudalint.analysis.domains.stages import staged_memory
from cudalint.analysis.engine.binding import Binding
from cudalint.analysis.engine.domain import Domain
from cudalint.analysis.engine.run import FunctionRun
from cudalint.analysis.engine.state import State
from cudalint.analysis.facts import LaunchSite, StagedMemory
from cudalint.analysis.shape.operations import calls, operands
from cudalint.analysis.values.values import (
    ZERO,
    Array,
    Const,
    FunctionValue,
    Input,
    Pointer,
    Polynomial,
    Sequence,
    Symbol,
    Value,
    constant,
    integer,
)
from cudalint.analysis.values.values import Operation as Calculated
from cudalint.apis.model import ApiFunction, KernelLookup
from cudalint.apis.paths import parse_path
from cudalint.program import (
    Call,
    Constant,
    Dereference,
    Expression,
    Index,
    Kernel,
    Launch,
    Operation,
    Tuple,
    Variable,
    render,
    variables,
    walk,
)

_WARP = 32
"""As few blocks may be as many as there are."""


class Launches(Domain):
    """Records launches, and what raises their limits."""

    def operating(self, run: FunctionRun, operation: Operation, state: State) -> None:
        if isinstance(operation, Launch):
            self._launch(run, operation, state)

    def _launch(self, run: FunctionRun, launch: Launch, state: State) -> None:
        """Its configuration is known as far as it is constant."""
        shared = run.evaluator.value(launch.shared, state) if launch.shared is not None else ZERO
        along = [dimensions(run, one, state) for one in (launch.grid, launch.block)]
        grid, block = (_raised(_constant(one), launch.least) for one in along)
        key = launch.kernel_key
        if launch.through is not None:
            held = run.evaluator.value(launch.through, state)
            key = held.key if isinstance(held, FunctionValue) else None
        divided = _divided(run, launch, *along)
        _record(run, launch.kernel, key, launch, grid, block, shared, state, divided)

    def modelled(
        self, run: FunctionRun, binding: Binding, name: str, model: ApiFunction, state: State
    ) -> None:
        if model.launches is not None:
            _launch_call(run, binding, model, state)
        if model.opts_in is not None:
            _opt_in(run, binding, model)

    def cut(self, run: FunctionRun) -> None:
        for _, call in calls(run.function):
            model = run.models.lookup(call.name)
            if model is not None and model.opts_in is not None:
                run.symbols.opt_in("", -1, run.filename)


def _record(
    run: FunctionRun,
    name: str,
    key: str | None,
    operation: Launch | Call,
    grid: Extent,
    block: Extent,
    shared: Value,
    state: State,
    divided: str = "",
) -> None:
    kernel = run.symbols.kernel(key, name, run.filename)
    warps: int | None = None
    staged: StagedMemory | None = None
    spaces: tuple[str | None, ...] = ()
    if isinstance(operation, Launch):
        staged = staged_memory(run, kernel, operation, state)
        spaces = tuple(_array_space(run, a.value, state) for a in operation.arguments)
        if operation.warps is not None:
            warps = integer(run.evaluator.value(operation.warps, state))
    run.log(Recorder).launch(
        LaunchSite(
            kernel_name=name,
            span=operation.span,
            grid=grid,
            block=block,
            shared_bytes=integer(shared),
            shared_named=isinstance(operation, Launch) and _is_named(operation.shared),
            settled=_is_settled(run, operation),
            given=_given(run, name, shared),
            kernel=kernel,
            argument_count=_argument_count(run, operation, kernel, block),
            argument_spaces=spaces,
            warps=warps,
            staged=staged,
            divided=divided,
        ),
    )


def _divided(run: FunctionRun, launch: Launch, grid: Dimensions, block: Dimensions) -> str:
    """A block that is an amount divided by the grid and rounded up, as a grid is by the block."""
    blocks, threads = integer(grid[0]), block[0]
    alone = all(integer(one) == 1 for one in (*grid[1:], *block[1:]))
    if run.python or not alone or blocks is None or blocks < _WARP or threads is None:
        return ""
    match threads:
        case Calculated("/", (Polynomial(terms=terms), of)) if dict(terms).get(()) == blocks - 1:
            rounded = integer(of) == blocks
        case Polynomial(terms=(((), 1), ((Calculated("/", (_, of)),), 1))):
            rounded = integer(of) == blocks
        case _:
            rounded = False
    said = launch.block.items[0] if isinstance(launch.block, Tuple) else launch.block
    return run.show(said) if rounded else ""


def _is_named(shared: Expression | None) -> bool:
    return isinstance(shared, Constant) and bool(shared.text)


def _is_settled(run: FunctionRun, launch: Launch | Call) -> bool:
    own = (launch.grid, launch.block) if isinstance(launch, Launch) else tuple(operands(launch))
    indices = [part.index for part in walk(*own) if isinstance(part, Index)]
    written = [part for part in walk(*own) if isinstance(part, Constant) and part.value == 0]
    if any(not any(zero is index for index in indices) for zero in written):
        return True
    sources = run.flow.sources({symbol for one in own for symbol in variables(one)})
    made = [run.flow.only(one) for one in sources]
    read = (operand for one in made if one is not None for operand in operands(one))
    return None not in made and not any(_is_pointed_to(run, one) for one in walk(*own, *read))


def _is_pointed_to(run: FunctionRun, part: Expression) -> bool:
    """Whether it is what a pointer points to: others may have filled that."""
    match part:
        case Index(base=Variable(symbol=name)) | Dereference(pointer=Variable(symbol=name)):
            info = run.function.variables.get(name)
            return info is not None and info.type.kind == "pointer"
    return False


def _given(run: FunctionRun, kernel: str, shared: Value) -> str:
    """The parameter that an amount is, where the kernel is one too."""
    names = {one.symbol: one.name for one in run.function.parameters}
    if kernel not in names.values() or not isinstance(shared, Input) or run.python:
        return ""
    return names.get(str(shared.location[0]), "") if len(shared.location) == 1 else ""


def _argument_count(
    run: FunctionRun, operation: Launch | Call, kernel: Kernel | None, block: Extent
) -> int | None:
    """What a launch passes where no compiler compares it with the kernel."""
    if not run.python or not isinstance(operation, Launch) or kernel is None:
        return None
    if operation.kernel_key != kernel.key or not _is_only(run, kernel):
        return None  # another kernel may merely have the same name
    if kernel.dialect == "cuda" and not any(block):
        return None  # perhaps PyCUDA's older form of a prepared call, without a block
    if any(argument.starred or argument.keyword for argument in operation.arguments):
        return None
    return len(operation.arguments)


def _is_only(run: FunctionRun, kernel: Kernel) -> bool:
    """Whether all kernels of its name in the file take as many arguments."""
    return all(
        len(other.parameters) == len(kernel.parameters)
        for other in run.program.kernels
        if other.name == kernel.name
    )


def _array_space(run: FunctionRun, expression: Expression, state: State) -> str | None:
    value = run.evaluator.value(expression, state)
    return value.space if isinstance(value, Array) else None


Dimensions = tuple[Value | None, Value | None, Value | None]


def dimensions(run: FunctionRun, expression: Expression, state: State) -> Dimensions:
    """A grid or a block along its three axes."""
    location = run.evaluator.location(expression, state)
    if location is not None and any(key != location for key, _ in state.below(location)):
        x, y, z = (state.read((*location, f".{axis}")) for axis in "xyz")
        return (x, y, z)
    return _triple(run.evaluator.value(expression, state))


def _extent(run: FunctionRun, expression: Expression, state: State) -> Extent:
    return _constant(dimensions(run, expression, state))


def _constant(along: Dimensions) -> Extent:
    x, y, z = (None if one is None else integer(one) for one in along)
    return (x, y, z)


def _raised(extent: Extent, least: int | None) -> Extent:
    if least is None:
        return extent
    x, y, z = [None if number is None else max(number, least) for number in extent]
    return (x, y, z)


def _triple(value: Value) -> Dimensions:
    one = Const(1)
    if isinstance(value, Sequence) and value.kind in ("dim3", "tuple", "list", "initializer"):
        numbers: list[Value] = [*value.items[:3], one, one, one]
        return (numbers[0], numbers[1], numbers[2])
    divided = isinstance(value, Calculated) and value.operator == "/"
    return (value, one, one) if divided or integer(value) is not None else (None, None, None)


def _launch_call(run: FunctionRun, binding: Binding, model: ApiFunction, state: State) -> None:
    """A launch by function call (``cudaLaunchKernel``)."""
    effect = model.launches
    assert effect is not None
    kernel = binding.value(effect.kernel)
    name, key = (kernel.name, kernel.key) if isinstance(kernel, FunctionValue) else ("", None)
    shared = binding.value(effect.shared) if effect.shared is not None else None
    _record(
        run,
        name or render(binding.expression(effect.kernel) or Constant("kernel")),
        key,
        binding.call,
        _dimensions(run, binding, effect.grid, state),
        _dimensions(run, binding, effect.block, state),
        ZERO if shared is None else shared,
        state,
    )


def _dimensions(run: FunctionRun, binding: Binding, paths: tuple[str, ...], state: State) -> Extent:
    if len(paths) == 1:
        expression = binding.expression(paths[0])
        return (1, 1, 1) if expression is None else _extent(run, expression, state)
    numbers = [integer(binding.value(path)) for path in paths[:3]]
    return (numbers[0], numbers[1], numbers[2])


def found_kernel(
    run: FunctionRun, binding: Binding, lookup: KernelLookup, state: State
) -> Value | None:
    """The kernel that a call looks up by its name: stored where the call puts it, or returned."""
    text = constant(binding.value(lookup.name))
    module = binding.value(lookup.module) if lookup.module is not None else None
    span = binding.call.span
    kernel: Value
    if isinstance(text, str) and text:
        kernel = FunctionValue(text.rstrip("\0"))
    elif isinstance(module, Pointer):
        kernel = Symbol(f"kernel@{span.row}:{span.column}")
    else:
        return None
    if isinstance(module, Pointer):
        # Who is given the kernel needs the module too: it stays loaded.
        state.write(("@", kernel, ".<module>"), module)
    if parse_path(lookup.handle, binding.parameters).root == "return":
        return kernel
    location = binding.location(lookup.handle)
    if location is not None:
        stores.store(run, state, location, kernel, binding.call.span)
    return None


def _opt_in(run: FunctionRun, binding: Binding, model: ApiFunction) -> None:
    """A call that raises a kernel's limit of dynamic shared memory."""
    effect = model.opts_in
    assert effect is not None
    if effect.attribute is not None and effect.only:
        expression = binding.expression(effect.attribute)
        spelling = render(expression) if expression is not None else ""
        value = binding.value(effect.attribute)
        number = str(integer(value)) if integer(value) is not None else ""
        last = spelling.rpartition(".")[2].rpartition("::")[2]
        if not {last, spelling, number} & set(effect.only):
            return
    kernel = binding.value(effect.kernel)
    shown = binding.expression(effect.kernel)
    # A launch may go through the same variable, or name the kernel that it holds.
    names = {render(shown) if shown is not None else ""}
    if isinstance(kernel, FunctionValue):
        names |= {kernel.name}
    amount = integer(binding.value(effect.value))
    for name in sorted(names):
        run.symbols.opt_in(name, -1 if amount is None else amount, run.filename)
