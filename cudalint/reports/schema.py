"""What the JSON reports hold, as types: they write the reports and their published schema.

``python -m cudalint.reports.schema > docs/report.schema.json`` writes the latter anew.
"""

from __future__ import annotations

import inspect
import sys
from typing import Annotated, Any, Literal

import msgspec

from cudalint.findings.judged import Judged

SCHEMA_VERSION: Literal[1] = 1
_DIALECT = "https://json-schema.org/draft/2020-12/schema"

Number = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
SeverityName = Literal["error", "warning", "info"]
Outcome = Literal["confirmed", "refuted", "kept", "not-reached", "not-runnable"]


class Location(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in a file. Rows and columns are 1-based, columns count characters; the end of a range
    is exclusive. In a notebook the row is counted in its cell, and ``cell`` says in which."""

    row: Positive
    column: Positive
    cell: Positive | None = None


class Tool(msgspec.Struct, frozen=True):
    """What wrote the report."""

    name: str
    version: str


class FileMessage(msgspec.Struct, frozen=True):
    """Something that could not be linted, and why: the report says nothing of it otherwise."""

    filename: str
    message: str


class StepEntry(msgspec.Struct, frozen=True):
    """One station of the path that leads to the finding; ``aside`` ones are not on it, but told for
    comparison."""

    filename: str
    location: Location
    end_location: Location
    message: str
    aside: bool


class Part(msgspec.Struct, frozen=True):
    """Another part of the same defect, which one mend is good for; or the same in a copy of the
    code, which wants a mend of its own."""

    message: str
    filename: str
    location: Location
    end_location: Location


class EditEntry(msgspec.Struct, frozen=True):
    """What stands from ``location`` to ``end_location`` gives way to ``text``."""

    filename: str
    location: Location
    end_location: Location
    text: str


class FixEntry(msgspec.Struct, frozen=True):
    """One mend: all of its edits, or none."""

    message: str
    applicability: Literal["safe", "unsafe"]
    edits: list[EditEntry]


class EvidenceEntry(msgspec.Struct, frozen=True):
    """One thing that a run showed. ``fault`` is the call that was made to fail; the stack is
    ``file:line (function)``, innermost first."""

    message: str
    run: str
    fault: str | None
    bytes: int | None
    stack: list[str]
    witness: str


class Runtime(msgspec.Struct, frozen=True):
    """What running the program said of the finding."""

    verdict: Outcome
    device: str
    reason: str | None
    evidence: list[EvidenceEntry]


class FindingEntry(msgspec.Struct, frozen=True):
    """One finding. The fingerprint names it without line numbers; ``judged`` counts what findings
    of this rule and confidence were worth where people read the code; ``suppressed`` is the comment
    that hides it."""

    code: str
    name: str
    severity: SeverityName
    confidence: Literal["low", "medium", "high"]
    judged: Judged | None
    message: str
    filename: str
    location: Location
    end_location: Location
    function: str | None
    """The one that it is in, by its qualified name; ``null`` where it is in none."""
    steps: list[StepEntry]
    parts: list[Part]
    fix: FixEntry | None
    fingerprint: str
    suppressed: str | None
    url: str | None
    runtime: Runtime | None


class Summary(msgspec.Struct, frozen=True):
    """Counts. ``listed`` is how many findings the report lists: the active ones (``findings``, by
    severity, code and verdict) and the suppressed ones; those of the baseline and, with
    ``--diff-base``, of unchanged code are not."""

    files: Number
    findings: Number
    suppressed: Number
    baseline: Number
    unchanged: Number
    listed: Number
    errors: Number
    by_severity: dict[str, Number]
    by_code: dict[str, Number]
    by_verdict: dict[str, Number]


class PeakPlace(msgspec.Struct, frozen=True):
    """Where a function holds the most."""

    filename: str
    location: Location


class HolderEntry(msgspec.Struct, frozen=True):
    """What is alive at the peak."""

    name: str
    bytes: Number
    filename: str
    location: Location
    temporary: bool
    count: Number


class FootprintEntry(msgspec.Struct, frozen=True):
    """The peak of live device memory of a function (``--footprint``)."""

    filename: str
    function: str
    location: Location
    bytes: Number
    exact: bool
    peak: PeakPlace
    live: list[HolderEntry]
    unknown: list[str]


class JsonReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """What ``--output json`` writes. Within a schema version, keys are added, never taken away."""

    schema_version: Literal[1]
    tool: Tool
    findings: list[FindingEntry]
    errors: list[FileMessage]
    summary: Summary
    footprint: list[FootprintEntry] | None = None


class FindingLine(FindingEntry, frozen=True, tag_field="type", tag="finding"):
    """A finding, as a line of ``--output json-lines``."""


class ErrorLine(FileMessage, frozen=True, tag_field="type", tag="error"):
    """Something that could not be linted, as a line of ``--output json-lines``."""


class SummaryLine(Summary, frozen=True, tag_field="type", tag="summary"):
    """The last line of ``--output json-lines``: without it, the report is not complete."""


def json_schema() -> dict[str, Any]:
    """The schema of the JSON report; ``$defs`` has those of the lines of JSON lines, too."""
    (report, *_), components = msgspec.json.schema_components(
        [JsonReport, FindingLine | ErrorLine | SummaryLine], ref_template="#/$defs/{name}"
    )
    for part in components.values():
        if "description" in part:  # a docstring: not each msgspec takes its margin away
            part["description"] = inspect.cleandoc(part["description"])
    return {"$schema": _DIALECT, "title": "A report of cudalint", **report, "$defs": components}


def schema_text() -> str:
    """The schema, as it is published."""
    data = msgspec.json.encode(json_schema(), order="sorted")
    return msgspec.json.format(data, indent=2).decode() + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
