"""Writes the table of `docs/fixes.md` from the rules' pages: `python -m benchmarks.fixes.page`."""

from __future__ import annotations

import re
from pathlib import Path

from cudalint.findings.rule import Rule
from cudalint.registry import all_rules

PAGE = Path(__file__).parent.parent.parent / "docs" / "fixes.md"
_TABLE = re.compile(r"(<!-- rules -->\n).*?(<!-- end -->\n)", re.DOTALL)
_SECTION = re.compile(r"^## Fix\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)


def what_is_fixed(rule: type[Rule]) -> dict[str, str]:
    """``Safe`` and ``Unsafe``, each with what a rule's page says of it."""
    section = _SECTION.search(rule.documentation())
    items = section[1].strip().split("\n- ") if section else []
    texts = (" ".join(item.removeprefix("- ").split()) for item in items)
    return {kind: text for kind, _, text in (one.partition(": ") for one in texts)}


def with_table(page: str) -> str:
    """The page with the table of today's rules."""
    lines = ["| rule | safe | unsafe |", "|---|---|---|"]
    for rule in all_rules().values():
        fixed = what_is_fixed(rule)
        if fixed:
            cells = (fixed.get("Safe", ""), fixed.get("Unsafe", ""))
            lines.append(f"| `{rule.code}` {rule.name} | {' | '.join(cells)} |")
    table = "\n".join(lines)
    return _TABLE.sub(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", page)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), encoding="utf-8")
