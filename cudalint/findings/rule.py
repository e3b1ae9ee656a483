"""The base of every rule: its metadata, and how it makes a finding."""

from __future__ import annotations

import abc
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from cudalint.findings.finding import Confidence, Defect, Finding, Severity, Step
from cudalint.findings.repair import Repair
from cudalint.source import Span


def page_url(documentation: str | None, code: str) -> str | None:
    """Where a rule's page is published below the address of a documentation, if there is one."""
    return f"{documentation.rstrip('/')}/rules/{code}/" if documentation else None


@dataclass(frozen=True)
class Limits:
    """What the selected targets offer; bytes. Rules compare with these."""

    targets: tuple[str, ...] = ()
    """Compute capabilities (``sm_86``); empty: every device that CUDA supports."""
    static_shared: int = 48 * 1024
    """CUDA C++ Programming Guide, Technical Specifications: 48 KB on every device."""
    specific_static_shared: int = 227 * 1024
    """What an architecture-specific target (``sm_90a``) may have instead, where it may be one."""
    default_shared: int = 48 * 1024
    """Static plus dynamic per block without opt-in."""
    largest_shared: int = 227 * 1024
    """The largest opt-in limit among the targets."""
    largest_shared_target: str = "sm_100"
    threads_per_block: int = 1024
    block: tuple[int, int, int] = (1024, 1024, 64)
    grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    device_memory: int = 288 * 1000**3
    """The budget for GPU501: ``--device-memory``, else the largest device of the targets."""
    device_memory_text: str = ""
    """How the budget was given (``3GiB``); empty when it is the default."""
    max_transfer: int = 256 * 1024**2
    """The chunk threshold of GPU401: ``--max-transfer``."""
    max_transfer_text: str = ""
    """How it was given; empty when it is the default."""
    large_allocation: int = 1024**3
    """What GPU607 calls large: ``--large-allocation``."""


class Rule(abc.ABC):
    """One rule: class attributes are its metadata, the docstring is its page.

    The docstring's sections are *What it does*, *Why is this bad?*, *Example*, *Use instead*,
    *Fix* (what ``--fix`` does, safe or unsafe, and why), *Known problems* and *References* (the
    last three where there is something to say).
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = Severity.WARNING
    confidence: ClassVar[Confidence] = Confidence.HIGH
    preview: ClassVar[bool] = False

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()

    @classmethod
    def documentation(cls) -> str:
        """The rule's page, in Markdown."""
        return inspect.cleandoc(cls.__doc__ or "")

    @abc.abstractmethod
    def check(self, facts: Any) -> Iterator[Finding]:
        """Yield the findings among the facts."""

    def finding(
        self,
        message: str,
        *,
        filename: str,
        span: Span,
        function: str = "",
        subject: str = "",
        steps: tuple[Step, ...] = (),
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        defect: Defect | None = None,
        repair: Repair | None = None,
        advised: bool = False,
        rests_on: str = "",
    ) -> Finding:
        """A finding of this rule, with its default severity and confidence unless given.

        ``advised``: behind the last semicolon, the message says what to do. ``rests_on``: the
        global or kernel of which it says what nothing in the run does.
        """
        return Finding(
            code=self.code,
            name=self.name,
            severity=severity or self.severity,
            confidence=confidence or self.confidence,
            message=message,
            filename=filename,
            span=span,
            function=function,
            subject=subject,
            steps=steps,
            defect=defect,
            repair=repair,
            advice=message.rpartition("; ")[2] if advised else "",
            rests_on=rests_on,
        )
