"""Writes a harness in Python: it imports the module, makes what a function needs, and calls it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cudalint.findings.finding import Finding
from cudalint.runtime.harness.python_values import Function, PythonValues, decorators
from cudalint.runtime.harness.subjects import HarnessError
from cudalint.runtime.harness.writing import RELEASES, Harness, asked_numbers
from cudalint.source import UNPARSABLE

_SUPPORT = Path(__file__).with_name("support_module.txt")
_CONTEXTS = frozenset({"contextmanager", "asynccontextmanager"})
_ENDS = frozenset({"__del__", "__exit__", "__aexit__"})


@dataclass(frozen=True)
class _Subject:
    """A function, with the class that it is a method of."""

    function: Function
    owner: ast.ClassDef | None

    @property
    def name(self) -> str:
        return f"{self.owner.name}.{self.function.name}" if self.owner else self.function.name


class PythonWriter:
    """Writes the harnesses for the findings of one source, which is parsed once."""

    def __init__(self, source: Path) -> None:
        self._source = source
        try:
            text = source.read_text("utf-8")
            self._tree = ast.parse(text)
        except (OSError, *UNPARSABLE) as error:
            raise HarnessError(f"{source.name} cannot be read: {error}") from error
        self._lines = text.splitlines()
        self._classes = {one.name: one for one in self._tree.body if isinstance(one, ast.ClassDef)}

    def harness(self, finding: Finding) -> Harness:
        """The harness for a finding; ``HarnessError`` says why there is none."""
        subject = self._around(finding.span.row)
        values = PythonValues(self._classes)
        releases: list[str] = []
        if subject.owner is None:
            given = values.arguments(subject.function, method=False)
            body = _call(f"source.{subject.function.name}({given})", subject.function)
        else:
            body, releases = _on_object(subject, subject.owner, values, finding)
        asked = self._lines[subject.function.lineno - 1 : subject.function.end_lineno]
        return Harness(
            subject.name,
            self._source,
            self._text(finding, subject.name, [*body, *releases]),
            ".py",
            asked_numbers(" ".join(asked)),
            bool(releases),
            preparing=0,
        )

    def _around(self, row: int) -> _Subject:
        """What can be called of what stands around a line: nothing inside of a function can."""
        for subject in self._subjects():
            function = subject.function
            first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
            if first <= row <= (function.end_lineno or first):
                return subject
        raise HarnessError("no function that could be called is at this line")

    def _subjects(self) -> Iterator[_Subject]:
        for one in self._tree.body:
            if isinstance(one, Function):
                yield _Subject(one, None)
        for owner in self._classes.values():
            for one in owner.body:
                if isinstance(one, Function):
                    yield _Subject(one, owner)

    def _text(self, finding: Finding, name: str, body: list[str]) -> str:
        folder, module = _module(self._source)
        lines = [
            f"# Written by cudalint: calls `{name}`, for {finding.code} at line {finding.span.row}"
            " of the source.",
            _SUPPORT.read_text("utf-8"),
            f"sys.path.insert(0, {str(folder)!r})",
            f"source = importlib.import_module({module!r})",
            "",
            "",
            "def call():",
            *(f"    {line}" for line in body),
            "",
            "",
            "begin(source)",
            "try:",
            "    call()",
            "except AssertionError:",
            "    raise",
            "except Exception as error:",
            "    reject(error)",
        ]
        return "\n".join(lines) + "\n"


def _on_object(
    subject: _Subject, owner: ast.ClassDef, values: PythonValues, finding: Finding
) -> tuple[list[str], list[str]]:
    """The call of a method, and what releases what its object holds."""
    function = subject.function
    kinds = set(decorators(function))
    if kinds & {"staticmethod", "classmethod"}:
        given = values.arguments(function, method="classmethod" in kinds)
        return _call(f"source.{owner.name}.{function.name}({given})", function), []
    methods = {one.name: one for one in owner.body if isinstance(one, Function)}
    made = values.constructed(owner)
    # Nobody says when what ends by itself does: what others hold is its user's.
    ends = bool(methods.keys() & _ENDS) or finding.code == "GPU105"
    body = [f"made = {made}" if ends else f"made = keep({made})"]
    if "property" in kinds:
        body.append(f"keep(made.{function.name})")
    elif function.name in ("__enter__", "__exit__"):
        body += ["with made:", "    pass"]
    elif function.name not in ("__init__", "__new__", "__del__"):
        given = values.arguments(function, method=True)
        body += _call(f"made.{function.name}({given})", function)
    releases = [
        f"releasing() and made.{name}()"
        for name, one in methods.items()
        if name not in _ENDS and name != function.name
        if RELEASES.search(name) and not values.arguments(one, method=True)
    ]
    return body, releases


def _call(call: str, function: Function) -> list[str]:
    if _CONTEXTS & set(decorators(function)):
        return [f"with {call}:", "    pass"]
    if isinstance(function, ast.AsyncFunctionDef):
        return [f"keep(asyncio.run({call}))"]
    if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in _own_nodes(function)):
        return [f"keep(list({call}))"]
    return [f"keep({call})"]


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """What stands in a function, without the functions in it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)


def _module(source: Path) -> tuple[Path, str]:
    """The folder to import a source from, and its name there: a package's modules have that of the
    package before theirs."""
    parts = [] if source.stem == "__init__" else [source.stem]
    folder = source.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    if not all(re.fullmatch(r"[^\W\d]\w*", part) for part in parts):
        raise HarnessError(f"{source.name} cannot be imported by that name")
    return folder, ".".join(parts)
