"""``--watch``: a run after each change, whatever happens to the files."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.commands.watch import run_watch
from cudalint.project.config import ConfigurationError, load

LEAK = """import cupy

def keep(n):
    block = cupy.cuda.runtime.malloc(n)
    cupy.cuda.runtime.memset(block, 0, n)
"""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Watched:
    """A running `cudalint --watch`, whose lines can be waited for."""

    def __init__(self, *arguments: str) -> None:
        # A job in the background ignores the signal unless it is told not to:
        script = (
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
            f"from cudalint.cli import main; raise SystemExit(main({list(arguments)!r}))"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True,
        )  # fmt: skip
        self.lines: list[str] = []
        self.read = 0
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(iter(self.process.stdout.readline, ""))

    def wait_for(self, text: str) -> None:
        """Until a line that was not read yet holds a text."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for number in range(self.read, len(self.lines)):
                if text in self.lines[number]:
                    self.read = number + 1
                    return
            time.sleep(0.05)
        pytest.fail(f"no {text!r} in {self.lines[self.read :]}")


@pytest.fixture
def watched() -> Iterator[Watched]:
    Path("src").mkdir()
    Path("src/a.py").write_text(LEAK)
    running = Watched("--watch", "--no-cache", "-j", "1", "src")
    yield running
    running.process.kill()
    running.process.wait(timeout=30)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_each_change_is_linted_and_an_interrupt_ends_it(watched: Watched) -> None:
    watched.wait_for("src/a.py:4:13: warning: `block`")
    watched.wait_for("watching 1 file; Ctrl-C ends it")
    Path("src/a.py").write_text("import cupy\n")
    watched.wait_for("changed: src/a.py")
    watched.wait_for("No CUDA memory misuse found")
    watched.wait_for("watching")
    # A configuration that cannot be used is told, and nothing ends:
    Path("cudalint.toml").write_text("ignor = []\n")
    watched.wait_for("did you mean `ignore`?")
    watched.wait_for("watching")
    Path("cudalint.toml").write_text("ignore = []\n")
    watched.wait_for("No CUDA memory misuse found")
    watched.wait_for("watching")
    Path("src/b.py").write_bytes(b"import cupy\n\0")
    watched.wait_for("src/b.py: is binary")
    watched.wait_for("watching")
    shutil.rmtree("src")
    watched.wait_for("src: does not exist")
    watched.wait_for("watching")
    Path("src").mkdir()
    Path("src/c.py").write_text(LEAK)
    watched.wait_for("src/c.py:4:13: warning: `block`")
    watched.wait_for("watching")
    started = time.monotonic()
    os.killpg(watched.process.pid, signal.SIGINT)
    assert watched.process.wait(timeout=30) == 130
    assert time.monotonic() - started < 5
    assert not any("Traceback" in line for line in watched.lines)


def test_an_interrupt_of_the_run_itself_ends_it() -> None:
    assert run_watch(["."], lambda: load(), lambda: 130) == 130


def test_what_changes_while_files_are_read_is_seen() -> None:
    Path("a.cu").write_text("int a;\n")
    runs: list[int] = []

    def check() -> int:
        runs.append(1)
        if len(runs) == 1:
            Path("a.cu").write_text("int other;\n")
        return 130 if len(runs) == 2 else 0

    assert run_watch(["."], lambda: load(), check, sleep=lambda _: None) == 130
    assert len(runs) == 2


@pytest.mark.parametrize("arguments", [["-"], ["--add-ignore"], ["--write-baseline"]])
def test_what_cannot_be_watched(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--watch", *arguments]) == 2
    assert capsys.readouterr().err.startswith("cudalint: --watch: ")
    with pytest.raises(ConfigurationError):
        run_watch(["-"], lambda: load(), lambda: 0)
