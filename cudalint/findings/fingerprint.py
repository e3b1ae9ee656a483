"""Names a finding so that it is recognised after lines moved."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable

from cudalint.findings.finding import Finding
from cudalint.source import Span


def fingerprinted(
    findings: Iterable[Finding], path_of: Callable[[str], str] = str
) -> list[Finding]:
    """The findings with their fingerprints: a digest of code, path, function, subject (or what the
    parts of one defect share) and, among equals, the position in order; the parts of one defect
    have the same. ``path_of`` makes a file name independent of the working directory."""
    seen: dict[tuple[str, ...], list[int | Span]] = defaultdict(list)
    result = []
    for number, finding in enumerate(findings):
        defect = finding.defect
        about = (finding.function, finding.subject) if defect is None else (defect.shared,)
        key = (finding.code, path_of(finding.filename), *about)
        one = number if defect is None else defect.within
        equals = seen[key]
        if one not in equals:
            equals.append(one)
        text = "\0".join((*key, str(equals.index(one))))
        fingerprint = hashlib.blake2b(
            text.encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()
        result.append(dataclasses.replace(finding, fingerprint=fingerprint))
    return result
