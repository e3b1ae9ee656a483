"""The guide of the first five minutes, followed to the letter by somebody who has nothing yet."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "first-five-minutes.md").read_text(encoding="utf-8")

_STEP = re.compile(
    r"```console\n(?P<commands>.*?)```|`(?P<name>[\w.-]+)`:\n\n```\w+\n(?P<text>.*?)```", re.DOTALL
)
_COMMAND = re.compile(r"^\$ (?P<shell>.+?)(?:\s+# exit status (?P<status>\d))?$", re.MULTILINE)
_ACTIVATE = ". .venv/bin/activate"
_OPTION = r"--[a-z-]+"


@dataclass(frozen=True)
class File:
    name: str
    text: str


@dataclass(frozen=True)
class Command:
    shell: str
    status: int


def steps() -> Iterator[File | Command]:
    """What the guide tells to write and to run, in its order."""
    for match in _STEP.finditer(GUIDE):
        if match["name"]:
            yield File(match["name"], match["text"])
        else:
            for command in _COMMAND.finditer(match["commands"]):
                yield Command(command["shell"], int(command["status"] or 0))


def test_the_guide_is_read_whole() -> None:
    commands = [step.shell for step in steps() if isinstance(step, Command)]
    assert len(commands) == len(re.findall(r"^\$ ", GUIDE, re.MULTILINE)) > 10
    files = [step.name for step in steps() if isinstance(step, File)]
    assert len(files) == len(re.findall(r"^```(?!console)\w+$", GUIDE, re.MULTILINE)) > 5


class Stranger:
    """Runs the guide's commands in a folder and an environment of its own."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "project"
        self.folder.mkdir()
        python = shutil.which("python3.11") or shutil.which("python3") or ""
        tools = home / "tools"
        tools.mkdir()
        (tools / "python3").symlink_to(python)
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("GIT_", "VIRTUAL_ENV", "PYTHON"))
        } | {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "CUDALINT": str(ROOT),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
        }

    def run(self, shell: str) -> subprocess.CompletedProcess[str]:
        entered = (self.folder / ".venv").exists()
        return subprocess.run(
            ["bash", "-c", f"{_ACTIVATE} && {shell}" if entered else shell],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=900,
        )

    def lacks(self, shell: str) -> str:
        """The first command or option of the guide that cudalint itself does not know of."""
        words = shell.split()
        if words[0] != "cudalint" or words[1:] == ["--version"]:
            return ""
        known = self.run("cudalint --help && cudalint check --help").stdout
        listed = set(re.findall(r"^ +(?:-\w, )?([\w-]+)", known, re.MULTILINE))
        wanted = [word for word in words if re.fullmatch(_OPTION, word)]
        if len(words) > 1 and words[1].isalpha():
            wanted.insert(0, words[1])
        return next((one for one in wanted if one not in listed), "")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.skipif(
    not os.environ.get("CUDALINT_TEST_INSTALL"),
    reason="installs cudalint into an environment of its own; set CUDALINT_TEST_INSTALL=1",
)
def test_a_stranger_gets_through(tmp_path: Path) -> None:
    stranger = Stranger(tmp_path)
    told = ""
    for step in steps():
        if isinstance(step, File):
            (stranger.folder / step.name).write_text(step.text, encoding="utf-8")
            continue
        if lacking := stranger.lacks(step.shell):
            pytest.skip(f"followed as far as `{step.shell}`: cudalint has no {lacking} yet")
        done = stranger.run(step.shell)
        told += done.stdout + done.stderr
        assert done.returncode == step.status, f"$ {step.shell}\n{done.stdout}{done.stderr}"
    for code in ("GPU203", "GPU101", "GPU601"):
        assert code in told
    assert re.search(r"leak\.cu:5:\d+: .*GPU102", told)
    assert "cudaFreeHost(staging)" in (stranger.folder / "sharpen.cu").read_text(encoding="utf-8")
    assert "GPU601" in (stranger.folder / "cudalint-baseline.toml").read_text(encoding="utf-8")
    assert '"GPU601"' in (stranger.folder / "cudalint.sarif").read_text(encoding="utf-8")
