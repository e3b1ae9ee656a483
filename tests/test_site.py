"""The documentation's site: built without a warning, no dead link, and looked at in a browser."""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest

from cudalint import registry
from cudalint.findings.rule import page_url
from tests.browsers import browser

__all__ = ["browser"]

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from a copy of the sources."""
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package, reason=f"{package} is not installed: the extra `docs`")
    sources = tmp_path_factory.mktemp("sources") / "docs"
    leaving_out = shutil.ignore_patterns("rules", "_build", "__pycache__", "*.egg-info", "build")
    shutil.copytree(ROOT / "docs", sources, ignore=leaving_out)
    (sources.parent / "fixtures").symlink_to(ROOT / "fixtures")
    (sources.parent / "benchmarks").symlink_to(ROOT / "benchmarks")
    output = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "dirhtml",
         "-d", str(output / ".doctrees"), str(sources), str(output)],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return output


class Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        self.anchors |= {str(values[key]) for key in ("id", "name") if values.get(key)}


def pages_of(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_rule_has_its_page_where_reports_say(site: Path) -> None:
    for code, rule in registry.all_rules().items():
        url = page_url("https://example.org/docs", code) or ""
        page = site / url.removeprefix("https://example.org/docs/") / "index.html"
        text = page.read_text(encoding="utf-8")
        assert f"{code}: {rule.name}" in text


def test_no_link_inside_is_dead(site: Path) -> None:
    pages = pages_of(site)
    dead = []
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(unquote(link))
            if "://" in target or target.startswith("mailto:"):
                continue
            place = (path.parent / target).resolve() if target else path
            place = place / "index.html" if place.is_dir() else place
            known = pages.get(place)
            if not place.is_file() or (known and anchor and anchor not in known.anchors):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert dead == []
    assert len(pages) > 50


def test_programs_of_the_fixtures_are_shown(site: Path) -> None:
    text = (site / "rules" / "GPU102" / "index.html").read_text(encoding="utf-8")
    for language in ("CUDA C++", "HIP", "Python"):
        assert f"{language}, with the bug" in text
        assert f"{language}, corrected" in text
    assert "Judged at first sight" in text


def test_nothing_is_left_in_the_sources(site: Path) -> None:
    done = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "docs/rules"], capture_output=True, text=True
    )
    assert done.stdout == ""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """A page whose scripts must not fail."""
    failures: list[str] = []
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.on("pageerror", lambda error: failures.append(str(error)))
    yield opened
    opened.close()
    assert failures == []


@pytest.mark.browser
def test_the_front_page_leads_everywhere(page: Any, address: str) -> None:
    page.goto(address)
    assert page.title() == "cudalint"
    navigation = page.locator(".sidebar-tree")
    for name in ("The first five minutes", "CI and hooks", "Rules", "A rule as a plugin"):
        assert navigation.get_by_role("link", name=name, exact=True).is_visible()
    page.get_by_role("link", name="all rules").first.click()
    page.get_by_role("link", name="GPU203", exact=True).first.click()
    assert page.url == f"{address}/rules/GPU203/"


@pytest.mark.browser
def test_examples_of_a_rule_unfold(page: Any, address: str) -> None:
    page.goto(f"{address}/rules/GPU102/")
    details = page.locator("details", has_text="CUDA C++, with the bug")
    code = details.locator("pre")
    assert not code.is_visible()
    details.locator("summary").click()
    assert code.is_visible()
    assert "expect: GPU102" in code.inner_text()
    assert code.locator("span").count() > 20, "the code is not coloured"


@pytest.mark.browser
def test_the_search_finds_a_rule(page: Any, address: str) -> None:
    page.goto(address)
    page.locator(".sidebar-search").fill("early-exit-leak")
    page.keyboard.press("Enter")
    result = page.locator("#search-results li a").first
    result.wait_for()
    assert any("GPU102" in text for text in page.locator("#search-results li a").all_inner_texts())
