"""Arrays of the simulated device: NumPy's, with storage that the pool counts."""

from __future__ import annotations

from typing import Any

import numpy
from _cudalint_frameworks import recorder
from _cudalint_frameworks.errors import not_simulated

from cupy import _device, _memory, _operators
from cupy._storages import Storage, bytes_of, corner_of, hollow, is_hollow, on_host, root_of

_SUMS = {"sum": lambda value, count: value * count, "prod": lambda value, count: value**count}


def made(array: Any) -> ndarray:
    """An array of the device with new storage, and these contents."""
    array = numpy.asarray(array)
    if array.dtype.kind not in "biufc":
        raise ValueError(f"Unsupported dtype {array.dtype}")
    found = ndarray.__new__(ndarray)
    found._storage = Storage(bytes_of(array.shape, array.dtype))
    found._a = array
    found._storage.hold(root_of(array))
    return found


def filled(shape: Any, dtype: Any, value: Any) -> ndarray:
    """A new array, hollow where it is large."""
    shape = (int(shape),) if numpy.ndim(shape) == 0 else tuple(int(one) for one in shape)
    dtype = numpy.dtype(float if dtype is None else dtype)
    size = bytes_of(shape, dtype)
    storage = Storage(size)  # There must be room, before the host has to have any.
    found = ndarray.__new__(ndarray)
    found._storage = storage
    if size > _device.HOLLOW:
        found._a = hollow(shape, dtype, value)
    else:
        found._a = numpy.zeros(shape, dtype) if value is None else numpy.full(shape, value, dtype)
    storage.hold(found._a)
    return found


def view(array: Any, storage: Storage) -> ndarray:
    """A view of what is there."""
    found = ndarray.__new__(ndarray)
    found._a, found._storage = array, storage
    return found


def plain(value: Any, storages: list[Storage]) -> Any:
    """A value as NumPy takes it; the storages that it uses are added to the list."""
    if isinstance(value, ndarray):
        value._storage.use.add(value._a.nbytes)
        storages.append(value._storage)
        return value._a
    if type(value) in (list, tuple):
        return type(value)(plain(one, storages) for one in value)
    if isinstance(value, slice):
        return slice(*(_number(one) for one in (value.start, value.stop, value.step)))
    return value


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, ndarray) else value


def wrapped(value: Any, storages: list[Storage]) -> Any:
    """A result of NumPy on the device: a view where it shares memory with what it is made of."""
    if isinstance(value, numpy.ndarray | numpy.generic):
        if isinstance(value, numpy.ndarray):
            root = root_of(value)
            for storage in storages:
                if storage.root is root:
                    return view(value, storage)
        return made(value)
    if type(value) in (list, tuple):
        return type(value)(wrapped(one, storages) for one in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(wrapped(one, storages) for one in value))
    return value


def apply(name: str, function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Call a function of NumPy with arrays of the device."""
    for one in (*given, *named.values()):
        if isinstance(one, numpy.ndarray) and one.ndim:
            raise TypeError(f"Unsupported type {type(one)}")
    storages: list[Storage] = []
    plain_given = tuple(plain(one, storages) for one in given)
    plain_named = {key: plain(one, storages) for key, one in named.items()}
    large = any(one.size > _device.HOLLOW for one in storages)
    try:
        if large and isinstance(function, numpy.ufunc):
            return _large(function, plain_given, plain_named, storages, named.get("out"))
        if large and name in _REDUCTIONS:
            return _reduced(name, function, plain_given, plain_named)
        result = function(*plain_given, **plain_named)
    except MemoryError as error:
        if isinstance(error, _memory.OutOfMemoryError):
            raise
        not_simulated(f"cupy.{name} of arrays this large")
    out = named.get("out")
    return out if isinstance(out, ndarray) else wrapped(result, storages)


def _large(function: Any, given: Any, named: Any, storages: Any, out: Any) -> Any:
    """A function of each element, of one of them."""
    out = out[0] if isinstance(out, tuple) else out
    shape = numpy.broadcast_shapes(*(numpy.shape(one) for one in given))
    cut = {key: corner_of(one) for key, one in named.items() if key != "out"}
    result = function(*(corner_of(one) for one in given), **cut)
    if isinstance(result, tuple):
        not_simulated(f"cupy.{function.__name__} of arrays this large")
    value = result.flat[0] if numpy.size(result) else 0
    if isinstance(out, ndarray):
        out._a[...] = numpy.asarray(value).astype(out._a.dtype) if is_hollow(out._a) else value
        return out
    return filled(shape, numpy.asarray(result).dtype, value)


def _reduced(name: str, function: Any, given: Any, named: Any) -> Any:
    """A reduction of a large array, by one element."""
    array = given[0]
    axis = named.get("axis", given[1] if len(given) > 1 else None)
    keep = bool(named.get("keepdims", False))
    axes = tuple(range(array.ndim)) if axis is None else numpy.atleast_1d(axis) % array.ndim
    corner = function(corner_of(array), *given[1:], **named)
    count = int(numpy.prod([array.shape[one] for one in axes], dtype=float))
    cell = numpy.asarray(corner).flat[0]
    with numpy.errstate(all="ignore"):
        value = _SUMS[name](cell, numpy.asarray(count)) if name in _SUMS else cell
    sides = [
        1 if number in axes else side
        for number, side in enumerate(array.shape)
        if keep or number not in axes
    ]
    return filled(tuple(sides), numpy.asarray(corner).dtype, value)


_REDUCTIONS = frozenset(
    {"sum", "prod", "mean", "max", "min", "amax", "amin", "all", "any", "std", "var", "argmax",
     "argmin", "median", "ptp", "nansum", "nanmean", "nanmax", "nanmin"}
)  # fmt: skip


class ndarray:  # noqa: N801 - CuPy's name
    """An array of the device."""

    __module__ = "cupy"
    __array_priority__ = 100
    _a: Any
    _storage: Storage

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None,
        order: str = "C",
    ) -> None:  # fmt: skip
        if memptr is None:
            new = filled(shape, dtype, None)
            self._a, self._storage = new._a, new._storage
            return
        sides = (int(shape),) if numpy.ndim(shape) == 0 else tuple(shape)
        held = _device.find(memptr.ptr)
        size = bytes_of(sides, dtype)
        if held is None or held[1] is None:
            self._a = numpy.zeros(sides, dtype)
        else:
            block = numpy.ctypeslib.as_array((numpy.ctypeslib.ctypes.c_uint8 * size).from_address(
                held[1]
            ))  # fmt: skip
            self._a = numpy.ndarray(sides, dtype, block, strides=strides, order=order)  # type: ignore[call-overload]
        self._storage = Storage(size, memptr)
        self._storage.root = root_of(self._a)

    # What it is -----------------------------------------------------------------------------------

    shape = property(lambda self: self._a.shape, lambda self, given: self._reshape(given))
    dtype = property(lambda self: self._a.dtype)
    size = property(lambda self: self._a.size)
    ndim = property(lambda self: self._a.ndim)
    itemsize = property(lambda self: self._a.itemsize)
    nbytes = property(lambda self: bytes_of(self._a.shape, self._a.dtype))
    T = property(lambda self: view(self._a.T, self._storage))
    real = property(lambda self: wrapped(self._a.real, [self._storage]))
    imag = property(lambda self: wrapped(self._a.imag, [self._storage]))

    @property
    def flags(self) -> Any:
        """As NumPy has them; what is hollow lies in one piece."""
        return numpy.empty((0,)).flags if is_hollow(self._a) else self._a.flags

    @property
    def strides(self) -> Any:
        """In bytes, between elements."""
        if not is_hollow(self._a):
            return self._a.strides
        return tuple(
            bytes_of(self._a.shape[number + 1 :], self._a.dtype) for number in range(self._a.ndim)
        )

    @property
    def data(self) -> Any:
        """Where it lies."""
        root = self._storage.root
        if root is None or is_hollow(self._a):
            return self._storage.pointer
        return self._storage.pointer + (self._a.ctypes.data - root.ctypes.data)

    @property
    def device(self) -> Any:
        """The device that it lies on."""
        from cupy.cuda import Device

        return Device(self._storage.pointer.device_id)

    @property
    def base(self) -> Any:
        """Whose view it is."""
        return None if self._a is self._storage.root else self._storage

    def _reshape(self, shape: Any) -> None:
        self._a.shape = shape

    # To and from the host -------------------------------------------------------------------------

    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        """A copy on the host."""
        found = self._fetched("cupy.ndarray.get")
        if out is None:
            return found
        out[...] = found
        return out

    def _fetched(self, api: str) -> Any:
        """The contents on the host, by a copy that can fail."""
        self._storage.use.add(self._a.nbytes)
        number = _device.called(api)
        recorder.write(
            "copy", at=recorder.stack(), api=api, bytes=self.nbytes, detail=2, call=number
        )
        return on_host(self._a)

    def set(self, arr: Any, stream: Any = None) -> None:
        """Fill it from the host."""
        if not isinstance(arr, numpy.ndarray):
            raise TypeError(f"Only numpy.ndarray can be set to cupy.ndarray (got {type(arr)})")
        problem = (
            f"{arr.dtype} array cannot be set to {self.dtype} array"
            if arr.dtype != self.dtype
            else f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}"
            if arr.shape != self.shape
            else ""
        )
        api = "cupy.ndarray.set"
        if problem:
            recorder.write(
                "call", at=recorder.stack(), api=api, status=_device.INVALID_VALUE,
                bytes=arr.nbytes, call=_device.called(api),
            )  # fmt: skip
            raise (TypeError if arr.dtype != self.dtype else ValueError)(problem)
        recorder.write("copy", at=recorder.stack(), api=api, bytes=arr.nbytes, detail=1)
        self._a[...] = corner_of(arr) if is_hollow(self._a) else arr

    def item(self, *place: Any) -> Any:
        """One element, on the host."""
        return self._fetched("cupy.ndarray.item").item(*place)

    def tolist(self) -> Any:
        """Lists of the host."""
        return self.get().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """Bytes of the host."""
        return self.get().tobytes(order)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct"
            " a NumPy array explicitly."
        )

    def __bool__(self) -> bool:
        return bool(self.item() if self.size == 1 else bool(self._a))

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        return int(self.item().__index__())

    def __repr__(self) -> str:
        return repr(on_host(self._a if self._a.size < 1000 else self._a.reshape(-1)[:6]))

    def __str__(self) -> str:
        return str(on_host(self._a if self._a.size < 1000 else self._a.reshape(-1)[:6]))

    def __format__(self, form: str) -> str:
        return format(self.item() if self.ndim == 0 else str(self), form)

    def __len__(self) -> int:
        return len(self._a)

    # Parts ----------------------------------------------------------------------------------------

    def __getitem__(self, place: Any) -> Any:
        storages: list[Storage] = []
        return wrapped(self._a[plain(place, storages)], [self._storage])

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(value, numpy.ndarray) and value.ndim:
            value = made(value)  # CuPy sends it over.
        storages: list[Storage] = []
        place, value = plain(place, storages), plain(value, storages)
        part = self._a[place]
        self._storage.use.add(getattr(part, "nbytes", self._a.itemsize))
        if is_hollow(self._a):
            if numpy.size(part) and part.size == self._a.size:
                self._a[(slice(0, 1),) * self._a.ndim] = numpy.asarray(value).flat[0]
        else:
            self._a[place] = value

    def __iter__(self) -> Any:
        return (self[number] for number in range(len(self._a)))

    def astype(self, dtype: Any, order: str = "K", casting: Any = None, subok: Any = None,
               copy: bool = True) -> Any:  # fmt: skip
        """The same as another type."""
        if not copy and numpy.dtype(dtype) == self.dtype:
            return self
        if bytes_of(self.shape, dtype) > _device.HOLLOW:
            self._storage.use.add(self.nbytes)
            return filled(self.shape, dtype, corner_of(self._a).astype(dtype).flat[0])
        return apply("astype", lambda one: one.astype(dtype), (self,), {})

    def copy(self, order: str = "C") -> Any:
        """Another of the same contents."""
        return self.astype(self.dtype)

    def fill(self, value: Any) -> None:
        """Set all elements."""
        self[...] = value

    def scatter_add(self, places: Any, values: Any) -> None:
        """Add at places."""
        apply("add.at", numpy.add.at, (self, places, values), {})

    def toDlpack(self) -> Any:  # noqa: N802
        """Hand it to another library."""
        not_simulated("cupy.ndarray.toDlpack")

    # NumPy's functions ----------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **named: Any) -> Any:
        if method == "__call__":
            if isinstance(named.get("out"), tuple):
                named["out"] = named["out"][0]
            return apply(ufunc.__name__, ufunc, given, named)
        return apply(f"{ufunc.__name__}.{method}", getattr(ufunc, method), given, named)

    def __array_function__(self, function: Any, types: Any, given: Any, named: Any) -> Any:
        return apply(function.__name__, function, given, named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if not hasattr(numpy.ndarray, name):
            raise AttributeError(f"'ndarray' object has no attribute '{name}'")
        function = getattr(numpy, name, None)
        if name in _REDUCTIONS and function is not None:
            return lambda *given, **named: apply(name, function, (self, *given), named)

        def method(*given: Any, **named: Any) -> Any:
            def of(array: Any, *rest: Any, **others: Any) -> Any:
                result = getattr(array, name)(*rest, **others)
                return array if result is None and name in ("sort", "partition") else result

            return apply(f"ndarray.{name}", of, (self, *given), named)

        return method


_operators.install(ndarray, apply)
