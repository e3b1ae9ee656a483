"""Makes the pictures of the documentation: ``python docs/images/make.py`` in a clone.

Needs the test extra and a Chromium (on PATH, or named by CUDALINT_CHROMIUM).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from cudalint.cli import main

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FIXTURES = (
    "GPU102-early-exit-leak/bad_plain_ifs.cu",
    "GPU103-exception-leak",
    "GPU206-stream-order-free",
)


def report(folder: Path) -> Path:
    """An HTML report of some fixtures."""
    page = folder / "report.html"
    os.chdir(ROOT / "fixtures")
    main(["--isolated", "--no-cache", "--quiet", "--output", f"html={page}", *FIXTURES])
    return page


def pictures(page: Path) -> None:
    """The report in a light and in a dark window, the first finding open."""
    chromium = os.environ.get("CUDALINT_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            window = browser.new_page(
                viewport={"width": 1100, "height": 760}, color_scheme=scheme, offline=True
            )
            window.goto(page.as_uri())
            window.wait_for_selector("html[data-ready]")
            window.click("#findings .finding >> nth=0")
            window.evaluate("document.activeElement.blur()")
            window.mouse.move(5, 5)
            window.screenshot(path=HERE / f"report-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        pictures(report(Path(folder)))
