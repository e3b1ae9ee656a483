"""A command on a GPU, as its hooks in PyTorch tell of it: an imitated torch keeps the history."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from cudalint.doctor.causes import causes
from cudalint.doctor.command import watch
from cudalint.doctor.record import Case, Failure, Gpu, Holder, Machine, Measured
from cudalint.runtime.trace import Mode

MIB = 1 << 20
TORCH = """
    import sys, time
    CAPACITY = 1024 << 20
    class OutOfMemoryError(RuntimeError): pass
    class cuda:
        live = 0
        history = None
        queued = []
        class memory:
            @staticmethod
            def _record_memory_history(**named): cuda.history = []
            @staticmethod
            def _snapshot(): return {"device_traces": [cuda.history]}
        @staticmethod
        def _lazy_call(function): cuda.queued.append(function)
        @staticmethod
        def is_initialized(): return cuda.history is not None
    def tell(action, frames, **values):
        cuda.history.append(
            {"action": action, "frames": frames, "time_us": time.time_ns() // 1000, **values})
    class Tensor:
        def __init__(self, size, inside=()):
            while cuda.queued: cuda.queued.pop()()
            frame, frames = sys._getframe(1), list(inside)
            while frame:
                code = frame.f_code
                frames.append(
                    {"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
                frame = frame.f_back
            if cuda.live + size > CAPACITY:
                tell("oom", frames, size=size, device_free=CAPACITY - cuda.live)
                raise OutOfMemoryError("CUDA out of memory. Tried to allocate 64.00 MiB.")
            self.size = size
            cuda.live += size
            tell("segment_alloc", [], addr=id(self), size=2 * size)
            tell("alloc", frames, addr=id(self), size=size)
        def __del__(self):
            if hasattr(self, "size"):
                cuda.live -= self.size
                tell("free_completed", [], addr=id(self), size=self.size)
"""


@dataclass(frozen=True)
class Pretended:
    """A GPU that is not asked for anything."""

    name: str = "NVIDIA Pretended"
    mode: Mode = Mode.OBSERVE
    target: str = "sm_90"
    memory: int = 1 << 30

    def environment(self) -> Mapping[str, str]:
        return {}


def machine(*holders: Holder) -> Machine:
    taken = sum(one.bytes or 0 for one in holders)
    gpu = Gpu(0, "GPU-a", total=1 << 30, used=taken, free=(1 << 30) - taken, holders=holders)
    return Machine(gpus=(gpu,), measured=(Measured(0, "GPU-a", total=1 << 30, free=gpu.free),))


def failed(folder: Path, script: str, seen: Machine) -> Failure:
    (folder / "torch.py").write_text(textwrap.dedent(TORCH))
    path = folder / "train.py"
    path.write_text(textwrap.dedent(script))
    found = watch(
        [sys.executable, str(path)], Pretended(), seen, product=None, seconds=60,
        say=lambda text: None,
    )  # fmt: skip
    assert found.failure is not None, found.result.stderr
    return found.failure


def test_a_growing_list(tmp_path: Path) -> None:
    script = """
        import torch
        kept = []
        while True:
            kept.append(torch.Tensor(64 << 20))
    """
    failure = failed(tmp_path, script, machine())
    assert (failure.asked, failure.live, failure.free) == (64 * MIB, 1024 * MIB, 0)
    assert (failure.cached, failure.total) == (1024 * MIB, 1 << 30)
    assert (failure.call, failure.framework) == ("torch.OutOfMemoryError", "PyTorch")
    assert failure.sites[0].place.endswith("train.py:5 (<module>)")
    names = [one.name for one in causes(Case(failure=failure, machine=machine()))]
    assert "growing-collection" in names


def test_a_kept_graph(tmp_path: Path) -> None:
    script = """
        import torch
        inside = [{"filename": "/v/site-packages/torch/nn/f.py", "line": 9, "name": "relu"}]
        kept = []
        while True:
            batch = torch.Tensor(16 << 20)
            for _ in range(2):
                kept.append(torch.Tensor(32 << 20, inside))
            kept.append(batch)
    """
    failure = failed(tmp_path, script, machine())
    found = causes(Case(failure=failure, machine=machine()))
    assert found[0].name == "kept-graph"
    assert found[0].evidence[0].startswith("2 lines")


def test_another_process(tmp_path: Path) -> None:
    script = """
        import torch
        torch.CAPACITY = 100 << 20
        torch.Tensor(512 << 20)
    """
    seen = machine(Holder(4242, "python serve.py", "ada", 900 * MIB, True))
    failure = failed(tmp_path, script, seen)
    assert (failure.others, failure.free) == (900 * MIB, 100 * MIB)
    first = causes(Case(failure=failure, machine=seen))[0]
    assert first.name == "another-process"
    assert "pid 4242 (python serve.py) of ada" in first.evidence[0]


@pytest.mark.parametrize("ending", ["del x", "raise SystemExit(3)"])
def test_what_does_not_run_out(tmp_path: Path, ending: str) -> None:
    (tmp_path / "torch.py").write_text(textwrap.dedent(TORCH))
    path = tmp_path / "train.py"
    path.write_text(f"import torch\nx = torch.Tensor(1 << 20)\n{ending}\n")
    found = watch(
        [sys.executable, str(path)], Pretended(), machine(), product=None, seconds=60,
        say=lambda text: None,
    )  # fmt: skip
    assert found.failure is None
    assert found.seen
