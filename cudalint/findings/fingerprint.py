"""Names a finding so that it is recognised after lines moved."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable

from cudalint.findings.finding import Finding


def fingerprinted(
    findings: Iterable[Finding], path_of: Callable[[str], str] = str
) -> list[Finding]:
    """The findings with their fingerprints: a digest of code, path, function, subject and, among
    equals, the position in order. ``path_of`` makes a file name independent of the working
    directory."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    result = []
    for finding in findings:
        key = (finding.code, path_of(finding.filename), finding.function, finding.subject)
        text = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        fingerprint = hashlib.blake2b(
            text.encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()
        result.append(dataclasses.replace(finding, fingerprint=fingerprint))
    return result
