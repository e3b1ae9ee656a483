"""What is lost in functions that nothing calls, beside files that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.cli import main

LOSES = """#include <cuda_runtime.h>

static int unused() {
    float* block = nullptr;
    return cudaMalloc(&block, 64) == cudaSuccess ? 0 : 1;
}

int main() { return 0; }
"""


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        (b"// cudaMalloc\nint other() { return 0; }\n", "info"),
        (b"// cudaMalloc\nint other() { return unused(); }\n", "warning"),
        ("\ufeff// cudaMalloc, unused".encode("utf-16-le") + b"\x00\xd8\x00", "warning"),
    ],
)
def test_a_text_that_cannot_be_read_may_name_it(
    other: bytes,
    severity: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(LOSES)
    Path("b.cu").write_bytes(other)
    main(["a.cu", "b.cu", "--output-format", "concise", "--isolated", "--no-cache"])
    assert f"{severity}: `block` (cudaMalloc) is never released" in capsys.readouterr().out


RECORDS = """import torch


class Trainer:
    def __init__(self):
        self.model = torch.nn.Linear(8, 8).cuda()

    def _report(self, batches):
        self.model.eval()
        for batch in batches:
            print(self.model(batch.cuda()).argmax(1))
"""


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        ("def _report():\n    # trainer._report(batches)\n    pass\n", "info"),
        ("def report(trainer, batches):\n    trainer._report(batches)\n", "warning"),
        ("def report(trainer, batches):\n    getattr(trainer, '_report')(batches)\n", "warning"),
        ("from trainer import Trainer\n\nSteps = [Trainer._report]\n", "warning"),
    ],
)
def test_a_python_method_that_the_project_keeps_to_itself(
    other: str,
    severity: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trainer.py").write_text(RECORDS)
    Path("other.py").write_text(other)
    main([".", "--output-format", "concise", "--isolated", "--no-cache"])
    assert f"{severity}: `self.model` is called" in capsys.readouterr().out
