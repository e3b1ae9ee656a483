"""The same on a real GPU, with the real frameworks: skipped where either is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.verdict import Outcome
from cudalint.runtime.confirm import ConfirmOptions, confirm
from cudalint.runtime.devices import Gpu
from cudalint.runtime.targets import targets_of
from cudalint.source import Span

pytestmark = pytest.mark.gpu
FIXTURES = Path(__file__).parent.parent.parent / "fixtures"


@pytest.fixture(scope="module")
def gpu() -> Gpu:
    try:
        return Gpu.find()
    except ValueError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("library", "code", "fixture"),
    [
        ("torch", "GPU601", "GPU601-graph-retention/bad_running_total.py"),
        ("torch", "GPU603", "GPU603-device-list-growth/bad_predictions_then_cat.py"),
        ("cupy", "GPU603", "GPU603-device-list-growth/bad_cupy_snapshots.py"),
        ("jax", "GPU603", "GPU603-device-list-growth/bad_jax_trajectory.py"),
        ("torch", "GPU606", "GPU606-retained-graph-in-loop/bad_carried_state.py"),
        ("torch", "GPU401", "GPU401-unchunked-transfer/bad_torch_features.py"),
    ],
)
def test_fixture(gpu: Gpu, library: str, code: str, fixture: str) -> None:
    pytest.importorskip(library)
    file = FIXTURES / fixture
    lines = file.read_text("utf-8").split("\n")
    row = next(n for n, line in enumerate(lines, 1) if f"expect: {code}" in line)
    finding = Finding(
        code, "name", Severity.WARNING, Confidence.HIGH, "message", str(file), Span(row, 1, row, 9)
    )
    result = confirm([finding], targets_of([file]), ConfirmOptions(gpu))
    verdict = result.findings[0].runtime
    assert verdict is not None
    assert verdict.outcome is Outcome.CONFIRMED, verdict.reason
