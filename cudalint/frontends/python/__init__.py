"""The Python frontend: libcst."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudalint.program.functions import Program
from cudalint.source import Source, Span

if TYPE_CHECKING:
    from cudalint.frontends.cuda.options import ParseOptions


def read(
    filename: str,
    text: str,
    options: ParseOptions | None = None,
    models: Sequence[str] = (),
) -> Program:
    """Lower one Python file to the program model. ``options`` say how CUDA C++ in its strings is
    parsed (without them it is left alone), ``models`` are the user's API models.

    Never raises for what the file holds: what cannot be parsed or lowered is in
    ``Program.dropped``, and the rest is lowered.
    """
    # libcst takes a tenth of a second to import.
    from cudalint.apis.loader import load
    from cudalint.frontends.python.declarations import Declarations
    from cudalint.frontends.python.embedded.sources import EmbeddedSources
    from cudalint.frontends.python.lowering.context import FileContext
    from cudalint.frontends.python.lowering.definitions import lower_module
    from cudalint.frontends.python.lowering.parts import AllParts
    from cudalint.frontends.python.module import Module
    from cudalint.frontends.python.names import module_name
    from cudalint.frontends.python.parsing import parse
    from cudalint.frontends.python.prefilter import may_embed

    source = Source(filename, text)
    # A tree is many objects that all stay: collecting garbage meanwhile doubles the time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        parsed = parse(source)
        if parsed.tree is None or parsed.positions is None:
            return Program(filename, "python", dropped=parsed.dropped)
        known = load("python", tuple(models))
        module = Module(source, parsed.tree, parsed.positions, module_name(filename), known)
        declarations = Declarations(module)
        sources = None
        if options is not None and may_embed(text):
            sources = EmbeddedSources(declarations, options)
        file = FileContext(declarations, sources, AllParts())
        lower_module(file, Span(1, 1, *source.position(len(text))))
        return Program(
            filename,
            "python",
            functions=tuple(file.functions),
            records=tuple(file.records),
            kernels=tuple(file.kernels.found.values()),
            variables=declarations.variables(),
            dropped=(*parsed.dropped, *file.dropped, *(sources.dropped if sources else ())),
            includes=(*declarations.includes(), *(sources.files if sources else ())),
            embedded=tuple(sources.programs) if sources else (),
        )
    finally:
        if collecting:
            gc.enable()
