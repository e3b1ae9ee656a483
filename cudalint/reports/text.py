"""The full text report: each finding with its source and the steps of its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cudalint.findings.finding import Finding, Severity, Step
from cudalint.findings.fix import Applicability, Fix
from cudalint.findings.rule import page_url
from cudalint.findings.verdict import Outcome
from cudalint.reports.frames import Note, frame, has_lines, location
from cudalint.reports.incomplete import files_in_part, listed, paragraph
from cudalint.reports.report import Report
from cudalint.reports.style import SEVERITY_COLOR, Style

_MOST_STEPS = 12
_CONTEXT = 2
_MOST_FRAMES = 4
_OUTCOME_COLOR = {
    Outcome.CONFIRMED: "red",
    Outcome.REFUTED: "green",
    Outcome.KEPT: "green",
    Outcome.NOT_REACHED: "yellow",
    Outcome.NOT_RUNNABLE: "dim",
}


def render(report: Report, style: Style | None = None) -> str:
    """All findings that no comment suppresses, and a summary."""
    style = style or Style()
    blocks = ["\n".join(details(finding, report, style)) + "\n" for finding in listed(report)]
    summed_up = paragraph(report, style)
    return "\n".join([*blocks, summed_up] if summed_up else blocks)


def headline(finding: Finding, report: Report, style: Style, *, brief: bool = False) -> str:
    """``path:row:column: severity: message [CODE]``: what matchers of compilers' lines know.
    ``brief``: without advice."""
    place = style.paint(location(finding.filename, finding.span, report.sources), "bold")
    severity = style.paint(finding.severity.value, SEVERITY_COLOR[finding.severity])
    code = style.link(finding.code, page_url(report.documentation, finding.code))
    said = finding.brief if brief else finding.message
    message = f"{style.message(said)}{_verdict(finding, style)}"
    return f"{place}: {severity}: {message} [{code}]"


def _verdict(finding: Finding, style: Style) -> str:
    """``[confirmed]``, where it was run."""
    if finding.runtime is None:
        return ""
    outcome = finding.runtime.outcome
    return " " + style.paint(f"[{outcome.value}]", _OUTCOME_COLOR[outcome])


def _runtime(finding: Finding, style: Style) -> Iterator[str]:
    """What running it showed."""
    verdict = finding.runtime
    if verdict is None:
        return
    mark = style.paint("=", "cyan")
    if not verdict.evidence:
        text = f"{verdict.outcome.value} on {verdict.device}: {verdict.reason}"
        yield f"  {mark} {style.message(text)}"
    for one in verdict.evidence:
        run = "" if one.run == "without faults" else f" when {one.run}"
        text = f"{verdict.outcome.value} on {verdict.device}{run}: {one.message}"
        yield f"  {mark} {style.message(text)}"
        for frame_text in one.stack[:_MOST_FRAMES]:
            yield f"      {style.message('at ' + frame_text)}"


def details(finding: Finding, report: Report, style: Style) -> Iterator[str]:
    """The lines that tell all of a finding."""
    yield headline(finding, report, style)
    steps = _shown(finding.steps)
    by_file: dict[str, list[Note]] = {finding.filename: []}
    path = [step for step in steps if not step.aside]
    numbered = len(path) > 1 or bool(path and not _is_primary(path[0], finding))
    primary_noted = False
    for step in steps:
        on_path = numbered and not step.aside
        text = f"{path.index(step) + 1}: {step.message}" if on_path else step.message
        primary = not primary_noted and _is_primary(step, finding)
        primary_noted = primary_noted or primary
        color = SEVERITY_COLOR[finding.severity] if primary else "cyan"
        by_file.setdefault(step.filename, []).append(Note(step.span, text, color, primary))
    if not primary_noted:
        color = SEVERITY_COLOR[finding.severity]
        by_file[finding.filename].insert(0, Note(finding.span, "", color, primary=True))

    for filename, notes in by_file.items():
        shown = [note for note in notes if has_lines(report.sources, filename, note.span)]
        if shown:
            if filename != finding.filename:
                place = location(filename, shown[0].span, report.sources)
                yield style.paint("in ", "dim") + place
            context = 0 if len(shown) > 1 or filename != finding.filename else _CONTEXT
            yield from frame(report.sources[filename], shown, style, context=context)
        for note in notes:
            if note not in shown and note.text:
                place = location(filename, note.span, report.sources)
                yield f"  {place}: {style.message(note.text)}"
    if len(finding.steps) > len(steps):
        yield f"  = and {len(finding.steps) - len(steps)} more like these"
    yield from _runtime(finding, style)
    if finding.fix is not None:
        yield _fix(finding.fix, style)
    yield _footer(finding, report, style)


def _fix(fix: Fix, style: Style) -> str:
    unsafe = "" if fix.applicability is Applicability.SAFE else " --unsafe-fixes"
    return f"  {style.paint('=', 'cyan')} {style.message(f'fix: {fix.message}')} [--fix{unsafe}]"


def _footer(finding: Finding, report: Report, style: Style) -> str:
    where = f" in `{finding.function}`" if finding.function else ""
    url = page_url(report.documentation, finding.code)
    page = f" or {url}" if url else ""
    text = f"{finding.name}{where}; see `cudalint rule {finding.code}`{page}"
    return f"  {style.paint('=', 'cyan')} {style.message(text)}"


def _is_primary(step: Step, finding: Finding) -> bool:
    return step.filename == finding.filename and step.span.row == finding.span.row


def _shown(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return steps if len(steps) <= _MOST_STEPS else (*steps[: _MOST_STEPS - 1], steps[-1])


def summary(report: Report, style: Style | None = None) -> str:
    """One line for people: what was found in how much."""
    style = style or Style()
    files = plural(report.files, "file")
    counts = [
        style.paint(
            plural(count, severity.value) if severity is not Severity.INFO else f"{count} info",
            SEVERITY_COLOR[severity],
        )
        for severity, count in report.by_severity().items()
        if count
    ]
    hidden = _told(report.left_out_counts, " ({})")
    unread = len({error.filename for error in report.errors if not error.fatal})
    hidden += f"; {plural(unread, 'file')} could not be read" if unread else ""
    outcomes = {outcome.value: count for outcome, count in report.by_outcome().items()}
    verdicts = _told(outcomes, ": {}")
    if not counts:
        if not report.files:
            return f"No file to analyse mentions CUDA{hidden}."
        clean = style.paint("No CUDA memory misuse found", "green")
        return f"{clean} in {files}{hidden}{verdicts}."
    part = files_in_part(report)
    partly = f", {part} of them checked only in part" if part else ""
    return f"Found {listing(counts)} in {files}{partly}{hidden}{verdicts}."


def _told(counts: Mapping[str, int], frame: str) -> str:
    """``2 confirmed, 1 not-reached`` in a frame; empty where there is nothing to count."""
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return frame.format(told) if told else ""


def plural(count: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listing(items: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
