"""Splits a run over several machines: each analyses some of the parts, and one tells of all.

A shard's report holds what the rules found in its parts, before settings and comments had a say.
Only who has the reports of all shards can judge, number and merge findings as one run does.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from cudalint import __version__
from cudalint.jobs import AnalysisResult
from cudalint.plan import Plan
from cudalint.project.cache import contents_digest, digest
from cudalint.project.config import ConfigurationError
from cudalint.project.files import FileError
from cudalint.project.reading import UnreadableError, read_bytes
from cudalint.selection import ReadFile

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


@dataclass(frozen=True)
class Shard:
    """One of several: ``2/8``."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``2/8`` as a shard. Raises ``ConfigurationError``."""
        match = _SHARD.fullmatch(text)
        shard = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= shard.number <= shard.count:
            raise ConfigurationError(f"--shard {text}: is no shard, such as 2/8")
        return shard

    def chosen(self, sizes: Sequence[int]) -> list[int]:
        """The positions that are this shard's: all get of the large ones and of the small."""
        ordered = sorted(range(len(sizes)), key=lambda number: (-sizes[number], number))
        return sorted(ordered[self.number - 1 :: self.count])


class PartResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was found in a part: together, or where that failed in each of its files alone."""

    together: AnalysisResult | None = None
    alone: list[AnalysisResult] = []


class ShardReport(msgspec.Struct, frozen=True, tag_field="kind", tag="cudalint-shard"):
    """What one shard found. ``inputs`` names the files and the settings that it was made from."""

    format: Literal[1]
    version: str
    shard: int
    of: int
    paths: list[str]
    inputs: str
    parts: dict[int, PartResult]
    """By their position among the parts of the whole run."""
    errors: list[FileError]
    notes: list[FileError]

    def encode(self) -> str:
        """The report as JSON."""
        return msgspec.json.encode(self).decode() + "\n"


def inputs_of(read: Sequence[ReadFile], plan: Plan, footprint: bool) -> str:
    """A digest of all that decides what is found, headers that files include apart."""
    settings = plan.settings
    return digest(
        plan.version,
        repr([rule.code for rule in plan.rules]),
        repr(plan.limits),
        contents_digest(plan.models),
        repr((settings.include_folders, settings.defines, settings.standard, footprint)),
        *(part for one in read for part in (one.file.filename, one.data)),
    )


def read_shards(names: Sequence[str]) -> list[ShardReport]:
    """The reports of all shards of one run. Raises ``ConfigurationError`` where any is missing."""
    reports: dict[int, tuple[str, ShardReport]] = {}
    for name in names:
        report = _read(name)
        other, first = next(iter(reports.values()), (name, report))
        same = ("of", "inputs", "paths", "version")
        if any(getattr(report, key) != getattr(first, key) for key in same):
            raise ConfigurationError(f"{name} and {other} are shards of different runs")
        if report.shard in reports:
            twice = reports[report.shard][0]
            raise ConfigurationError(f"{name} and {twice} are both shard {report.shard}")
        reports[report.shard] = name, report
    found = [report for _, report in reports.values()]
    missing = sorted({*range(1, found[0].of + 1)} - reports.keys())
    if missing:
        listed = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        raise ConfigurationError(f"of {found[0].of} shards there is no report of {listed}")
    return found


def check_inputs(reports: Sequence[ShardReport], inputs: str) -> None:
    """Refuse shards that were made from something else than what is here now."""
    if reports[0].inputs != inputs:
        raise ConfigurationError(
            "the shards were made from other files, other settings or another cudalint than are "
            "here: merge them in the same checkout, with the same options"
        )


def parts_in(reports: Sequence[ShardReport]) -> dict[int, PartResult]:
    """What all shards found, in the order of a run that is not split."""
    found = {number: part for report in reports for number, part in report.parts.items()}
    return dict(sorted(found.items()))


def _read(name: str) -> ShardReport:
    try:
        report = _decoder().decode(read_bytes(Path(name)))
    except (UnreadableError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{name}: is no report of a shard: {error}") from None
    if report.version != __version__:
        raise ConfigurationError(
            f"{name}: was written by cudalint {report.version}, this is {__version__}"
        )
    if not 1 <= report.shard <= report.of:
        raise ConfigurationError(f"{name}: is no report of a shard: there is no {report.shard}")
    return report


@functools.cache
def _decoder() -> msgspec.json.Decoder[ShardReport]:
    return msgspec.json.Decoder(ShardReport)
