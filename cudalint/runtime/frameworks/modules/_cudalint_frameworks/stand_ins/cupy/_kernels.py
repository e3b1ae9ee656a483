"""Kernels: their launches are checked and counted, what they compute is not simulated."""

from __future__ import annotations

from typing import Any

from _cudalint_frameworks import recorder
from _cudalint_frameworks.errors import PREFIX

from cupy import _device
from cupy._arrays import ndarray

_INVALID = "CUDA_ERROR_INVALID_VALUE: invalid argument"


class CUDADriverError(RuntimeError):
    """A call of the driver failed."""

    __module__ = "cupy_backends.cuda.api.driver"


def _launch(name: str, given: Any) -> None:
    for one in given:
        if isinstance(one, ndarray):
            one._storage.use.add(one.nbytes)
    recorder.write("call", at=recorder.stack(), api=f"cupy.{name}")
    recorder.note(f"{PREFIX}what the kernel {name} computes")


class RawKernel:
    """A kernel of CUDA C++."""

    def __init__(self, code: str = "", name: str = "", options: Any = (), **others: Any) -> None:
        self.code, self.name, self.options = code, name, options
        self.max_dynamic_shared_size_bytes = _device.given("default_shared", 48 * 1024)
        self.preferred_shared_memory_carveout = -1

    def compile(self, log_stream: Any = None) -> None:
        """Nothing: it never runs."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "max_dynamic_shared_size_bytes" and value > _device.given("optin_shared", value):
            raise CUDADriverError(_INVALID)
        super().__setattr__(name, value)

    def __call__(self, grid: Any, block: Any, args: Any = (), *, shared_mem: int = 0,
                 **others: Any) -> None:  # fmt: skip
        grid, block = _dimensions(grid), _dimensions(block)
        largest_grid = _device.limits("grid", "2147483647x65535x65535")
        largest_block = _device.limits("block", "1024x1024x64")
        threads = block[0] * block[1] * block[2]
        fits = (
            all(0 < one <= most for one, most in zip(grid, largest_grid, strict=True))
            and all(0 < one <= most for one, most in zip(block, largest_block, strict=True))
            and threads <= _device.given("threads", 1024)
            and shared_mem <= self.max_dynamic_shared_size_bytes
        )
        if not fits:
            raise CUDADriverError(_INVALID)
        _launch(self.name, args)


def _dimensions(given: Any) -> tuple[int, int, int]:
    sides = (given,) if isinstance(given, int) else tuple(int(one) for one in given)
    first, second, third = (max(1, one) for one in (*sides, 1, 1, 1)[:3])  # As CuPy raises zeros.
    return first, second, third


class RawModule:
    """A source with kernels."""

    def __init__(self, *, code: str = "", path: str = "", **others: Any) -> None:
        self.code = code

    def get_function(self, name: str) -> RawKernel:
        """One of its kernels."""
        return RawKernel(self.code, name)

    def compile(self, log_stream: Any = None) -> None:
        """Nothing: it never runs."""

    def get_global(self, name: str) -> Any:
        """A variable of the device."""
        from _cudalint_frameworks.errors import not_simulated

        not_simulated("cupy.RawModule.get_global")


class ElementwiseKernel:
    """A kernel of one expression for each element."""

    def __init__(self, in_params: str, out_params: str, operation: str = "",
                 name: str = "kernel", *given: Any, **others: Any) -> None:  # fmt: skip
        self.name = name
        self._inputs = len([one for one in in_params.split(",") if one.strip()])
        self._types = [one.split()[0] for one in out_params.split(",") if one.strip()]

    def __call__(self, *given: Any, **others: Any) -> Any:
        import numpy

        from cupy._arrays import filled

        _launch(self.name, given)
        if len(given) > self._inputs:
            outputs = given[self._inputs :]
        else:
            arrays = [one for one in given if isinstance(one, ndarray)]
            shape = numpy.broadcast_shapes(*(one.shape for one in arrays))
            kinds = [arrays[0].dtype if len(one) == 1 else _type(one) for one in self._types]
            outputs = tuple(filled(self._shape(shape, others), kind, None) for kind in kinds)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _shape(self, shape: Any, others: Any) -> Any:
        return shape


def _type(name: str) -> Any:
    import numpy

    known = {"float": "float32", "double": "float64", "int": "int32", "long long": "int64"}
    return numpy.dtype(known.get(name, name))


class ReductionKernel(ElementwiseKernel):
    """A kernel that reduces."""

    def __init__(self, in_params: str, out_params: str, map_expr: str, reduce_expr: str,
                 post_map_expr: str, identity: Any, name: str = "reduce",
                 **others: Any) -> None:  # fmt: skip
        super().__init__(in_params, out_params, "", name)

    def _shape(self, shape: Any, others: Any) -> Any:
        axis = others.get("axis")
        axes = range(len(shape)) if axis is None else {int(one) for one in (axis,)}
        return tuple(side for number, side in enumerate(shape) if number not in axes)


def fuse(*given: Any, **others: Any) -> Any:
    """The function as it is written: NumPy needs no fusion."""
    if given and callable(given[0]):
        return given[0]
    return lambda function: function
