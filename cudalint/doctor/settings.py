"""The variables of the environment that decide about GPU memory: parsed, and judged."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from cudalint.doctor.record import Setting
from cudalint.doctor.sizes import parsed, size

_TORCH_NEW, _TORCH_OLD = "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"
_SMALLEST_SPLIT = 20
"""MiB: PyTorch refuses less, its large blocks begin there."""
_FOREIGN = ("CUDA_", "PYTORCH_", "CUPY_", "XLA_", "TF_")
_OTHERS = frozenset(
    [
        "CUDA_HOME",
        "CUDA_PATH",
        "CUDA_ROOT",
        "CUDA_VERSION",
        "CUDA_CACHE_PATH",
        "CUDA_CACHE_DISABLE",
        "CUDA_BIN_PATH",
        "CUDA_CACHE_MAXSIZE",
        "CUDA_INJECTION64_PATH",
        "CUDA_VISIBLE_DEVICES",
        "CUDA_TOOLKIT_ROOT_DIR",
        "CUDA_DEVICE_MAX_CONNECTIONS",
        "CUDA_MPS_PIPE_DIRECTORY",
        "CUDA_MPS_LOG_DIRECTORY",
        "CUDA_DISABLE_PTX_JIT",
        "CUDA_FORCE_PTX_JIT",
        "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
        "XLA_FLAGS",
        "PYTORCH_JIT",
        "PYTORCH_VERSION",
        "CUPY_CACHE_DIR",
        "CUPY_ACCELERATORS",
        "CUPY_TF32",
        "TF_CPP_MIN_LOG_LEVEL",
        "CUDA_LIBRARY_PATH",
        "CUDA_SDK_PATH",
        "CUDA_MPS_CLIENT_PRIORITY",
        "CUDA_DEVICE_WAITS_ON_EXCEPTION",
    ]
)
"""Variables of these names that say nothing about memory: they are no misspelling of one that
does."""


@dataclass(frozen=True)
class _Judged:
    meaning: str = ""
    problem: str = ""
    advice: str = ""


def judge(environment: Mapping[str, str]) -> tuple[Setting, ...]:
    """What is set, in the order of the table; then the names that look misspelt (without their
    values: those are not ours to tell)."""
    found = [
        Setting(name, environment[name], one.problem, one.meaning, one.advice)
        for name, read in _KNOWN.items()
        if name in environment
        for one in read(environment[name].strip())
    ]
    if _TORCH_NEW in environment and _TORCH_OLD in environment:
        found.append(
            Setting(
                _TORCH_OLD, environment[_TORCH_OLD], f"{_TORCH_NEW} is set too: only one counts",
                f"PyTorch 2.9 and later prefer {_TORCH_NEW}, earlier ones know only {_TORCH_OLD}",
                f"unset {_TORCH_OLD}",
            )
        )  # fmt: skip
    for name in sorted(environment):
        if name in _KNOWN or name in _OTHERS or not name.startswith(_FOREIGN):
            continue
        near = difflib.get_close_matches(name, [*_KNOWN, "CUDA_VISIBLE_DEVICES"], 1, 0.88)
        if near:
            problem = f"nothing reads a variable of this name; did you mean {near[0]}?"
            found.append(Setting(name, "", problem, "", f"unset {name}; export {near[0]}=..."))
    return tuple(found)


# PyTorch ----------------------------------------------------------------------------------------


def _torch(value: str) -> Iterator[_Judged]:
    options: dict[str, str] = {}
    for part in _split(value):
        key, colon, given = part.partition(":")
        key = key.strip()
        if not key:
            continue
        if not colon:
            yield _Judged("", f"`{part.strip()}` has no value: it is written key:value",
                          f"export {_TORCH_OLD}=expandable_segments:True")  # fmt: skip
        elif key not in _TORCH:
            near = difflib.get_close_matches(key, _TORCH, 1, 0.6)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            yield _Judged("", f"PyTorch knows no key `{key}`, and refuses to start{hint}",
                          f"correct `{key}`")  # fmt: skip
        else:
            options[key] = given.strip()
            yield _TORCH[key](given.strip())
    asynchronous = options.get("backend", "").lower() == "cudamallocasync"
    ignored = [key for key in options if key not in ("backend", "per_process_memory_fraction")]
    if asynchronous and ignored:
        yield _Judged(
            "", f"backend:cudaMallocAsync ignores {', '.join(f'`{key}`' for key in ignored)}",
            "keep one of the two",
        )  # fmt: skip


def _split(value: str) -> list[str]:
    """At the commas that are not inside ``[...]``."""
    parts, depth = [""], 0
    for character in value:
        depth += (character == "[") - (character == "]")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip()]


def _flag(on: str, off: str = "") -> Callable[[str], _Judged]:
    def read(value: str) -> _Judged:
        if value not in ("True", "False"):
            return _Judged("", f"`{value}` is neither True nor False", "write True or False")
        return _Judged(on if value == "True" else off)

    return read


def _split_size(value: str) -> _Judged:
    if not value.isdigit():
        return _Judged("", f"max_split_size_mb:{value} is no whole number of MiB", "write 128")
    if int(value) < _SMALLEST_SPLIT:
        return _Judged(
            "", f"max_split_size_mb:{value} is refused: at least {_SMALLEST_SPLIT} is needed",
            "max_split_size_mb:128, or better expandable_segments:True",
        )  # fmt: skip
    return _Judged(f"blocks above {value} MiB are never split: less fragmentation")


def _fraction_of(key: str) -> Callable[[str], _Judged]:
    def read(value: str) -> _Judged:
        number = _number(value)
        whole = key == "garbage_collection_threshold" and number == 1
        if number is None or not 0 < number <= 1 or whole:
            return _Judged("", f"{key}:{value} is no fraction between 0 and 1", f"{key}:0.8")
        if key == "garbage_collection_threshold":
            return _Judged(f"cached blocks are given back above {number:.0%} of the memory")
        if number < 1:
            return _Judged(f"this process may take {number:.0%} of the device, no more")
        return _Judged()

    return read


def _backend(value: str) -> _Judged:
    if value not in ("native", "cudaMallocAsync"):
        return _Judged("", f"backend:{value} is unknown", "backend:native or cudaMallocAsync")
    return _Judged("CUDA's own stream-ordered pool allocates" if value != "native" else "")


def _rounding(value: str) -> _Judged:
    return _Judged(f"sizes are rounded up to parts of powers of two ({value}): that costs memory")


def _plain(_: str) -> _Judged:
    return _Judged()


_TORCH: dict[str, Callable[[str], _Judged]] = {
    "backend": _backend,
    "expandable_segments": _flag(
        "segments grow in place: little fragmentation",
        "expandable segments are off: fragmentation is possible",
    ),
    "max_split_size_mb": _split_size,
    "garbage_collection_threshold": _fraction_of("garbage_collection_threshold"),
    "per_process_memory_fraction": _fraction_of("per_process_memory_fraction"),
    "roundup_power2_divisions": _rounding,
    "roundup_bypass_threshold_mb": _plain,
    "max_non_split_rounding_mb": _plain,
    "large_segment_size_mb": _plain,
    "release_lock_on_cudamalloc": _flag(""),
    "release_lock_on_hipmalloc": _flag(""),
    "graph_capture_record_stream_reuse": _flag(""),
    "throw_on_cudamalloc_oom": _flag(""),
    "pinned_use_cuda_host_register": _flag(""),
    "pinned_use_hip_host_register": _flag(""),
    "pinned_use_background_threads": _flag(""),
    "pinned_num_register_threads": _plain,
    "pinned_reserve_segment_size_mb": _plain,
    "pinned_max_register_threads": _plain,
}


# Everyone else ----------------------------------------------------------------------------------


def _cupy_limit(value: str) -> Iterator[_Judged]:
    if value.endswith("%"):
        number = _number(value[:-1])
        if number is None or not 0 <= number <= 100:
            yield _Judged(
                "", f"`{value}` is no share from 0% to 100%", "export CUPY_GPU_MEMORY_LIMIT=50%"
            )
        else:
            yield _Judged(f"CuPy's pool may take {number:g}% of the device, no more")
    elif value.isdigit():
        limit = f"CuPy's pool may take {size(int(value))}, no more" if int(value) else ""
        yield _Judged(limit or "0 is no limit")
    else:
        exact = parsed(value)
        yield _Judged(
            "", f"`{value}` is neither a number of bytes nor a share such as 50%",
            f"export CUPY_GPU_MEMORY_LIMIT={exact if exact is not None else '50%'}",
        )  # fmt: skip


def _preallocate(value: str) -> Iterator[_Judged]:
    if value.lower() in ("false", "0", "no"):
        yield _Judged("JAX takes memory as it needs it")
    elif value.lower() in ("true", "1", "yes"):
        yield _Judged("JAX takes 75% of the device at its first operation, used or not")
    else:
        yield _Judged(
            "", f"`{value}` is neither true nor false", "export XLA_PYTHON_CLIENT_PREALLOCATE=false"
        )


def _jax_fraction(value: str) -> Iterator[_Judged]:
    number = _number(value)
    if number is None or number <= 0:
        yield _Judged("", f"`{value}` is no fraction", "export XLA_PYTHON_CLIENT_MEM_FRACTION=.50")
    elif number > 1:
        yield _Judged(
            f"JAX takes {number:g} times the device's memory",
            "above 1 only unified memory can serve it",
            "export XLA_PYTHON_CLIENT_MEM_FRACTION=.75",
        )
    else:
        yield _Judged(f"JAX takes {number:.0%} of the device at once, and no more")


def _one_of(*values: str, says: Mapping[str, str]) -> Callable[[str], Iterator[_Judged]]:
    def read(value: str) -> Iterator[_Judged]:
        known = {one.lower(): one for one in values}
        if value.lower() in known:
            yield _Judged(says.get(known[value.lower()], ""))
        else:
            near = difflib.get_close_matches(value.lower(), known, 1, 0.5)
            wanted = known[near[0]] if near else values[0]
            listed = ", ".join(values)
            yield _Judged("", f"`{value}` is none of {listed}", f"did you mean {wanted}?")

    return read


def _mps_limit(value: str) -> Iterator[_Judged]:
    for part in value.split(","):
        device, equals, given = part.partition("=")
        limit = parsed(given)
        if not equals or not device.strip().isdigit() or limit is None:
            yield _Judged("", f"`{part}` is not DEVICE=SIZE", "such as 0=8G,1=8G")
        else:
            yield _Judged(f"MPS lets this process take {size(limit)} of device {device.strip()}")


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


_SWITCH = ("0", "1", "true", "false")
_KNOWN: dict[str, Callable[[str], Iterator[_Judged]]] = {
    _TORCH_NEW: _torch,
    _TORCH_OLD: _torch,
    "PYTORCH_NO_CUDA_MEMORY_CACHING": _one_of(
        *_SWITCH, says={"1": "PyTorch caches nothing: slow, for debugging"}
    ),
    "CUPY_GPU_MEMORY_LIMIT": _cupy_limit,
    "XLA_PYTHON_CLIENT_PREALLOCATE": _preallocate,
    "XLA_PYTHON_CLIENT_MEM_FRACTION": _jax_fraction,
    "XLA_CLIENT_MEM_FRACTION": _jax_fraction,
    "XLA_PYTHON_CLIENT_ALLOCATOR": _one_of(
        "default",
        "platform",
        "bfc",
        "cuda_async",
        "vmm",
        says={"platform": "JAX gives each array back at once: slow, for debugging"},
    ),
    "TF_FORCE_GPU_ALLOW_GROWTH": _one_of(
        *_SWITCH,
        says={
            "true": "TensorFlow takes memory as it needs it",
            "false": "TensorFlow takes nearly all of the device at once",
        },
    ),
    "TF_GPU_ALLOCATOR": _one_of("cuda_malloc_async", "cuda_malloc", says={}),
    "CUDA_LAUNCH_BLOCKING": _one_of(
        "0", "1", says={"1": "every launch waits: slow, but an error is told where it happens"}
    ),
    "CUDA_MODULE_LOADING": _one_of(
        "LAZY",
        "EAGER",
        "DEFAULT",
        says={
            "EAGER": "every kernel of every library is loaded at once: hundreds of MiB more in"
            " each context",
            "LAZY": "kernels are loaded when they are first launched",
        },
    ),
    "CUDA_DEVICE_ORDER": _one_of(
        "FASTEST_FIRST",
        "PCI_BUS_ID",
        says={
            "FASTEST_FIRST": "CUDA's numbers of devices need not be nvidia-smi's",
            "PCI_BUS_ID": "CUDA's numbers of devices are nvidia-smi's",
        },
    ),
    "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": _mps_limit,
    "CUDA_MANAGED_FORCE_DEVICE_ALLOC": _one_of("0", "1", says={}),
}
KNOWN = frozenset(_KNOWN)
"""The variables whose values are recorded."""
