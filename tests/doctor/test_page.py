"""The example on the page is what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudalint.cli import main

PAGE = Path(__file__).parent.parent.parent / "docs" / "doctor.md"
RECORDING = Path(__file__).parent / "recordings" / "busy_machine.json"


def test_the_example_is_rendered(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--isolated", "--machine", str(RECORDING)])
    shown = re.search(r"<!-- rendered -->\n```\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert shown is not None
    assert shown[1] == capsys.readouterr().out
