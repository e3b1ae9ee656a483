"""Puts together the strings of a file, as far as they are known before it runs."""

from __future__ import annotations

import functools
from pathlib import Path

import libcst as cst

from cudalint.frontends.python.constants import fold
from cudalint.frontends.python.declarations import Declarations
from cudalint.frontends.python.embedded import texts
from cudalint.frontends.python.embedded.blocks import Blocks
from cudalint.frontends.python.embedded.holes import Holes, is_hole
from cudalint.frontends.python.embedded.imported import Imports
from cudalint.frontends.python.embedded.literals import body_text, literal_text, prefix_of
from cudalint.frontends.python.embedded.paths import FileTexts, path_of
from cudalint.frontends.python.embedded.texts import Field, Text
from cudalint.frontends.python.scopes import ClassInfo, ClassMember, Defined, Dotted, Local, Scope
from cudalint.program.expressions import Constant

_MAXIMUM_DEPTH = 40
_MOST_MODULES = 3
_LONGEST = 1_000_000
_STRIP = frozenset(["strip", "lstrip", "rstrip"])
_SAME = frozenset(["encode", "decode", "expandtabs", "read"])
_IDENTITIES = frozenset(["builtins.str", "builtins.bytes", "builtins.str.encode"])
_TEMPLATES = frozenset(["string.Template"])


class StringReader:
    """Evaluates expressions that are strings. What is not known leaves a hole."""

    def __init__(self, declarations: Declarations, files: FileTexts, depth: int = 0) -> None:
        self._declarations = declarations
        self._module = declarations.module
        self._imports = Imports(declarations.module)
        self._imported: dict[Declarations, StringReader] = {}
        self._files = files
        self._depth = depth
        self.holes = Holes()

    @functools.cached_property
    def blocks(self) -> Blocks:
        """The file's blocks, for names that are bound several times."""
        return Blocks(self._module)

    def read(self, node: cst.BaseExpression, scope: Scope) -> Text | None:
        """The value of an expression, holes filled with names; ``None`` if it is unknown."""
        text = self._text(node, scope, 0)
        return self.holes.named(text) if text is not None and not is_hole(text) else None

    def read_all(self, node: cst.BaseExpression, scope: Scope) -> list[Text]:
        """The value of an expression that may be a list of strings."""
        if isinstance(node, cst.List | cst.Tuple):
            found = [self.read(element.value, scope) for element in node.elements]
            return [text for text in found if text is not None]
        if isinstance(node, cst.Name):
            value = self._bound_value(node, scope)
            if value is not None and isinstance(value[0], cst.List | cst.Tuple):
                return self.read_all(value[0], value[1])
        text = self.read(node, scope)
        return [] if text is None else [text]

    # -- any expression --------------------------------------------------------------------------

    def _piece(self, node: cst.BaseExpression, scope: Scope, depth: int) -> Text:
        """The value of an expression in the middle of a string; a hole if it is unknown."""
        text = self._text(node, scope, depth)
        return text if text is not None else self._hole(node)

    def _hole(self, node: cst.CSTNode) -> Text:
        return self.holes.hole(self._module.text(node).strip(), *self._offsets(node))

    def _offsets(self, node: cst.CSTNode) -> tuple[int, int]:
        return self._module.positions.offsets(node)

    def _text(self, node: cst.CSTNode, scope: Scope, depth: int) -> Text | None:
        if depth > _MAXIMUM_DEPTH:
            return None
        found: Text | None = None
        match node:
            case cst.SimpleString():
                found = self._literal(node)
            case cst.ConcatenatedString():
                left = self._text(node.left, scope, depth + 1)
                right = self._text(node.right, scope, depth + 1)
                if left is not None and right is not None:
                    found = texts.joined([left, right])
            case cst.FormattedString():
                found = self._formatted(node, scope, depth)
            case cst.BinaryOperation():
                found = self._operation(node, scope, depth)
            case cst.Name() | cst.Attribute():
                found = self._named(node, scope, depth)
            case cst.Call():
                found = self._call(node, scope, depth)
        return found if found is None or len(found) <= _LONGEST else None

    def _literal(self, node: cst.SimpleString) -> Text | None:
        start, end = self._offsets(node)
        written = self._module.source.text[start:end]
        return literal_text(written, start)

    def _formatted(self, node: cst.FormattedString, scope: Scope, depth: int) -> Text | None:
        position, _ = self._offsets(node)
        if not self._module.source.text.startswith(node.start, position):
            return None
        prefix = prefix_of(node.start)
        position += len(node.start)
        pieces: list[Text] = []
        for part in node.parts:
            code = part.value if isinstance(part, cst.FormattedStringText) else self._code(part)
            if not self._module.source.text.startswith(code, position):
                return None
            if isinstance(part, cst.FormattedStringText):
                piece = body_text(code, position, prefix, formatted=True)
            else:
                piece = self._filled(part, scope, depth).moved(position, position + len(code))
            if piece is None:
                return None
            pieces.append(piece)
            position += len(code)
        return texts.joined(pieces)

    def _code(self, part: cst.BaseFormattedStringContent) -> str:
        return self._module.tree.code_for_node(part)

    def _filled(self, part: cst.BaseFormattedStringContent, scope: Scope, depth: int) -> Text:
        """What a hole of an f-string takes."""
        assert isinstance(part, cst.FormattedStringExpression)
        style = ""
        known = part.equal is None and part.conversion in (None, "s")
        for inner in part.format_spec or ():
            known = known and isinstance(inner, cst.FormattedStringText)
            style += inner.value if isinstance(inner, cst.FormattedStringText) else ""
        if known:
            value = fold(part.expression, scope)
            if isinstance(value, Constant) and not isinstance(value.value, str):
                shown = _format(value.value, style)
                if shown is not None:
                    return texts.standing_for(shown, 0, 0)
            elif not style:
                return self._piece(part.expression, scope, depth + 1)
        return self._hole(part.expression)

    def _shown(self, node: cst.BaseExpression, scope: Scope, depth: int, style: str) -> Text:
        """What ``str.format`` or ``%`` makes of a value."""
        value = fold(node, scope)
        if isinstance(value, Constant) and not isinstance(value.value, str):
            shown = _format(value.value, style)
            return texts.standing_for(shown, 0, 0) if shown is not None else self._hole(node)
        return self._piece(node, scope, depth + 1) if style in ("", "%s") else self._hole(node)

    # -- operators -------------------------------------------------------------------------------

    def _operation(self, node: cst.BinaryOperation, scope: Scope, depth: int) -> Text | None:
        if isinstance(node.operator, cst.Add):
            left = self._piece(node.left, scope, depth + 1)
            right = self._piece(node.right, scope, depth + 1)
            if is_hole(left) and is_hole(right):
                return None
            return texts.joined([left, right])
        if isinstance(node.operator, cst.Modulo):
            template = self._text(node.left, scope, depth + 1)
            if template is None or is_hole(template):
                return None
            given = _percent_values(self._resolved(node.right, scope))
            if given is None:
                given = {0: node.right}
            return self._substitute(
                template, list(texts.percent_fields(template.value)), given, scope, depth, node
            )
        return None

    def _resolved(self, node: cst.BaseExpression, scope: Scope) -> cst.BaseExpression:
        """The display of a dictionary or tuple that a name stands for."""
        if isinstance(node, cst.Name):
            value = self._bound_value(node, scope)
            if value is not None and isinstance(value[0], cst.Dict | cst.Tuple):
                return value[0]
        return node

    def _substitute(
        self,
        template: Text,
        fields: list[Field],
        given: dict[str | int, cst.BaseExpression],
        scope: Scope,
        depth: int,
        node: cst.CSTNode,
    ) -> Text:
        places = []
        for field in fields:
            start, end = template.origin(field.first, field.last)
            if field.literal is not None:
                value = texts.standing_for(field.literal, start, end)
            elif field.name in given:
                value = self._shown(given[field.name], scope, depth, field.format)
            else:
                name = f"{field.name} of {self._offsets(node)[0]}"
                value = self.holes.hole(str(field.name) if field.name else name, start, end)
            places.append((field.first, field.last, value.moved(start, end)))
        return texts.substituted(template, places)

    # -- names -----------------------------------------------------------------------------------

    def _named(self, node: cst.Name | cst.Attribute, scope: Scope, depth: int) -> Text | None:
        value = self._bound_value(node, scope)
        if value is not None:
            return self._text(value[0], value[1], depth + 1)
        meaning = scope.meaning(node)
        if isinstance(meaning, Dotted) and meaning.key is not None:
            return self._imported_text(meaning.name)
        known = fold(node, scope)
        if isinstance(known, Constant) and isinstance(known.value, int | float):
            return texts.standing_for(str(known.value), *self._offsets(node))
        return None

    def _imported_text(self, dotted: str) -> Text | None:
        """The string that ``package.module.NAME`` is."""
        other = self._imports.module_of(dotted) if self._depth < _MOST_MODULES else None
        if other is None:
            return None
        if other not in self._imported:
            files = FileTexts(other.module.source)
            self._imported[other] = StringReader(other, files, self._depth + 1)
        bindings = other.scope.bindings.names.get(dotted.rpartition(".")[2], [])
        value = bindings[0].value if len(bindings) == 1 else None
        if not isinstance(value, cst.BaseExpression):
            return None
        text = self._imported[other].read(value, other.scope)
        if text is None or max(text.ends, default=0) > len(other.module.source.text):
            return None
        return self._files.moved(text, other.module.source)

    def _bound_value(
        self, node: cst.Name | cst.Attribute, scope: Scope
    ) -> tuple[cst.BaseExpression, Scope] | None:
        """The expression that a name stands for where it is used, and the scope to read it in."""
        meaning = scope.meaning(node)
        if isinstance(meaning, Local):
            return self._variable_value(meaning, scope, self._offsets(node)[0])
        if isinstance(meaning, ClassMember):
            return _member_value(meaning.owner, meaning.attribute)
        if isinstance(node, cst.Attribute):
            receiver = scope.meaning(node.value)
            owner = getattr(receiver, "owner", None)
            if isinstance(owner, ClassInfo):
                return _member_value(owner, node.attr.value)
        return None

    def _variable_value(
        self, local: Local, scope: Scope, use: int
    ) -> tuple[cst.BaseExpression, Scope] | None:
        bindings = local.scope.bindings.names.get(local.variable.name, [])
        if any(binding.kind not in ("value", "context") for binding in bindings):
            return None
        if len(bindings) > 1:
            if local.scope is not scope:
                return None
            reaching = self.blocks.reaching(bindings, use)
            bindings = [reaching] if reaching is not None else []
        value = bindings[0].value if bindings else None
        return (value, local.scope) if isinstance(value, cst.BaseExpression) else None

    # -- calls -----------------------------------------------------------------------------------

    def _call(self, node: cst.Call, scope: Scope, depth: int) -> Text | None:
        meaning = scope.meaning(node.func)
        first = node.args[0].value if node.args and not node.args[0].star else None
        if isinstance(meaning, Dotted):
            if meaning.name == "textwrap.dedent" and first is not None:
                text = self._text(first, scope, depth + 1)
                return texts.dedented(text) if text is not None else None
            if meaning.name == "inspect.cleandoc" and first is not None:
                text = self._text(first, scope, depth + 1)
                return texts.cleaned(text) if text is not None else None
            if meaning.name in _IDENTITIES and first is not None:
                known = fold(first, scope)
                if isinstance(known, Constant) and isinstance(known.value, int | float):
                    return texts.standing_for(str(known.value), *self._offsets(first))
                return self._text(first, scope, depth + 1)
        if isinstance(meaning, Defined):
            values = self._declarations.returned(meaning)
            if len(values) != 1:
                return None
            return self._text(values[0], self._declarations.scope_of(meaning), depth + 1)
        if isinstance(node.func, cst.Attribute):
            return self._method(node, node.func, scope, depth)
        return None

    def _method(
        self, node: cst.Call, function: cst.Attribute, scope: Scope, depth: int
    ) -> Text | None:
        name = function.attr.value
        if name in ("substitute", "safe_substitute"):
            return self._template(node, function.value, scope, depth)
        if name in ("read", "read_text", "read_bytes"):
            return self._file(node, function.value, scope)
        text = self._text(function.value, scope, depth + 1)
        if text is None or any(argument.star for argument in node.args if name != "format"):
            return None
        values = [argument.value for argument in node.args if argument.keyword is None]
        if name in _SAME:
            return text
        if name in _STRIP:
            characters = self._plain(values[0], scope, depth) if values else None
            return None if values and not characters else texts.stripped(text, name, characters)
        if name == "replace" and len(values) >= 2:
            old = self._plain(values[0], scope, depth)
            if not old:
                return None
            most = fold(values[2], scope) if len(values) > 2 else Constant(-1)
            count = most.value if isinstance(most, Constant) else None
            if not isinstance(count, int):
                return None
            return texts.replaced(text, old, self._piece(values[1], scope, depth + 1), count)
        if name == "join" and len(values) == 1 and isinstance(values[0], cst.List | cst.Tuple):
            parts = [self._piece(element.value, scope, depth + 1) for element in values[0].elements]
            return texts.separated(parts, text)
        if name == "format":
            try:
                fields = list(texts.brace_fields(text.value))
            except ValueError:
                return None
            return self._substitute(text, fields, _given(node), scope, depth, node)
        return None

    def _plain(self, node: cst.BaseExpression, scope: Scope, depth: int) -> str | None:
        """The value of a string that is known whole."""
        text = self._text(node, scope, depth + 1)
        if text is None:
            return None
        return text.value if self.holes.named(text).value == text.value else None

    def _template(
        self, node: cst.Call, receiver: cst.BaseExpression, scope: Scope, depth: int
    ) -> Text | None:
        home = scope
        if isinstance(receiver, cst.Name | cst.Attribute):
            value = self._bound_value(receiver, scope)
            if value is None:
                return None
            receiver, home = value
        if not isinstance(receiver, cst.Call) or not receiver.args:
            return None
        meaning = home.meaning(receiver.func)
        if not isinstance(meaning, Dotted) or meaning.name not in _TEMPLATES:
            return None
        text = self._text(receiver.args[0].value, home, depth + 1)
        if text is None:
            return None
        given = _given(node)
        if 0 in given:
            given |= _percent_values(self._resolved(given[0], scope)) or {}
        fields = list(texts.dollar_fields(text.value))
        return self._substitute(text, fields, given, scope, depth, node)

    # -- files -----------------------------------------------------------------------------------

    def _file(self, node: cst.Call, receiver: cst.BaseExpression, scope: Scope) -> Text | None:
        """``open(path).read()``, ``file.read()`` in a ``with``, ``path.read_text()``."""
        if node.func is not None and isinstance(receiver, cst.Name | cst.Attribute):
            value = self._bound_value(receiver, scope)
            if value is not None and isinstance(value[0], cst.Call):
                opened = self._opened(value[0], value[1])
                if opened is not None:
                    return self._files.text(opened)
        if isinstance(receiver, cst.Call):
            opened = self._opened(receiver, scope)
            if opened is not None:
                return self._files.text(opened)
        method = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
        if method == "read":
            return None
        path = path_of(receiver, scope, self._bound_value, self._module.source.filename)
        return self._files.text(path) if path is not None else None

    def _opened(self, call: cst.Call, scope: Scope) -> Path | None:
        """The path that ``open(path)`` or ``path.open()`` opens."""
        meaning = scope.meaning(call.func)
        filename = self._module.source.filename
        if isinstance(meaning, Dotted) and meaning.name in ("builtins.open", "io.open"):
            if not call.args:
                return None
            return path_of(call.args[0].value, scope, self._bound_value, filename)
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "open":
            return path_of(call.func.value, scope, self._bound_value, filename)
        return None


def _member_value(owner: ClassInfo, attribute: str) -> tuple[cst.BaseExpression, Scope] | None:
    """What a class or its methods give an attribute, if one place alone does."""
    found: list[tuple[cst.CSTNode | None, Scope]] = []
    for base in owner.lineage():
        found += [(value, home) for _, value, home in base.attributes.get(attribute, ())]
        found += [(b.value, base.scope) for b in base.scope.bindings.names.get(attribute, ())]
    if len(found) != 1:
        return None
    value, home = found[0]
    return (value, home) if isinstance(value, cst.BaseExpression) else None


def _given(node: cst.Call) -> dict[str | int, cst.BaseExpression]:
    """The arguments of a call by name and position."""
    given: dict[str | int, cst.BaseExpression] = {}
    for position, argument in enumerate(node.args):
        if argument.star:
            if isinstance(argument.value, cst.Dict):
                given |= _percent_values(argument.value) or {}
        else:
            given[argument.keyword.value if argument.keyword else position] = argument.value
    return given


def _percent_values(node: cst.BaseExpression) -> dict[str | int, cst.BaseExpression] | None:
    """The items of a tuple or a dictionary with string keys."""
    if isinstance(node, cst.Tuple):
        return {number: element.value for number, element in enumerate(node.elements)}
    if isinstance(node, cst.Dict):
        return {
            str(element.key.evaluated_value): element.value
            for element in node.elements
            if isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString)
        }
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "dict":
        return _given(node)
    return None


def _format(value: object, style: str) -> str | None:
    try:
        return style % value if style.startswith("%") else format(value, style)
    except (ValueError, TypeError):
        return None
