"""``docs/legacy.md``: its example prints what the page shows, in the order of the page."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.project.config import validated

PAGE = (Path(__file__).parent.parent / "docs" / "legacy.md").read_text(encoding="utf-8")


def git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_its_commands_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    (program,) = re.findall(r"```cuda\n(.*?)```", PAGE, re.DOTALL)
    Path("scale.cu").write_text(program)
    git("init", "--quiet", "--initial-branch=main")
    git("add", "scale.cu")
    git("commit", "--quiet", "--message", "x")
    blocks = re.findall(r"```console\n\$ (cudalint [^\n]*)\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 4
    for command, shown in blocks:
        assert main(shlex.split(command)[1:]) == 0
        printed = capsys.readouterr()
        assert printed.err + printed.out == shown
    (row,) = (row for row in Path("scale.cu").read_text().splitlines() if "ignore[" in row)
    comment = re.search(r"writes `(// cudalint: [^`]*)`", PAGE)
    assert comment is not None and row.endswith(f"  {comment[1]}")


def test_its_configuration_is_valid() -> None:
    for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL):
        assert validated(tomllib.loads(block)["tool"]["cudalint"], "page")
