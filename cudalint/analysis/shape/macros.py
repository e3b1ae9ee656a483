"""Which macros out of sight run at once what they are given, as far as the uses in a file say."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.shape.symbols import Symbols
from cudalint.analysis.shape.walk import is_within
from cudalint.program import Call, Program
from cudalint.source import Span


class Macros:
    """What the files of a run say of macros that no header defines."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._at_once: dict[str, frozenset[str]] = {}
        """By file."""

    def at_once(self, program: Program) -> frozenset[str]:
        """The macros that keep nothing of what they are given for the end of the scope: some use of
        theirs in the file has an answer, or is given what acquires (``CHECK(cudaMalloc(&p, n))``);
        nobody would do that later."""
        found = self._at_once.get(program.filename)
        if found is None:
            found = self._at_once[program.filename] = frozenset(self._found(program))
        return found

    def _found(self, program: Program) -> Iterator[str]:
        models = self._symbols.models(program.language)
        for function in program.functions:
            for block in function.blocks:
                acquired: list[Span] = []
                for one in block.operations:
                    if not isinstance(one, Call):
                        continue
                    if one.kind == "macro":
                        if one.target is not None or any(
                            is_within(span, one.span) for span in acquired
                        ):
                            yield one.name
                    elif (model := models.lookup(one.name)) is not None and model.acquires:
                        acquired.append(one.span)
