"""Proof for functions of Python modules that no script calls."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.runtime.confirm import ConfirmOptions, confirm
from cudalint.runtime.devices import Simulated
from cudalint.runtime.harness.making import HarnessOptions
from cudalint.runtime.sweep import Budget
from cudalint.source import Span


@pytest.fixture(autouse=True)
def _needs(compiler: Path) -> None:
    """The ledger is compiled."""


HEAD = """\
from __future__ import annotations
import dataclasses
from collections.abc import Callable, Sequence
from cuda.bindings import runtime as rt
OK = rt.cudaError_t.cudaSuccess
"""


def verdict(
    folder: Path, text: str, code: str = "GPU102", keep: Path | None = None, *, harness: bool = True
) -> Verdict:
    file = folder / "pool.py"
    text = HEAD + textwrap.dedent(text)
    file.write_text(text)
    rows = {
        mark: number
        for number, line in enumerate(text.split("\n"), 1)
        for mark in ("HERE", "FAILS")
        if mark in line
    }
    spans = {mark: Span(row, 1, row, 80) for mark, row in rows.items()}
    steps = [Step(str(file), spans["FAILS"], "`cudaMalloc` fails")] if "FAILS" in rows else []
    finding = Finding(
        code, "name", Severity.WARNING, Confidence.HIGH, "message", str(file), spans["HERE"],
        steps=tuple(steps),
    )  # fmt: skip
    options = ConfirmOptions(
        Simulated(), Budget(120.0), seconds=30.0,
        harnesses=HarnessOptions(keep=keep) if harness else None,
    )  # fmt: skip
    found = confirm([finding], [], options).findings[0].runtime
    assert found is not None
    return found


EARLY = """
def upload(shape: tuple[int, int], names: Sequence[str], scale: float | None, n, *, done: Callable):
    if n <= 0 or not names or len(shape) != 2 or scale is None:
        return False
    err, weights = rt.cudaMalloc(4 * n)  # HERE
    if err != OK:
        return False
    err, bias = rt.cudaMalloc(n)  # FAILS
    if err != OK:
        {release}
        return False
    done(n)
    rt.cudaFree(bias)
    rt.cudaFree(weights)
    return True
"""


def test_a_function_that_no_script_calls(tmp_path: Path) -> None:
    found = verdict(tmp_path, EARLY.format(release="pass"), keep=tmp_path / "kept")
    assert found.outcome is Outcome.CONFIRMED, found
    assert found.evidence[0].run.startswith("harness of `upload`, cudaMalloc at ")
    (file,) = (tmp_path / "kept").iterdir()
    assert file.name == "pool_upload.py"
    assert "keep(source.upload((number(), number(), ), " in file.read_text()


def test_its_good_twin_is_refuted(tmp_path: Path) -> None:
    found = verdict(tmp_path, EARLY.format(release="rt.cudaFree(weights)"))
    assert found.outcome is Outcome.REFUTED, found


def test_nothing_is_called_without_harnesses(tmp_path: Path) -> None:
    mark = tmp_path / "called"
    text = f"def work():\n    open({str(mark)!r}, 'w').close()\n    rt.cudaMalloc(8)  # HERE\n"
    assert verdict(tmp_path, text, "GPU101", harness=False).outcome is Outcome.NOT_RUNNABLE
    assert not mark.exists()
    assert verdict(tmp_path, text, "GPU101").outcome is Outcome.CONFIRMED
    assert mark.exists()


CLASS = """
@dataclasses.dataclass
class Shape:
    rows: int
    columns: int = 4

class Buffer:
    def __init__(self, shape: Shape, label: str = "b"):
        self.shape = shape
        self.data = None

    def fill(self, value):
        err, self.data = rt.cudaMalloc(self.shape.rows)  # HERE
        rt.cudaMemset(self.data, value * 2, self.shape.rows)

    {method}
"""
CLOSE = """def close(self):
        if self.data is not None:
            rt.cudaFree(self.data)
            self.data = None
"""


@pytest.mark.parametrize(
    ("method", "outcome"),
    [
        ("pass", Outcome.CONFIRMED),
        (CLOSE, Outcome.REFUTED),
        ("def __del__(self):\n        rt.cudaFree(self.data)\n", Outcome.REFUTED),
    ],
)
def test_a_class(tmp_path: Path, method: str, outcome: Outcome) -> None:
    found = verdict(tmp_path, CLASS.format(method=method), "GPU105")
    assert found.outcome is outcome, found


@pytest.mark.parametrize(
    "text",
    [
        "def make(n):\n    err, p = rt.cudaMalloc(n)  # HERE\n    return p\n",
        "class All:\n    def make(self, n):\n        err, self.p = rt.cudaMalloc(n)  # HERE\n",
    ],
)
def test_what_the_caller_gets_is_not_lost(tmp_path: Path, text: str) -> None:
    found = verdict(tmp_path, text, "GPU101")
    assert found.outcome is Outcome.KEPT, found
    assert "held at the end" in found.reason


def test_what_is_wrong_only_with_its_own_blocks(tmp_path: Path) -> None:
    text = "def twice(p: rt.CUdeviceptr):\n    rt.cudaFree(p)\n    rt.cudaFree(p)  # HERE\n"
    assert verdict(tmp_path, text, "GPU201").outcome is not Outcome.CONFIRMED


def test_what_only_nonsense_shows(tmp_path: Path) -> None:
    text = """
        def work(n: int):
            err, p = rt.cudaMalloc(64)  # HERE
            if n <= 0:
                return
            rt.cudaFree(p)
        """
    found = verdict(tmp_path, text)
    assert found.outcome is Outcome.NOT_REACHED, found
    assert "only sizes of nothing" in found.reason


def test_a_function_that_throws_proves_nothing(tmp_path: Path) -> None:
    text = "def work(n: int):\n    err, p = rt.cudaMalloc(n)  # HERE\n    raise ValueError('odd')\n"
    found = verdict(tmp_path, text, "GPU101")
    assert found.outcome is Outcome.NOT_REACHED, found
    assert "the function throws ValueError: odd" in found.reason


def test_a_failed_assertion_proves_nothing(tmp_path: Path) -> None:
    text = """
        def work(n: int):
            err, p = rt.cudaMalloc(n)  # HERE
            err, q = rt.cudaMalloc(n)  # FAILS
            assert err == OK
            rt.cudaFree(q)
            rt.cudaFree(p)
        """
    assert verdict(tmp_path, text).outcome is not Outcome.CONFIRMED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def work(g: Gone):\n    rt.cudaMalloc(8)  # HERE", "a `Gone` cannot be"),
        ("def work(g):\n    g.run(rt.cudaMalloc(8))  # HERE", "used as something with run"),
        ("def work(g):\n    rt.cudaMalloc(8)  # HERE", "nothing tells what it is"),
        ("rt.cudaMalloc(8)  # HERE", "no function"),
        ("import no_such_module\ndef work():\n    rt.cudaMalloc(8)  # HERE", "no_such_module"),
    ],
)
def test_no_harness_says_why(tmp_path: Path, text: str, reason: str) -> None:
    found = verdict(tmp_path, text + "\n", "GPU101")
    assert found.outcome is Outcome.NOT_RUNNABLE, found
    assert reason in found.reason


def test_a_module_of_a_package(tmp_path: Path) -> None:
    package = tmp_path / "tools" / "gpu"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "sizes.py").write_text("FACTOR = 4\n")
    text = "from .sizes import FACTOR\ndef work():\n    rt.cudaMalloc(FACTOR)  # HERE\n"
    found = verdict(package, text, "GPU101")
    assert found.outcome is Outcome.CONFIRMED, found
