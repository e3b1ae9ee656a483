"""The page as text: complete in itself, whatever stands in names."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cudalint.cli import cudalint, main
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.verdict import Evidence, Outcome, Verdict
from cudalint.runtime.frames import Resolver
from cudalint.runtime.timeline.model import Recorded
from cudalint.runtime.timeline.page import (
    TimelineError,
    check_timeline,
    render_timeline,
    write_timeline,
)
from cudalint.source import Span
from tests.runtime.conftest import Lab, needs_nvcc, trace_of
from tests.runtime.timelines import Program, frame, many, recorded

pytest.importorskip("plotly", reason="plotly is not installed")

HOSTILE = [
    "</script><script>window.hacked=1</script>.cu",
    "<img src=x onerror=window.hacked=1>.cu",
    "<!--<script>.cu",
    "\"'`${window.hacked=1}.cu",
    "new\nline\r.cu",
    "\u202egpj.uc\u2028.cu",
    "日本語 ünïcode 🚀.cu",
    "no\udcff utf-8.cu",
    "%{x}<b>bold</b>&lt;.cu",
    "javascript:window.hacked=1",
    "@@script@@.cu",
]


def data_of(page: str) -> Any:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(text)


def hostile() -> Recorded:
    program = Program()
    for number, name in enumerate(HOSTILE):
        program.acquire(4096, frame(number + 1, f"/src/{name}", name), frame(3, name))
    return recorded(program.end(), device=HOSTILE[0], ending=HOSTILE[1])


def finding(
    row: int, filename: str = "/src/main.cu", outcome: Outcome = Outcome.CONFIRMED
) -> Finding:
    return Finding(
        "GPU101", "unpaired-allocation", Severity.WARNING, Confidence.HIGH, "`tile` is lost",
        filename, Span(row, 5, row, 9), subject="tile",
        runtime=Verdict(outcome, "simulated", (Evidence("64 bytes are lost", bytes=64),)),
    )  # fmt: skip


def test_the_page_names_nothing_else() -> None:
    page = render_timeline([recorded(many(50))])
    library = max(re.findall(r"<script>(.*?)</script>", page, re.S), key=len)
    own = page.replace(library, "")
    assert not re.search(r"<(link|iframe|img|object|embed|base)\b|@import|\bsrc\s*=", own, re.I)
    assert re.findall(r"url\(", own) == []
    assert "connect-src" not in own
    assert "default-src 'none'" in own


def test_only_scripts_with_a_known_digest_may_run() -> None:
    page = render_timeline([hostile()])
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(scripts) == 2
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    assert "unsafe-inline" not in policy[1].replace("style-src 'unsafe-inline'", "")
    assert "unsafe-eval" not in policy[1]


def test_hostile_names() -> None:
    run = hostile()
    run = dataclasses.replace(run, title=HOSTILE[0])
    page = render_timeline(
        [run], [finding(1, f"/src/{HOSTILE[0]}")], {name: name for name in HOSTILE}
    )
    assert page.count("<script") == page.count("</script>") == 3
    assert page.count("<!--") == 0
    page.encode("utf-8")
    data = data_of(page)
    places = [site["place"] for site in data["runs"][0]["sites"]]
    assert "/src/</script><script>window.hacked=1</script>.cu:1" in places
    assert "/src/new\\nline\\r.cu:5" in places
    assert "/src/\\u202egpj.uc\\u2028.cu:6" in places
    assert "/src/日本語 ünïcode 🚀.cu:7" in places
    assert "/src/no\\xff utf-8.cu:8" in places
    assert all(
        site["href"].startswith("file:///src/") and not set("<>\"' \n") & set(site["href"])
        for site in data["runs"][0]["sites"]
    )
    assert data["findings"][0]["place"].startswith("/src/</script>")
    assert "&lt;/script&gt;" in page[: page.index("</title>")]


def test_a_site_has_its_findings_and_its_source(tmp_path: Path) -> None:
    source = tmp_path / "main.cu"
    source.write_text("".join(f"line {row};\u2028\f\n" for row in range(1, 30)))
    program = Program()
    program.acquire(64, frame(9, "/usr/include/x.h"), frame(12, str(source)))
    program.acquire(64, frame(20, str(source)))
    page = render_timeline(
        [recorded(program.end(), roots=(source,))], [finding(12, str(source)), finding(13)]
    )
    data = data_of(page)
    first, second = sorted(data["runs"][0]["sites"], key=lambda site: site["line"])
    assert first["findings"] == [0]
    assert second["findings"] == []
    assert [row for row, _ in first["excerpt"]] == list(range(8, 17))
    assert first["excerpt"][4] == [12, "line 12;\\u2028\\x0c"]
    assert first["href"] == source.as_uri()
    assert first["editor"] == f"vscode://file{source}:12"
    assert data["findings"][0]["verdict"]["outcome"] == "confirmed"


@pytest.mark.parametrize("name", ["", "gone.cu", "/proc/self/mem", "relative.cu"])
def test_a_source_that_cannot_be_shown(name: str) -> None:
    program = Program()
    program.acquire(64, frame(3, name))
    (site,) = data_of(render_timeline([recorded(program.end())]))["runs"][0]["sites"]
    assert site["excerpt"] == []


def test_no_runs() -> None:
    data = data_of(render_timeline([], (), {"a.cu": "does not build"}))
    assert data["runs"] == []
    assert data["failed"] == [{"title": "a.cu", "reason": "does not build"}]


@pytest.mark.parametrize("lost", [0.0, 1.0])
def test_a_hundred_thousand_events(lost: float) -> None:
    events = many(100_000, sites=3000, lost=lost)
    started = time.process_time()
    page = render_timeline([recorded(events)])
    assert time.process_time() - started < 40
    script = max(re.findall(r"<script>(.*?)</script>", page, re.S), key=len)
    assert len(page) - len(script) < 1_700_000
    (run,) = data_of(page)["runs"]
    assert run["events"] == len(events)
    assert len(run["sites"]) == 1000
    assert run["rest"]["sites"] == 2000
    left = sum(site["leftCount"] for site in run["sites"]) + run["rest"]["left"]
    assert left == sum(leak["count"] for leak in run["spaces"][0]["leaks"])
    # What is listed is what matters most.
    assert run["sites"][0]["leftBytes"] == max(site["leftBytes"] for site in run["sites"])


def test_written(tmp_path: Path) -> None:
    path = tmp_path / "sub <dir>" / "a page.html"
    path.parent.mkdir()
    check_timeline(path)
    assert not path.exists()
    write_timeline([hostile()], [], path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    before = path.read_bytes()
    check_timeline(path)
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, reason in [
        (tmp_path / "none" / "a.html", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (tmp_path / "file" / "a.html", "Not a directory"),
        (tmp_path / "nul\0.html", "null byte"),
    ]:
        for attempt in (check_timeline, lambda path: write_timeline([], [], path)):
            with pytest.raises(TimelineError, match=reason):
                attempt(path)


def test_without_plotly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(TimelineError, match=r"pip install 'cudalint\[runtime\]'"):
        check_timeline(tmp_path / "a.html")


# The command line -------------------------------------------------------------------------------

LEAK = """
#include <cuda_runtime.h>
static int filter() {
    float *tile = nullptr, *image = nullptr;
    if (cudaMalloc(&image, 1 << 20) != cudaSuccess) return 1;
    if (cudaMalloc(&tile, 4096) != cudaSuccess) return 1;
    return cudaFree(image) != cudaSuccess;
}
int main() { return filter(); }
"""


def test_refused_before_anything_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "leak.cu"
    source.write_text(LEAK)
    name = str(tmp_path / "none" / "a.html")
    for arguments in (
        ["--runtime=sim", "--timeline", name, str(source)],
        ["run", "--timeline", name, "--", "true"],
    ):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert "--timeline" in error
        assert "No such file or directory" in error


def test_only_with_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--timeline", str(tmp_path / "a.html"), str(tmp_path)]) == 2
    assert "only with --runtime" in capsys.readouterr().err


def test_in_the_help() -> None:
    for command in ("check", "run"):
        assert "--timeline FILE.html" in CliRunner().invoke(cudalint, [command, "--help"]).output


@needs_nvcc
def test_check_writes_it(tmp_path: Path, compiler: Path) -> None:
    source = tmp_path / "leak.cu"
    source.write_text(LEAK)
    page = tmp_path / "page.html"
    # `main` runs it once: what it loses is `info`.
    options = ["--isolated", "--fail-level=info", "--runtime=sim", "--timeline", str(page)]
    assert main([*options, str(source)]) == 1
    (run,) = data_of(page.read_text())["runs"]
    assert run["spaces"][0]["peakBytes"] == (1 << 20) + 4096
    tile = next(site for site in run["sites"] if site["leftCount"])
    assert (tile["line"], tile["leftBytes"]) == (6, 4096)
    findings = data_of(page.read_text())["findings"]
    codes = [(findings[n]["code"], findings[n]["verdict"]["outcome"]) for n in tile["findings"]]
    assert codes == [("GPU101", "confirmed")]
    assert [text for row, text in tile["excerpt"] if row == 6] == [LEAK.split("\n")[5]]


def test_a_real_trace(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            void *a, *b, *c;
            cudaMalloc(&a, 1 << 20); cudaMalloc(&b, 2 << 20); cudaMalloc(&c, 512);
            cudaFree(b); cudaFree(a);
            return 0;
        }
        """
    )
    trace = trace_of(result)
    events = Resolver().resolve_events(trace.events)
    run = Recorded("lab", events, trace.mode, trace.memory, complete=trace.complete)
    (data,) = data_of(render_timeline([run]))["runs"]
    last = data["map"]["columns"][-1]
    assert (last["holes"], last["holeBytes"], last["blocks"]) == (1, 3 << 20, 1)
    assert last["largestFree"] == trace.memory - (3 << 20) - 512
