"""The CUDA sources in a Python file's strings, and the kernels that they define."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import libcst as cst

from cudalint.apis.model import EmbeddedSource
from cudalint.frontends.python.bindings import Binding
from cudalint.frontends.python.declarations import Declarations
from cudalint.frontends.python.embedded import texts
from cudalint.frontends.python.embedded.callers import Callers
from cudalint.frontends.python.embedded.paths import FileTexts
from cudalint.frontends.python.embedded.places import Placer, kernels_by_name
from cudalint.frontends.python.embedded.strings import StringReader
from cudalint.frontends.python.embedded.texts import Text
from cudalint.frontends.python.scopes import Scope
from cudalint.program import Dropped, Kernel, Program
from cudalint.source import Span

if TYPE_CHECKING:
    from cudalint.frontends.cuda.options import ParseOptions

_DEVICE_CODE = re.compile(r"\b__global__\b")
_HOST_CODE = re.compile(r"\b__global__\b|\bcuda[A-Z]\w*\s*\(|<<<")
_DEFINE = re.compile(r"(?:-D|--define-macro=?)\s*([A-Za-z_]\w*(?:=.*)?)", re.DOTALL)
_MOST_SOURCES = 200


@dataclass(frozen=True, slots=True)
class Embedded:
    """One source that was read."""

    program: Program
    kernels: dict[str, Kernel | None]

    def kernel(self, name: str | None) -> Kernel | None:
        """The kernel of a name; if the name is unknown, the only one."""
        if name is None:
            only = list(self.kernels.values())
            return only[0] if len(only) == 1 else None
        return self.kernels.get(name.partition("<")[0].rpartition("::")[2].strip())


class EmbeddedSources:
    """What a Python file's calls compile, read once each by the CUDA frontend."""

    def __init__(self, declarations: Declarations, options: ParseOptions) -> None:
        self._module = declarations.module
        self._options = options
        self._files = FileTexts(self._module.source)
        self._strings = StringReader(declarations, self._files)
        self._callers = Callers(declarations)
        self._by_call: dict[int, Embedded | None] = {}
        self._by_text: dict[object, Program | None] = {}
        self.programs: list[Program] = []
        self.dropped: list[Dropped] = []

    @property
    def files(self) -> tuple[str, ...]:
        """The files that sources are read from."""
        return tuple(self._files.asked)

    def of_call(self, node: cst.Call, name: str, scope: Scope) -> Embedded | None:
        """What a call of an API function compiles."""
        if id(node) in self._by_call:
            return self._by_call[id(node)]
        self._by_call[id(node)] = None
        model = self._module.models.lookup(name)
        if model is None or model.embeds is None:
            return None
        found = self._read(node, model.embeds, model.parameters, scope)
        self._by_call[id(node)] = found
        return found

    def reaching(self, bindings: Sequence[Binding], use: cst.CSTNode) -> Binding | None:
        """The binding of a name that holds where it is used, if that is plain."""
        return self._strings.blocks.reaching(bindings, self._module.positions.offsets(use)[0])

    def kernel_name(self, node: cst.BaseExpression, scope: Scope) -> str | None:
        """The kernel name that an expression gives; ``None`` if it is unknown."""
        text = self._strings.read(node, scope)
        return text.value.rstrip("\0") if text is not None else None

    def argument(
        self, node: cst.Call, path: str | None, parameters: tuple[str, ...]
    ) -> cst.BaseExpression | None:
        """The argument that a path (``arg0``, ``code``) means."""
        if path is None:
            return None
        position = parameters.index(path) if path in parameters else -1
        if path.startswith("arg") and path[3:].isdigit():
            position = int(path[3:])
        for number, argument in enumerate(node.args):
            if argument.star:
                return None
            if argument.keyword is not None:
                if argument.keyword.value == path:
                    return argument.value
            elif number == position:
                return argument.value
        return None

    # -- reading ---------------------------------------------------------------------------------

    def _read(
        self, node: cst.Call, embeds: EmbeddedSource, parameters: tuple[str, ...], scope: Scope
    ) -> Embedded | None:
        parts: list[Text] = []
        passed: list[list[Text]] = []
        for path in embeds.source:
            argument = self.argument(node, path, parameters)
            if argument is None:
                continue
            parts += (known := self._strings.read_all(argument, scope))
            if not known:
                places = self._callers.values(argument, scope)
                passed += [self._strings.read_all(value, where) for value, where in places]
        if parts or not passed:
            return self._compiled(node, parts, embeds, parameters, scope)
        # A helper that compiles what it is given: each source is one of its own.
        found = [self._compiled(node, one, embeds, parameters, scope) for one in passed]
        return found[0] if len({id(one) for one in found}) == 1 else None

    def _compiled(
        self,
        node: cst.Call,
        parts: list[Text],
        embeds: EmbeddedSource,
        parameters: tuple[str, ...],
        scope: Scope,
    ) -> Embedded | None:
        wanted = _HOST_CODE if embeds.host else _DEVICE_CODE
        if not any(wanted.search(part.value) for part in parts):
            return None
        start, end = self._module.positions.offsets(node.func)
        newline = texts.standing_for("\n", start, end)
        text = texts.separated(parts, newline)
        defines = self._defines(self.argument(node, embeds.options, parameters), scope)
        program = self._program(text, defines, self._module.span(node.func))
        return Embedded(program, kernels_by_name(program)) if program is not None else None

    def _defines(self, options: cst.BaseExpression | None, scope: Scope) -> tuple[str, ...]:
        """The macros that ``options=("-DTILE=16",)`` defines."""
        if options is None:
            return ()
        given = [text.value for text in self._strings.read_all(options, scope)]
        found = [_DEFINE.fullmatch(value.strip()) for value in given]
        return tuple(match[1] for match in found if match is not None)

    def _program(self, text: Text, defines: tuple[str, ...], place: Span) -> Program | None:
        identity = (text.value, defines, tuple(text.starts[:1]), tuple(text.starts[-1:]))
        if identity in self._by_text or len(self._by_text) >= _MOST_SOURCES:
            return self._by_text.get(identity)
        self._by_text[identity] = None
        program = self._parsed(text, defines, place)
        if program is not None:
            self._by_text[identity] = program
            self.programs.append(program)
        return program

    def _parsed(self, text: Text, defines: tuple[str, ...], place: Span) -> Program | None:
        # libclang is heavy: files without embedded sources never get here.
        import msgspec

        from cudalint.frontends import cuda
        from cudalint.frontends.cuda.parse import ParseFailure

        filename = self._module.source.filename
        number = len(self._by_text)
        # A name that no file has, in the same folder, for the headers there:
        virtual = str(PurePath(filename).with_name(f"{PurePath(filename).name}.{number}.cu"))
        options = self._options
        if defines:
            import dataclasses

            options = dataclasses.replace(options, defines=(*options.defines, *defines))
        try:
            program = cuda.read(virtual, text.value, options)
        except (ParseFailure, msgspec.MsgspecError, RecursionError, ImportError) as error:
            self.dropped.append(Dropped(place, "embedded CUDA source", str(error)))
            return None
        prefix = f"{filename}:{place.row}:{place.column}:{number}:"
        return Placer(program, text, self._files, prefix).program(filename)
