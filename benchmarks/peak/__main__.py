"""``python -m benchmarks.peak``: the static peak of each program and the one measured on a GPU.

Each program runs in a process of its own. What cannot be done on this machine (a library that
is missing, no GPU, cudalint's own dependencies) is skipped, with the reason. Measurements may
come from another machine: ``--json`` there, ``--measured FILE`` here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SECONDS = 300
ALLOWED = 0.15
"""The largest difference that the estimate may have."""


def static_peaks(programs: list[Path]) -> tuple[dict[str, int], str]:
    """The estimate for the ``main`` of each program, or why there is none."""
    try:
        from cudalint.analysis.footprint.machine import Machine
        from cudalint.analysis.summaries import Linker
        from cudalint.apis.loader import load
        from cudalint.frontends.python import read
    except ImportError as error:
        return {}, f"cudalint cannot be imported: {error}"
    found: dict[str, int] = {}
    for path in programs:
        program = read(str(path), path.read_text(encoding="utf-8"))
        linker = Linker([program], {"python": load("python")})
        for function, owner in linker.functions():
            if function.name == "main":
                peak = Machine(function, owner, linker).run().peaks.peak()
                found[path.stem] = peak.bytes if peak is not None else 0
    return found, ""


def measured(path: Path) -> dict[str, Any]:
    """What ``measure`` says of a program."""
    command = [sys.executable, str(HERE / "measure.py"), str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"skipped": f"not done after {SECONDS} s"}
    try:
        result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return {"skipped": f"exit status {done.returncode}: {done.stderr.strip()[-200:]}"}
    return result


def compare(earlier: dict[str, Any] | None, run: bool) -> dict[str, Any]:
    """One entry per program."""
    programs = sorted(path for path in (HERE / "programs").glob("*.py") if path.stem[0] != "_")
    static, reason = static_peaks(programs)
    entries = []
    for path in programs:
        real = (earlier or {}).get(path.stem)
        if real is None:
            real = measured(path) if run else {"skipped": "not measured"}
        entry = {"program": path.stem, "static": static.get(path.stem), "measured": real}
        if real.get("bytes") and entry["static"] is not None:
            entry["difference"] = entry["static"] / real["bytes"] - 1
        entries.append(entry)
    return {"programs": entries, "allowed": ALLOWED, "static_skipped": reason}


def table(result: dict[str, Any]) -> str:
    """The comparison for people, as Markdown."""
    lines = ["| program | static | measured | difference |", "|---|---:|---:|---:|"]
    for entry in result["programs"]:
        real = entry["measured"]
        static = "-" if entry["static"] is None else f"{entry['static'] / 1e6:.1f} MB"
        shown = f"{real['bytes'] / 1e6:.1f} MB" if "bytes" in real else real["skipped"]
        difference = f"{entry['difference']:+.1%}" if "difference" in entry else "-"
        lines.append(f"| {entry['program']} | {static} | {shown} | {difference} |")
    return "\n".join(lines)


def main() -> int:
    """Compare; 1 where an estimate is further off than allowed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peak", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--measured", metavar="FILE", help="a --json report of a GPU machine")
    parser.add_argument("--no-run", action="store_true", help="static estimates only")
    options = parser.parse_args()
    earlier = None
    if options.measured:
        report = json.loads(Path(options.measured).read_text(encoding="utf-8"))
        earlier = {entry["program"]: entry["measured"] for entry in report["programs"]}
    result = compare(earlier, not options.no_run)
    print(json.dumps(result, indent=2) if options.json else table(result))
    wrong = [e for e in result["programs"] if abs(e.get("difference", 0)) > ALLOWED]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
