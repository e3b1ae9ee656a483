"""What a rule looks at: the functions, the classes or the files of a run.

A rule may look at two of them: it inherits from both, and its ``check`` takes either's facts.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator

from cudalint.analysis.facts import ClassFacts, FileFacts, FunctionFacts
from cudalint.findings.finding import Finding
from cudalint.findings.rule import Rule


class FunctionRule(Rule):
    """Asked once for each function."""

    @abc.abstractmethod
    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the findings of one function."""


class ClassRule(Rule):
    """Asked once for each class that acquires into its members."""

    @abc.abstractmethod
    def check(self, facts: ClassFacts) -> Iterator[Finding]:
        """Yield the findings of one class."""


class FileRule(Rule):
    """Asked once for each file."""

    @abc.abstractmethod
    def check(self, facts: FileFacts) -> Iterator[Finding]:
        """Yield the findings of one file."""
