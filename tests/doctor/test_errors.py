"""Pasted error texts, old and new wordings."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.cli import main
from cudalint.doctor.causes import causes
from cudalint.doctor.errors import understand
from cudalint.doctor.record import Case, Failure
from cudalint.doctor.sizes import parsed, size
from cudalint.doctor.text import unknown

GIB, MIB = 1 << 30, 1 << 20
OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 1; 11.00 GiB total"
    " capacity; 10.00 GiB already allocated; 3.00 MiB free; 10.50 GiB reserved in total by PyTorch)"
    " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid"
    " fragmentation. See documentation for Memory Management"
)
OLDEST = (
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 11.00 GiB total capacity;"
    " 10.00 GiB already allocated; 512.00 MiB free; 256.00 MiB cached)"
)
NEW = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
    " capacity of 80.00 GiB of which 1.00 GiB is free. Process 4242 has 60.00 GiB memory in use."
    " Including non-PyTorch memory, this process has 19.00 GiB memory in use. Of the allocated"
    " memory 18.00 GiB is allocated by PyTorch, and 500.00 MiB is reserved by PyTorch but"
    " unallocated. If reserved but unallocated memory is large try setting"
    " PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)


def numbers(failure: Failure | None) -> dict[str, object]:
    assert failure is not None
    names = ("asked", "total", "free", "live", "cached", "process", "others", "limit", "device")
    return {name: value for name in names if (value := getattr(failure, name)) is not None}


def test_pytorch_of_before_2() -> None:
    assert numbers(understand(OLD)) == {
        "asked": 20 * MIB, "total": 11 * GIB, "free": 3 * MIB, "live": 10 * GIB,
        "cached": 512 * MIB, "device": 1,
    }  # fmt: skip


def test_pytorch_of_2018() -> None:
    assert numbers(understand(OLDEST))["total"] == 11 * GIB
    assert numbers(understand(OLDEST))["asked"] == 2 * GIB


def test_pytorch_of_today() -> None:
    failure = understand(f'Traceback (most recent call last):\n  File "t.py", line 3\n{NEW}\n')
    assert numbers(failure) == {
        "asked": 2 * GIB, "total": 80 * GIB, "free": GIB, "live": 18 * GIB, "cached": 500 * MIB,
        "process": 19 * GIB, "others": 60 * GIB, "device": 0,
    }  # fmt: skip
    assert causes(Case(failure=failure))[0].name == "another-process"


def test_others_that_it_does_not_name() -> None:
    text = NEW.replace("4242 has 60.00 GiB", "4242 has 2.00 GiB")
    failure = understand(text)
    assert numbers(failure)["others"] == 60 * GIB
    assert causes(Case(failure=failure))[0].name == "another-process"


def test_its_own_process_is_no_other() -> None:
    text = NEW.replace("4242 has 60.00 GiB", "4242 has 19.00 GiB").replace(
        " Including non-PyTorch memory, this process has 19.00 GiB memory in use.", ""
    ).replace("80.00 GiB", "20.00 GiB")  # fmt: skip
    found = numbers(understand(text))
    assert (found["process"], found["others"]) == (19 * GIB, 0)


def test_broken_over_lines() -> None:
    assert numbers(understand(NEW.replace(". ", ".\n"))) == numbers(understand(NEW))


def test_its_misspelling_and_its_own_limit() -> None:
    text = NEW.replace("capacity", "capacty").replace(
        "is free.", "is free. 4.00 GiB allowed; Process"
    )
    assert numbers(understand(text))["limit"] == 4 * GIB


@pytest.mark.parametrize(
    ("text", "framework", "memory", "cause"),
    [
        ("cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes"
         " (allocated so far: 4,294,967,296 bytes, limit set to: 6,000,000,000 bytes).", "CuPy",
         "device",
         "framework-limit"),
        ("cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes"
         " (allocated so far: 4,294,967,296 bytes).", "CuPy", "device", "working-set"),
        ("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to"
         " allocate 8589934592 bytes.", "JAX", "device", "preallocation"),
        ("numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in"
         " CUDA_ERROR_OUT_OF_MEMORY", "Numba", "device", "working-set"),
        ("pycuda._driver.MemoryError: cuMemAlloc failed: out of memory", "PyCUDA", "device",
         "working-set"),
        ("MemoryError: std::bad_alloc: out_of_memory: CUDA error (failed to allocate 8589934592"
         " bytes) at: /rmm/cuda_memory_resource.hpp", "RMM", "device", "working-set"),
        ('CUDA error at main.cu:12 code=2(cudaErrorMemoryAllocation) "cudaMalloc(&p, n)"', "",
         "device", "working-set"),
        ("GPUassert: out of memory main.cu 42", "", "device", "working-set"),
        ("terminate called after throwing an instance of 'thrust::system::system_error'\n  what():"
         "  cudaErrorMemoryAllocation: out of memory", "", "device", "working-set"),
        ("RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "", "device", "library"),
        ("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
         "", "device", "library"),
        ("ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nFailed to CUDA calloc"
         " async 608 bytes", "NCCL", "device", "library"),
        ("CUDA error in cudaHostAlloc: out of memory", "", "pinned", "pinned-limit"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=123.batch. Some of the step tasks"
         " have been OOM Killed.", "", "host", "host-memory"),
        ("[Mon] Out of memory: Killed process 4242 (python) total-vm:9kB, anon-rss:2048kB", "",
         "host", "host-memory"),
        ("$ python train.py\nKilled\n", "", "host", "host-memory"),
        ("RuntimeError: DataLoader worker (pid 12) is killed by signal: Bus error. It is possible"
         " that dataloader's workers are out of shared memory.", "", "host", "shared-memory"),
        ("RuntimeError: [enforce fail at alloc_cpu.cpp:115] DefaultCPUAllocator: can't allocate"
         " memory: you tried to allocate 8589934592 bytes.", "PyTorch", "host", "host-memory"),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array with"
         " shape (1000000000,)", "NumPy", "host", "host-memory"),
        ("NVRM: Xid (PCI:0000:01:00): 48, Double Bit ECC Error", "", "device", "memory-errors"),
    ],
)  # fmt: skip
def test_wordings(text: str, framework: str, memory: str, cause: str) -> None:
    failure = understand(text)
    assert failure is not None
    assert (failure.framework, failure.memory) == (framework, memory)
    assert causes(Case(failure=failure))[0].name == cause


def test_what_a_text_does_not_say_is_unknown() -> None:
    failure = understand("GPUassert: out of memory main.cu 42")
    assert failure is not None
    assert "how much was asked for" in unknown(failure)
    assert "what other processes held" in unknown(failure)
    assert "how much was free" not in unknown(understand(NEW) or failure)


@pytest.mark.parametrize(
    "text",
    ["", "hello", "memory", "Segmentation fault", "CUDA error: an illegal memory access"],
)
def test_other_errors_are_not_taken_for_it(text: str) -> None:
    assert understand(text) is None


@given(
    st.text(max_size=400), st.sampled_from([OLD, NEW, "Killed", "RESOURCE_EXHAUSTED"]), st.text()
)
def test_anything_around_it(before: str, error: str, after: str) -> None:
    assert understand(f"{before}\n{error}\n{after}") is not None


@given(st.text())
def test_anything(text: str) -> None:
    understand(text)


@pytest.mark.parametrize("part", ["CUDA memory ", "cudaMallocHost", "out of memory 1 has 2 ",
                                  "9,", "bad_alloc\n", "CUDA alloc 9.9.9 GiB\n"])  # fmt: skip
def test_no_text_holds_it_up(part: str) -> None:
    begin = time.monotonic()
    understand(part * (2_000_000 // len(part)))
    assert time.monotonic() - begin < 5


@given(st.integers(0, 1 << 62))
def test_sizes_are_read_back(value: int) -> None:
    found = parsed(size(value))
    assert found is not None
    assert abs(found - value) <= value / 100


def test_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "error.txt"
    path.write_text(NEW)
    assert main(["doctor", "--isolated", "--explain", str(path)]) == 1
    shown = capsys.readouterr().out
    assert "1. other processes hold 60.00 GiB of the device (very likely)" in shown
    path.write_text("all went well")
    assert main(["doctor", "--isolated", "--explain", str(path)]) == 2
    assert "no out of memory" in capsys.readouterr().err
    assert main(["doctor", "--isolated", "--explain", str(path / "none")]) == 2
    capsys.readouterr()
    assert main(["doctor", "--isolated", "--explain", "-", "--snapshot", "x"]) == 2
    assert "not several" in capsys.readouterr().err
