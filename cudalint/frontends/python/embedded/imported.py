"""The other modules of a project that a script imports strings from."""

from __future__ import annotations

from pathlib import Path

from cudalint.frontends.python.declarations import Declarations
from cudalint.frontends.python.module import Module
from cudalint.frontends.python.names import module_file, module_name
from cudalint.frontends.python.parsing import parse
from cudalint.frontends.python.prefilter import may_embed
from cudalint.project.paths import display_name
from cudalint.project.reading import UnreadableError, check_content, decode, read_bytes
from cudalint.source import Source

_LARGEST = 1_000_000


class Imports:
    """The other modules whose strings a file uses, read once each."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[str, Declarations | None] = {}

    def module_of(self, dotted: str) -> Declarations | None:
        """The module in ``package.module.NAME``, if it is of the project and may hold CUDA."""
        filename = module_file(dotted, self._module.source.filename)
        if filename is None or Path(filename).stem == dotted.rpartition(".")[2]:
            return None
        if filename not in self._known:
            self._known[filename] = self._read(filename)
        return self._known[filename]

    def _read(self, filename: str) -> Declarations | None:
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
        name, models = module_name(filename), self._module.models
        return Declarations(Module(source, parsed.tree, parsed.positions, name, models))
