"""What a reader says of fixes in public code: ``python -m benchmarks.fixes.reading [JSON]...``.

Each finding that was judged true (``JSON``: lists as rounds of first sight hold) is mended in its
file at its commit. ``--diffs DIR`` writes the diffs to read, and `read.toml` gets an entry for
each, with the digest of its diff. What a reader says, ``accepted`` and ``why``, is written there by
hand; a diff that has changed since is to be read again. Without arguments the table is printed.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.common import Counter, table
from benchmarks.documents import markdown, write_section
from benchmarks.first_sight.judged import Judged
from benchmarks.fixes.mending import Mended, mend
from benchmarks.repositories import is_source, obtain, write_files
from cudalint.findings.finding import Finding

RECORD = Path(__file__).parent / "read.toml"
_REPOSITORIES = Path(".cudalint_cache/repositories")


class Read(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One true finding, its fix, and what a reader says of that."""

    repository: str
    commit: str
    file: str
    line: int
    code: str
    name: str = ""
    """What the message names first."""
    fix: str = ""
    """``safe`` or ``unsafe``; empty where there is none."""
    diff: str = ""
    """The digest of what changes in the file: fixes of other findings of the rule included."""
    accepted: bool | None = None
    """Whether the reader would take it as it stands; ``None``: nobody has read it."""
    why: str = ""
    """What speaks for or against it, or why there is no fix."""

    @property
    def place(self) -> tuple[str, str, int, str, str]:
        """What it is known by."""
        return self.repository, self.file, self.line, self.code, self.name


class Reading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that was read."""

    findings: tuple[Read, ...] = ()


def load() -> tuple[Read, ...]:
    """What has been read so far."""
    if not RECORD.exists():
        return ()
    return msgspec.toml.decode(RECORD.read_bytes(), type=Reading).findings


def write(findings: Iterable[Read]) -> None:
    """Keep what has been read, in order."""
    ordered = sorted(findings, key=lambda one: one.place)
    lines = ["# Written by `python -m benchmarks.fixes.reading`; `accepted` and `why` by a reader."]
    for one in ordered:
        lines += ["", "[[findings]]"]
        for name, value in msgspec.to_builtins(one).items():
            if value not in ("", None):
                lines.append(f"{name} = {msgspec.json.encode(value).decode()}")
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")


def mended_files(
    findings: Sequence[Judged], repositories: Path, cache: Path
) -> Iterator[tuple[Judged, Finding | None, str]]:
    """Each finding of one repository with the linter's finding, if it has one now, and the diff of
    all fixes of its rule in its file; empty where its own was not made."""
    repository, commit = findings[0].repository, findings[0].commit
    place = repositories / repository.replace("/", "+")
    place = place / "repo" if (place / "repo").is_dir() else place
    obtain(place, f"https://github.com/{repository}", commit)
    with tempfile.TemporaryDirectory(prefix="cudalint-reading-") as folder:
        write_files(place, commit, Path(folder), is_source)
        (Path(folder) / ".git").mkdir()
        files: defaultdict[tuple[str, str], list[Judged]] = defaultdict(list)
        for finding in findings:
            files[finding.file, finding.code].append(finding)
        for (name, code), judged in files.items():
            path = Path(folder) / name
            mended = mend(path, ["--preview", "--select", code], cache)
            for one in judged:
                yield one, *_outcome(one, mended, path)


def _outcome(judged: Judged, mended: Mended, path: Path) -> tuple[Finding | None, str]:
    told = next(
        (one for one in mended.before.active if _is_at(one, judged, path)),
        None,
    )
    made = told is not None and any(
        (one.code, one.function, one.subject) == (told.code, told.function, told.subject)
        for one in mended.fixed.made
    )
    return told, "".join(_diff(mended, judged.file)) if made else ""


def _is_at(finding: Finding, judged: Judged, path: Path) -> bool:
    same = finding.filename.endswith(path.name) and finding.span.row == judged.line
    return same and (finding.code, _name(finding)) == (judged.code, _name(judged))


def _name(finding: Finding | Judged) -> str:
    """What a message names first: two findings of a line differ by it."""
    named = re.search(r"`([^`]*)`", finding.message)
    return named[1] if named else ""


def _diff(mended: Mended, name: str) -> Iterator[str]:
    for path, data in mended.fixed.contents.items():
        old = mended.fixed.originals[path].decode(errors="replace").splitlines(keepends=True)
        new = data.decode(errors="replace").splitlines(keepends=True)
        yield from difflib.unified_diff(old, new, name, name, n=6)


def _entry(
    judged: Judged, finding: Finding | None, diff: str, read: Mapping[tuple[object, ...], Read]
) -> Read:
    digest = hashlib.sha256(diff.encode()).hexdigest()[:12] if diff else ""
    fix = ""
    if diff and finding is not None and finding.fix is not None:
        fix = finding.fix.applicability.value
    entry = Read(
        repository=judged.repository,
        commit=judged.commit,
        file=judged.file,
        line=judged.line,
        code=judged.code,
        name=_name(judged),
        fix=fix,
        diff=digest,
    )
    known = read.get(entry.place)
    if known is None or known.diff != digest:
        return entry
    return msgspec.structs.replace(entry, accepted=known.accepted, why=known.why)


def tables(findings: Sequence[Read]) -> list[list[str]]:
    """Rows: each rule, then all of them."""
    rules: defaultdict[str, list[Read]] = defaultdict(list)
    for one in findings:
        rules[one.code].append(one)
    rows = [["rule", "true findings", "with a fix", "of these safe", "accepted"]]
    for name, own in (*sorted(rules.items()), ("all", list(findings))):
        fixed = [one for one in own if one.fix]
        safe = sum(one.fix == "safe" for one in fixed)
        accepted = sum(bool(one.accepted) for one in fixed)
        rows.append([name, *map(str, (len(own), len(fixed), safe, accepted))])
    return rows


def main() -> int:
    """Mend, record and count; 1 while there is a diff that nobody has read."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fixes.reading", description=__doc__)
    parser.add_argument("judged", nargs="*", type=Path, metavar="JSON", help="judged findings")
    parser.add_argument("--repositories", type=Path, default=_REPOSITORIES, metavar="DIR")
    parser.add_argument("--only", default="", metavar="TEXT", help="repositories with this in them")
    parser.add_argument("--diffs", type=Path, metavar="DIR", help="where the diffs are written")
    parser.add_argument("--cache", type=Path, help="a folder that keeps what was read")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the table, into this document")
    arguments = parser.parse_args()
    known: dict[tuple[object, ...], Read] = {one.place: one for one in load()}
    groups: defaultdict[str, list[Judged]] = defaultdict(list)
    for path in arguments.judged:
        for one in msgspec.json.decode(path.read_bytes(), type=list[Judged]):
            if one.verdict == "true" and arguments.only in one.repository:
                groups[one.repository].append(one)
    counter = Counter("repositories", len(groups))
    with tempfile.TemporaryDirectory() as folder:
        cache = arguments.cache or Path(folder)
        for _, judged in sorted(groups.items()):
            for one, finding, diff in mended_files(judged, arguments.repositories, cache):
                entry = _entry(one, finding, diff, known)
                known[entry.place] = entry
                if arguments.diffs:
                    _show(arguments.diffs, entry, finding, diff)
            counter.step()
            write(known.values())
    rows = tables(list(known.values()))
    print("\n".join(table(rows)))
    if arguments.write:
        write_section(arguments.write, "fixes read", markdown(rows))
    unread = [one for one in known.values() if one.fix and one.accepted is None]
    for entry in unread:
        print(f"not read: {' '.join(map(str, entry.place))}", file=sys.stderr)
    return 1 if unread else 0


def _show(folder: Path, entry: Read, finding: Finding | None, diff: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = "-".join(map(str, entry.place)).replace("/", "+")
    said = (
        "not told any more" if finding is None else f"{finding.severity.value}: {finding.message}"
    )
    fix = finding.fix.message if finding is not None and finding.fix is not None else "no fix"
    text = f"{entry.repository} {entry.file}:{entry.line} {entry.code}\n{said}\n{fix}\n{diff}"
    (folder / f"{name}.diff").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
