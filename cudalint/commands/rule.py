"""The ``rule`` command: prints the pages of rules."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from cudalint import registry
from cudalint.findings.judged import judgements, paragraph
from cudalint.findings.rule import Rule
from cudalint.reports.style import ColorChoice, use_color


def run_rule(name: str | None, output_format: str, color: ColorChoice) -> int:
    """Print one rule, those of a prefix, or all of them."""
    rules = registry.select(registry.all_rules(), (name or registry.ALL,), preview=True)
    if output_format == "json":
        data: Any = [_data(rule) for rule in rules]
        encoded = msgspec.json.encode(data[0] if len(data) == 1 else data)
        print(msgspec.json.format(encoded, indent=2).decode())
        return 0
    page = "\n\n".join(markdown(rule) for rule in rules)
    if use_color(sys.stdout, color):
        from rich.console import Console
        from rich.markdown import Markdown

        Console(force_terminal=True).print(Markdown(page, hyperlinks=sys.stdout.isatty()))
    else:
        print(page)
    return 0


def markdown(rule: type[Rule]) -> str:
    """A rule's page."""
    facts = [rule.code, f"severity {rule.severity.value}", f"confidence {rule.confidence.value}"]
    if rule.preview:
        facts.append("preview: only with `--preview`")
    return (
        f"# {rule.name}\n\n*{' · '.join(facts)}*\n\n{rule.documentation()}{paragraph(rule.code)}\n"
    )


def _data(rule: type[Rule]) -> dict[str, Any]:
    text = rule.documentation()
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "confidence": rule.confidence.value,
        "preview": rule.preview,
        "summary": text.partition("\n")[0],
        "documentation": text,
        "judged": judgements().rules.get(rule.code, {}),
    }
