"""What harnesses say of findings that people judged: ``python -m benchmarks.runtime.harnesses
JUDGED.json CLONES``. ``CLONES`` holds a git directory ``OWNER+NAME/repo`` for each repository."""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.project.compile_commands import CompileFlags
from cudalint.runtime.devices import Simulated
from cudalint.runtime.evidence import judged
from cudalint.runtime.harness.judging import HarnessJudge, HarnessOptions
from cudalint.runtime.sweep import Budget
from cudalint.source import Span

_SECONDS = 120.0


def main() -> None:
    """Print a line for each finding, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judged", type=Path)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", default="", help="repositories with this in their name")
    options = parser.parse_args()
    entries = json.loads(options.judged.read_text())
    counts: Counter[str] = Counter()
    for name in dict.fromkeys(
        one["repository"] for one in entries if options.only in one["repository"]
    ):
        own = [one for one in entries if one["repository"] == name and judged(one["code"])]
        repository = options.clones / name.replace("/", "+") / "repo"
        if not own or not repository.is_dir():
            counts["no clone"] += len(own)
            continue
        for one, verdict in _verdicts(repository, own):
            counts[_kind(one["verdict"], verdict)] += 1
            print(f"{name} {one['file']}:{one['line']} {one['code']} {one['verdict']}:"
                  f" {verdict.outcome.value} {verdict.reason}", flush=True)  # fmt: skip
    print(dict(counts))


def _verdicts(repository: Path, entries: list[dict[str, Any]]) -> Iterator[tuple[Any, Verdict]]:
    with tempfile.TemporaryDirectory(prefix="cudalint-judged-") as name:
        commit = entries[0]["commit"]
        git = ["git", "--git-dir", str(repository), "--work-tree", name]
        done = subprocess.run([*git, "checkout", "-f", commit, "--", "."], capture_output=True)
        if done.returncode:
            unknown = Verdict(Outcome.NOT_RUNNABLE, reason="this commit is not at hand")
            yield from ((one, unknown) for one in entries)
            return
        folder = Path(name)
        headers = {path.parent for end in ("h", "hpp", "cuh") for path in folder.rglob(f"*.{end}")}
        flags = CompileFlags(include_folders=tuple(map(str, sorted(headers)))[:40])
        for filename in dict.fromkeys(one["file"] for one in entries):
            judge = HarnessJudge(
                folder / filename, HarnessOptions(lambda sources: flags), Simulated(),
                Budget(_SECONDS), seconds=10.0, cache=folder / ".cache",
            )  # fmt: skip
            for one in entries:
                if one["file"] == filename:
                    yield one, judge.verdict(_finding(one, folder))


def _finding(one: dict[str, Any], folder: Path) -> Finding:
    span = Span(one["line"], 1, one["line"], 200)
    return Finding(
        one["code"], "judged", Severity(one["severity"]), Confidence(one["confidence"]),
        one["message"], str(folder / one["file"]), span, "", "", (),
    )  # fmt: skip


def _kind(judgement: str, verdict: Verdict) -> str:
    if "does not build" in verdict.reason or "not at hand" in verdict.reason:
        return "does not build"
    if verdict.outcome not in (Outcome.CONFIRMED, Outcome.REFUTED):
        return "no verdict"
    right = (judgement != "false") == (verdict.outcome is Outcome.CONFIRMED)
    return "agrees" if right else f"disagrees: {judgement}, {verdict.outcome.value}"


if __name__ == "__main__":
    main()
