"""The tables of what came of the fixtures, and what in them is not as it should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarks.runtime.judging import Row
from cudalint.findings.verdict import Outcome

RULES = (
    "GPU101", "GPU102", "GPU103", "GPU104", "GPU105", "GPU106", "GPU201", "GPU202", "GPU203",
    "GPU204", "GPU205", "GPU301", "GPU302", "GPU303", "GPU304", "GPU305", "GPU405", "GPU406",
    "GPU407", "GPU501",
)  # fmt: skip
"""The rules of the goal; others are listed apart."""
SWEPT_RULES = ("GPU102", "GPU103")
"""Those whose every finding must be shown by the sweep and by nothing else."""


def table(rows: Sequence[Row], language: str) -> str:
    """The table of one language."""
    lines = [
        f"{'rule':8} {'bad':>4} {'confirmed':>10} {'by a fault':>11} {'not run':>8}"
        f" {'good':>5} {'alarms':>7} {'not run':>8}"
    ]
    totals = [0] * 7
    for code in sorted({row.code for row in rows if row.language == language}):
        own = [row for row in rows if row.code == code and row.language == language]
        bad, good = [r for r in own if r.bad], [r for r in own if not r.bad]
        missing = Outcome.NOT_RUNNABLE.value
        counts = [
            len(bad),
            sum(row.outcome == Outcome.CONFIRMED.value for row in bad),
            sum(row.by_fault for row in bad),
            sum(row.outcome == missing for row in bad),
            len(good),
            sum(row.outcome == "alarm" for row in good),
            sum(row.outcome == missing for row in good),
        ]
        if code in RULES:
            totals = [a + b for a, b in zip(totals, counts, strict=True)]
        lines.append(_line(code if code in RULES else f"({code})", counts))
    lines.append(_line("goal", totals))
    runnable = totals[0] - totals[3]
    if totals[0]:
        share = f"{totals[1]}/{totals[0]} = {totals[1] / totals[0]:.1%} of all"
        if runnable:
            share += f", {totals[1] / runnable:.1%} of those that could be built and run here"
        lines.append(f"bad fixtures of the goal's rules confirmed: {share}")
    return "\n".join(lines)


def witness_table(rows: Sequence[Row]) -> str:
    """How often compute-sanitizer says the same, by rule, and each time that it does not."""
    lines = [
        f"{'rule':8} {'confirmed':>9} {'agrees':>7} {'shows none':>11} {'good':>5} {'silent':>7}"
    ]
    for code in sorted({row.code for row in rows if row.witness}):
        own = [row for row in rows if row.code == code and row.witness]
        bad, good = [r for r in own if r.bad], [r for r in own if not r.bad]
        agrees = sum(row.witness == "agrees" for row in bad)
        silent = sum(row.witness == "silent" for row in good)
        lines.append(
            f"{code:8} {len(bad):>9} {agrees:>7} {len(bad) - agrees:>11} {len(good):>5} {silent:>7}"
        )
    lines += [
        f"{row.unit}: {row.witness}"
        for row in rows
        if row.witness not in ("", "agrees", "silent") and row.code in RULES
    ]
    return "\n".join(lines)


def differences(rows: Sequence[Row], others: Mapping[str, str]) -> list[str]:
    """The units whose outcome is another one on another device."""
    return [
        f"{row.unit}: {row.outcome}, there {others[row.unit]}: {'; '.join(row.reasons)}"
        for row in rows
        if others.get(row.unit, row.outcome) != row.outcome
    ]


def _line(name: str, counts: Sequence[int]) -> str:
    widths = (4, 10, 11, 8, 5, 7, 8)
    return f"{name:8} " + " ".join(f"{c:>{w}}" for c, w in zip(counts, widths, strict=True))


def exceptions(rows: Sequence[Row]) -> list[str]:
    """Each unit that is not as it should be, with the reason."""
    return [
        f"{row.unit}: {row.outcome}: {'; '.join(row.reasons)}"
        for row in rows
        if row.outcome != (Outcome.CONFIRMED.value if row.bad else "silent")
    ]


def worse(rows: Sequence[Row], baseline: Mapping[str, str]) -> list[str]:
    """What was better in the baseline. What cannot be built any more is worse too; what is new and
    runs has to be as it should be, or to be put into the baseline."""
    good = {Outcome.CONFIRMED.value, "silent"}
    return [
        f"{row.unit}: was {was}, is {row.outcome}: {'; '.join(row.reasons)}"
        for row in rows
        if (was := baseline.get(row.unit, _of_new(row))) in good and row.outcome not in good
    ]


def _of_new(row: Row) -> str:
    if row.outcome == Outcome.NOT_RUNNABLE.value:
        return row.outcome
    return Outcome.CONFIRMED.value if row.bad else "silent"


def sweep_lines(rows: Sequence[Row]) -> list[str]:
    """Of each rule that the sweep alone must show: how many it did, and by which calls failing."""
    lines = []
    for code in SWEPT_RULES:
        bad = [row for row in rows if row.code == code and row.bad]
        ran = [row for row in bad if _could_be_swept(row)]
        if not bad:
            continue
        alone = sum(_by_sweep_alone(row) for row in ran)
        calls = Counter(way.partition(" at ")[0] for row in ran for way in row.ways)
        line = f"{code}: {alone} of {len(ran)} by the sweep alone"
        if len(bad) > len(ran):
            line += f", {len(bad) - len(ran)} could not be swept here"
        if calls:
            told = ", ".join(f"{name} {count}" for name, count in calls.most_common())
            line += f" (findings by what showed them: {told})"
        lines.append(line)
    return lines


def not_by_sweep(rows: Sequence[Row]) -> list[str]:
    """The units that the sweep alone must show, and did not. What cannot be swept here says
    nothing."""
    return [
        f"{row.unit}: {row.outcome}, not by the sweep alone: {'; '.join(row.ways or row.reasons)}"
        for row in rows
        if row.bad and row.code in SWEPT_RULES and _could_be_swept(row) and not _by_sweep_alone(row)
    ]


def _could_be_swept(row: Row) -> bool:
    confirmed = row.outcome == Outcome.CONFIRMED.value
    runnable = row.ran and row.outcome != Outcome.NOT_RUNNABLE.value
    return runnable and (confirmed or not row.hooked)


def _by_sweep_alone(row: Row) -> bool:
    return row.outcome == Outcome.CONFIRMED.value and row.by_fault
