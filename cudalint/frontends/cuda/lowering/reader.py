"""Reads expressions from their text: a small part of C++'s grammar.

A missing header leaves undeclared names, and clang then drops arguments, conditions, launches and
whole statements. What the grammar does not cover is ``Beyond`` it.
"""

from __future__ import annotations

import re
from typing import Any

from cudalint.apis.loader import load
from cudalint.frontends.cuda.lowering.brackets import Beyond
from cudalint.frontends.cuda.lowering.context import Context
from cudalint.frontends.cuda.lowering.dimensions import as_dim3
from cudalint.frontends.cuda.lowering.numbers import read_number
from cudalint.frontends.cuda.lowering.variables import declare_text, named
from cudalint.program import (
    THIS,
    AddressOf,
    Argument,
    Assign,
    Binary,
    Call,
    Conditional,
    Constant,
    Dereference,
    Expression,
    Index,
    Launch,
    Member,
    Tuple,
    Type,
    Unary,
    Unknown,
    Use,
    Variable,
)
from cudalint.source import Span

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*[\s\S]*?\*/)*")
_TOKEN = re.compile(
    r"(?:(?P<number>0[xX][0-9a-fA-F']+[uUlL]*|\d[\d']*(?:\.\d*)?(?:[eE][-+]?\d+)?[uUlLfF]*)"
    r"|(?P<name>(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)"
    r"|(?P<string>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+')"
    r"|(?P<symbol><<<|>>>|<<=|>>=|->|\+\+|--|&&|\|\||==|!=|<=|>=|<<|>>|[-+*/%&|^]=|[-+*/%&|^~!<>=?:,.;()\[\]{}]))"
)
_CHEVRONS = re.compile(r"<<\s+<|<\s+<<|>>\s+>|>\s+>>")
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"),
    ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_SIZES = {
    "char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "half": 2, "__half": 2,
    "int16_t": 2, "uint16_t": 2, "int": 4, "unsigned": 4, "float": 4, "int32_t": 4,
    "uint32_t": 4, "long": 8, "double": 8, "size_t": 8, "int64_t": 8, "uint64_t": 8,
    "float2": 8, "float4": 16, "double2": 16, "int2": 8, "int4": 16, "cufftComplex": 8,
    "cuComplex": 8, "cuDoubleComplex": 16,
}  # fmt: skip
_TYPE_WORDS = frozenset(
    (
        "void", "const", "unsigned", "signed", "char", "short", "int", "long", "float", "double",
        "bool", "struct", "auto",
    )
)  # fmt: skip
_STATEMENT_WORDS = frozenset(
    (
        "if", "else", "for", "while", "do", "switch", "try", "catch", "case", "default", "goto",
        "return", "throw", "operator", "template", "typename", "using", "typedef", "asm",
    )
)  # fmt: skip
_VALUES: dict[str, Any] = {
    "nullptr": None, "NULL": None, "true": True, "false": False,
}  # fmt: skip
APIS = re.compile(
    r"(?:cuda|cu|cublas|cudnn|cufft|cusparse|cusolver|curand|nccl|hip)[A-Z]\w*|nccl\w+"
)
_CAST = re.compile(
    r"(?:const\s+)?(?:unsigned\s+|struct\s+)?(?:::)?[A-Za-z_][\w:]*(?:\s+(?:int|long|char))*"
    r"(?:<[\w\s,*:]*>)?(\s*const)?\s*(?P<stars>[\s*&]*)\Z"
)


_NOT_TYPES = frozenset(("new", "delete", "sizeof", *_STATEMENT_WORDS))


class Reader:
    """A recursive-descent reader over the tokens of one expression or statement."""

    def __init__(self, context: Context, text: str, span: Span) -> None:
        self.context = context
        self.span = span
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        self.place = 0
        self.emitted: list[Any] = []
        text = _CHEVRONS.sub(lambda found: found.group()[0] * 3, text)
        position = _after_blank(text, 0)
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                raise Beyond(text[position : position + 10])
            kind = found.lastgroup or ""
            self.tokens.append((kind, found.group(kind)))
            position = _after_blank(text, found.end())

    def flush(self) -> None:
        """Emit the operations: only once the whole text was read."""
        for operation in self.emitted:
            self.context.graph.emit(operation)

    @property
    def token(self) -> str:
        """The next token."""
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    @property
    def kind(self) -> str:
        """What the next token is: number, name, string or symbol."""
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        """Take a token."""
        token = self.token
        if not token or (expected and token != expected):
            raise Beyond(token)
        self.place += 1
        return token

    def whole(self, wanted: bool) -> Expression:
        """The whole text as one expression."""
        value = self.assignment()
        if self.token:
            raise Beyond(self.token)
        if not wanted and self.emitted and isinstance(self.emitted[-1], Call):
            last = self.emitted[-1]
            if last.target == value:
                self.emitted[-1] = Call(
                    last.name,
                    last.arguments,
                    last.span,
                    kind=last.kind,
                    receiver=last.receiver,
                    key=last.key,
                )
        return value

    def statement(self) -> None:
        """The whole text as a declaration or an expression."""
        if self._declaration():
            return
        before = len(self.emitted)
        value = self.whole(wanted=False)
        if len(self.emitted) == before:
            self.emitted.append(Use(value, self.span))

    def _declaration(self) -> bool:
        """``Type name = value`` with a type that clang does not know."""
        place = self.place
        words = []
        while self.kind == "name" and self.token not in _NOT_TYPES:
            words.append(self.take())
            if self.token == "<" and not self._skip_angles():
                break
            while self.token == "*":
                words.append(self.take())
        if len(words) < 2 or words[-1] == "*" or self.token not in ("", "=", ";", "(", "{"):
            self.place = place
            return False
        if self.token in ("(", "{"):
            return self._object(words)
        name = words.pop()
        type_ = _type_of_words(words)
        value: Expression = Unknown("uninitialized")
        if self.token == "=":
            self.take()
            value = self.assignment()
        elif name in self.context.by_name:
            raise Beyond(name)  # No declaration: ``returm memory;``.
        if self.token not in ("", ";"):
            raise Beyond(self.token)
        variable = declare_text(self.context, name, type_, self.span)
        self.emitted.append(Assign(variable, value, self.span, declares=True))
        return True

    def _skip_angles(self) -> bool:
        try:
            end = self._closing_angle(self.place)
        except Beyond:
            return False
        if any(token in (";", "&&", "||") for _, token in self.tokens[self.place : end]):
            return False
        self.place = end + 1
        return True

    def _object(self, words: list[str]) -> bool:
        """``Type name(values)``; but ``MACRO release(p)`` is a call."""
        name = words.pop()
        key = self.context.unit.key_of_function(name)
        values = self.list_until({"(": ")", "{": "}"}[self.take()])
        if self.token not in ("", ";"):
            raise Beyond(self.token)
        arguments = tuple(Argument(value) for value in values)
        if APIS.match(name) or key is not None:
            self.emitted.append(Call(name, arguments, self.span, key=key))
            return True
        type_ = _type_of_words(words)
        variable = declare_text(self.context, name, type_, self.span)
        if type_.kind != "other" and len(values) == 1:
            self.emitted.append(Assign(variable, values[0], self.span, declares=True))
        else:
            self.emitted.append(
                Call(type_.text, arguments, self.span, receiver=variable, kind="constructor")
            )
        return True

    def assignment(self) -> Expression:
        """An assignment or what binds tighter."""
        left = self.conditional()
        if self.token == "=":
            self.take()
            value = self.assignment()
            self.emitted.append(Assign(left, value, self.span))
            return left
        if len(self.token) == 2 and self.token[1] == "=" and self.token[0] in "+-*/%&|^":
            operator = self.take()[0]
            value = self.assignment()
            self.emitted.append(
                Assign(left, Binary(operator, left, value), self.span, augmented=True)
            )
        return left

    def conditional(self) -> Expression:
        """``a ? b : c`` or what binds tighter."""
        condition = self.binary(0)
        if self.token != "?":
            return condition
        self.take()
        then = self.assignment()
        self.take(":")
        return Conditional(condition, then, self.assignment())

    def binary(self, level: int) -> Expression:
        """A binary operator of a level of precedence."""
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.token in _LEVELS[level] and self.kind == "symbol":
            operator = self.take()
            left = Binary(operator, left, self.binary(level + 1))
        return left

    def unary(self) -> Expression:
        """A prefix operator, a cast or what binds tighter."""
        token = self.token
        if token == "&":
            self.take()
            operand = self.unary()
            return operand.pointer if isinstance(operand, Dereference) else AddressOf(operand)
        if token == "*":
            self.take()
            operand = self.unary()
            return operand.place if isinstance(operand, AddressOf) else Dereference(operand)
        if token in ("-", "~", "!", "+"):
            self.take()
            operand = self.unary()
            if (
                token == "-"
                and isinstance(operand, Constant)
                and not isinstance(operand.value, str)
            ):
                return Constant(-(operand.value or 0))
            return operand if token == "+" else Unary(token, operand)
        if token == "sizeof":
            return self._sizeof()
        if token == "(" and self._skip_cast():
            return self.unary()
        return self.postfix(self.primary())

    def _skip_cast(self) -> bool:
        close = self._closing(self.place)
        inner = " ".join(token for _, token in self.tokens[self.place + 1 : close])
        found = _CAST.match(inner)
        if found is None:
            return False
        following = self.tokens[close + 1 : close + 2]
        words = set(inner.replace("*", " ").split())
        is_type = (
            "*" in inner or bool(words & _TYPE_WORDS) or inner.endswith("_t") or inner in _SIZES
        )
        if not following:
            return False
        kind, token = following[0]
        if kind in ("name", "number"):
            self.place = close + 1  # Nothing but a cast stands there.
            return True
        if not is_type:
            return False
        if kind == "symbol" and token not in ("(", "&", "*", "-", "!", "~"):
            return False
        self.place = close + 1
        return True

    def _closing(self, place: int) -> int:
        depth = 0
        for number in range(place, len(self.tokens)):
            token = self.tokens[number][1]
            if self.tokens[number][0] == "symbol":
                depth += (token in "([{") - (token in ")]}")
            if depth == 0:
                return number
        raise Beyond("unbalanced")

    def _sizeof(self) -> Expression:
        self.take()
        close = self._closing(self.place)
        inner = " ".join(token for _, token in self.tokens[self.place + 1 : close])
        self.place = close + 1
        bare = inner.removeprefix("const ").strip()
        if bare.endswith("*"):
            return Constant(8, f"sizeof({inner})")
        size = _SIZES.get(bare.removeprefix("unsigned ").removeprefix("std :: "))
        text = f"sizeof({inner})"
        return Constant(size, text) if size else Unknown(text)

    def primary(self) -> Expression:
        """A literal, a name, a call."""
        kind, token = self.kind, self.token
        if kind == "number":
            return read_number(self.take())
        if kind == "string":
            text = self.take()
            return Constant(text[1:-1] if text[0] == '"' else ord(text[1]))
        if token == "(":
            self.take()
            value = self.assignment()
            self.take(")")
            return value
        if token == "{":
            self.take()
            return Tuple(tuple(self.list_until("}")), "initializer")
        if kind != "name":
            raise Beyond(token)
        self.take()
        if token in ("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"):
            while self.token != "(":
                self.take()
            self.take()
            value = self.assignment()
            self.take(")")
            return value
        if token == "this":
            return THIS
        if token == "new":
            return self._new()
        if token == "delete":
            return self._delete()
        if token in _STATEMENT_WORDS:
            raise Beyond(token)
        if token in _VALUES:
            return Constant(_VALUES[token], token)
        if (worth := load("cuda").constants.get(token)) is not None:
            return Constant(worth, token)
        if token == "<" or self.token == "<":
            self._skip_template_arguments()
        if self.token == "(":
            self.take()
            return self._called(token)
        if self.token == "<<<":
            return self._launch(token)
        return named(self.context, token)

    def _new(self) -> Expression:
        """``new T``, ``new T[n]``, ``new T(a)``."""
        if self.token == "(":
            raise Beyond("placement")
        words = []
        while self.kind == "name" or self.token == "*":
            words.append(self.take())
            if self.token == "<":
                self.place = self._closing_angle(self.place) + 1
        name = " ".join(words)
        pointee = Type(name, "other", _SIZES.get(name))
        target = self.context.temporary(Type(f"{name} *", "pointer", 8, False, pointee))
        is_array = self.token == "["
        count: Expression = Constant(pointee.bytes) if pointee.bytes else Unknown(f"sizeof({name})")
        values: list[Expression] = []
        if is_array:
            self.take()
            count = self.assignment()
            self.take("]")
        elif self.token in ("(", "{"):
            values = self.list_until({"(": ")", "{": "}"}[self.take()])
        self.emitted.append(
            Call(
                "operator new[]" if is_array else "operator new",
                (Argument(count),),
                self.span,
                target,
                kind="operator",
                template_bytes=pointee.bytes,
            )
        )
        if values:
            arguments = tuple(Argument(value) for value in values)
            self.emitted.append(
                Call(name, arguments, self.span, receiver=Dereference(target), kind="constructor")
            )
        return target

    def _closing_angle(self, place: int) -> int:
        depth = 0
        for number in range(place, len(self.tokens)):
            token = self.tokens[number][1]
            depth += (token == "<") - (token == ">") - 2 * (token == ">>")
            if depth <= 0:
                return number
        raise Beyond("<")

    def _delete(self) -> Expression:
        is_array = self.token == "["
        if is_array:
            self.take()
            self.take("]")
        self.emitted.append(
            Call(
                "operator delete[]" if is_array else "operator delete",
                (Argument(self.unary()),),
                self.span,
                kind="operator",
                may_throw=False,
            )
        )
        return Unknown("void")

    def _skip_template_arguments(self) -> None:
        """``name<int, 4>(``: skipped where a call or launch follows."""
        depth = 0
        for number in range(self.place, min(self.place + 40, len(self.tokens))):
            token = self.tokens[number][1]
            depth += (token == "<") - (token == ">") - 2 * (token == ">>")
            if token in (";", "{", "}", "&&", "||"):
                return
            if depth <= 0:
                following = self.tokens[number + 1 : number + 2]
                if following and following[0][1] in ("(", "<<<"):
                    self.place = number + 1
                return

    def list_until(self, close: str) -> list[Expression]:
        """Values between commas, up to a bracket."""
        values: list[Expression] = []
        while self.token != close:
            values.append(self.assignment())
            if self.token != ",":
                break
            self.take()
        self.take(close)
        return values

    def _called(self, name: str) -> Expression:
        values = self.list_until(")")
        if name == "dim3":
            values += [Constant(1)] * (3 - len(values))
            return Tuple(tuple(values), "dim3")
        bare = name.removeprefix("::")
        key = self.context.unit.key_of_function(bare)
        known = key is not None or APIS.match(bare) is not None or "::" in bare
        place = self.context.by_name.get(bare)
        target = self.context.temporary(Type(""))
        self.emitted.append(
            Call(
                bare,
                tuple(Argument(value) for value in values),
                self.span,
                target,
                key,
                callee=place,
                kind="indirect" if place is not None else "function" if known else "macro",
            )
        )
        return target

    def _triple(self, value: Expression) -> Expression:
        """A launch's number as three; a variable may be a ``dim3`` itself."""
        if isinstance(value, Variable):
            info = self.context.variables.get(value.symbol)
            if info is None or info.type.kind != "integer":
                return value
        elif isinstance(value, Member | Index | Tuple):
            return value
        return Tuple((value, Constant(1), Constant(1)), "dim3")

    def _launch(self, name: str) -> Expression:
        self.take("<<<")
        parts = self.list_until(">>>")
        self.take("(")
        values = self.list_until(")")
        if len(parts) < 2:  # a macro stands for all of them
            parts = [Unknown("grid"), Unknown("block"), Unknown("shared"), Unknown("stream")]
        shaped = [as_dim3(self._triple(part)) for part in parts[:2]]
        bare = name.removeprefix("::")
        self.emitted.append(
            Launch(
                bare,
                shaped[0],
                shaped[1],
                tuple(Argument(value) for value in values),
                self.span,
                parts[2] if len(parts) > 2 else None,
                parts[3] if len(parts) > 3 else None,
                self.context.unit.key_of_function(bare),
            )
        )
        return Unknown("void")

    def postfix(self, value: Expression) -> Expression:
        """Subscripts, members and calls behind a value."""
        while True:
            token = self.token
            if token == "[":
                self.take()
                index = self.assignment()
                self.take("]")
                value = Index(value, index)
            elif token in (".", "->"):
                self.take()
                name = self.take()
                if name == "template":
                    name = self.take()
                if self.token == "<":
                    self._skip_template_arguments()
                value = self._member(value, token, name)
            elif token in ("++", "--"):
                self.take()
                self.emitted.append(
                    Assign(value, Binary(token[0], value, Constant(1)), self.span, augmented=True)
                )
            elif token == "(":
                self.take()
                values = self.list_until(")")
                target = self.context.temporary(Type(""))
                self.emitted.append(
                    Call(
                        "",
                        tuple(Argument(v) for v in values),
                        self.span,
                        target,
                        callee=value,
                        kind="indirect",
                    )
                )
                value = target
            else:
                return value

    def _member(self, value: Expression, token: str, name: str) -> Expression:
        base: Expression = value
        if token == "->" and value != THIS:
            base = value.place if isinstance(value, AddressOf) else Dereference(value)
        if self.token != "(":
            return Member(base, name)
        self.take()
        values = self.list_until(")")
        target = self.context.temporary(Type(""))
        self.emitted.append(
            Call(
                f".{name}",
                tuple(Argument(item) for item in values),
                self.span,
                target,
                receiver=base,
                kind="method",
            )
        )
        return target


def _after_blank(text: str, position: int) -> int:
    """Where the next token begins, behind white space and comments."""
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def _type_of_words(words: list[str]) -> Type:
    text = " ".join(words)
    if "*" in words:
        return Type(text, "pointer", 8, False)
    size = _SIZES.get(words[-1])
    if size is None:
        return Type(text)
    if words[-1] in ("float", "double"):
        return Type(text, "float", size)
    if words[-1] in _TYPE_WORDS or words[-1].endswith("_t"):
        signed = "unsigned" not in words and not words[-1].startswith(("u", "size"))
        return Type(text, "integer", size, signed)
    return Type(text, bytes=size)
