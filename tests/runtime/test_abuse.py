"""Scripts that misbehave under ``--runtime``: a verdict or a reason, nothing left running, and no
file of ours touched."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from cudalint.cli import main
from tests.runtime.test_execute import running

HEAD = """\
import os, shutil, signal, subprocess, sys, time
from cuda.bindings import runtime as rt

def lose(n):
    err, p = rt.cudaMalloc(n)
    return err

"""
FORKS = """
lose(64)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            time.sleep(600)
        time.sleep(600)
"""
SPAWNS = """
lose(64)
subprocess.Popen(["sleep", "600"], start_new_session=True)
"""
PRINTS = """
lose(64)
for _ in range(64):
    sys.stdout.write("x" * (1 << 20))
    sys.stderr.write("y" * (1 << 20))
"""
DELETES = """
lose(64)
for name in os.listdir("."):
    os.remove(name)
shutil.rmtree(os.getcwd())
shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
"""
HANGS = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
lose(64)
while True:
    time.sleep(1)
"""
SPINS = "lose(64)\nwhile time.time(): pass\n"
ABSENT = "import no_such_framework\nlose(64)\n"
READS = "lose(64)\ninput('name? ')\n"
TERMINAL = "lose(64)\nopen('/dev/tty').read(1)\n"
SIZE = "lose(64)\nos.get_terminal_size()\n"
BIG = "lose(64)\nwhole = bytearray(1 << 40)\n"
ENDS_ITS_GROUP = "lose(64)\nos.killpg(0, signal.SIGKILL)\n"


@pytest.fixture(autouse=True)
def _needs(compiler: Path) -> None:
    """The ledger is compiled."""


@pytest.mark.parametrize(
    ("body", "verdict", "reason"),
    [
        pytest.param(FORKS, "confirmed", "", id="forks"),
        pytest.param(SPAWNS, "confirmed", "", id="spawns"),
        pytest.param(PRINTS, "confirmed", "", id="prints megabytes"),
        pytest.param(DELETES, "confirmed", "", id="deletes its working folder"),
        pytest.param(HANGS, "not-reached", "time limit", id="hangs"),
        pytest.param(SPINS, "not-reached", "time limit", id="spins"),
        pytest.param(ABSENT, "not-runnable", "no_such_framework", id="imports what is absent"),
        # An exception ends these: the stack is left, and the block is lost all the same.
        pytest.param(READS, "confirmed", "", id="reads what nobody types"),
        pytest.param(TERMINAL, "confirmed", "", id="needs a terminal"),
        pytest.param(SIZE, "confirmed", "", id="asks a terminal for its size"),
        pytest.param(BIG, "confirmed", "", id="takes all memory"),
        pytest.param(ENDS_ITS_GROUP, "not-reached", "killed by SIGKILL", id="ends its group"),
    ],
)
def test_a_script(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    body: str,
    verdict: str,
    reason: str,
) -> None:
    marker = f"CUDALINT_TEST_MARKER_{os.urandom(8).hex()}"
    monkeypatch.setenv("MARKER", marker)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tool.py").write_text(HEAD + body)
    (tmp_path / "data.bin").write_bytes(b"ours")
    (tmp_path / "pyproject.toml").write_text("[tool.cudalint.runtime]\ntime-limit = 3\n")
    started = time.monotonic()
    options = ["--runtime=sim", "--no-harness", "--select", "GPU101", "--no-cache"]
    status = main([*options, "--output-format", "json", "tool.py"])
    (finding,) = json.loads(capfd.readouterr().out)["findings"]
    assert finding["runtime"]["verdict"] == verdict, finding["runtime"]
    assert reason in (finding["runtime"]["reason"] or "")
    assert status == 1
    left = [pid for pid in running(marker) if pid != os.getpid()]
    assert left == []
    assert (tmp_path / "data.bin").read_bytes() == b"ours"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "data.bin", "pyproject.toml", "tool.py",
    ]  # fmt: skip
    assert time.monotonic() - started < 300
