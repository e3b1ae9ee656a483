"""Writes a page for each rule, ``rules/GPU102.md``, and the table of all of them.

A page is what ``cudalint rule CODE`` prints, the measured precision included, with programs of the
fixtures as examples. The pages are made anew for each build and never committed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from sphinx.application import Sphinx

from cudalint import registry
from cudalint.commands.rule import markdown
from cudalint.findings.judged import judgements
from cudalint.findings.rule import Rule

ROOT = Path(__file__).parent.parent.parent
LANGUAGES = {".cu": ("CUDA C++", "cuda"), ".hip": ("HIP", "cuda"), ".py": ("Python", "python")}
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<![\w/\[#-])(`?)(GPU\d{3})\1(?![\w\]])")


def page(rule: type[Rule], known: Mapping[str, type[Rule]], fixtures: Path) -> str:
    """A rule's page, with links to the rules that it names and with its fixtures."""
    title, _, body = markdown(rule).partition("\n")
    parts = [f"{title.replace('# ', f'# {rule.code}: ')}\n", linked(body, rule.code, known)]
    examples = list(_examples(rule, fixtures))
    if examples:
        parts += [
            "\n## Whole programs\n\nOf the fixtures that the linter is tested with. A comment says "
            "where it must find something; in the corrected program it must find nothing.\n",
            *examples,
        ]
    return "\n".join(parts)


def linked(text: str, own: str, known: Mapping[str, type[Rule]]) -> str:
    """The text with links from codes to the pages of their rules, code blocks left alone."""

    def link(match: re.Match[str]) -> str:
        code = match[2]
        return match[0] if code == own or code not in known else f"[{match[0]}]({code}.md)"

    pieces = []
    end = 0
    for block in _FENCED.finditer(text):
        pieces += [_CODE.sub(link, text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*pieces, _CODE.sub(link, text[end:])])


def _examples(rule: type[Rule], fixtures: Path) -> Iterator[str]:
    """Of each language the shortest program with the bug, and the one without it."""
    folder = fixtures / f"{rule.code}-{rule.name}"
    for suffix, (language, lexer) in LANGUAGES.items():
        pairs = [
            (bad, bad.with_name(bad.name.replace("bad_", "good_", 1)))
            for bad in sorted(folder.glob(f"bad_*{suffix}"))
        ]
        complete = [pair for pair in pairs if pair[1].exists()]
        if complete:
            bad, good = min(complete, key=lambda pair: pair[0].stat().st_size)
            for title, path in (("with the bug", bad), ("corrected", good)):
                text = path.read_text(encoding="utf-8").rstrip("\n")
                yield (
                    f"<details><summary>{language}, {title}: <code>{path.name}</code></summary>\n\n"
                    f"```{lexer}\n{text}\n```\n\n</details>\n"
                )


def table(known: Mapping[str, type[Rule]]) -> str:
    """The page that lists all rules."""
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name}{' (preview)' if rule.preview else ''} "
        f"| {_summary(rule)} | {rule.severity.value} | {rule.confidence.value} | {_right(rule)} |"
        for rule in known.values()
    ]
    listed = "\n".join(known)
    return (
        "# Rules\n\n*Not false*: of the rule's findings in repositories that nobody had tuned for, "
        "how many were not false alarms, judged by reading the code; empty where none was met. "
        "`cudalint rule CODE` prints the same pages in a terminal.\n\n"
        "| code | name | finds | severity | confidence | not false |\n|---|---|---|---|---|---|\n"
        + "\n".join(rows)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    )


def _summary(rule: type[Rule]) -> str:
    first = rule.documentation().partition("\n\n")[0]
    return " ".join(first.split()).rstrip(".").replace("|", "\\|")


def _right(rule: type[Rule]) -> str:
    counts = judgements().rules.get(rule.code, {}).values()
    total = sum(one.count - one.uncertain for one in counts)
    return f"{total - sum(one.false for one in counts)} of {total}" if total else ""


def write_pages(folder: Path, fixtures: Path) -> None:
    """Write the pages that changed, and take away those of rules that are gone."""
    known = registry.all_rules()
    pages = {"index.md": table(known)}
    pages |= {f"{code}.md": page(rule, known, fixtures) for code, rule in known.items()}
    folder.mkdir(exist_ok=True)
    for path in set(folder.glob("*.md")) - {folder / name for name in pages}:
        path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _on_builder_inited(app: Sphinx) -> None:
    write_pages(Path(app.srcdir) / "rules", ROOT / "fixtures")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call."""
    app.connect("builder-inited", _on_builder_inited)
    return {"parallel_read_safe": True}
