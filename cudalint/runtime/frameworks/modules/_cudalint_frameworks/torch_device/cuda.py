"""``torch.cuda``: what it tells of the devices that are pretended."""

from __future__ import annotations

import types
from typing import Any

import torch

from _cudalint_frameworks.errors import refusing
from _cudalint_frameworks.torch_device.devices import DEVICES, profile
from _cudalint_frameworks.torch_device.streams import Event, ExternalStream, Stream, StreamContext
from _cudalint_frameworks.torch_device.tensors import index_of

_MULTIPROCESSORS = 132
_ABSENT = (
    "CUDAGraph", "graph", "make_graphed_callables", "graph_pool_handle", "MemPool", "use_mem_pool",
    "CUDAPluggableAllocator", "caching_allocator_alloc", "caching_allocator_delete", "cudart",
    "change_current_allocator",
)  # fmt: skip


def _lazy_init() -> None:
    cuda = torch.cuda
    if not cuda._initialized:
        cuda._initialized = True
        for call, _ in list(cuda._queued_calls):
            call()
        cuda._queued_calls.clear()


def _lazy_call(function: Any, **named: Any) -> None:
    if torch.cuda._initialized:
        function()
    else:
        torch.cuda._queued_calls.append((function, []))


def _properties(device: Any = None) -> Any:
    index_of(device)
    major, minor = DEVICES.capability
    given = profile()
    return types.SimpleNamespace(
        name=DEVICES.name, major=major, minor=minor, total_memory=DEVICES.memory,
        multi_processor_count=_MULTIPROCESSORS, is_integrated=False, is_multi_gpu_board=False,
        warp_size=32, max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536,
        shared_memory_per_block=int(given.get("default_shared", 49152)),
        shared_memory_per_block_optin=int(given.get("optin_shared", 49152)),
        shared_memory_per_multiprocessor=int(given.get("sm_shared", 102400)),
        gcnArchName="", L2_cache_size=50 * 1024**2,
    )  # fmt: skip


def _allocator(device: Any = None) -> Any:
    return DEVICES.all[index_of(device)]


def _set_device(device: Any) -> None:
    index = index_of(device)
    if index >= 0:
        DEVICES.current = index


class _Device:
    """``with torch.cuda.device(1):``."""

    def __init__(self, device: Any) -> None:
        self.idx = index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx, DEVICES.current = DEVICES.current, self.idx

    def __exit__(self, *error: object) -> bool:
        DEVICES.current = self.prev_idx
        return False


class _DeviceOf(_Device):
    """``with torch.cuda.device_of(tensor):``."""

    def __init__(self, tensor: Any) -> None:
        super().__init__(tensor.device if tensor.is_cuda else None)


def _memory_info(device: Any = None) -> tuple[int, int]:
    found = _allocator(device)
    return found.free, found.capacity


def _record_history(enabled: Any = "all", *arguments: Any, **named: Any) -> None:
    for one in DEVICES.all:
        one.history = None if enabled is None else one.history or []


def _snapshot(device: Any = None, **named: Any) -> dict[str, Any]:
    return {
        "segments": [part for one in DEVICES.all for part in one.segments()],
        "device_traces": [list(one.history or ()) for one in DEVICES.all],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""},
    }


def _set_fraction(fraction: float, device: Any = None) -> None:
    _allocator(device).fraction = float(fraction)


def _empty_cache() -> None:
    for one in DEVICES.all:
        one.empty()


def _current_stream(device: Any = None) -> Stream:
    return Stream(device, number=DEVICES.stream)


def _random_state(device: Any = "cuda") -> Any:
    return torch.get_rng_state()


def _nothing() -> Any:
    """A function that does nothing; each is another one, because the compiler tells them apart."""
    return lambda *arguments, **named: None


def install() -> None:
    """Put all of this into ``torch.cuda``."""
    cuda, memory = torch.cuda, torch.cuda.memory
    in_cuda = {
        "_is_compiled": lambda: True, "is_available": lambda: True, "_lazy_init": _lazy_init,
        "_lazy_call": _lazy_call, "init": _lazy_init, "is_initialized": lambda: cuda._initialized,
        "device_count": lambda: len(DEVICES.all), "current_device": lambda: DEVICES.current,
        "set_device": _set_device, "device": _Device, "device_of": _DeviceOf,
        "get_device_properties": _properties, "get_device_name": lambda device=None: DEVICES.name,
        "get_device_capability": lambda device=None: DEVICES.capability,
        "is_bf16_supported": lambda including_emulation=True: DEVICES.capability[0] >= 8,
        "can_device_access_peer": lambda device, peer: True,
        "get_arch_list": lambda: [f"sm_{DEVICES.capability[0]}{DEVICES.capability[1]}"],
        "synchronize": lambda device=None: None, "ipc_collect": _nothing(),
        "Stream": Stream, "ExternalStream": ExternalStream, "Event": Event,
        "StreamContext": StreamContext, "stream": StreamContext, "set_stream": Stream.use,
        "current_stream": _current_stream, "default_stream": lambda device=None: Stream(number=0),
        "manual_seed": _nothing(), "manual_seed_all": _nothing(), "seed": _nothing(),
        "seed_all": _nothing(), "initial_seed": torch.initial_seed, "get_rng_state": _random_state,
        "get_rng_state_all": lambda: [_random_state() for _ in DEVICES.all],
        "set_rng_state": _nothing(), "set_rng_state_all": _nothing(),
    }  # fmt: skip
    in_memory = {
        "memory_stats_as_nested_dict": lambda device=None: _allocator(device).statistics(),
        "reset_peak_memory_stats": lambda device=None: _allocator(device).reset_peak(),
        "reset_accumulated_memory_stats": _nothing(), "mem_get_info": _memory_info,
        "empty_cache": _empty_cache, "set_per_process_memory_fraction": _set_fraction,
        "get_per_process_memory_fraction": lambda device=None: _allocator(device).fraction,
        "_record_memory_history": _record_history, "_snapshot": _snapshot,
        "memory_snapshot": lambda *given, **named: _snapshot()["segments"],
        "get_allocator_backend": lambda: "native", "host_memory_stats": dict,
    }  # fmt: skip
    for name, value in {**in_cuda, **in_memory}.items():
        setattr(cuda, name, value)
    for name, value in in_memory.items():
        setattr(memory, name, value)
    for module in (cuda.random, cuda.streams, cuda._utils):
        for name, value in in_cuda.items():
            if hasattr(module, name):
                setattr(module, name, value)
    for module in (cuda, memory):
        for name in _ABSENT:
            if hasattr(module, name):
                setattr(module, name, refusing(f"torch.cuda.{name}"))
    _accelerator(in_cuda | in_memory)
    cuda._initialized = False
    cuda.default_generators = tuple(torch._C.Generator() for _ in DEVICES.all)
    nvtx = cuda.nvtx
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        setattr(nvtx, name, _nothing())
    for name in ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte"):
        setattr(cuda, f"{name}Tensor", _legacy(f"torch.{name}Tensor"))
    torch.version.cuda = torch.version.cuda or "13.0"


def _accelerator(known: dict[str, Any]) -> None:
    """The same by the names of ``torch.accelerator``."""
    module = getattr(torch, "accelerator", None)
    if module is None:
        return
    own = {
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "current_device_index": known["current_device"], "set_device_index": known["set_device"],
        "current_device_idx": known["current_device"], "set_device_idx": known["set_device"],
        "memory_stats": torch.cuda.memory_stats, "get_memory_info": known["mem_get_info"],
        "memory_allocated": torch.cuda.memory_allocated,
        "max_memory_allocated": torch.cuda.max_memory_allocated,
        "memory_reserved": torch.cuda.memory_reserved,
        "max_memory_reserved": torch.cuda.max_memory_reserved,
    }  # fmt: skip
    for name, value in (known | own).items():
        if hasattr(module, name):
            setattr(module, name, value)


def _legacy(name: str) -> Any:
    kind = torch.empty(0).type(name).dtype

    def make(*given: Any) -> Any:
        if given and not isinstance(given[0], int):
            return torch.tensor(given[0], dtype=kind, device="cuda")
        return torch.empty(given, dtype=kind, device="cuda")

    return make
