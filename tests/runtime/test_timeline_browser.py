"""The page in a headless Chromium: what it draws, what it answers, and that it is left alone."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Outcome
from cudalint.runtime.timeline.model import Recorded
from cudalint.runtime.timeline.page import write_timeline
from tests.browsers import browser, contrast, luminance, open_page
from tests.runtime.test_timeline_page import HOSTILE, finding, hostile
from tests.runtime.timelines import Program, frame, many, recorded

__all__ = ["browser", "open_page"]
pytestmark = pytest.mark.browser
pytest.importorskip("plotly", reason="plotly is not installed")

Show = Callable[..., Any]
"""Opens a page."""


@pytest.fixture
def show(open_page: Show, tmp_path: Path) -> Show:
    """Writes a page and opens it."""
    numbers = itertools.count()

    def written(
        runs: Sequence[Recorded],
        findings: Sequence[Finding] = (),
        failed: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Any:
        path = tmp_path / f"page-{next(numbers)}.html"
        write_timeline(runs, findings, path, failed)
        return open_page(path.as_uri(), **options)

    return written


def sample() -> Recorded:
    program = Program()
    image = program.acquire(8 << 20, frame(5))
    tiles = [program.acquire(1 << 20, frame(9, function="blur")) for _ in range(4)]
    program.acquire(256 << 10, frame(12))
    for tile in tiles[::2]:
        program.release(tile)
    program.acquire(2 << 20, frame(20), family="pinned", api="cudaMallocHost")
    program.release(image)
    return recorded(program.end(), device="simulated sm_90")


def column(page: Any, number: int) -> list[str]:
    cells = page.locator(f"#sites tr > td:nth-child({number})").all()
    return [cell.inner_text().split("\n")[0] for cell in cells]


def test_summary_and_charts(show: Show) -> None:
    page = show([sample()], [finding(9)])
    text = page.inner_text("main")
    assert "12.3 MiB" in page.inner_text(".cards")
    assert "65 % of it from /src/main.cu:5" in text
    assert "peak 12.3 MiB" in page.inner_text("#levels")
    assert page.locator("#levels .scatterlayer .trace").count() >= 3
    assert page.locator("#levels .scatterlayer .points path").count() == 3
    assert page.locator("#map .heatmaplayer image").count() == 1
    assert page.inner_text("h1").startswith("main.cu")


def test_moments(show: Show) -> None:
    page = show([sample()])
    facts = "#facts"
    assert "12.3 MiB in 6 blocks" in page.inner_text(facts)
    page.click(".when button:text-is('End')")
    assert "2.25 MiB in 3 blocks" in page.inner_text(facts)
    assert "2, 10 MiB together" in page.inner_text(facts)
    assert page.locator("#strip .hole").count() == 2
    page.focus("#moment")
    page.keyboard.press("Home")
    assert "0 B in 0 blocks" in page.inner_text(facts)
    page.keyboard.press("ArrowRight")
    assert "8 MiB in 1 block" in page.inner_text(facts)
    page.locator("#map .nsewdrag").click(position={"x": 700, "y": 60})
    assert "8 MiB in 1 block" not in page.inner_text(facts)


def test_the_map_says_whose_it_is(show: Show) -> None:
    page = show([sample()])
    page.locator("#map .nsewdrag").hover(position={"x": 500, "y": 240})
    page.wait_for_function("document.querySelector('.readout').textContent.startsWith('0x7f')")
    assert "/src/main.cu:5" in page.inner_text(".readout")


def test_sorting(show: Show) -> None:
    page = show([sample()])
    assert column(page, 6)[:2] == ["✕ 2 MiB in 2", "✕ 2 MiB in 1"]
    page.click("[data-sort=count]")
    assert column(page, 3) == ["4", "1", "1", "1"]
    assert page.get_attribute("th:has([data-sort=count])", "aria-sort") == "descending"
    assert page.get_attribute("th:has([data-sort=left])", "aria-sort") == "none"
    page.keyboard.press("Enter")
    assert column(page, 3) == ["1", "1", "1", "4"]
    page.click("[data-sort=place]")
    assert column(page, 1) == [f"/src/main.cu:{row}" for row in (5, 9, 12, 20)]
    page.fill("input[type=search]", "BLUR")
    assert column(page, 1) == ["/src/main.cu:9"]
    page.fill("input[type=search]", "nothing")
    assert "No site matches." in page.inner_text("#sites")


def test_details(show: Show, tmp_path: Path) -> None:
    source = tmp_path / "filter.cu"
    source.write_text("".join(f"row {row};\n" for row in range(1, 20)))
    program = Program()
    program.acquire(64, frame(7, str(source), "blur"), frame(15, str(source), "main"))
    page = show([recorded(program.end())], [finding(7, str(source), Outcome.CONFIRMED)])
    assert "GPU101 confirmed" in page.inner_text("#sites")
    page.click("#sites button")
    details = page.inner_text("tr.details")
    for text in ("`tile` is lost", "64 bytes are lost", "row 7;", "blur", ":15)", "confirmed on"):
        assert text in details
    assert page.inner_text("pre .here bdi") == "row 7;"
    assert page.get_attribute("tr.details a:has-text('open file')", "href") == source.as_uri()
    page.keyboard.press("Enter")
    assert page.locator("tr.details").count() == 0


def test_kinds_of_memory_and_axis(show: Show) -> None:
    page = show([sample()])
    page.click("text=Page-locked host memory")
    assert page.inner_text("#levels-title") == "Page-locked host memory over time"
    assert "peak 2 MiB" in page.inner_text("#levels")
    page.click("[data-key=step]")
    assert "in their order" in page.inner_text("#levels")


def test_hostile_names(show: Show) -> None:
    run = dataclasses.replace(hostile(), title=HOSTILE[0])
    page = show(
        [run, dataclasses.replace(run, title=HOSTILE[1])],
        [finding(1, f"/src/{HOSTILE[0]}")],
        {name: name for name in HOSTILE},
    )
    assert HOSTILE[0] in page.inner_text("h1")
    for number in range(len(HOSTILE)):
        page.locator("#sites td.site button").nth(number).click()
    text = page.inner_text("#sites")
    for shown in (*HOSTILE[:4], "\\u202egpj.uc\\u2028.cu", *HOSTILE[8:]):
        assert f"/src/{shown}" in text
    assert page.locator("main img, main script, main iframe").count() == 0
    page.locator("#levels .nsewdrag").hover(position={"x": 500, "y": 100})
    page.wait_for_selector("#levels .hoverlayer .legend")
    assert page.locator("#levels .hoverlayer a, #levels .hoverlayer image").count() == 0
    assert HOSTILE[3][-10:] in page.text_content("#levels .hoverlayer")
    page.select_option("#run", "1")
    assert HOSTILE[1] in page.inner_text("h1")


@pytest.mark.slow
def test_a_hundred_thousand_events(show: Show) -> None:
    events = many(100_000, sites=2000)
    started = time.monotonic()
    page = show([recorded(events)])
    assert time.monotonic() - started < 120
    assert page.locator("#sites tr").count() == 51
    page.click("#all")
    assert page.locator("#sites tr").count() == 1000
    assert "1,000 further sites" in page.inner_text("main")
    page.click(".when button:text-is('Most holes')")
    assert "together" in page.inner_text("#facts")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours(show: Show, scheme: str) -> None:
    page = show([sample()], color_scheme=scheme)

    assert (luminance(page, "body", "backgroundColor") < 0.2) == (scheme == "dark")
    for front, back in [
        ("body", "body"), ("section .soft", "section"), ("#sites button", "section"),
        (".leaks", "section"), (".card.leak .value", ".card.leak"),
        (".card.leak .soft", ".card.leak"), ("footer", "body"),
    ]:  # fmt: skip
        assert contrast(page, front, back) >= 4.5, (front, back)
    other = "light" if scheme == "dark" else "dark"
    page.click(f"[data-key={other}]")
    assert (luminance(page, "body", "backgroundColor") < 0.2) == (other == "dark")


def test_nothing_allocated(show: Show) -> None:
    page = show([recorded(())])
    assert "This run allocated no GPU memory" in page.inner_text("main")
    assert page.locator(".js-plotly-plot").count() == 0


def test_no_run(show: Show) -> None:
    page = show([], failed={"a.cu": "does not build: no such header"})
    assert "No run to show" in page.inner_text("main")
    assert "a.cu: does not build: no such header" in page.inner_text("main")


def test_only_handles(show: Show) -> None:
    program = Program()
    program.acquire(0, frame(4), family="stream", api="cudaStreamCreate")
    page = show([recorded(program.end())])
    assert "only handles" in page.inner_text("main")
    assert "✕ 1 handle" in page.inner_text("#sites")


def test_a_program_that_was_ended(show: Show) -> None:
    page = show([recorded(sample().events[:4], complete=False, ending="killed by SIGKILL")])
    assert "did not come to its end (killed by SIGKILL)" in page.inner_text(".warning")
    assert "✕" not in page.inner_text("main")


def test_a_narrow_window(show: Show) -> None:
    page = show([sample()])
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
