"""Shell completion: the scripts, and what they are told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cudalint.cli import main

BIN = Path(sys.executable).parent
ASK = """
COMP_WORDS=(cudalint rule early); COMP_CWORD=2; _cudalint_completion cudalint
printf '%s\\n' "${COMPREPLY[@]}"
"""
STUBS = "complete() { :; }; compopt() { :; }; "


def completions(*words: str) -> list[str]:
    """What the program says to a shell, without the kind of each."""
    environment = {
        **os.environ,
        "_CUDALINT_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("cudalint", *words)),
        "COMP_CWORD": str(len(words)),
    }
    script = "import sys; from cudalint.cli import main; sys.argv[0] = 'cudalint'; main()"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rule", "GPU20"], ["GPU201", "GPU202", "GPU203", "GPU204", "GPU205"]),
        (["rule", "doub"], ["double-free"]),
        (["--select", "gpu301"], ["GPU301"]),
        (["check", "--ignore", "GPU101,early"], ["GPU101,early-exit-leak"]),
        (["--extend-select", "NOPE"], []),
        (["--add-ig"], ["--add-ignore"]),
        (["completion", "z"], ["zsh"]),
        # The first word may be a path or a command, the next only a path:
        (["rul"], ["rul", "rule", "rules"]),
        (["check", "rul"], ["rul"]),
        (["src", "rul"], ["rul"]),
    ],
)
def test_words(words: list[str], expected: list[str]) -> None:
    assert completions(*words)[: len(expected)] == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_CUDALINT_COMPLETE={shell}_complete" in script
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    checked = subprocess.run([program, "-n"], input=script, capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    script = STUBS + capsys.readouterr().out + ASK
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=environment, timeout=60
    )
    assert (done.stdout, done.stderr) == ("early-exit-leak\n", "")


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in capsys.readouterr().err
