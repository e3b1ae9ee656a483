"""The README shows what cudalint really prints, all its rules, and commands that CI runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cudalint import registry
from cudalint.cli import main
from cudalint.project.config import validated

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_is_real(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where this fails because a message was improved, paste the new output."""
    monkeypatch.chdir(ROOT)
    match = re.search(r"```console\n\$ cudalint (.+?)\n(.*?)```", README, re.DOTALL)
    assert match is not None
    main([*match[1].split(), "--cache-dir", str(tmp_path)])
    assert capsys.readouterr().out == match[2]


def test_the_proof_is_real(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from cudalint.runtime.toolkit import ToolkitError, find_compiler, find_nvcc

    try:
        find_compiler()
    except ToolkitError as error:
        pytest.skip(str(error))
    if find_nvcc() is None:
        pytest.skip("no nvcc")
    monkeypatch.chdir(ROOT)
    match = re.search(
        r"```console\n\$ cudalint (\S+ --runtime=[^\n]+)\n(.*?)```", README, re.DOTALL
    )
    assert match is not None
    main([*match[1].split(), "--cache-dir", str(tmp_path)])
    shown = capsys.readouterr().out
    pieces = [piece for piece in match[2].split("...\n") if piece]
    assert len(pieces) == 2
    assert all(piece in shown for piece in pieces)


def test_the_table_lists_every_rule() -> None:
    listed = dict(re.findall(r"^\| `(GPU\d{3})` \| ([a-z-]+) \|", README, re.MULTILINE))
    known = {code: rule.name for code, rule in registry.all_rules().items() if code < "GPU9"}
    assert listed == {code: name for code, name in known.items() if code.startswith("GPU")}


def test_configurations_are_valid() -> None:
    """Those of the README and of the rules' pages."""
    pages = [README, *(rule.documentation() for rule in registry.all_rules().values())]
    blocks = [
        block for page in pages for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    ]
    settings = [tomllib.loads(block) for block in blocks if "[tool.cudalint]" in block]
    assert len(settings) >= 2
    for document in settings:
        values = document["tool"]["cudalint"]
        assert validated(values, "page").keys() == values.keys()


def test_the_model_is_valid(tmp_path: Path) -> None:
    from cudalint.apis.loader import read_model_file

    blocks = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (model,) = [block for block in blocks if "acquires" in block]
    (tmp_path / "model.toml").write_text(model)
    assert set(read_model_file(str(tmp_path / "model.toml")).functions) == {
        "pool_take",
        "pool_give",
    }


def test_ci_runs_the_command_of_the_readme() -> None:
    (line,) = re.findall(r"^\$ pip install '\.\[test\]' && (.+)$", README, re.MULTILINE)
    assert f"step {line}\n" in (ROOT / ".ci" / "run").read_text()


_OF_A_MACHINE = ("--watch", "--runtime", "run --", "doctor")
"""Commands that wait, build, or need a program or a GPU: they have tests of their own."""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_commands_do_what_they_say(tmp_path: Path) -> None:
    """In a project with one leak, on a branch: each finds it, or has nothing to say."""
    (block,) = re.findall(r"## In your editor's.*?```console\n(.*?)```", README, re.DOTALL)
    commands = [line.removeprefix("$ ").split("  #")[0].strip() for line in block.splitlines()]
    assert len(commands) > 15
    (tmp_path / "src").mkdir()
    leak = "int f(int n) {\n  float* p;\n  if (cudaMalloc(&p, n)) return 1;\n  return 0;\n}\n"
    for name in ("a.cu", "src/b.cu"):
        (tmp_path / name).write_text(f"#include <cuda_runtime.h>\n{leak}")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(tmp_path),
    }

    def run(shell: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", shell], cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    as_ada = "git -c user.name=Ada -c user.email=ada@example.org"
    made = run(f"git init -q && git add . && {as_ada} commit -qm A && git branch origin/main")
    assert made.returncode == 0, made.stderr
    for command in commands:
        if any(word in command for word in _OF_A_MACHINE):
            continue
        done = run(command)
        assert done.returncode in (0, 1), f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr, command
        finds = "rule" not in command and command.startswith(("cudalint --", "git show"))
        if finds and not any(word in command for word in ("--diff", "--fix", "--show-files")):
            assert "GPU101" in done.stdout, command
    assert "cudaFree" in (tmp_path / "src" / "b.cu").read_text()
    assert {"cudalint.sarif", "cudalint.html", "cudalint.toml"} <= {
        path.name for path in tmp_path.iterdir()
    }
