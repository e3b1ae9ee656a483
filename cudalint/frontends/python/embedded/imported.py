"""Strings that a script imports from another module of its project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from cudalint.frontends.python.embedded.paths import FileTexts
from cudalint.frontends.python.embedded.texts import Text
from cudalint.frontends.python.names import module_file, module_name
from cudalint.frontends.python.parsing import parse
from cudalint.frontends.python.prefilter import may_embed
from cudalint.project.paths import display_name
from cudalint.project.reading import UnreadableError, check_content, decode, read_bytes
from cudalint.source import Source

if TYPE_CHECKING:
    from cudalint.frontends.python.embedded.strings import StringReader
    from cudalint.frontends.python.module import ModuleReader

_LARGEST = 1_000_000
_MOST_DEPTH = 3


class Imports:
    """The other modules whose strings a file uses, read once each."""

    def __init__(self, reader: ModuleReader, files: FileTexts, depth: int = 0) -> None:
        self._reader = reader
        self._files = files
        self._depth = depth
        self._known: dict[str, tuple[StringReader, ModuleReader] | None] = {}

    def text(self, dotted: str) -> Text | None:
        """The string that ``package.module.NAME`` is."""
        reader = self._reader
        name = dotted.rpartition(".")[2]
        filename = module_file(dotted, reader.source.filename, reader.module)
        if filename is None or Path(filename).stem == name or self._depth >= _MOST_DEPTH:
            return None
        if filename not in self._known:
            self._known[filename] = None
            self._known[filename] = self._read(filename)
        known = self._known[filename]
        if known is None:
            return None
        strings, other = known
        bindings = other.scope.bindings.names.get(name, [])
        value = bindings[0].value if len(bindings) == 1 else None
        text = strings.read(value, other.scope) if isinstance(value, cst.BaseExpression) else None
        if text is None or max(text.ends, default=0) > len(other.source.text):
            return None
        return self._files.moved(text, other.source)

    def _read(self, filename: str) -> tuple[StringReader, ModuleReader] | None:
        from cudalint.frontends.python.embedded.strings import StringReader
        from cudalint.frontends.python.module import ModuleReader

        try:
            data = read_bytes(Path(filename))
            check_content(data, _LARGEST)
            content = decode(data, "python").text
        except UnreadableError:
            return None
        source = Source(display_name(Path(filename)), content)
        parsed = parse(source) if may_embed(content) else None
        if parsed is None or parsed.tree is None or parsed.positions is None:
            return None
        other = ModuleReader(
            source, parsed.tree, parsed.positions, module_name(filename), self._reader.models
        )
        return StringReader(other, FileTexts(source), self._depth + 1), other
