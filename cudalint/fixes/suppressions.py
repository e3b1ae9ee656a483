"""Suppressions that suppress nothing go, with the comment if nothing else is in it."""

from __future__ import annotations

import re

from cudalint.findings.fix import Applicability, Fix
from cudalint.findings.repair import DropSuppression
from cudalint.fixes.text import Text, demand

_LIST = re.compile(r"(?P<opening>\[|\(|:)\s*(?P<entries>[^\])]*?)\s*(?P<closing>\]|\)|$)")


def drop_suppression(repair: DropSuppression, text: Text) -> Fix:
    """A comment without some entries, or the line without the comment."""
    comment = text.at(repair.comment)
    start, end = text.bounds(repair.comment)
    flexible = r"\s+".join(map(re.escape, repair.text.split()))
    match = re.search(flexible, comment)
    demand(match)
    assert match is not None
    directive = match[0]
    kept: list[str] = []
    listed = _LIST.search(directive, max(directive.rfind("ignore"), directive.rfind("noqa"), 0))
    if listed is not None and repair.codes:
        entries = [one for one in re.split(r"[\s,]+", listed["entries"]) if one]
        gone = {code.upper() for code in repair.codes}
        kept = [one for one in entries if one.upper() not in gone]
        demand(len(kept) < len(entries))
    if kept and listed is not None:
        at = start + match.start() + listed.start("entries")
        edit = text.edit(at, at + len(listed["entries"]), ", ".join(kept))
        return Fix(
            f"Drop {', '.join(repair.codes)} from the suppression", (edit,), Applicability.SAFE
        )
    before = comment[: match.start()]
    demand(re.fullmatch(r"(//|/\*|#)+\s*", before))
    # Another comment may follow in the same one, such as a `# type: ignore`.
    rest = re.search(r"\s(//|#)", comment[match.end() :])
    if rest is not None:
        edit = text.edit(start, start + match.end() + rest.start() + 1, "")
    elif text.leads(start) and not text.text[end : text.line_end(end)].strip():
        following = text.text.find("\n", end) + 1
        edit = text.edit(text.line_start(start), following or len(text.text), "")
    else:
        bare = len(text.text[:start].rstrip(" \t"))
        edit = text.edit(bare, end, "")
    return Fix("Drop the suppression", (edit,), Applicability.SAFE)
