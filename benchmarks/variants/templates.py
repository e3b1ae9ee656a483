"""Reads the ways for a handle to travel: ``ways/*.cu.in``.

A way is a program with slots, each a line of its own::

    ACQUIRE(&p, return 1);   acquire into an address, else leave
    BEFORE(p);               at the origin, before the handle travels
    SINK(q);                 where the handle arrives
    AFTER(p);                at the origin again
    DECOY(p);                where a SINK would stand if a condition were other than it always is
    RELEASE(p);              release, in every program

``TYPE`` is the handle's type. ``//@`` marks further lines where a finding may stand. ``?bad`` and
``?good`` begin lines of one twin only. ``// way: NAME`` begins a way, ``// file: NAME`` a file of
it; ``// resources:``, ``// flaws:`` and ``// codes:`` say what it carries, of which flaws, and by
which further codes these may be found; in a way with ``// owner: yes`` nobody but its class ends
what the class holds, but for the flaw's sake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WAYS = Path(__file__).parent / "ways"
FLAWS = ("leak", "double", "use")
_HEAD = re.compile(r"// (way|file|resources|flaws|codes|owner): (.+)")


@dataclass(frozen=True)
class Way:
    """A way for a handle to travel."""

    group: str
    name: str
    files: tuple[tuple[str, str], ...]
    resources: tuple[str, ...]
    flaws: tuple[str, ...]
    codes: tuple[str, ...]
    is_owner: bool

    def has(self, slot: str) -> bool:
        """Whether a slot occurs in it."""
        return any(f"{slot}(" in text for _, text in self.files)


def read_ways() -> list[Way]:
    """All ways, in the order of the files."""
    return [way for path in sorted(WAYS.glob("*.cu.in")) for way in _ways_of(path)]


def _ways_of(path: Path) -> Iterator[Way]:
    _, *bodies = re.split(r"^(?=// way: )", path.read_text("utf-8"), flags=re.MULTILINE)
    for body in bodies:
        heads: dict[str, str] = {}
        files: dict[str, list[str]] = {"main.cu": []}
        current = "main.cu"
        for line in body.rstrip().split("\n"):
            match = _HEAD.fullmatch(line)
            if match is None:
                files.setdefault(current, []).append(line)
            elif match[1] == "file":
                current = match[2]
            else:
                heads[match[1]] = match[2]
        yield Way(
            path.name.partition(".")[0],
            heads["way"],
            tuple((name, "\n".join(lines).strip("\n") + "\n") for name, lines in files.items()),
            tuple(heads.get("resources", "memory").split()),
            tuple(heads.get("flaws", " ".join(FLAWS)).split()),
            tuple(heads.get("codes", "").split()),
            "owner" in heads,
        )
