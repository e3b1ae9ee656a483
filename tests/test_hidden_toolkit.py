"""With nvcc, the CUDA toolkit, every compiler and even the system's C++ headers hidden, the
findings on the fixtures are the same: those of each third rule, with CUDALINT_TEST_ALL_RULES=1 of
all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common import previewed

FIXTURES = Path(__file__).parent.parent / "fixtures"
HIDDEN = ("/usr/local/cuda", "/usr/lib/gcc", "/usr/include/c++", "/usr/lib/llvm*", "/opt/nvidia")


def _hide() -> str:
    """Shell code that covers the folders of compilers and toolkits with empty ones."""
    folders = " ".join(f"{folder}*" if "*" not in folder else folder for folder in HIDDEN)
    return f'for d in {folders}; do [ -d "$d" ] && mount -t tmpfs none "$(readlink -f "$d")"; done'


def _findings(report: str) -> list[Any]:
    found = json.loads(report)
    assert found["errors"] == []
    return [
        (finding["filename"], finding["location"], finding["code"], finding["message"])
        for finding in found["findings"]
    ]


@pytest.mark.slow
def test_hidden_toolkit(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare")
    probe = subprocess.run(
        [unshare, "-rm", "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True, check=False
    )
    if probe.returncode != 0:
        pytest.skip("mount namespaces are not allowed here")
    rules = sorted(path.name for path in FIXTURES.iterdir())
    rules = rules if os.environ.get("CUDALINT_TEST_ALL_RULES") else rules[::3]
    lint = [sys.executable, "-m", "cudalint", "check", "--isolated", "--exit-zero"]
    lint += ["--output-format", "json", "--extend-select", previewed(), "--cache-dir"]
    seen = subprocess.run(
        [*lint, str(tmp_path / "seen"), *rules],
        cwd=FIXTURES, capture_output=True, text=True, check=True,
    )  # fmt: skip
    script = f'{_hide()}; ! command -v nvcc gcc g++ clang cc >/dev/null || exit 9; exec "$@"'
    hidden = subprocess.run(
        [unshare, "-rm", "/bin/sh", "-c", script, "sh", *lint, str(tmp_path / "hidden"), *rules],
        cwd=FIXTURES, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": _plain_path(tmp_path)},
    )  # fmt: skip
    assert hidden.returncode == 0, hidden.stderr
    expected = _findings(seen.stdout)
    assert len(expected) > 5 * len(rules)
    assert _findings(hidden.stdout) == expected


def _plain_path(folder: Path) -> str:
    """A PATH with the few tools that the script needs and no compiler."""
    tools = folder / "bin"
    tools.mkdir()
    for name in ("mount", "readlink", "sh", "uname", "env"):
        found = shutil.which(name)
        if found is not None:
            (tools / name).symlink_to(found)
    return str(tools)
