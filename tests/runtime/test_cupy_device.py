"""CuPy's stand-in on a simulated device: what its pool takes, what is shown of findings, and what
it says where it does not simulate."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.runtime.confirm import ConfirmOptions, confirm
from cudalint.runtime.devices import Simulated
from cudalint.runtime.events import EventKind
from cudalint.runtime.execute import Run, RunResult, execute
from cudalint.runtime.frameworks import programs
from cudalint.runtime.observation import Limits
from cudalint.runtime.targets import targets_of
from cudalint.source import Span

pytest.importorskip("numpy")
MIB = 1024**2


def run(folder: Path, text: str, device: Simulated | None = None) -> RunResult:
    file = folder / "program.py"
    file.write_text("import cupy as cp, numpy as np\n" + textwrap.dedent(text))
    environment = programs.environment() | {programs.TRACE: str(folder / "trace")}
    command = programs.script_command(file)
    return execute(Run(command, device or Simulated(), environment=environment))


def passes(folder: Path, text: str, device: Simulated | None = None) -> None:
    result = run(folder, text, device)
    assert result.exit_status == 0, result.stderr


def judged(
    folder: Path, text: str, code: str, row: int, device: Simulated | None = None
) -> Verdict:
    """The verdict on a finding in a line of a program."""
    file = folder / "program.py"
    file.write_text("import cupy as cp, numpy as np\n" + textwrap.dedent(text))
    span = Span(row, 1, row, 2)
    finding = Finding(
        code, "name", Severity.WARNING, Confidence.HIGH, "message", str(file), span, "", ""
    )
    device = device or Simulated()
    options = ConfirmOptions(device, limits=Limits(100 * MIB, device.memory))
    (told,) = confirm([finding], targets_of([file]), options).findings
    assert told.runtime is not None
    return told.runtime


# The pool's rules ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "used"), [(1, 512), (512, 512), (513, 1024), (5000, 5120), (0, 0)]
)
def test_sizes_are_rounded_to_512_bytes(tmp_path: Path, size: int, used: int) -> None:
    passes(
        tmp_path,
        f"""
        a = cp.empty({size}, dtype=cp.uint8)
        pool = cp.get_default_memory_pool()
        assert (pool.used_bytes(), pool.total_bytes()) == ({used}, {used}), pool.used_bytes()
        """,
    )


def test_blocks_are_split_joined_and_given_back(tmp_path: Path) -> None:
    passes(
        tmp_path,
        """
        pool = cp.get_default_memory_pool()
        a = cp.empty(4096, dtype=cp.uint8)
        del a
        assert (pool.used_bytes(), pool.free_bytes(), pool.n_free_blocks()) == (0, 4096, 1)
        b = cp.empty(1024, dtype=cp.uint8)  # cut from it
        assert (pool.used_bytes(), pool.total_bytes(), pool.n_free_blocks()) == (1024, 4096, 1)
        pool.free_all_blocks()              # the rest cannot go while its neighbour lives
        assert pool.total_bytes() == 4096
        c = cp.empty(3072, dtype=cp.uint8)
        assert (pool.total_bytes(), pool.n_free_blocks()) == (4096, 0)
        del b, c
        assert pool.n_free_blocks() == 1    # joined
        with cp.cuda.Stream():
            d = cp.empty(4096, dtype=cp.uint8)  # another stream has another arena
        assert pool.total_bytes() == 8192
        pool.free_all_blocks()
        assert pool.total_bytes() == 4096
        """,
    )


def test_a_view_keeps_the_whole_storage(tmp_path: Path) -> None:
    passes(
        tmp_path,
        """
        pool = cp.get_default_memory_pool()
        a = cp.zeros((1024, 1024), dtype=cp.float32)
        row = a[3]
        row += 1
        assert float(a.sum()) == 1024 and row.data.ptr == a.data.ptr + 3 * 4096
        del a
        assert pool.used_bytes() >= 1 << 22
        del row
        assert pool.used_bytes() == 0
        """,
    )


def test_out_of_memory(tmp_path: Path) -> None:
    passes(
        tmp_path,
        """
        pool = cp.get_default_memory_pool()
        free, total = cp.cuda.runtime.memGetInfo()
        assert free == total == 64 << 20
        a = cp.empty(40 << 20, dtype=cp.uint8)
        try:
            cp.empty(30 << 20, dtype=cp.uint8)
        except cp.cuda.memory.OutOfMemoryError as error:
            assert "allocating 31,457,280 bytes (allocated so far: 41,943,040" in str(error)
        else:
            raise SystemExit("there was room")
        del a
        cp.empty(60 << 20, dtype=cp.uint8)  # what was kept goes back first
        pool.free_all_blocks()
        pool.set_limit(size=1 << 20)
        try:
            cp.empty(2 << 20, dtype=cp.uint8)
        except cp.cuda.memory.OutOfMemoryError as error:
            assert "limit set to: 1,048,576" in str(error)
        else:
            raise SystemExit("there was no limit")
        """,
        Simulated(capacity=64 * MIB),
    )


# What programs see --------------------------------------------------------------------------------


def test_what_a_program_computes(tmp_path: Path) -> None:
    passes(
        tmp_path,
        """
        a = cp.asarray(np.arange(12.0).reshape(3, 4))
        assert type(a.sum()) is cp.ndarray and a.sum().ndim == 0
        assert np.array_equal((a.T @ a).get(), np.arange(12.0).reshape(3, 4).T @ a.get())
        assert isinstance(np.sin(a), cp.ndarray) and isinstance(1 + a, cp.ndarray)
        assert cp.get_array_module(a) is cp and cp.get_array_module(a.get()) is np
        assert cp.linalg.norm(cp.asarray([3.0, 4.0])).item() == 5.0
        assert cp.asnumpy(cp.where(a > 3, a, 0)).sum() == a.get()[a.get() > 3].sum()
        for wrong in (lambda: np.asarray(a), lambda: a + np.ones(4), lambda: cp.sum(np.ones(4))):
            try:
                wrong()
            except TypeError:
                continue
            raise SystemExit("the host's and the device's do not mix")
        """,
    )


def test_large_arrays_have_a_size_only(tmp_path: Path) -> None:
    passes(
        tmp_path,
        """
        a = cp.ones((60_000, 60_000), dtype=cp.float32)  # 14.4 GB
        b = a * 2 + 1
        assert b.shape == a.shape and b.dtype == cp.float32
        assert cp.get_default_memory_pool().used_bytes() == 2 * 14_400_000_000
        """,
    )
    notes = notes_of(tmp_path)
    assert not notes  # Nothing was read of them.
    run(tmp_path, "print(float(cp.ones((60_000, 60_000)).sum()))")
    assert any("contents of arrays above" in note for note in notes_of(tmp_path))


def notes_of(folder: Path) -> list[str]:
    return [
        event.text
        for one in programs.read_traces(folder / "trace")
        for event in one.trace.events
        if event.kind is EventKind.NOTE
    ]


def test_it_cannot_be_imported_by_other_programs(tmp_path: Path) -> None:
    if importlib.util.find_spec("cupy") is not None:
        pytest.skip("CuPy is installed")
    for modules in ("", str(programs.MODULES)):
        environment = {**os.environ, "PYTHONPATH": modules}
        done = subprocess.run(
            [sys.executable, "-c", "import cupy"], env=environment, capture_output=True, text=True
        )
        assert "No module named 'cupy'" in done.stderr


# Verdicts -----------------------------------------------------------------------------------------


def test_a_list_on_the_device_grows(tmp_path: Path) -> None:
    text = """
        kept = []
        for number in range(12):
            kept.append(cp.ones(100_000) * number)
    """
    verdict = judged(tmp_path, text, "GPU603", 5)
    assert verdict.outcome is Outcome.CONFIRMED
    assert "800,256 bytes per pass" in verdict.evidence[0].message


def test_a_list_of_the_host_does_not(tmp_path: Path) -> None:
    text = """
        kept = []
        for number in range(12):
            kept.append((cp.ones(100_000) * number).get())
    """
    assert judged(tmp_path, text, "GPU603", 5).outcome is Outcome.REFUTED


def test_an_allocation_above_the_device(tmp_path: Path) -> None:
    device = Simulated(capacity=1024 * MIB)
    verdict = judged(tmp_path, "a = cp.zeros((20_000, 20_000))\n", "GPU501", 2, device)
    assert verdict.outcome is Outcome.CONFIRMED
    assert "out of memory" in verdict.evidence[0].message


def test_raw_memory_leaks(tmp_path: Path) -> None:
    text = """
        def main():
            block = cp.cuda.runtime.malloc(4096)
            cp.cuda.runtime.memset(block, 0, 4096)
            {release}
        main()
    """
    leaking = judged(tmp_path, text.format(release="pass"), "GPU101", 4)
    assert leaking.outcome is Outcome.CONFIRMED and leaking.evidence[0].bytes == 4096
    released = text.format(release="cp.cuda.runtime.free(block)")
    assert judged(tmp_path, released, "GPU101", 4).outcome is not Outcome.CONFIRMED


def test_what_a_module_keeps_is_not_lost(tmp_path: Path) -> None:
    text = """
        known = {}
        def block():
            if "block" not in known:
                known["block"] = cp.cuda.runtime.malloc(4096)
            return known["block"]
        block()
    """
    assert judged(tmp_path, text, "GPU101", 6).outcome is Outcome.KEPT


@pytest.mark.parametrize(
    ("threads", "outcome"), [(1024, Outcome.NOT_RUNNABLE), (1025, Outcome.CONFIRMED)]
)
def test_a_launch_that_no_device_takes(tmp_path: Path, threads: int, outcome: Outcome) -> None:
    text = f"""
        kernel = cp.RawKernel('extern "C" __global__ void k(float *a) {{}}', "k")
        kernel((1,), ({threads},), (cp.ones(4),))
    """
    assert judged(tmp_path, text, "GPU304", 4).outcome is outcome


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("cp.cuda.nccl", "not simulated: cupy.cuda.nccl"),
        ("cp.no_such_function(a)", "not simulated: cupy.no_such_function"),
        ("cp.random.no_such_law()", "not simulated: cupy.random.no_such_law"),
    ],
)
def test_what_is_not_simulated_says_so(tmp_path: Path, call: str, reason: str) -> None:
    for text in (
        f"a = cp.ones(4)\n{call}\n",
        f"try:\n    {call}\nexcept Exception: a = cp.ones(4)\n",
    ):
        verdict = judged(tmp_path, text, "GPU401", 2 if text.startswith("a") else 4)
        assert verdict.outcome is Outcome.NOT_RUNNABLE
        assert reason in verdict.reason


def test_what_a_kernel_computes_is_not_known(tmp_path: Path) -> None:
    text = """
        a = cp.ones(4)
        cp.ElementwiseKernel("float64 x", "float64 y", "y = x + 1", "plus")(a)
    """
    verdict = judged(tmp_path, text, "GPU401", 3)
    assert verdict.outcome is Outcome.NOT_RUNNABLE
    assert verdict.reason == "not simulated: what the kernel plus computes"
