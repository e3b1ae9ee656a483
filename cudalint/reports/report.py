"""What every renderer takes: the outcome of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cudalint.findings.finding import Finding, Known, Severity
from cudalint.findings.rule import Rule
from cudalint.findings.verdict import Outcome
from cudalint.project.files import Fate, FileError
from cudalint.project.paths import relative_name, repository_of, writable
from cudalint.source import Source

if TYPE_CHECKING:
    from cudalint.analysis.facts.capacity import Footprint
    from cudalint.analysis.facts.wrappers import Wrapper


@dataclass(frozen=True)
class Checkout:
    """Where the names of files count from: what hosts show is relative to the repository."""

    root: Path
    """The repository's folder."""
    folder: Path
    """The working directory, which the names in a report are relative to."""

    @classmethod
    def here(cls) -> Checkout:
        """That of the working directory, which stands for the repository where there is none."""
        folder = Path.cwd()
        return cls(repository_of(folder) or folder, folder)

    def name(self, filename: str) -> str:
        """A file's name relative to the repository; its absolute name outside."""
        return writable(relative_name(self.folder / filename, self.root))


@dataclass(frozen=True)
class Report:
    """The findings of a run in order, suppressed ones too, and what could not be linted."""

    findings: tuple[Finding, ...] = ()
    errors: tuple[FileError, ...] = ()
    notes: tuple[FileError, ...] = ()
    """What should be known of a file although it was linted (its encoding)."""
    files: int = 0
    """Files that were analysed; files that do not mention CUDA are not."""
    read_anew: int = 0
    """Files of which nothing was in the cache."""
    analysed_anew: int = 0
    """Files whose paths were followed, as they or what they are linked with had changed."""
    interrupted: bool = False
    """Whether somebody stopped the run: what was found until then is all there is."""
    fates: tuple[Fate, ...] = ()
    """Of each file that was found, whether it was linted, and why."""
    sources: Mapping[str, Source] = field(default_factory=dict)
    """The texts of the files that findings and their steps point at."""

    documentation: str | None = None
    """The address below which the rules' pages are published, where there is one."""
    named: frozenset[str] = frozenset()
    """Codes that the settings select by name: however many their findings, each is listed."""
    fail_level: Severity = Severity.WARNING
    """The least severity that makes the exit status 1."""
    rules: tuple[type[Rule], ...] = ()
    """The rules that ran."""
    checkout: Checkout | None = None
    footprints: tuple[Footprint, ...] | None = None
    """The peaks of all functions, where they were asked for."""
    wrappers: tuple[Wrapper, ...] = ()
    """The project's own allocators, where they were asked for."""

    def repository_name(self, filename: str) -> str:
        """What hosts call a file."""
        return self.checkout.name(filename) if self.checkout else filename

    @property
    def told(self) -> tuple[Finding, ...]:
        """The findings that reports for programs list: suppressed ones too."""
        return tuple(finding for finding in self.findings if finding.known is None)

    @property
    def active(self) -> tuple[Finding, ...]:
        """The findings that no comment suppresses and that were not known before."""
        return tuple(one for one in self.findings if one.suppressed is None and one.known is None)

    @property
    def suppressed(self) -> int:
        """How many findings comments suppress."""
        return sum(finding.suppressed is not None for finding in self.findings)

    def known(self) -> dict[Known, int]:
        """How many others are not told because they are no news, by the reason."""
        counts = Counter(one.known for one in self.findings if one.suppressed is None)
        return {reason: counts[reason] for reason in Known}

    def by_severity(self) -> dict[Severity, int]:
        """How many active findings of each severity, the gravest first; refuted ones are none."""
        counts = Counter(finding.severity for finding in self.active if not finding.refuted)
        return {severity: counts[severity] for severity in reversed(Severity)}

    @property
    def left_out_counts(self) -> dict[str, int]:
        """How many findings are not shown, or no longer there, by why."""
        known = {reason.value: count for reason, count in self.known().items()}
        return {"suppressed": self.suppressed, **known}

    def by_outcome(self) -> dict[Outcome, int]:
        """How many active findings running the program said what of, where it was run."""
        counts = Counter(finding.runtime.outcome for finding in self.active if finding.runtime)
        return {outcome: counts[outcome] for outcome in Outcome if counts[outcome]}

    def fails(self, level: Severity) -> bool:
        """Whether any active finding is at or above a level; what a run refuted is not."""
        return any(
            finding.severity.rank >= level.rank and not finding.refuted for finding in self.active
        )
