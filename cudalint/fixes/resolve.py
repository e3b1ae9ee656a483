"""Makes of what rules say would mend their findings the edits that do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cudalint.findings.finding import Finding
from cudalint.findings.fix import Fix, together
from cudalint.findings.repair import (
    AddCheck,
    CopyKind,
    Detach,
    DropRelease,
    DropRetainGraph,
    DropSuppression,
    InBytes,
    InChunks,
    KeepOnHost,
    MoveBehind,
    OpenInWith,
    OptIn,
    ReleaseFirst,
    ReleaseMember,
    ReleaseOnExits,
    SetKeyword,
    UseRelease,
    WrapInWith,
)
from cudalint.fixes import cpp_release, python_release
from cudalint.fixes.arguments import copy_kind, in_bytes
from cudalint.fixes.chunks import in_chunks, in_chunks_in_python
from cudalint.fixes.cpp import CppText
from cudalint.fixes.cpp_checks import add_check, opt_in
from cudalint.fixes.cpp_owner import own
from cudalint.fixes.deallocator import use_release
from cudalint.fixes.members import release_in_closing_method, release_in_destructor
from cudalint.fixes.python import PythonText
from cudalint.fixes.python_calls import set_keyword
from cudalint.fixes.python_with import open_in_with
from cudalint.fixes.repeated import drop_release, drop_release_in_python, release_first
from cudalint.fixes.suppressions import drop_suppression
from cudalint.fixes.tensors import (
    detach,
    drop_retain_graph,
    keep_on_host,
    move_behind,
    wrap_in_with,
)
from cudalint.fixes.text import GiveUp, Text, demand
from cudalint.project.reading import Language
from cudalint.source import Source

_Makers = dict[type, tuple[Callable[[Any, Any], Fix], ...]]
_CPP: _Makers = {
    ReleaseOnExits: (cpp_release.release_before_exits, own),
    ReleaseFirst: (release_first,),
    DropRelease: (drop_release,),
    ReleaseMember: (release_in_destructor,),
    UseRelease: (use_release,),
    OptIn: (opt_in,),
    CopyKind: (copy_kind,),
    InBytes: (in_bytes,),
    InChunks: (in_chunks,),
    AddCheck: (add_check,),
    DropSuppression: (drop_suppression,),
}
_PYTHON: _Makers = {
    ReleaseOnExits: (python_release.release_before_exits, python_release.release_in_finally),
    DropRelease: (drop_release_in_python,),
    ReleaseMember: (release_in_closing_method,),
    UseRelease: (use_release,),
    SetKeyword: (set_keyword,),
    Detach: (detach,),
    KeepOnHost: (keep_on_host,),
    DropRetainGraph: (drop_retain_graph,),
    WrapInWith: (wrap_in_with,),
    MoveBehind: (move_behind,),
    OpenInWith: (open_in_with,),
    CopyKind: (copy_kind,),
    InBytes: (in_bytes,),
    InChunks: (in_chunks_in_python,),
    DropSuppression: (drop_suppression,),
}
"""What may be made of each, the best first."""


def with_fixes(
    findings: Iterable[Finding], files: Mapping[str, tuple[Source, Language]]
) -> Iterator[Finding]:
    """The findings, with a fix where one can be written with certainty."""
    texts: dict[str, Text] = {}
    for finding in findings:
        if finding.repair is None:
            yield finding
            continue
        fix = None
        if finding.filename in files:
            if finding.filename not in texts:
                texts[finding.filename] = _text(*files[finding.filename])
            fix = _fix(finding.repair, texts[finding.filename])
        yield dataclasses.replace(finding, fix=fix, repair=None)


def fix_of(repair: object, source: Source, language: Language) -> Fix | None:
    """The fix that a repair comes to in a text."""
    return _fix(repair, _text(source, language))


def _text(source: Source, language: Language) -> Text:
    return PythonText(source) if language == "python" else CppText(source)


def _fix(repair: object, text: Text) -> Fix | None:
    makers = _PYTHON if isinstance(text, PythonText) else _CPP
    for make in makers.get(type(repair), ()):
        try:
            made = make(repair, text)
            demand(together((), made.edits) is not None)
            return made
        except (GiveUp, LookupError, ValueError, RecursionError):
            continue  # what is written there ends or nests as no code does
    return None
