"""The plugin that the documentation shows: installed, explained, and right about its fixtures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent.parent / "docs" / "sample_plugin"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One in which the plugin is installed too."""
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name in ("pyproject.toml", "house_rules.py"):
        (source / name).write_text((PLUGIN / name).read_text())
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
         "--target", str(target), str(source)],
        check=True,
    )  # fmt: skip
    return {**os.environ, "PYTHONPATH": str(target)}


def cudalint(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cudalint", *arguments],
        env=environment,
        capture_output=True,
        text=True,
    )


def test_its_page_is_shown(environment: dict[str, str]) -> None:
    for name in ("HOUSE101", "managed-memory"):
        assert "# managed-memory" in cudalint(environment, "rule", name).stdout


def test_it_finds_what_its_fixtures_expect(environment: dict[str, str]) -> None:
    fixtures = str(PLUGIN / "fixtures")
    done = cudalint(environment, "--isolated", "--no-cache", "--output-format", "concise", fixtures)
    expected = {
        (path.name, row)
        for path in (PLUGIN / "fixtures").iterdir()
        for row, line in enumerate(path.read_text().split("\n"), start=1)
        if "expect: HOUSE101" in line
    }
    told = re.findall(r"(\w+\.cu):(\d+):\d+: .*HOUSE101", done.stdout)
    assert done.returncode == 1, done.stderr
    assert {(name, int(row)) for name, row in told} == expected
    assert "GPU" not in done.stdout


def test_a_selection_of_its_prefix_is_only_it(environment: dict[str, str]) -> None:
    done = cudalint(environment, "--select", "HOUSE", "--isolated", "--no-cache", str(PLUGIN))
    assert done.stdout.count("HOUSE101") == 1
