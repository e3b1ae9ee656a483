"""Hooks in Python frameworks and verdicts by growth, on frameworks that only imitate the interfaces
that the hooks use."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.runtime.confirm import Confirmed, ConfirmOptions, confirm
from cudalint.runtime.devices import Device, Simulated
from cudalint.runtime.events import EventKind
from cudalint.runtime.execute import Run, execute
from cudalint.runtime.faults import Fault
from cudalint.runtime.frameworks import programs
from cudalint.runtime.frameworks.growth import fit
from cudalint.runtime.frameworks.programs import FrameworkTrace
from cudalint.runtime.observation import Limits
from cudalint.runtime.targets import targets_of
from cudalint.runtime.trace import Mode
from cudalint.source import Span

# A framework whose tensors take memory that it counts, and keep what they were made of.
TORCH = """
    import sys, time
    class cuda:
        live = 0
        started = False
        queued = []
        class memory:
            @staticmethod
            def _record_memory_history(**named): cuda.history = []
            @staticmethod
            def _snapshot(): return {"device_traces": [cuda.history]}
        @staticmethod
        def _lazy_call(function): cuda.queued.append(function)
        @staticmethod
        def is_initialized(): return cuda.started
        @staticmethod
        def device_count(): return 1
        @staticmethod
        def memory_allocated(device): return cuda.live
        blocks = {}
        @staticmethod
        def caching_allocator_alloc(size):
            block = Tensor(size, above=sys._getframe(1))
            cuda.blocks[id(block)] = block
            return id(block)
        @staticmethod
        def caching_allocator_delete(mem_ptr): del cuda.blocks[mem_ptr]

    class Tensor:
        grad_fn = None
        def __init__(self, size, graph=None, above=None):
            if not cuda.started:
                cuda.started = True
                for function in cuda.queued: function()
            self.size, self.graph, self.host = size, graph, False
            cuda.live += size
            frame = above or sys._getframe(1)
            while "_cudalint" in frame.f_code.co_filename: frame = frame.f_back
            self.entry = {"addr": id(self), "size": size, "frames": [
                {"filename": frame.f_code.co_filename, "line": frame.f_lineno, "name": "f"}]}
            self.tell("alloc")
        def tell(self, action):
            if hasattr(cuda, "history"):
                now = {"action": action, "time_us": time.time_ns() // 1000}
                cuda.history.append(self.entry | now)
        def __del__(self):
            cuda.live -= self.size
            self.tell("free_completed")
        def detach(self):
            return Tensor(0)
        def cpu(self):
            return Tensor(0)
    Tensor.__module__ = "torch"
"""
CUPY_HOOK = """
    import threading
    local = threading.local()
    def active(): return local.__dict__.setdefault("hooks", [])
    class MemoryHook:
        name = "hook"
        def __enter__(self): active().append(self); return self
        def __exit__(self, *error): active().remove(self)
        def malloc_preprocess(self, **given): pass
        def malloc_postprocess(self, **given): pass
        def free_postprocess(self, **given): pass
"""
CUPY = """
    from cupy.cuda import memory_hook
    used = 0
    class Pool:
        def used_bytes(self): return used
    def get_default_memory_pool(): return Pool()
    class Array:
        def __init__(self, size):
            global used
            given = dict(device_id=0, size=size, mem_size=size)
            for hook in memory_hook.active(): hook.malloc_preprocess(**given)
            pointer = 0 if size > 10**9 else id(self)
            for hook in memory_hook.active():
                hook.malloc_postprocess(**given, mem_ptr=pointer, pmem_id=1)
            if not pointer: raise MemoryError(size)
            self.size = size
            used += size
        def __del__(self):
            global used
            if hasattr(self, "size"):
                used -= self.size
                for hook in memory_hook.active():
                    hook.free_postprocess(
                        device_id=0, mem_size=self.size, mem_ptr=id(self), pmem_id=1)
        def get(self): return bytes(4)
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


class Case:
    """A script beside imitated frameworks."""

    def __init__(self, folder: Path, text: str) -> None:
        (folder / "torch.py").write_text(textwrap.dedent(TORCH))
        (folder / "cupy" / "cuda").mkdir(parents=True)
        (folder / "cupy" / "__init__.py").write_text(textwrap.dedent(CUPY))
        (folder / "cupy" / "cuda" / "__init__.py").write_text("")
        (folder / "cupy" / "cuda" / "memory_hook.py").write_text(textwrap.dedent(CUPY_HOOK))
        self.file = folder / "program.py"
        self.text = textwrap.dedent(text)
        self.file.write_text(self.text)

    def row(self, mark: str) -> int:
        return next(n for n, line in enumerate(self.text.split("\n"), 1) if mark in line)

    def finding(self, code: str, mark: str = "HERE") -> Finding:
        span = Span(self.row(mark), 1, self.row(mark), 80)
        return Finding(
            code, "name", Severity.WARNING, Confidence.HIGH, "message", str(self.file), span, "work"
        )

    def confirm(self, *findings: Finding, device: Device | None = None) -> Confirmed:
        limits = Limits(transfer=1000, memory=5000)
        options = ConfirmOptions(device or Pretended(), seconds=20.0, limits=limits)
        return confirm(findings, targets_of([self.file]), options)

    def verdict(self, code: str, device: Device | None = None) -> Verdict:
        verdict = self.confirm(self.finding(code), device=device).findings[0].runtime
        assert verdict is not None
        return verdict

    def trace(self, folder: Path) -> FrameworkTrace:
        file = folder / "trace"
        environment = programs.environment() | {programs.TRACE: str(file)}
        result = execute(
            Run(programs.script_command(self.file), Pretended(), environment=environment)
        )
        assert result.exit_status == 0, result.stderr
        (trace,) = programs.read_traces(file)
        return trace


LOOP = """
    import torch
    def work():
        kept = []
        for step in range({passes}):
            value = torch.Tensor(512)
            {line}  # HERE
        return kept
    if __name__ == "__main__":
        kept = work()
"""


@pytest.mark.parametrize("code", ["GPU601", "GPU603"])
def test_growth_is_confirmed_with_bytes_and_with_the_change(tmp_path: Path, code: str) -> None:
    verdict = Case(tmp_path, LOOP.format(passes=12, line="kept.append(value)")).verdict(code)
    assert verdict.outcome is Outcome.CONFIRMED, verdict.reason
    plain, changed = verdict.evidence
    assert (plain.bytes, plain.run, plain.witness) == (512, "without faults", "live memory")
    assert "grows by 512 bytes per pass" in plain.message
    assert "no growth in 12 passes" in changed.message
    assert changed.run == "with the suggested change"
    assert "program.py:7 (work)" in plain.stack[0]


def test_what_does_not_grow_is_refuted(tmp_path: Path) -> None:
    verdict = Case(tmp_path, LOOP.format(passes=12, line="kept = [value]")).verdict("GPU603")
    assert verdict.outcome is Outcome.REFUTED
    assert "12 times" in verdict.reason


def test_growth_from_another_line_is_refuted(tmp_path: Path) -> None:
    line = "kept.append(torch.Tensor(256)); kept.append(0)"
    case = Case(tmp_path, LOOP.format(passes=9, line=line).replace("; ", "\n            "))
    verdict = case.verdict("GPU603")
    assert verdict.outcome is Outcome.REFUTED
    assert "this line is not why" in verdict.reason


def test_two_lines_that_keep_the_same_do_not_hide_each_other(tmp_path: Path) -> None:
    text = LOOP.format(passes=9, line="kept.append(value)\n            kept.append([value])")
    case = Case(tmp_path, text.replace("append(value)", "append(value)  # FIRST"))
    findings = [case.finding("GPU603", "FIRST"), case.finding("GPU603", "HERE")]
    for finding in case.confirm(*findings).findings:
        assert finding.runtime is not None
        assert finding.runtime.outcome is Outcome.CONFIRMED, finding.runtime.reason


def test_a_path_relative_to_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(tmp_path, LOOP.format(passes=12, line="kept.append(value)"))
    monkeypatch.chdir(tmp_path)
    finding = dataclasses.replace(case.finding("GPU603"), filename=case.file.name)
    runtime = case.confirm(finding).findings[0].runtime
    assert runtime is not None
    assert runtime.outcome is Outcome.CONFIRMED, runtime.reason


def test_too_few_passes(tmp_path: Path) -> None:
    verdict = Case(tmp_path, LOOP.format(passes=3, line="kept.append(value)")).verdict("GPU603")
    assert verdict.outcome is Outcome.NOT_REACHED
    assert "3 passes" in verdict.reason


def test_a_line_that_never_runs(tmp_path: Path) -> None:
    text = LOOP.format(passes=0, line="kept.append(value)") + "    raise ValueError('no data')\n"
    verdict = Case(tmp_path, text).verdict("GPU603")
    assert verdict.outcome is Outcome.NOT_REACHED
    assert "no data" in verdict.reason


def test_a_library_that_is_missing(tmp_path: Path) -> None:
    text = "import nowhere\n" + textwrap.dedent(LOOP.format(passes=9, line="kept.append(value)"))
    verdict = Case(tmp_path, text).verdict("GPU603")
    assert verdict.outcome is Outcome.NOT_RUNNABLE
    assert "nowhere" in verdict.reason


def test_no_growth_is_measured_of_what_is_not_simulated(tmp_path: Path) -> None:
    text = LOOP.format(passes=12, line="kept.append(value)")
    verdict = Case(tmp_path, text.replace("import torch", "import jax")).verdict(
        "GPU601", Simulated()
    )
    assert verdict.outcome is Outcome.NOT_RUNNABLE
    assert "not simulated" in verdict.reason


def test_modules_that_are_imported_are_watched(tmp_path: Path) -> None:
    case = Case(tmp_path, "import torch\nimport part\nkept = part.work()\n")
    part = tmp_path / "part.py"
    part.write_text(textwrap.dedent(LOOP.format(passes=9, line="kept.append(value)")))
    finding = case.finding("GPU603", "kept")
    finding = Finding(
        "GPU603", "name", Severity.WARNING, Confidence.HIGH, "message", str(part),
        Span(7, 1, 7, 80), "work",
    )  # fmt: skip
    result = confirm([finding], targets_of([case.file]), ConfirmOptions(Pretended()))
    assert result.findings[0].runtime is not None
    assert result.findings[0].runtime.outcome is Outcome.CONFIRMED


GRAPHS = """
    import torch
    class Node:
        next_functions = ()
    class Loss(torch.Tensor):
        def __init__(self, device, graph):
            super().__init__(device)
            self.grad_fn = Node() if graph else None
        def detach(self):
            return Loss(self.size, False)
    def work():
        kept = []
        for step in range({passes}):
            kept.append(Loss({device}, {graph}))  # HERE
    work()
"""


@pytest.mark.parametrize(("device", "passes"), [(0, 12), (512, 12), (0, 3)])
def test_graphs_are_counted_by_their_nodes(tmp_path: Path, device: int, passes: int) -> None:
    text = GRAPHS.format(device=device, graph=True, passes=passes)
    verdict = Case(tmp_path, text).verdict("GPU601")
    assert verdict.outcome is Outcome.CONFIRMED, verdict.reason
    assert f"grow by 1 nodes at each of {passes} passes" in verdict.evidence[0].message
    assert ("take 512 bytes of the device" in verdict.evidence[0].message) == (device == 512)
    assert f"no growth in {passes} passes" in verdict.evidence[1].message


def test_values_that_are_kept_without_a_graph(tmp_path: Path) -> None:
    text = GRAPHS.format(device=512, graph=False, passes=12)
    verdict = Case(tmp_path, text).verdict("GPU601")
    assert verdict.outcome is Outcome.REFUTED
    assert "this line is not why" in verdict.reason


ONCE = """
    import torch
    class Node:
        next_functions = ()
    class Value(torch.Tensor):
        grad_fn = None
        def detach(self):
            return Value(self.size)
    class Model:
        context = None
        def forward(self):
            if self.context is None:
                made = Value(512)
                made.grad_fn = {graph}
                self.context = made  # HERE
            return self.context
    model = Model()
    for _ in range({calls}):
        model.forward()
"""


@pytest.mark.parametrize(
    ("graph", "calls", "outcome"),
    [
        ("Node()", 4, Outcome.CONFIRMED),
        ("Node()", 1, Outcome.NOT_REACHED),
        ("None", 4, Outcome.NOT_REACHED),
    ],
)
def test_what_runs_once_is_kept_for_later_calls(
    tmp_path: Path, graph: str, calls: int, outcome: Outcome
) -> None:
    verdict = Case(tmp_path, ONCE.format(graph=graph, calls=calls)).verdict("GPU601")
    assert verdict.outcome is outcome, verdict.reason
    if outcome is Outcome.CONFIRMED:
        assert "1 nodes of its graph are there at each of 3 later calls" in (
            verdict.evidence[0].message
        )


def test_fit() -> None:
    assert fit([0, 5, 9]) is None
    growing = fit([0, 900, 1000, 1010, 1020, 1030])
    assert growing is not None
    assert (growing.grows, growing.per_pass) == (True, 10)
    level = fit([0, 900, 1000, 1000, 1000, 1000])
    assert level is not None
    assert not level.grows
    once = fit([0, 0, 0, 0, 500, 500, 500])
    assert once is not None
    assert not once.grows


# Bytes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "size", "outcome"),
    [
        ("GPU401", 2000, Outcome.CONFIRMED),
        ("GPU401", 500, Outcome.REFUTED),
        ("GPU501", 6000, Outcome.CONFIRMED),
        ("GPU501", 4000, Outcome.REFUTED),
        ("GPU502", 4500, Outcome.CONFIRMED),
        ("GPU502", 100, Outcome.REFUTED),
        ("GPU605", 100, Outcome.CONFIRMED),
    ],
)
@pytest.mark.parametrize("made", ["torch.Tensor", "cupy.Array"])
def test_measured_bytes(tmp_path: Path, code: str, size: int, outcome: Outcome, made: str) -> None:
    text = f"""
        import torch, cupy
        first = {made}(600)
        value = {made}({size})  # HERE
        """
    verdict = Case(tmp_path, text).verdict(code)
    assert verdict.outcome is outcome, verdict.reason
    if outcome is Outcome.CONFIRMED:
        assert any("program.py:4" in frame for frame in verdict.evidence[0].stack)


RESUMES = """
    import pathlib, torch
    def work():
        torch.Tensor(8)
        if pathlib.Path("{left}").exists():
            state = torch.Tensor(512)  # HERE
        pathlib.Path("state.pt").write_text("weights")
    if __name__ == "__main__":
        work()
"""


@pytest.mark.parametrize(
    ("left", "outcome"), [("state.pt", Outcome.CONFIRMED), ("other.pt", Outcome.NOT_REACHED)]
)
def test_what_finds_a_checkpoint_is_started_twice(
    tmp_path: Path, left: str, outcome: Outcome
) -> None:
    verdict = Case(tmp_path, RESUMES.format(left=left)).verdict("GPU605")
    assert verdict.outcome is outcome, verdict
    if outcome is Outcome.CONFIRMED:
        assert verdict.evidence[0].run == "started again where a run before has left its files"
        assert "512 bytes are on the device after it" in verdict.evidence[0].message


def test_an_allocation_that_fails(tmp_path: Path) -> None:
    text = """
        import cupy
        try:
            cupy.Array(10**12)  # HERE
        except MemoryError:
            print("too much")
        """
    verdict = Case(tmp_path, text).verdict("GPU501")
    assert verdict.outcome is Outcome.CONFIRMED
    assert "out of memory" in verdict.evidence[0].message


@pytest.mark.parametrize(
    ("code", "text", "outcome"),
    [
        ("GPU304", "CUDA_ERROR_INVALID_VALUE: invalid argument", Outcome.CONFIRMED),
        ("GPU302", "out of resource: shared memory, Required: 300000", Outcome.CONFIRMED),
        (
            "GPU301",
            "ptxas error: '_Z4workv' uses too much shared data",
            Outcome.CONFIRMED,
        ),
        ("GPU304", "no such file", Outcome.NOT_REACHED),
    ],
)
def test_a_launch_that_is_refused(tmp_path: Path, code: str, text: str, outcome: Outcome) -> None:
    program = f"import cupy\ndef work():\n    raise RuntimeError({text!r})\nwork()  # HERE\n"
    case = Case(tmp_path, program)
    result = case.confirm(case.finding(code))
    verdict = result.findings[0].runtime
    assert verdict is not None
    assert verdict.outcome is outcome, verdict.reason
    assert result.seen == ()


@pytest.mark.parametrize(
    ("code", "error", "outcome"),
    [
        ("GPU406", 'CUDARuntimeError("cudaErrorInvalidValue: invalid argument")', "CONFIRMED"),
        ("GPU203", 'CUDARuntimeError("cudaErrorInvalidValue: invalid argument")', "CONFIRMED"),
        ("GPU202", 'LogicError("cuMemcpyDtoH failed: invalid argument")', "CONFIRMED"),
        ("GPU303", 'LogicError("cuLaunchKernel failed: invalid argument")', "CONFIRMED"),
        ("GPU202", 'LogicError("no module was loaded")', "NOT_REACHED"),
    ],
)
def test_a_call_that_fails(tmp_path: Path, code: str, error: str, outcome: str) -> None:
    text = f"""
        import cupy
        class CUDARuntimeError(RuntimeError): pass
        class LogicError(RuntimeError): pass
        raise {error}  # HERE
        """
    case = Case(tmp_path, text)
    assert case.verdict(code).outcome is Outcome[outcome]
    assert case.confirm().seen == ()


# Hooks ------------------------------------------------------------------------------------------


def test_what_python_owns_is_no_leak(tmp_path: Path) -> None:
    text = """
        import threading, torch, cupy
        kept = torch.Tensor(100), cupy.Array(200)
        cupy.Array(300)
        threading.Thread(target=lambda: cupy.Array(400)).start()
        """
    case = Case(tmp_path, text)
    trace = case.trace(tmp_path).trace
    acquired = [event.bytes for event in trace.events if event.kind is EventKind.ACQUIRE]
    assert sorted(acquired) == [100, 200, 300, 400]
    released = [event.bytes for event in trace.events if event.kind is EventKind.RELEASE]
    assert sorted(released) == sorted(acquired)
    assert trace.complete
    assert case.confirm().seen == ()


PYCUDA = """
    class DeviceAllocation:
        count = 0
        def __init__(self):
            DeviceAllocation.count += 1
            self.address = 4096 * DeviceAllocation.count
        def __int__(self): return self.address
        def free(self): self.address, was = None, self.address
    class Managed:
        pass
    class View:
        def __init__(self, base): self.base, self.nbytes = base, 64
        @property
        def ctypes(self): return type("Pointer", (), {"data": id(self.base)})
    def mem_alloc(size): return DeviceAllocation()
    def mem_alloc_pitch(width, height, access): return DeviceAllocation(), 512
    def managed_empty(shape, dtype): return View(Managed())
    def managed_zeros(shape, dtype): return module().managed_empty(shape, dtype)
    def module():
        import sys
        return sys.modules["pycuda.driver"]
"""


def test_pycuda_frees_when_told_and_when_nobody_asks_any_more(tmp_path: Path) -> None:
    text = """
        import pycuda.driver as driver
        driver.mem_alloc(100).free()
        driver.mem_alloc(200)
        kept = driver.mem_alloc(300)
        image, pitch = driver.mem_alloc_pitch(100, 8, 4)
        image.free()
        view = driver.managed_zeros(16, "f4")
        del view
        """
    case = Case(tmp_path, text)
    (tmp_path / "pycuda").mkdir()
    (tmp_path / "pycuda" / "__init__.py").write_text("")
    (tmp_path / "pycuda" / "driver.py").write_text(textwrap.dedent(PYCUDA))
    events = case.trace(tmp_path).trace.events
    assert [e for e in events if e.kind is EventKind.NOTE] == []
    acquired = [event for event in events if event.kind is EventKind.ACQUIRE]
    assert [event.bytes for event in acquired] == [100, 200, 300, 4096, 64]
    released = [event for event in events if event.kind is EventKind.RELEASE]
    assert [event.bytes for event in released] == [100, 200, 4096, 64, 300]


def test_a_hook_that_fails_is_a_note(tmp_path: Path) -> None:
    case = Case(tmp_path, "import cupy\nprint(cupy.Array(5).size)\n")
    (tmp_path / "cupy" / "cuda" / "memory_hook.py").write_text("active = list\n")
    trace = case.trace(tmp_path).trace
    (note,) = [event.text for event in trace.events if event.kind is EventKind.NOTE]
    assert "cupy is not watched: AttributeError" in note


BINDINGS = """
    import enum
    class cudaError_t(enum.IntEnum):
        cudaSuccess = 0
        cudaErrorMemoryAllocation = 2
    def cudaMalloc(size): return cudaError_t.cudaSuccess, 4096
    def cudaFree(pointer): return (cudaError_t.cudaSuccess,)
"""


@pytest.mark.parametrize("nth", [1, 2])
def test_real_bindings_are_wrapped_and_fail_when_asked(tmp_path: Path, nth: int) -> None:
    text = """
        import cupy
        from cuda.bindings import runtime
        for size in (10, 20):
            status, pointer = runtime.cudaMalloc(size)
            print(int(status), pointer)
        runtime.cudaFree(4096)
        """
    case = Case(tmp_path, text)
    folder = tmp_path / "cuda" / "bindings"
    folder.mkdir(parents=True)
    for init in (folder.parent / "__init__.py", folder / "__init__.py"):
        init.write_text("")
    (folder / "runtime.py").write_text(textwrap.dedent(BINDINGS))
    fault = Fault(call=nth, api="cudaMalloc")
    file = tmp_path / "trace"
    environment = programs.environment() | {programs.TRACE: str(file)}
    result = execute(
        Run(programs.script_command(case.file), Pretended(), fault, environment=environment)
    )
    assert result.stdout.split("\n")[nth - 1] == "2 None", result.stderr
    (trace,) = programs.read_traces(file)
    injected = [event for event in trace.trace.events if event.injected]
    assert [(event.api, event.status, event.call) for event in injected] == [("cudaMalloc", 2, nth)]
    assert injected[0].stack[0].line == 5


def test_site_customisation_watches_any_python(tmp_path: Path) -> None:
    case = Case(tmp_path, "import cupy\nkept = cupy.Array(70)\n")
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("print('own customisation')\n")
    file = tmp_path / "trace"
    environment = programs.environment() | {programs.TRACE: str(file)}
    environment["PYTHONPATH"] += f":{own}"
    command = (programs.script_command(case.file)[0], str(case.file))
    result = execute(Run(command, Pretended(), environment=environment))
    assert result.stdout == "own customisation\n", result.stderr
    (trace,) = programs.read_traces(file)
    assert [event.bytes for event in trace.trace.events if event.kind is EventKind.ACQUIRE] == [70]
    acquire = trace.trace.events[0]
    assert (str(case.file), 2) in [(frame.filename, frame.line) for frame in acquire.stack]


@pytest.mark.parametrize(
    ("given_back", "outcome"),
    [("", Outcome.CONFIRMED), ("torch.cuda.caching_allocator_delete(p)", Outcome.REFUTED)],
)
def test_an_address_that_no_tensor_owns(tmp_path: Path, given_back: str, outcome: Outcome) -> None:
    text = """
        import torch
        kept = torch.Tensor(64)

        def work():
            p = torch.cuda.caching_allocator_alloc(512)  # HERE
            {}
        work()
    """
    found = Case(tmp_path, text.format(given_back)).verdict("GPU101")
    assert found.outcome is outcome, found


def test_a_trace_that_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "trace.12"
    file.write_text('{"kind":"acquire","time":5,"bytes":7,"family":"device"}\n{"kind":"acq\n[1]\n')
    (trace,) = programs.read_traces(tmp_path / "trace")
    assert [event.bytes for event in trace.trace.events] == [7]
    assert (trace.trace.process, trace.trace.complete) == (12, False)


def test_run_tells_the_peak_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from cudalint.commands import run
    from cudalint.project.config import Configuration
    from cudalint.project.settings import Settings

    text = "import torch\nfirst = torch.Tensor(70)\nsecond = torch.Tensor(900)\ndel first\n"
    case = Case(tmp_path, text)
    monkeypatch.setattr(run, "choose_device", lambda *given: Pretended())
    monkeypatch.setattr("cudalint.runtime.injection.watching_environment", lambda *given: {})
    interpreter = programs.script_command(case.file)[0]
    configuration = Configuration(Settings(), tmp_path)
    status = run.run_command([interpreter, str(case.file)], configuration, "gpu")
    output = capfd.readouterr().err
    assert status == run.CLEAN, output
    assert "peak 970 bytes" in output
    assert f"900 bytes from {case.file}:3" in output
