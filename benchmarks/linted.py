"""What the linter of this repository says of a folder, as its JSON report has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.repositories import RepositoryError

_SOURCES = Path(__file__).parent.parent


def lint(
    root: Path, paths: Sequence[str], workers: int, options: Sequence[str] = ()
) -> dict[str, Any]:
    """The report on paths of ``root``, in a process of its own.

    Raises:
        RepositoryError: It ended without a report, or failed on some files.
    """
    with tempfile.TemporaryDirectory(prefix="cudalint-report-") as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "cudalint", "check", "--isolated", "--quiet"]
        command += ["--output-format", "json", "--output-file", str(report)]
        # What the repository has lies in the open, whatever its own ignore files say:
        command += ["--jobs", str(workers), "--no-respect-gitignore", *options, *paths]
        environment = {**os.environ, "PYTHONPATH": str(_SOURCES)}
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment)
        if not report.exists():
            raise RepositoryError(f"cudalint ended with {done.returncode}: {done.stderr.strip()}")
        document: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    errors = [f"{error['filename']}: {error['message']}" for error in document["errors"]]
    # What it would have found there is not gone:
    broken = [error for error in errors if "internal error" in error]
    if broken:
        raise RepositoryError(f"cudalint failed on {len(broken)} files, such as {broken[0]}")
    return document


def each_part(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The findings of a report, those too that it tells with others of the same defect."""
    for finding in document["findings"]:
        yield finding
        yield from ({**finding, **part, "parts": []} for part in finding["parts"])
