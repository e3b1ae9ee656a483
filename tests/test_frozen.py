"""Which ways of freezing a model that is handed over make its calls unrecorded (GPU602)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.cli import main

FEATURES = """import torch
def features(network, batches):
    found = []
    for batch in batches:
        found.append(network(batch.cuda()).cpu())
    return found
"""

CALLER = """from torch import nn
from features import features
def run(batches, teacher):
    network = nn.Linear(64, 32).cuda()
    {freeze}
    network.eval()
    print(len(features(network, batches)))
"""


@pytest.mark.parametrize(
    ("freeze", "recorded"),
    [
        ("pass", True),
        ("teacher.requires_grad_(False)", True),
        ("for one in teacher.parameters(): one.requires_grad = False", True),
        ("network.requires_grad_(True)", True),
        ("network.requires_grad_(False)", False),
        ("for one in network.parameters(): one.requires_grad = False", False),
        ("for _, one in network.named_parameters(): one.requires_grad_(False)", False),
        ("for one in (teacher, network): one.requires_grad_(False)", False),
        ("for one in list(network.parameters()): one.requires_grad = False", False),
    ],
)
def test_what_is_frozen_is_not_recorded(freeze: str, recorded: bool, tmp_path: Path) -> None:
    (tmp_path / "features.py").write_text(FEATURES)
    (tmp_path / "main.py").write_text(CALLER.format(freeze=freeze))
    report = tmp_path / "report"
    options = ["--isolated", "--no-cache", "--preview", "--select", "GPU602"]
    main([str(tmp_path), *options, "-o", str(report)])
    assert ("GPU602" in report.read_text()) == recorded
