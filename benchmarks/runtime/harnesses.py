"""What harnesses say of findings that people judged: ``python -m benchmarks.runtime.harnesses
ROUND.toml... CLONES``. ``CLONES`` holds a git directory ``OWNER+NAME/repo`` for each repository."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.first_sight.judged import Judged, load
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.project.compile_commands import CompileFlags
from cudalint.runtime.build import BuildError, BuildOptions, build
from cudalint.runtime.confirm import PYTHON, ConfirmOptions, confirm
from cudalint.runtime.devices import Simulated
from cudalint.runtime.evidence import judged
from cudalint.runtime.harness.making import HarnessOptions
from cudalint.runtime.sweep import Budget
from cudalint.runtime.targets import targets_of
from cudalint.source import Span

_NOT_BUILT = "does not build"
_SECONDS = 300.0
_MOST_FOLDERS = 60
_SYSTEM = ("inttypes.h", "math.h", "stdint.h", "string.h", "unistd.h")
"""A folder with such a header is for another system."""
_LEAVES = re.compile(r"(?:fails|throws) \((?:returns|leaves) at line (\d+)\)")
_RELEASED = re.compile(r"line (\d+) has released it already")
_ROWS_OF_A_CHECK = 3
"""The call that fails stands that near above the line where its function is left."""


def main() -> None:
    """Print a line for each finding, and the sums by language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", nargs="+", type=Path, metavar="ROUND.toml")
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", default="", help="repositories with this in their name")
    parser.add_argument("--language", choices=["C++", "Python"], help="only these findings")
    parser.add_argument(
        "--judged", nargs="+", default=["true", "petty", "false"], metavar="VERDICT",
        help="only findings judged so",
    )  # fmt: skip
    parser.add_argument("--keep-harness", type=Path, metavar="DIR", help="keep them to be read")
    parser.add_argument("--sample", type=int, metavar="COUNT", help="only so many, always the same")
    options = parser.parse_args()
    entries = [
        one
        for path in options.rounds
        for one in load(path).findings
        if one.verdict in options.judged and judged(one.code) and options.only in one.repository
        if options.language in (None, one.language) and _clone(options.clones, one) is not None
    ]
    if options.sample:
        entries.sort(key=lambda one: hashlib.sha256(repr(one).encode()).digest())
        del entries[options.sample :]
    counts: dict[str, Counter[str]] = {}
    groups: dict[tuple[str, str], list[Judged]] = {}
    for one in entries:
        groups.setdefault((one.repository, one.commit), []).append(one)
    for own in groups.values():
        repository = _clone(options.clones, own[0])
        assert repository is not None
        for one, verdict, broken in _verdicts(repository, own, options.keep_harness):
            kind = _NOT_BUILT if broken else _kind(one.verdict, verdict)
            counts.setdefault(one.language, Counter())[kind] += 1
            said = verdict.reason or _run(verdict)
            print(f"{one.repository} {one.file}:{one.line} {one.code} {one.verdict}:"
                  f" {verdict.outcome.value} {said}{broken and f'; {broken}'}",
                  flush=True)  # fmt: skip
    for language, found in sorted(counts.items()):
        print(f"{language}: {_summed(found)}")


def _clone(clones: Path, one: Judged) -> Path | None:
    repository = clones / one.repository.replace("/", "+") / "repo"
    return repository if repository.is_dir() else None


def _run(verdict: Verdict) -> str:
    return verdict.evidence[0].run if verdict.evidence else ""


def _summed(found: Counter[str]) -> str:
    """How many of those that build got a verdict, and how many verdicts agree."""
    built = found.total() - found[_NOT_BUILT]
    decided = built - found["no verdict"]
    parts = ", ".join(f"{count} {kind}" for kind, count in sorted(found.items()))
    return f"{decided} of {built} have a verdict, {found['agrees']} agree ({parts})"


def _verdicts(
    repository: Path, entries: list[Judged], keep: Path | None
) -> Iterator[tuple[Judged, Verdict, str]]:
    """Each with its verdict, and why its file does not build with what is at hand: empty where it
    does."""
    kept = None if keep is None else keep / repository.parent.name
    with tempfile.TemporaryDirectory(prefix="cudalint-judged-") as name:
        commit = entries[0].commit
        git = ["git", "--git-dir", str(repository), "--work-tree", name]
        subprocess.run([*git, "checkout", "-f", commit, "--", "."], capture_output=True)
        if not any((Path(name) / one.file).is_file() for one in entries):  # some may be too large
            unknown = Verdict(Outcome.NOT_RUNNABLE, reason="this commit is not at hand")
            yield from ((one, unknown, _NOT_BUILT) for one in entries)
            return
        folder = Path(name)
        headers = {path.parent for end in ("h", "hpp", "cuh") for path in folder.rglob(f"*.{end}")}
        headers |= {
            parent for path in headers for parent in path.parents if folder in parent.parents
        }
        headers.add(folder)
        headers = {path for path in headers if not any((path / one).is_file() for one in _SYSTEM)}
        flags = CompileFlags(include_folders=tuple(map(str, sorted(headers)))[:_MOST_FOLDERS])
        for filename in dict.fromkeys(one.file for one in entries):
            own = [one for one in entries if one.file == filename]
            options = ConfirmOptions(
                Simulated(), Budget(_SECONDS), seconds=10.0, cache=folder / ".cache",
                harnesses=HarnessOptions(lambda sources: flags, keep=kept),
            )  # fmt: skip
            targets = [
                dataclasses.replace(target, flags=flags)
                for target in targets_of([folder / filename], lambda path: list(headers))
            ]
            found = confirm([_finding(one, folder) for one in own], targets, options).findings
            verdicts = [finding.runtime for finding in found if finding.runtime is not None]
            broken = "" if any(map(_was_built, verdicts)) else _broken(folder / filename, flags)
            yield from ((one, said, broken) for one, said in zip(own, verdicts, strict=True))


def _was_built(verdict: Verdict) -> bool:
    return verdict.outcome is not Outcome.NOT_RUNNABLE or "harness of" in verdict.reason


def _broken(source: Path, flags: CompileFlags) -> str:
    """Why a file does not build where nothing of it is called: empty where it does, or is a
    script."""
    if source.suffix in PYTHON:
        return ""
    with tempfile.TemporaryDirectory(prefix="cudalint-alone-") as name:
        suffix = source.suffix if source.suffix in (".cu", ".cc", ".cpp", ".cxx") else ".cu"
        alone = Path(name) / f"alone{suffix}"
        alone.write_text(
            "#include <cstdlib>\n#include <string>\n#define main main_of_the_source\n"
            f'#include "{source}"\n#undef main\nint main() {{}}\n'
        )
        folders = (str(source.parent), *flags.include_folders)
        options = BuildOptions(
            flags=dataclasses.replace(flags, include_folders=folders),
            arguments=("-fpermissive",) if source.suffix == ".c" else (), incomplete=True,
        )  # fmt: skip
        try:
            build(alone, Path(name) / "built", options)
        except BuildError as error:
            return f"{_NOT_BUILT}: {error}"
    return ""


def _finding(one: Judged, folder: Path) -> Finding:
    span = Span(one.line, 1, one.line, 200)
    filename = str(folder / one.file)
    steps = tuple(
        Step(filename, Span(max(1, int(row) - _ROWS_OF_A_CHECK), 1, int(row), 200), "it fails")
        for row in _LEAVES.findall(one.message)
    ) + tuple(
        Step(filename, Span(int(row), 1, int(row), 200), "it is released")
        for row in _RELEASED.findall(one.message)
    )
    return Finding(
        one.code, "judged", Severity(one.severity), Confidence(one.confidence),
        one.message, filename, span, "", "", steps,
    )  # fmt: skip


def _kind(judgement: str, verdict: Verdict) -> str:
    if verdict.outcome not in (Outcome.CONFIRMED, Outcome.REFUTED, Outcome.KEPT):
        return "no verdict"
    right = (judgement != "false") == (verdict.outcome is Outcome.CONFIRMED)
    return "agrees" if right else f"disagrees: {judgement}, {verdict.outcome.value}"


if __name__ == "__main__":
    main()
