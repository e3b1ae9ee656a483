"""What is lost in functions that nothing calls: it does no harm to anybody.

The analysis says that no call of the run means such a function: one that other files cannot name,
a template that nothing makes an instance of, or what a Python project keeps to itself. Code that
was not read may still do so: a branch for another platform, the body of another template, a macro.
Hence no text may name it either, apart from its own, that of others like it which call it,
declarations and comments.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

from cudalint.findings.comments import CPP_TOKEN
from cudalint.findings.finding import Finding, Step
from cudalint.project.paths import absolute
from cudalint.project.reading import UnreadableError, decode, read_bytes

_BEFORE_A_CALL = frozenset(
    [
        "and",
        "case",
        "co_await",
        "co_return",
        "co_yield",
        "delete",
        "do",
        "else",
        "new",
        "not",
        "or",
        "return",
        "sizeof",
        "throw",
        "using",
    ]
)
"""Words that a name may follow without being declared."""
_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(?:define[ \t]+\w+(?:\([^)\n]*\))?|(?!define\b)\w+[^\n]*)", re.MULTILINE
)
"""A line for the preprocessor; of a macro all but what it stands for."""


def without_callers(
    findings: Iterable[Finding],
    paths: Iterable[Path],
    contents: Mapping[Path, bytes],
    alone: Container[str] = frozenset(),
) -> list[Finding]:
    """The findings; ``info`` where no text of the files names the function that they are in.
    ``contents`` stands for what is on the disk. Of what is ``alone``, a file without the rest of
    its project, nobody knows who calls it."""
    findings = list(findings)
    asked = [one for one in findings if one.uncalled and one.filename not in alone]
    known = {step for one in asked for step in one.uncalled}
    named = _named(known, paths, contents) if known else set()
    harmless = {id(one) for one in asked if named.isdisjoint(one.uncalled)}
    return [
        one.harmless(f"nothing calls `{one.uncalled[0].message}`") if id(one) in harmless else one
        for one in findings
    ]


def _named(known: set[Step], paths: Iterable[Path], contents: Mapping[Path, bytes]) -> set[Step]:
    """Those of some functions, each with its short name, that a text names, or may name where it
    cannot be read."""
    found: set[Step] = set()
    for path in dict.fromkeys(map(absolute, paths)):
        try:
            data = contents[path] if path in contents else read_bytes(path)
        except UnreadableError:
            return known
        data = data.replace(b"\0", b"")  # UTF-16 hides names from a byte search
        asked = [one for one in known - found if one.message.encode() in data]
        if asked:
            try:
                python = path.suffix in (".py", ".pyi", ".ipynb")
                named = _named_in_python if python else _named_in
                found |= named(
                    path, decode(data, "python" if python else "cuda").text, asked, known
                )
            except UnreadableError:
                found |= set(asked)
    return found


def _named_in_python(path: Path, text: str, asked: Sequence[Step], known: set[Step]) -> set[Step]:
    """As in a string, so in code: but in a comment of its own, or where it is defined."""
    own = [one.span for one in known if absolute(Path(one.filename)) == path]
    words = "|".join(sorted({re.escape(one.message) for one in asked}))
    found: set[str] = set()
    for row, line in enumerate(text.splitlines(), 1):
        inside = path.suffix != ".ipynb" and any(span.row <= row <= span.end_row for span in own)
        if not inside and not line.lstrip().startswith("#"):
            found.update(re.findall(rf"(?<!def )\b(?:{words})\b", line))
    return {one for one in asked if one.message in found}


def _named_in(path: Path, text: str, asked: Sequence[Step], known: set[Step]) -> set[Step]:
    text = _DIRECTIVE.sub(";", text)
    own = [one.span for one in known if absolute(Path(one.filename)) == path]
    names = {one.message for one in asked}
    found: set[str] = set()
    row, last = 1, 0
    before: list[str] = []
    for match in CPP_TOKEN.finditer(text):
        token = match[0]
        if match["line"] or match["block"] or token.isspace():
            continue
        if token in names and token not in found and not _declares(before):
            row += text.count("\n", last, match.start())
            last = match.start()
            if not any(span.row <= row <= span.end_row for span in own):
                found.add(token)
        before = [*before[-8:], token]
    return {one for one in asked if one.message in found}


def _declares(before: Sequence[str]) -> bool:
    """Whether what stands before a name makes a declaration of it: the word of a type."""
    words = list(before)
    while len(words) > 1 and words[-1] == "::":
        del words[-2:]
    return bool(words) and (words[-1].isidentifier()) and words[-1] not in _BEFORE_A_CALL
