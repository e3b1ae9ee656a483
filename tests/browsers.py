"""A headless Chromium for the tests of pages, and the watch that is kept over them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def _chromium(own: str) -> str | None:
    named = os.environ.get("CUDALINT_CHROMIUM")
    if named:
        return named
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    return found or (own if Path(own).exists() else None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        path = _chromium(driver.chromium.executable_path)
        if path is None:
            pytest.skip("no Chromium: none on PATH, none of playwright's, no CUDALINT_CHROMIUM")
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages; at the end, nothing must have gone wrong in them: no error, no dialog, nothing
    asked of a network, and no script run that stood in a name."""
    said: list[str] = []
    asked: list[str] = []
    contexts: list[Any] = []

    def opened(address: str, **options: Any) -> Any:
        context = browser.new_context(
            viewport={"width": 1200, "height": 900}, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        page.wait_for_selector("html[data-ready]", timeout=60_000)
        return page

    yield opened
    for context in contexts:
        for page in context.pages:
            assert page.evaluate("window.hacked") is None
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file://", "blob:", "data:"))] == []


def contrast(page: Any, front: str, back: str) -> float:
    """How much a text stands out from its ground, as WCAG counts."""
    one, two = luminance(page, front, "color"), luminance(page, back, "backgroundColor")
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)


def luminance(page: Any, selector: str, name: str) -> float:
    color = page.eval_on_selector(selector, f"e => getComputedStyle(e).{name}")
    parts = [float(part) / 255 for part in color[4:-1].split(",")[:3]]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
