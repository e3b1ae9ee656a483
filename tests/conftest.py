"""What tests of several folders share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium: the one that `CUDALINT_CHROMIUM` names, one on PATH, playwright's."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        found = (shutil.which(name) for name in _CHROMIUM)
        own = driver.chromium.executable_path
        path = os.environ.get("CUDALINT_CHROMIUM") or next(filter(None, found), own)
        if not Path(path).exists():
            pytest.skip("no Chromium: none on PATH, none of playwright's, no CUDALINT_CHROMIUM")
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()
