"""Error texts as frameworks, libraries, Slurm and the kernel write them, parsed into numbers.

What a text does not say stays unknown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from cudalint.doctor.record import Failure
from cudalint.doctor.sizes import parsed, size

MOST = 16 * 1024**2
"""Characters of a text that are read, from its end."""
_NEAR = 6000
_LINE, _FOLLOWING, _CONDENSED = 4000, 24, 200_000
"""How much of a line is looked at, how many lines after one that matters, how much in all: no
text can hold a report up."""
_CONTEXT = 2 * 1024**3
"""More than a context and the libraries in it take."""
_MATTERS = re.compile(
    r"(?i)memory|alloc|kill|exhausted|oom|ecc error|xid|code 137|status 137|signal: 9|/shm"
    r"|not_initialized|enomem"
)
_SIZE = r"(?:\d[\d,]*(?:\.\d+)?) ?(?:[KMGT]i?B|bytes|B)?"


@dataclass(frozen=True)
class _Kind:
    """One way to say it: ``head`` finds it, ``parts`` the numbers after it, by their group."""

    framework: str
    head: str
    parts: tuple[str, ...] = ()
    memory: Literal["device", "pinned", "host", "unknown"] = "device"
    signs: tuple[str, ...] = ()
    call: str = ""


def _part(name: str, before: str, after: str = "") -> str:
    return f"{before}(?P<{name}>{_SIZE}){after}"


_KINDS = (
    _Kind(
        "PyTorch",
        r"(?P<call>[\w.]*OutOfMemoryError|RuntimeError)?:? ?(?:CUDA|HIP) out of memory\.",
        (
            _part("asked", r"Tried to allocate "),
            r"GPU (?P<device>\d+)[ ;]",
            _part("total", r"total capac[a-z]* of "),
            _part("total", "", r" total capacity"),
            _part("free", r"of which ", r" is free"),
            _part("free", "", r" free[;)]"),
            _part("process", r"this process has ", r" memory in use"),
            _part("live", r"Of the allocated memory ", r" is allocated by PyTorch"),
            _part("live", "", r" already allocated"),
            _part("cached", r"", r" is reserved by PyTorch but unallocated"),
            _part("reserved", "", r" reserved in total by PyTorch"),
            _part("old_cached", "", r" cached\)"),
            _part("limit", "", r" allowed;"),
            _part("private", r"with ", r" allocated in private pools"),
        ),
    ),
    _Kind(
        "CuPy",
        r"(?P<call>[\w.]*OutOfMemoryError): Out of memory allocating ",
        (
            _part("asked", r"allocating "),
            _part("process", r"allocated so far: "),
            _part("limit", r"limit set to: "),
        ),
    ),
    _Kind(
        "JAX",
        r"RESOURCE_EXHAUSTED|Allocator \(GPU_\d+_bfc\) ran out of memory",
        (
            _part("asked", r"(?:trying|Failed|attempting) to allocate (?:request for )?"),
            _part("limit", r"Limit: +"),
            _part("live", r"InUse: +"),
            _part("peak", r"MaxInUse: +"),
            r"GPU_(?P<device>\d+)_bfc",
        ),
        call="XlaRuntimeError",
    ),
    _Kind("TensorFlow", r"OOM when allocating tensor", call="ResourceExhaustedError"),
    _Kind(
        "RMM",
        r"(?:std::bad_alloc|rmm::\w+|out_of_memory)[^\n]{0,200}(?:RMM|rmm|CUDA error \(failed)",
        (_part("asked", r"failed to allocate "),),
        call="rmm::out_of_memory",
    ),
    _Kind("Numba", r"Call to (?P<call>cu\w+) results in (?:UNKNOWN_)?CUDA_ERROR_OUT_OF_MEMORY"),
    _Kind("PyCUDA", r"(?P<call>cu\w+) failed: out of memory"),
    _Kind(
        "",
        r"DataLoader worker[^\n]*(?:Bus error|shared memory)|unable to (?:open|mmap|write)[^\n]*"
        r"/(?:dev/shm|torch_)|/dev/shm[^\n]*No space left",
        (),
        "host",
        ("shared-memory",),
    ),
    _Kind(
        "NCCL",
        r"Failed to CUDA (?:malloc|calloc)|NCCL WARN Cuda failure (?:2 )?'?out of memory"
        r"|nccl\w*Error[^\n]*\n?[^\n]*out of memory",
        (_part("asked", r"Failed to CUDA \w+(?: async)? "),),
        "device",
        ("library",),
    ),
    _Kind(
        "",
        r"(?P<call>(?:CUDNN|CUBLAS|CUFFT|CUSOLVER|CUSPARSE|CURAND)\w*_ALLOC(?:ATION)?_FAILED)",
        (),
        "device",
        ("library",),
    ),
    _Kind(
        "",
        r"(?P<call>CUBLAS_STATUS_NOT_INITIALIZED|CUDNN_STATUS_NOT_INITIALIZED)",
        (),
        "device",
        ("library", "not-initialized"),
    ),
    _Kind(
        "",
        r"(?P<call>cudaMallocHost|cudaHostAlloc|cudaHostRegister|cuMemHostAlloc|cuMemAllocHost|"
        r"cuMemHostRegister|pin_memory)\b[^\n]{0,300}"
        r"(?:out of memory|MemoryAllocation|OUT_OF_MEMORY)"
        r"|(?:out of memory|MemoryAllocation|OUT_OF_MEMORY)[^\n]{0,300}"
        r"(?P<call_after>cudaMallocHost|cudaHostAlloc|cudaHostRegister|cuMemHostAlloc|pin_memory)\b",
        (),
        "pinned",
    ),
    _Kind(
        "",
        r"(?:slurmstepd[^\n]{0,80})?(?:oom[-_ ]kill(?:er)?|OOM Killed|OUT_OF_MEMORY\s+\d+:\d+"
        r"|Exceeded (?:job|step) memory limit)[^\n]*",
        (r"StepId=(?P<step>\w+(?:\.\w+)*)",),
        "host",
        ("killed", "slurm"),
    ),
    _Kind(
        "",
        r"[Oo]ut of memory: Kill(?:ed)? process (?P<pid>\d+)",
        (r"anon-rss:(?P<process_kb>\d+)kB",),
        "host",
        ("killed",),
    ),
    _Kind(
        "PyTorch",
        r"DefaultCPUAllocator: (?:can't|not enough)[^\n]*memory",
        (_part("asked", r"you tried to allocate "),),
        "host",
    ),
    _Kind("NumPy", r"Unable to allocate (?P<asked>[\d.]+ [KMGT]iB) for an array", (), "host"),
    _Kind(
        "",
        r"uncorrectable ECC error|Xid \([^)]*\): (?:48|63|64|92|94|95)\b",
        (),
        "device",
        ("ecc",),
    ),
    _Kind(
        "",
        r"(?:(?P<call>c(?:uda|u)[A-Z]\w+)\b[^\n]{0,200})?"
        r"(?:cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|code=2\(|"
        r"(?:CUDA|cuda|GPUassert|thrust|NVRM|device|GPU)[^\n]{0,200}[Oo]ut of memory)",
        (r"\b(?P<call>c(?:uda|u)(?:Malloc|MemAlloc|CtxCreate)\w*)\(",),
    ),
    _Kind(
        "",
        r"(?m)^(?:\S+: line \d+: +\d+ )?Killed\b|exit(?:ed with)? (?:code|status) 137\b|signal: 9",
        (),
        "host",
        ("killed",),
    ),
    _Kind("", r"MemoryError|std::bad_alloc|[Cc]annot allocate memory|ENOMEM", (), "host"),
    _Kind("", r"(?i)\bout of memory\b", (), "unknown"),
)
_COMPILED = tuple(
    (kind, re.compile(kind.head), tuple(map(re.compile, kind.parts))) for kind in _KINDS
)
_OTHERS = re.compile(rf"(?<!this )Process (?P<pid>\d+) has (?P<bytes>{_SIZE}) memory in use")


def understand(text: str) -> Failure | None:
    """The first out of memory that a text tells of; ``None`` where it tells of none."""
    text = _condensed(text[-MOST:])
    for kind, head, parts in _COMPILED:
        found = head.search(text)
        if found is None:
            continue
        near = text[found.start() : found.start() + _NEAR]
        values: dict[str, str] = {k: v for k, v in found.groupdict().items() if v is not None}
        for part in parts:
            if more := part.search(near):
                for name, value in more.groupdict().items():
                    if value is not None:
                        values.setdefault(name, value)
        return _failure(kind, values, near, found[0])
    return None


def _condensed(text: str) -> str:
    """The lines that may matter, and those after them."""
    kept: list[str] = []
    left, room = 0, _CONDENSED
    for line in text.splitlines():
        line = line[:_LINE]
        if _MATTERS.search(line):
            left = _FOLLOWING
        if left and room > 0:
            kept.append(line)
            left -= 1
            room -= len(line)
    return "\n".join(kept)


def _failure(kind: _Kind, values: dict[str, str], near: str, said: str) -> Failure:
    sizes: dict[str, int | None] = {
        name: parsed(values[name]) if name in values else None
        for name in ("asked", "total", "free", "process", "live", "cached", "limit", "peak")
    }
    if sizes["cached"] is None and "old_cached" in values and sizes["live"] is not None:
        sizes["cached"] = _difference(parsed(values["old_cached"]), sizes["live"])
    if sizes["cached"] is None and "reserved" in values:
        sizes["cached"] = _difference(parsed(values["reserved"]), sizes["live"])
    if "process_kb" in values:
        sizes["process"] = int(values["process_kb"]) * 1024
    others: int | None = None
    notes = []
    if kind.framework == "PyTorch" and kind.memory == "device":
        listed = _listed(near, sizes)
        others = _others(listed, sizes)
        if listed:
            notes.append("it names " + ", ".join(f"pid {pid}: {size(n)}" for pid, n in listed))
    if "private" in values:
        notes.append(f"{values['private']} are in private pools: CUDA graphs keep them")
    if "step" in values:
        notes.append(f"the step of Slurm is {values['step']}")
    values["call"] = values.get("call") or values.get("call_after") or kind.call
    return Failure(
        source="text",
        memory=kind.memory,
        call=values["call"] or _short(said),
        framework=kind.framework,
        device=int(values["device"]) if "device" in values else None,
        others=others,
        signs=kind.signs,
        pid=int(values["pid"]) if values.get("pid") and "killed" in kind.signs else None,
        notes=tuple(notes),
        **_known(sizes),
    )


def _known(sizes: dict[str, int | None]) -> dict[str, Any]:
    return {name: value for name, value in sizes.items() if value is not None}


def _difference(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else max(whole - part, 0)


def _listed(text: str, sizes: dict[str, int | None]) -> list[tuple[str, int]]:
    """The other processes that it names. Before it told "this process" apart, its own was one of
    them: the one that holds about what its allocator does."""
    found = [(one["pid"], parsed(one["bytes"].strip()) or 0) for one in _OTHERS.finditer(text)]
    own = (sizes["live"] or 0) + (sizes["cached"] or 0)
    if sizes["process"] is None and own:
        for pid, held in found:
            if own <= held <= own + _CONTEXT:
                sizes["process"] = held
                return [other for other in found if other[0] != pid]
    return found


def _others(listed: list[tuple[str, int]], sizes: dict[str, int | None]) -> int | None:
    """What others hold: those that are named, or all that is neither free nor this process's, as
    processes of other containers are not named."""
    total, free, process = sizes["total"], sizes["free"], sizes["process"]
    named = sum(held for _, held in listed) if listed else None
    if total is None or free is None or process is None:
        return named
    return max(named or 0, total - free - process)


def _short(said: str) -> str:
    text = " ".join(said.split())
    return text if len(text) <= 60 else f"{text[:57]}..."
