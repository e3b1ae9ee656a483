"""The flake8 plugin, in flake8 itself, run in a scratch folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.flake8_plugin import Plugin

pytest.importorskip("flake8")

HEAD = '''"""Copies blocks."""
from cuda.bindings import runtime as cudart


def reserve(size):
    """Reserve a block."""
'''
LEAK = f"""{HEAD}    status, block = cudart.cudaMalloc(size)
    if status != cudart.cudaError_t.cudaSuccess:
        raise MemoryError(size)
    print(block)
"""
PLACE = "7:21"
ADVICE = f"""{HEAD}    status, block = cudart.cudaMalloc(size)
    cudart.cudaMemset(block, 0, size)
    cudart.cudaFree(block)
"""
CLEAN = '"""Nothing."""\nimport json\n\nprint(json.dumps("cudaMalloc"))\n'


def flake8(
    folder: Path, *arguments: str, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flake8", "--select=E9,F,GPU", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "CUDALINT_CACHE_DIR": str(folder / ".cache")},
    )


def places(done: subprocess.CompletedProcess[str]) -> list[str]:
    """``file:row:column: CODE`` of each violation."""
    assert done.stderr == ""
    return [" ".join(line.split()[:2]).removeprefix("./") for line in done.stdout.splitlines()]


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def leak(comment: str) -> str:
    return LEAK.replace("cudaMalloc(size)", f"cudaMalloc(size)  {comment}")


def test_findings_with_their_codes_and_places(tmp_path: Path) -> None:
    write(tmp_path, leak=LEAK, clean=CLEAN, other="import os\n", broken=f"{LEAK}def (\n")
    found = flake8(tmp_path, "-j2", ".")
    assert found.returncode == 1
    assert places(found)[1:] == [f"leak.py:{PLACE}: GPU101", "other.py:1:1: F401"]
    assert places(found)[0].endswith("E999")
    assert "`block` (cudaMalloc) is never released" in found.stdout


def test_what_is_in_the_baseline_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, leak=LEAK)
    (tmp_path / "cudalint.toml").write_text('baseline = "known.toml"\n')
    monkeypatch.chdir(tmp_path)
    assert main(["--write-baseline", "--no-cache", "."]) == 0
    assert places(flake8(tmp_path, ".")) == []
    write(tmp_path, leak=LEAK, new=LEAK.replace("reserve", "keep"))
    assert places(flake8(tmp_path, ".")) == [f"new.py:{PLACE}: GPU101"]


def test_comments(tmp_path: Path) -> None:
    write(
        tmp_path,
        bare=leak("# noqa"),
        coded=leak("# noqa: E501,GPU101"),
        foreign=leak("# noqa: F401"),
        ours=leak("# cudalint: ignore[GPU101] kept"),
        prefix=leak("# noqa: GPU1"),
        unused=CLEAN + "x = 1  # cudalint: ignore[GPU101]\n",
        whole=f"# flake8: noqa\n{LEAK}",
    )
    found = places(flake8(tmp_path, "."))
    assert found == [f"foreign.py:{PLACE}: GPU101", "unused.py:5:8: GPU001"]
    everything = places(flake8(tmp_path, "--disable-noqa", "."))
    assert [line.partition(":")[0] for line in everything] == [
        "bare.py",
        "coded.py",
        "foreign.py",
        "prefix.py",
        "unused.py",
        "whole.py",
    ]


def test_settings(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.cudalint]\nignore = ["GPU101"]\n')
    (inner / "cudalint.toml").write_text('fail-level = "info"\n')
    write(tmp_path, leak=LEAK, advice=ADVICE)
    write(inner, leak=LEAK, advice=ADVICE)
    assert places(flake8(tmp_path, ".")) == [
        "inner/advice.py:7:21: GPU506",
        f"inner/leak.py:{PLACE}: GPU101",
    ]
    # flake8's own selection comes on top:
    assert places(flake8(tmp_path, "--extend-ignore=GPU5", ".")) == [
        f"inner/leak.py:{PLACE}: GPU101"
    ]


def test_a_wrong_setting_is_no_clean_file(tmp_path: Path) -> None:
    (tmp_path / "cudalint.toml").write_text('ignore = ["GPU999"]\n')
    write(tmp_path, leak=LEAK)
    done = flake8(tmp_path, ".")
    assert done.returncode != 0
    assert "GPU999" in done.stdout + done.stderr


def test_standard_input(tmp_path: Path) -> None:
    done = flake8(tmp_path, "--stdin-display-name", "leak.py", "-", text=LEAK)
    assert places(done) == [f"leak.py:{PLACE}: GPU101"]


def test_encodings(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\n" + LEAK.replace(
        "block = cudart", 'block = "ä€ß"[0:0] or cudart'.replace("€", "é")
    )
    (tmp_path / "latin.py").write_bytes(text.encode("latin-1"))
    (tmp_path / "mark.py").write_bytes(
        LEAK.replace("print", "print('ä'); print").encode("utf-8-sig")
    )
    assert [line.partition(":")[0] for line in places(flake8(tmp_path, "."))] == [
        "latin.py",
        "mark.py",
    ]


def test_what_cannot_be_linted_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("of all things")

    monkeypatch.setattr("cudalint.linter.lint", fail)
    plugin = Plugin(None, str(tmp_path / "leak.py"), LEAK.splitlines(True))  # type: ignore[arg-type]
    ((row, column, text, _),) = plugin.run()
    assert (row, column) == (1, 0)
    assert text == "GPU002 internal error: ValueError: of all things"


def test_starting_costs_little() -> None:
    heavy = ("libcst", "clang", "rich", "msgspec")
    code = "import sys, cudalint.flake8_plugin as _; print(*sys.modules, sep='\\n')"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not {name.partition(".")[0] for name in done.stdout.split()} & set(heavy)
