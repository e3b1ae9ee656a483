"""Which lines have changed since a commit, by git.

The repository may be anybody's: its configuration can name programs for git to run (pagers, hooks,
file system monitors, external diffs, text conversions, content filters, transports). None of them
is. Nothing is fetched, and the index is not written.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cudalint.project.reading import reason_of

_SECONDS = 120.0
_SAFE = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.sshCommand": "false",
    "core.quotePath": "true",
    "diff.external": "",
    "diff.relative": "false",
    "protocol.allow": "never",
}
_DIFF = (
    "--unified=0", "--inter-hunk-context=0", "--text", "--find-renames", "--no-ext-diff",
    "--no-textconv", "--no-color", "--no-indent-heuristic", "--ignore-submodules=all",
    "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short",
)  # fmt: skip
_DRIVERS = r"^filter\..*\.(clean|smudge|process|required)$"
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


class ChangesError(Exception):
    """It cannot be told what has changed; the message says why."""


@dataclass
class ChangedLines:
    """The changed lines of one file."""

    added: list[range] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    """Rows after which lines are gone."""

    def touch(self, first: int, last: int) -> bool:
        """Whether any of these rows is new, or a neighbour of one is gone."""
        return any(rows.start <= last and first < rows.stop for rows in self.added) or any(
            first - 1 <= row <= last for row in self.removed
        )

    def removed_within(self, first: int, last: int) -> bool:
        """Whether lines between these rows are gone."""
        return any(first <= row < last for row in self.removed)


@dataclass(frozen=True)
class Changes:
    """What has changed in a repository."""

    top: Path
    unchanged: frozenset[str]
    """The files that the commit has too, but for the lines below."""
    lines: dict[str, ChangedLines]

    def of(self, path: Path) -> ChangedLines | None:
        """The changed lines of a file; ``None`` where it is new as a whole, or no file of the
        repository."""
        try:
            name = Path(os.path.realpath(path)).relative_to(self.top).as_posix()
        except ValueError:
            return None
        if name in self.lines:
            return self.lines[name]
        return ChangedLines() if name in self.unchanged else None


def changes_since(revision: str, folder: Path) -> Changes:
    """What has changed in the repository of a folder since the last commit that it has in common
    with a revision; what is not committed counts. Raises ``ChangesError``."""
    git = _Git(folder)
    top = git.run("rev-parse", "--show-toplevel", failure=f"{folder}: is in no git repository")
    git.folder = Path(os.path.realpath(_name(top.rstrip(b"\n"))))
    unknown = f"git knows no commit {revision!r}"
    given = f"{revision}^{{commit}}"
    commit = git.run(
        "rev-parse", "--verify", "--quiet", "--end-of-options", given, failure=unknown
    ).strip()
    alien = f"{revision!r} has no commit in common with this branch (a shallow clone? fetch more)"
    base = git.run("merge-base", commit.decode(), "HEAD", failure=alien).split()[0].decode()
    tree = git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", base)
    lines, gone = parse_diff(git.run("diff", *_DIFF, base, "--"))
    unchanged = frozenset(map(_name, filter(None, tree.split(b"\0")))) - gone
    return Changes(git.folder, unchanged, lines)


def parse_diff(diff: bytes) -> tuple[dict[str, ChangedLines], set[str]]:
    """The changed lines by file, and the files that are gone, of ``git diff --unified=0``."""
    found: dict[str, ChangedLines] = {}
    gone: set[str] = set()
    lines = iter(diff.split(b"\n"))
    current = ChangedLines()
    before = ""
    for line in lines:
        if line.startswith(b"--- "):
            before = _path(line[4:])
        elif line.startswith(b"+++ "):
            name = _path(line[4:])
            if name:
                current = found.setdefault(name, ChangedLines())
            else:
                gone.add(before)
        elif line.startswith(b"rename from "):
            gone.add(_unquoted(line[12:]))
        elif line.startswith((b"rename to ", b"copy to ")):
            found.setdefault(_unquoted(line.partition(b" to ")[2]), ChangedLines())
        elif match := _HUNK.match(line):
            old, start, new = int(match[1] or 1), int(match[2]), int(match[3] or 1)
            if new:
                current.added.append(range(start, start + new))
            else:
                current.removed.append(start)
            _skip(lines, old + new)
    return found, gone


def _skip(lines: Iterator[bytes], count: int) -> None:
    """Pass over the lines of a hunk: they may look like anything."""
    while count > 0:
        line = next(lines, None)
        if line is None:
            return
        count -= not line.startswith(b"\\")


def _path(text: bytes) -> str:
    """The name in a header of a patch; empty for a file that is not there."""
    name = _unquoted(text.rstrip(b"\t\r"))
    return "" if name == os.devnull else name[2:]


def _unquoted(text: bytes) -> str:
    """A name as git writes it: in C's quotes where it has unusual letters."""
    if len(text) >= 2 and text.startswith(b'"') and text.endswith(b'"'):
        text = _ESCAPE.sub(_unescaped, text[1:-1])
    return _name(text)


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 3:
        return bytes([int(code, 8) & 255])
    return bytes([_ESCAPED.get(code[0], code[0])])


def _name(text: bytes) -> str:
    return os.fsdecode(text)


class _Git:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._settings = dict(_SAFE)
        drivers = self._call("config", "--null", "--name-only", "--get-regexp", _DRIVERS)
        # Content filters run programs; an empty command is none.
        for key in filter(None, drivers.stdout.split(b"\0")):
            self._settings[_name(key)] = "false" if key.endswith(b".required") else ""

    def run(self, *arguments: str, failure: str = "") -> bytes:
        """What a command says; ``failure`` is the error where it fails."""
        done = self._call(*arguments)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            reason = said.removeprefix("fatal: ") or f"status {done.returncode}"
            if "dubious ownership" in said:
                failure = ""
            raise ChangesError(failure or f"git {arguments[0]}: {reason}")
        return done.stdout

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = ["git", "--no-pager", "-C", str(self.folder), *arguments]
        try:
            return subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                env=self._environment(),
                check=False,
            )
        except FileNotFoundError:
            raise ChangesError("git is not installed") from None
        except subprocess.TimeoutExpired:
            raise ChangesError(f"git {arguments[0]}: took longer than {_SECONDS:.0f} s") from None
        except (OSError, ValueError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else error
            raise ChangesError(f"git {arguments[0]}: {reason}") from None

    def _environment(self) -> dict[str, str]:
        environment = dict(os.environ)
        # A hook that runs us is told of its own repository; ours is that of the folder.
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_DIFF_OPTS"):
            environment.pop(name, None)
        environment |= {
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "none",
            "LC_ALL": "C",
        }
        return environment | _overrides(environment, list(self._settings.items()))


def _overrides(environment: dict[str, str], settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Settings for git that win over those of any file, behind those that are there already."""
    try:
        first = int(environment.get("GIT_CONFIG_COUNT") or 0)
    except ValueError:
        first = 0
    found = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings, start=first):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found
