"""The HTML report in a headless Chromium: what it draws, how it filters, that it is left alone."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudalint.findings.finding import Severity
from cudalint.reports import html
from cudalint.reports.report import Report
from cudalint.reports.style import escaped
from tests.browsers import browser, contrast, luminance, open_page
from tests.reports.samples import HOSTILE, HOSTILE_NAMES, IN_CELLS, LEAK, ORDINARY, SOURCES

__all__ = ["browser", "open_page"]
pytestmark = pytest.mark.browser


@pytest.fixture
def show(open_page: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Writes a page and opens it."""
    numbers = itertools.count()

    def written(report: Report, fragment: str = "", **options: Any) -> Any:
        path = tmp_path / f"page-{next(numbers)}.html"
        path.write_text(html.render(report), encoding="utf-8")
        return open_page(path.as_uri() + fragment, **options)

    return written


def codes(page: Any) -> list[str]:
    texts = page.locator("#findings .finding .where").all_inner_texts()
    return [next(word for word in text.split() if word.startswith("GPU")) for text in texts]


def test_findings_and_errors(show: Callable[..., Any]) -> None:
    page = show(ORDINARY)
    assert "Found 1 error, 1 warning and 1 info in 3 files (1 suppressed): 1 confirmed." in (
        page.inner_text("header")
    )
    assert codes(page) == ["GPU990", "GPU992", "GPU991"]
    assert page.inner_text(".tally") == "3 findings"
    assert "src/bad.cu: is binary" in page.inner_text("section.warning")


def test_the_path_is_drawn_on_the_source(show: Callable[..., Any]) -> None:
    page = show(ORDINARY)
    page.click("#findings .finding >> nth=0")
    box = page.locator(".path")
    assert box.locator("mark").all_inner_texts() == [
        "cudaMalloc(&d_in, n * sizeof(float))", "cudaMalloc(&d_out, n * sizeof(float))",
        "return -1;", "cudaFree(d_in)",
    ]  # fmt: skip
    assert box.locator("mark.primary").inner_text() == "cudaMalloc(&d_in, n * sizeof(float))"
    assert box.locator("[data-step]").all_inner_texts() == ["1", "2", "3"]
    assert box.locator(".badge.aside").count() == 1
    arrows = box.locator("svg > path")
    assert arrows.count() == 2
    for number in range(2):
        arrow = arrows.nth(number).bounding_box()
        one, two = (box.locator(f"[data-step='{number + n}']").bounding_box() for n in (1, 2))
        assert one["y"] < arrow["y"] < two["y"] + two["height"]
        assert arrow["height"] > 0 and arrow["x"] >= box.bounding_box()["x"]
    details = page.inner_text(".details")
    for text in ("in blur", "Fix: Release d_in before the return", "GPU990 example-leak: what"):
        assert text in details
    page.click("details.rule summary")
    assert "if (a < b && c) return;" in page.inner_text("details.rule pre >> nth=0")


def test_a_path_through_files_and_back(show: Callable[..., Any]) -> None:
    page = show(ORDINARY)
    page.click("#findings .finding >> nth=2")
    box = page.locator(".path")
    assert box.locator("h3").all_inner_texts() == ["src/blur.cu", "src/helper.cu"]
    assert box.locator("[data-step]").all_inner_texts() == ["1", "3", "2"]
    shapes = [path.get_attribute("d") for path in box.locator("svg > path").all()]
    assert len(shapes) == 2 and all(" C " in shape for shape in shapes)
    evidence = page.inner_text(".evidence")
    for text in ("confirmed on simulated sm_90", "64 bytes from cudaMalloc", "at src/main.cu:3"):
        assert text in evidence
    assert page.get_attribute(".details > p a", "href") == (
        "https://docs.example.org/cudalint/rules/GPU991/"
    )


def test_marks_after_wide_characters(show: Callable[..., Any]) -> None:
    page = show(ORDINARY)
    page.click("#findings .finding >> nth=1")
    assert page.locator(".path mark").all_inner_texts() == ["cudaFree(d_out)"]


def test_filters(show: Callable[..., Any]) -> None:
    page = show(ORDINARY)
    page.click("[data-filter=info]")
    assert codes(page) == ["GPU990", "GPU991"]
    assert page.inner_text(".tally") == "2 of 3 findings"
    page.click("[data-filter=medium]")
    assert codes(page) == ["GPU990"]
    page.click("[data-filter=medium]")
    page.click("[data-filter=confirmed]")
    assert codes(page) == ["GPU990"]
    page.click("[data-filter=confirmed]")
    page.click("[data-filter=info]")
    page.select_option("#rule", "GPU991")
    assert codes(page) == ["GPU991"]
    page.select_option("#rule", "")
    page.fill("input[type=search]", "WIDE Char")
    assert codes(page) == ["GPU992"]
    page.check("#suppressed")
    assert codes(page) == ["GPU992", "GPU992"]
    assert page.locator("#findings .tag").all_inner_texts() == ["suppressed"]
    page.fill("input[type=search]", "no such text")
    assert page.inner_text(".tally") == "No finding matches."
    page.fill("input[type=search]", "")
    page.select_option("#order", "gravity")
    assert codes(page)[:2] == ["GPU991", "GPU990"]


def test_by_keyboard_alone(show: Callable[..., Any]) -> None:
    page = show(ORDINARY)
    page.keyboard.press("/")
    page.keyboard.type("released")
    assert codes(page) == ["GPU990", "GPU991"]
    page.keyboard.press("Escape")
    assert len(codes(page)) == 3
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    button = page.locator("#findings .finding").nth(1)
    assert button.get_attribute("aria-expanded") == "true"
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.keyboard.press("Enter")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    assert page.locator("#findings .finding").nth(0).get_attribute("aria-expanded") == "true"
    assert page.locator(".details").count() == 1


def test_cells(show: Callable[..., Any]) -> None:
    page = show(IN_CELLS)
    text = page.inner_text(".path")  # a single finding is open
    assert "cell 3" in text and "cell 4" in text
    assert page.locator(".path mark").all_inner_texts() == ["malloc(4)", "x"]


def test_hostile_names(show: Callable[..., Any]) -> None:
    page = show(HOSTILE)
    for number in range(len(HOSTILE_NAMES)):
        page.locator("#findings .finding").nth(number).click()
    text = page.text_content("#findings")
    for name in HOSTILE_NAMES:
        assert escaped(name) in text
    assert page.locator("main img, main script, main iframe").count() == 0
    assert [a.get_attribute("href") for a in page.locator("main a").all()] == [
        f"#{number}" for number in range(len(HOSTILE_NAMES))
    ]


def many(count: int) -> Report:
    findings = tuple(
        dataclasses.replace(LEAK, message=f"`d_{number}` is lost", fingerprint=f"f{number}")
        for number in range(count)
    )
    return Report(findings, files=count, sources=SOURCES)


def test_five_thousand_findings(show: Callable[..., Any]) -> None:
    started = time.monotonic()
    page = show(many(5000))
    assert page.inner_text(".tally") == "5,000 findings"
    assert page.locator("#findings > li").count() == 100
    page.click("#more")
    assert page.locator("#findings > li").count() == 200
    page.fill("input[type=search]", "d_4999")
    assert page.locator("#findings > li").count() == 1
    page.fill("input[type=search]", "")
    page.click("#all")
    assert page.locator("#findings > li").count() == 5000
    assert time.monotonic() - started < 60


def test_a_link_opens_its_finding(show: Callable[..., Any]) -> None:
    page = show(many(300), "#f250")
    assert page.locator(".details").count() == 1
    assert page.locator("li:has(.details)").inner_text().count("d_250") == 1
    assert page.locator("li:has(.details)").bounding_box()["y"] < 900


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours(show: Callable[..., Any], scheme: str) -> None:
    page = show(ORDINARY, color_scheme=scheme)
    page.check("#suppressed")
    for number in range(4):
        page.locator("#findings .finding").nth(number).click()

    assert (luminance(page, "body", "backgroundColor") < 0.2) == (scheme == "dark")
    for front, back in [
        ("body", "body"), (".level.error", "#findings"), (".level.warning-level", "#findings"),
        (".level.info", "#findings"), (".finding .where", "#findings"), (".row .number", ".path"),
        (".row mark", ".row mark"), (".row .badge", ".row .badge"), (".tag.leak", "#findings"),
        ("details.rule summary", "#findings"), ("footer", "body"),
    ]:  # fmt: skip
        assert contrast(page, front, back) >= 4.5, (front, back)
    other = "light" if scheme == "dark" else "dark"
    page.click(f"[data-key={other}]")
    assert (luminance(page, "body", "backgroundColor") < 0.2) == (other == "dark")


def test_on_paper(show: Callable[..., Any]) -> None:
    page = show(ORDINARY)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".details").count() == 3
    assert page.locator(".path svg").count() == 2
    assert not page.locator(".filters").is_visible() and not page.locator(".tools").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".details").count() == 0
    assert page.pdf()[:5] == b"%PDF-"


def test_a_narrow_window(show: Callable[..., Any]) -> None:
    page = show(ORDINARY)
    page.set_viewport_size({"width": 390, "height": 800})
    for number in range(3):
        page.locator("#findings .finding").nth(number).click()
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_no_findings(show: Callable[..., Any]) -> None:
    page = show(Report(files=3))
    assert "No CUDA memory misuse found in 3 files." in page.inner_text("main")
    assert page.locator("#findings").count() == 0
    grave = dataclasses.replace(LEAK, severity=Severity.ERROR, suppressed="x")
    page = show(Report((grave,)))
    assert page.inner_text(".tally") in ("0 findings", "No finding matches.")
