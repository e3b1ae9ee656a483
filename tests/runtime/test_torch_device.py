"""PyTorch on a device that is pretended: what it takes, what is shown of findings, and what it says
where it cannot be pretended."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.runtime.pretended import peaks
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.runtime.confirm import ConfirmOptions, confirm
from cudalint.runtime.devices import Simulated
from cudalint.runtime.execute import Run, RunResult, execute
from cudalint.runtime.frameworks import programs
from cudalint.runtime.observation import Limits
from cudalint.runtime.targets import targets_of
from cudalint.source import Span

MIB = 1024**2
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)


# The allocator's rules --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def allocating() -> Iterator[Any]:
    """The allocator's module, which runs in programs."""
    before = set(sys.modules)
    sys.path.insert(0, str(programs.MODULES))
    try:
        yield importlib.import_module("_cudalint_frameworks.torch_device.allocator")
    finally:
        sys.path.remove(str(programs.MODULES))
        for name in set(sys.modules) - before:
            if name.startswith("_cudalint_frameworks"):
                del sys.modules[name]


@pytest.mark.parametrize(
    ("asked", "block", "reserved"),
    [
        (1, 512, 2 * MIB),
        (513, 1024, 2 * MIB),
        (MIB, MIB, 2 * MIB),
        (MIB + 1, MIB + 512, 20 * MIB),
        (10 * MIB - 1, 10 * MIB, 10 * MIB),
        (10 * MIB - 512, 10 * MIB - 512, 20 * MIB),
        (11 * MIB, 12 * MIB, 12 * MIB),
    ],
)
def test_sizes(allocating: Any, asked: int, block: int, reserved: int) -> None:
    allocator = allocating.Allocator(0, 1 << 30)
    allocator.allocate(asked)
    assert (allocator.allocated, allocator.reserved) == (block, reserved)


def test_what_does_not_fit_is_tried_again_without_the_cache(allocating: Any) -> None:
    allocator = allocating.Allocator(0, 40 * MIB)
    allocator.release(allocator.allocate(30 * MIB))
    allocator.allocate(36 * MIB)
    assert (allocator.retries, allocator.reserved) == (1, 36 * MIB)
    with pytest.raises(allocating.OutOfDeviceMemoryError, match=r"allocate 8\.00 MiB"):
        allocator.allocate(8 * MIB)
    assert allocator.failures == 1


@given(st.lists(st.tuples(st.integers(1, 30 * MIB), st.booleans()), max_size=40))
def test_blocks_never_overlap_and_all_come_back(
    allocating: Any, steps: list[tuple[int, bool]]
) -> None:
    allocator = allocating.Allocator(0, 1 << 40)
    held: list[Any] = []
    for size, release in steps:
        held.append(allocator.allocate(size))
        if release:
            allocator.release(held.pop(0))
        places = sorted((one.address, one.address + one.size) for one in held)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(places))
        assert allocator.allocated == sum(one.size for one in held) <= allocator.reserved
        parts = [b for segment in allocator.segments() for b in segment["blocks"]]
        assert sum(part["size"] for part in parts) == allocator.reserved
    for one in held:
        allocator.release(one)
    allocator.empty()
    assert allocator.allocated == allocator.reserved == 0


# Programs ---------------------------------------------------------------------------------------


def run(folder: Path, text: str, device: Simulated | None = None) -> RunResult:
    file = folder / "program.py"
    file.write_text(textwrap.dedent(text))
    environment = programs.environment() | {programs.TRACE: str(folder / "trace")}
    command = programs.script_command(file)
    return execute(Run(command, device or Simulated(), environment=environment))


@needs_torch
def test_what_a_program_sees(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import copy, torch
        assert torch.cuda.is_available() and torch.cuda.device_count() == 1
        x = torch.randn(4, 4, device="cuda", requires_grad=True)
        assert x.device == torch.device("cuda", 0) and x.is_cuda
        assert torch.cuda.memory_allocated() == 512, torch.cuda.memory_allocated()
        assert torch.cuda.mem_get_info()[1] == torch.cuda.get_device_properties(0).total_memory
        host = torch.ones(3, 4)
        assert not host.is_cuda and (host.cuda() @ x).is_cuda and not x.cpu().is_cuda
        try:
            host @ x
        except RuntimeError as error:
            assert "same device" in str(error)
        else:
            raise AssertionError("two devices")
        try:
            x.detach().numpy()
        except TypeError as error:
            assert "cuda:0" in str(error)
        net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.RNN(8, 4)).cuda()
        net(torch.ones(2, 8, device="cuda"))[0].sum().backward()
        torch.optim.Adam(net.parameters()).step()
        assert next(copy.deepcopy(net).parameters()).is_cuda
        leaf = torch.ones(5, requires_grad=True)
        (leaf.cuda() * 2).sum().backward()
        assert not leaf.grad.is_cuda and leaf.grad.tolist() == [2.0] * 5
        torch.save(net.state_dict(), "net.pt")
        assert torch.load("net.pt")["0.weight"].is_cuda
        assert not torch.load("net.pt", map_location="cpu")["0.weight"].is_cuda
        with torch.autocast("cuda"):
            assert net[0](torch.ones(2, 8, device="cuda")).dtype == torch.float16
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.ones(2, device="cuda")
        try:
            torch.empty(1 << 40, device="cuda")
        except torch.cuda.OutOfMemoryError as error:
            assert "Tried to allocate 4096.00 GiB" in str(error)
        else:
            raise AssertionError("room")
        print("done")
        """,
    )
    assert result.stdout.strip() == "done", result.stderr


@needs_torch
@pytest.mark.slow
def test_peaks_are_those_of_a_gpu() -> None:
    differences = {name: abs(here / there - 1) for name, here, there in peaks()}
    assert len(differences) == 8
    assert max(differences.values()) < 0.001, differences


def verdict(folder: Path, code: str, text: str, **stand_ins: str) -> Verdict:
    """What a run says of a finding on the line that is marked."""
    file = folder / "program.py"
    file.write_text(textwrap.dedent(text))
    row = next(n for n, line in enumerate(file.read_text().split("\n"), 1) if "HERE" in line)
    finding = Finding(
        code, "name", Severity.WARNING, Confidence.HIGH, "message", str(file),
        Span(row, 1, row, 80), "work",
    )  # fmt: skip
    options = ConfirmOptions(Simulated(), seconds=30.0, limits=Limits(transfer=MIB))
    environment = programs.stand_ins_environment(stand_ins)
    targets = [replace(one, environment=environment) for one in targets_of([file])]
    found = confirm([finding], targets, options).findings[0].runtime
    assert found is not None
    return found


EPOCH = """
    import torch
    net = torch.nn.Linear(256, 256).cuda()
    data = torch.rand(800, 256).cuda()  # {data}
    kept = []
    for step in range(8):
        batch = data[100 * step : 100 * step + 100]
        score = net(batch).relu().exp()  # {score}
        kept.append(score{end})  # {kept}
        torch.cuda.empty_cache()  # {flush}
    {after}
    print(len(kept))
"""
PLACES = {"data": "", "score": "", "kept": "", "flush": "", "end": "", "after": ""}


@needs_torch
@pytest.mark.parametrize(
    ("code", "place", "says"),
    [
        ("GPU402", "data", "819,200 bytes of this line are on the device at once"),
        ("GPU602", "score", "for graphs that nothing goes back through"),
        ("GPU603", "kept", "device memory grows by"),
        ("GPU504", "flush", "8 calls in one run give"),
    ],
)
def test_what_is_shown(tmp_path: Path, code: str, place: str, says: str) -> None:
    found = verdict(tmp_path, code, EPOCH.format(**PLACES | {place: "HERE"}))
    assert found.outcome is Outcome.CONFIRMED, found.reason
    assert says in found.evidence[0].message
    assert "program.py:" in found.evidence[0].stack[0]


@needs_torch
@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("GPU402", {"data": "HERE", "after": "data.sum().item()"}),
        ("GPU602", {"score": "HERE", "after": "kept[-1].sum().backward()"}),
        ("GPU603", {"kept": "HERE", "end": ".sum().item()"}),
        ("GPU401", {"data": "HERE"}),
    ],
)
def test_what_is_not_shown(tmp_path: Path, code: str, changes: dict[str, str]) -> None:
    found = verdict(tmp_path, code, EPOCH.format(**PLACES | changes))
    assert found.outcome in (Outcome.REFUTED, Outcome.NOT_REACHED), found.evidence
    assert found.reason


RETAINED = """
    import torch
    weights = torch.ones(64, 64, requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=0.01)
    term = torch.tanh(weights).sum(0)
    for step in range(5):
        loss = {loss}
        loss.backward(retain_graph=True)  # HERE
        {after}
        optimizer.step()
"""
STEP = "torch.tanh(torch.rand(16, 64) @ weights).mean()"


@needs_torch
@pytest.mark.parametrize(
    ("loss", "after", "outcome", "says"),
    [
        (STEP, "", Outcome.CONFIRMED, "nothing of these in 5 passes"),
        (f"{STEP} + term.sum()", "", Outcome.CONFIRMED, "goes through the graph of an earlier one"),
        (STEP, "loss.backward()", Outcome.REFUTED, "another line goes through the graph again"),
        ("term[step]", "", Outcome.REFUTED, "the same graph is gone through again in each pass"),
        ("weights.sum()", "", Outcome.REFUTED, "graphs keep no more than"),
    ],
)
def test_what_a_retained_graph_keeps(
    tmp_path: Path, loss: str, after: str, outcome: Outcome, says: str
) -> None:
    found = verdict(tmp_path, "GPU606", RETAINED.format(loss=loss, after=after))
    assert found.outcome is outcome, found
    assert says in "".join([found.reason, *(one.message for one in found.evidence)])


@needs_torch
@pytest.mark.parametrize("caught", [False, True])
def test_what_is_not_simulated_is_never_clean(tmp_path: Path, caught: bool) -> None:
    text = """
        import torch
        try:
            graph = torch.cuda.CUDAGraph()
        except RuntimeError:
            if not {caught}: raise
        x = torch.ones(10, device="cuda")  # HERE
    """
    found = verdict(tmp_path, "GPU401", text.format(caught=caught))
    assert found.outcome is Outcome.NOT_RUNNABLE
    assert "not simulated: torch.cuda.CUDAGraph" in found.reason


def test_what_cannot_be_pretended_is_never_clean(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("__version__ = '0.1'\nclass cuda: ...\n")
    found = verdict(tmp_path, "GPU401", "import torch\nx = 1  # HERE\n")
    assert found.outcome is not Outcome.REFUTED
    trace = run(tmp_path, "import torch\n")
    assert trace.exit_status == 0
    (hooks,) = programs.read_traces(tmp_path / "trace")
    notes = [event.text for event in hooks.trace.events]
    assert any(note.startswith("not simulated: PyTorch 0.1") for note in notes)


@needs_torch
def test_large_tensors_take_no_memory_of_the_host(tmp_path: Path) -> None:
    found = verdict(
        tmp_path,
        "GPU401",
        """
        import torch
        x = torch.rand(200_000, 20_000).cuda()  # HERE
        print((x @ torch.ones(20_000, device="cuda")).sum().item())
        """,
    )
    assert found.outcome is Outcome.CONFIRMED, found.reason
    assert "16,000,000,000 bytes arrive" in found.evidence[0].message


@needs_torch
@pytest.mark.parametrize(("rows", "outcome"), [(9000, "confirmed"), (10, "not-reached")])
def test_small_data_stands_in(tmp_path: Path, rows: int, outcome: str) -> None:
    text = """
        import torch
        x = torch.load("data/train.pt").cuda()  # HERE
        print(x.sum().item())
    """
    found = verdict(tmp_path, "GPU401", text, **{"data/*.pt": f"float32 {rows}x64"})
    assert found.outcome.value == outcome, found.reason
    assert outcome == "confirmed" or "small data stands in for data/train.pt" in found.reason
