"""What files that were not read leave in doubt: what nothing in the run does with a class, a global
or a kernel, a file that names it may do."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from cudalint.findings.finding import Step
from cudalint.project.files import SourceFile
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.source import Span

# `Pool` of `gpu::Pool<float>`, `table` of `::table[0].rows`.
_WORD = re.compile(r"(?:::)?(?:\w+::)*(\w+)")


def doubts(
    names: Iterable[str], files: Iterable[SourceFile], contents: Mapping[Path, bytes]
) -> dict[str, list[Step]]:
    """By what findings rest on: where files that were not read mention it, each once.
    ``contents`` stands for what is on the disk."""
    words = {name: match[1] for name in sorted(names) if (match := _WORD.match(name))}
    found: dict[str, list[Step]] = defaultdict(list)
    for file in files:
        data = _bytes(file, contents) if words else b""
        for name, word in words.items():
            span = _first(word.encode(), data)
            if span is not None:
                what = f"this file was not read, and names `{word}`"
                found[name].append(Step(file.filename, span, what, aside=True))
    return found


def _bytes(file: SourceFile, contents: Mapping[Path, bytes]) -> bytes:
    try:
        data = contents[file.path] if file.path in contents else read_bytes(file.path)
    except UnreadableError:
        return b""
    return data.replace(b"\0", b"")  # UTF-16 hides names from a byte search


def _first(word: bytes, data: bytes) -> Span | None:
    match = re.search(rb"(?<!\w)%b(?!\w)" % re.escape(word), data)
    if match is None:
        return None
    row = data.count(b"\n", 0, match.start()) + 1
    column = match.start() - data.rfind(b"\n", 0, match.start())
    return Span(row, column, row, column + len(word))
