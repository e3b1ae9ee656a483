"""What the lowering asks of libclang, as plain numbers and strings.

The bindings' objects cost several times the call itself, make a native callback for each child and
raise on kinds that they do not know; here kinds and operators stay integers and a declaration is
known by its address.
"""

from __future__ import annotations

import ctypes
from typing import Any

from clang import cindex
from clang.cindex import Cursor

__all__ = [
    "BINARY_OPERATORS",
    "UNARY_OPERATORS",
    "Kind",
    "Linkage",
    "Storage",
    "TypeKind",
    "address",
    "binary_operator",
    "children",
    "evaluate",
    "is_lambda",
    "is_value",
    "library",
    "name_of",
    "overridden",
    "parts_of",
    "referenced",
    "related",
    "string",
    "type_of",
    "unary_operator",
    "usr",
    "values_of",
]


class Kind:
    """Cursor kinds (``CXCursorKind``) that the lowering tells apart."""

    UNEXPOSED_DECL = 1
    STRUCT = 2
    UNION = 3
    CLASS = 4
    ENUM = 5
    FIELD = 6
    ENUMERATOR = 7
    FUNCTION = 8
    VARIABLE = 9
    PARAMETER = 10
    TYPEDEF = 20
    METHOD = 21
    NAMESPACE = 22
    LINKAGE = 23
    CONSTRUCTOR = 24
    DESTRUCTOR = 25
    CONVERSION = 26
    TYPE_PARAMETER = 27
    VALUE_PARAMETER = 28
    FUNCTION_TEMPLATE = 30
    CLASS_TEMPLATE = 31
    PARTIAL_SPECIALIZATION = 32
    TYPE_ALIAS = 36
    TYPE_REFERENCE = 43
    BASE = 44
    TEMPLATE_REFERENCE = 45
    NAMESPACE_REFERENCE = 46
    MEMBER_NAME = 47
    LABEL_REFERENCE = 48
    OVERLOADED = 49
    VARIABLE_NAME = 50
    UNEXPOSED = 100
    NAME = 101
    MEMBER = 102
    CALL = 103
    INTEGER = 106
    FLOATING = 107
    IMAGINARY = 108
    STRING = 109
    CHARACTER = 110
    PARENTHESES = 111
    UNARY = 112
    SUBSCRIPT = 113
    BINARY = 114
    COMPOUND_ASSIGNMENT = 115
    CONDITIONAL = 116
    C_CAST = 117
    COMPOUND_LITERAL = 118
    INITIALIZERS = 119
    LABEL_ADDRESS = 120
    STATEMENT_EXPRESSION = 121
    GENERIC = 122
    GNU_NULL = 123
    STATIC_CAST = 124
    DYNAMIC_CAST = 125
    REINTERPRET_CAST = 126
    CONST_CAST = 127
    FUNCTIONAL_CAST = 128
    TYPEID = 129
    BOOLEAN = 130
    NULLPTR = 131
    THIS = 132
    THROW = 133
    NEW = 134
    DELETE = 135
    SIZEOF = 136
    PACK_EXPANSION = 142
    SIZEOF_PACK = 143
    LAMBDA = 144
    PARENTHESIZED_LIST = 155
    LABEL = 201
    COMPOUND = 202
    CASE = 203
    DEFAULT = 204
    IF = 205
    SWITCH = 206
    WHILE = 207
    DO = 208
    FOR = 209
    GOTO = 210
    INDIRECT_GOTO = 211
    CONTINUE = 212
    BREAK = 213
    RETURN = 214
    ASSEMBLY = 215
    CATCH = 223
    TRY = 224
    RANGE_FOR = 225
    NULL = 230
    DECLARATION = 231
    UNEXPOSED_ATTRIBUTE = 400
    CONSTANT = 412
    DEVICE = 413
    GLOBAL = 414
    HOST = 415
    SHARED = 416
    STATIC_ASSERT = 602
    FRIEND = 603


_NOT_VALUES = frozenset(
    {
        Kind.TYPE_REFERENCE,
        Kind.BASE,
        Kind.TEMPLATE_REFERENCE,
        Kind.NAMESPACE_REFERENCE,
        Kind.MEMBER_NAME,
        Kind.LABEL_REFERENCE,
        Kind.TYPE_PARAMETER,
        Kind.VALUE_PARAMETER,
        Kind.PARAMETER,
    }
)
"""Children that name types and scopes, not values."""


class Storage:
    """Storage classes (``CX_StorageClass``) that the lowering tells apart."""

    NONE = 1
    EXTERN = 2
    STATIC = 3


class Linkage:
    """Kinds of linkage (``CXLinkageKind``) that the lowering tells apart."""

    EXTERNAL = 4


class TypeKind:
    """Type kinds (``CXTypeKind``) that the lowering tells apart."""

    INVALID = 0
    UNEXPOSED = 1
    VOID = 2
    BOOL = 3
    NULLPTR = 24
    OVERLOAD = 25
    DEPENDENT = 26
    POINTER = 101
    LVALUE_REFERENCE = 103
    RVALUE_REFERENCE = 104
    RECORD = 105
    ENUM = 106
    TYPEDEF = 107
    FUNCTION_NO_PROTOTYPE = 110
    FUNCTION = 111
    CONSTANT_ARRAY = 112
    INCOMPLETE_ARRAY = 114
    VARIABLE_ARRAY = 115
    DEPENDENT_ARRAY = 116
    MEMBER_POINTER = 117
    AUTO = 118
    ELABORATED = 119
    UNSIGNED = frozenset({4, 5, 6, 7, 8, 9, 10, 11, 12})
    INTEGERS = frozenset({4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    FLOATS = frozenset({21, 22, 23, 30, 31, 32, 39, 40})


BINARY_OPERATORS = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=",
    "&", "^", "|", "&&", "||", "=", "*", "/", "%", "+", "-", "<<", ">>", "&", "^", "|", ",",
)  # fmt: skip
"""Spelling by ``CXBinaryOperatorKind``; of a compound assignment, the operator without ``=``."""

UNARY_OPERATORS = (
    "", "x++", "x--", "++x", "--x", "&", "*", "+", "-", "~", "!", "real", "imag", "extension",
    "await",
)  # fmt: skip
"""Spelling by ``CXUnaryOperatorKind``."""


class _String(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("flags", ctypes.c_uint))


class _Visit(ctypes.Structure):
    """A cursor that nobody looks at: the parent in the visitor's arguments."""

    _fields_ = (("words", ctypes.c_void_p * 4),)


class Library:
    """libclang's functions with light prototypes."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(cindex.conf.lib._name)
        integer, unsigned, pointer = ctypes.c_int, ctypes.c_uint, ctypes.c_void_p
        location, extent, kind = cindex.SourceLocation, cindex.SourceRange, cindex.Type
        self.c_string = self._function("getCString", ctypes.c_char_p, _String)
        self.dispose_string = self._function("disposeString", None, _String)
        self.spelling = self._function("getCursorSpelling", _String, Cursor)
        self.usr = self._function("getCursorUSR", _String, Cursor)
        self.display_name = self._function("getCursorDisplayName", _String, Cursor)
        self.type_spelling = self._function("getTypeSpelling", _String, kind)
        self.referenced = self._function("getCursorReferenced", Cursor, Cursor)
        self.definition = self._function("getCursorDefinition", Cursor, Cursor)
        self.canonical = self._function("getCanonicalCursor", Cursor, Cursor)
        self.parent = self._function("getCursorSemanticParent", Cursor, Cursor)
        self.template = self._function("getSpecializedCursorTemplate", Cursor, Cursor)
        self.initializer = self._function("Cursor_getVarDeclInitializer", Cursor, Cursor)
        self.overloads = self._function("getNumOverloadedDecls", unsigned, Cursor)
        self.overload = self._function("getOverloadedDecl", Cursor, Cursor, unsigned)
        self.argument_count = self._function("Cursor_getNumArguments", integer, Cursor)
        self.argument = self._function("Cursor_getArgument", Cursor, Cursor, unsigned)
        self.type = self._function("getCursorType", kind, Cursor)
        self.result_type = self._function("getCursorResultType", kind, Cursor)
        self.canonical_type = self._function("getCanonicalType", kind, kind)
        self.pointee = self._function("getPointeeType", kind, kind)
        self.function_result = self._function("getResultType", kind, kind)
        self.element_type = self._function("getArrayElementType", kind, kind)
        self.array_size = self._function("getArraySize", ctypes.c_longlong, kind)
        self.argument_types = self._function("getNumArgTypes", integer, kind)
        self.argument_type = self._function("getArgType", kind, kind, unsigned)
        self.size = self._function("Type_getSizeOf", ctypes.c_longlong, kind)
        self.type_declaration = self._function("getTypeDeclaration", Cursor, kind)
        self.is_const = self._function("isConstQualifiedType", unsigned, kind)
        self.template_argument = self._function(
            "Cursor_getTemplateArgumentType", kind, Cursor, unsigned
        )
        self.template_argument_kind = self._function(
            "Cursor_getTemplateArgumentKind", integer, Cursor, unsigned
        )
        self.template_argument_value = self._function(
            "Cursor_getTemplateArgumentValue", ctypes.c_longlong, Cursor, unsigned
        )
        self.template_arguments = self._function("Cursor_getNumTemplateArguments", integer, Cursor)
        self.type_arguments = self._function("Type_getNumTemplateArguments", integer, kind)
        self.type_argument = self._function("Type_getTemplateArgumentAsType", kind, kind, unsigned)
        self.template_kind = self._function("getTemplateCursorKind", integer, Cursor)
        self.binary = self._function("getCursorBinaryOperatorKind", integer, Cursor)
        self.unary = self._function("getCursorUnaryOperatorKind", integer, Cursor)
        self._storage_class = self._function("Cursor_getStorageClass", integer, Cursor)
        self._thread_storage = self._function("getCursorTLSKind", integer, Cursor)
        self.linkage = self._function("getCursorLinkage", integer, Cursor)
        self.exceptions = self._function("getCursorExceptionSpecificationType", integer, Cursor)
        self.has_attributes = self._function("Cursor_hasAttrs", unsigned, Cursor)
        self.is_definition = self._function("isCursorDefinition", unsigned, Cursor)
        self.is_inline_namespace = self._function("Cursor_isInlineNamespace", unsigned, Cursor)
        self.is_anonymous = self._function("Cursor_isAnonymous", unsigned, Cursor)
        self.is_bit_field = self._function("Cursor_isBitField", unsigned, Cursor)
        self.is_static = self._function("CXXMethod_isStatic", unsigned, Cursor)
        self.is_virtual = self._function("CXXMethod_isVirtual", unsigned, Cursor)
        self.is_pure_virtual = self._function("CXXMethod_isPureVirtual", unsigned, Cursor)
        self.is_dynamic_call = self._function("Cursor_isDynamicCall", integer, Cursor)
        self.is_abstract = self._function("CXXRecord_isAbstract", unsigned, Cursor)
        cursors = ctypes.POINTER(Cursor)
        self.overridden = self._function(
            "getOverriddenCursors", None, Cursor, ctypes.POINTER(cursors), ctypes.POINTER(unsigned)
        )
        self.dispose_overridden = self._function("disposeOverriddenCursors", None, cursors)
        self.is_deleted = self._function("CXXMethod_isDeleted", unsigned, Cursor)
        self.is_defaulted = self._function("CXXMethod_isDefaulted", unsigned, Cursor)
        self.is_copy_constructor = self._function(
            "CXXConstructor_isCopyConstructor", unsigned, Cursor
        )
        self.is_move_constructor = self._function(
            "CXXConstructor_isMoveConstructor", unsigned, Cursor
        )
        self.is_copy_assignment = self._function(
            "CXXMethod_isCopyAssignmentOperator", unsigned, Cursor
        )
        self.is_move_assignment = self._function(
            "CXXMethod_isMoveAssignmentOperator", unsigned, Cursor
        )
        self.enumerator = self._function("getEnumConstantDeclValue", ctypes.c_longlong, Cursor)
        self.location = self._function("getCursorLocation", location, Cursor)
        self.extent = self._function("getCursorExtent", extent, Cursor)
        self.range_start = self._function("getRangeStart", location, extent)
        self.range_end = self._function("getRangeEnd", location, extent)
        self.in_system_header = self._function("Location_isInSystemHeader", integer, location)
        places = [ctypes.POINTER(pointer)] + [ctypes.POINTER(unsigned)] * 3
        self.file_location = self._function("getFileLocation", None, location, *places)
        self.expansion_location = self._function("getExpansionLocation", None, location, *places)
        visitor = ctypes.CFUNCTYPE(ctypes.c_int, Cursor, _Visit, pointer)
        self.visit = self._function("visitChildren", unsigned, Cursor, visitor)
        self.collected: list[Cursor] = []
        # Kept alive as long as the library may call it:
        self.collector = visitor(self._collect)
        member_visitor = ctypes.CFUNCTYPE(ctypes.c_int, Cursor, pointer)
        self.collect_member = member_visitor(lambda child, _: self._collect(child))
        self.visit_fields = self._function(
            "Type_visitFields", unsigned, kind, member_visitor, pointer
        )
        self.visit_bases = self._function(
            "visitCXXBaseClasses", unsigned, kind, member_visitor, pointer
        )
        self.visit_methods = self._function(
            "visitCXXMethods", unsigned, kind, member_visitor, pointer
        )
        self._evaluate = self._function("Cursor_Evaluate", pointer, Cursor)
        self._result_kind = self._function("EvalResult_getKind", integer, pointer)
        self._result_integer = self._function(
            "EvalResult_getAsLongLong", ctypes.c_longlong, pointer
        )
        self._result_is_unsigned = self._function("EvalResult_isUnsignedInt", unsigned, pointer)
        self._result_unsigned = self._function(
            "EvalResult_getAsUnsigned", ctypes.c_ulonglong, pointer
        )
        self._result_float = self._function("EvalResult_getAsDouble", ctypes.c_double, pointer)
        self._result_dispose = self._function("EvalResult_dispose", None, pointer)

    def _function(self, name: str, result: Any, *arguments: Any) -> Any:
        # A fresh object for each: the bindings set other prototypes on theirs.
        function = self._library[f"clang_{name}"]
        function.restype = result
        function.argtypes = list(arguments)
        return function

    def _collect(self, child: Cursor, *_: object) -> int:
        self.collected.append(child)
        return 1

    def storage(self, cursor: Cursor) -> int:
        """One of ``Storage``, or another: what each thread has lasts as what is static does."""
        found: int = self._storage_class(cursor)
        lasts = found == Storage.NONE and self._thread_storage(cursor)
        return Storage.STATIC if lasts else found

    def evaluate(self, cursor: Cursor) -> int | float | None:
        """The value of a constant expression, if clang can compute it."""
        result = self._evaluate(cursor)
        if not result:
            return None
        try:
            kind = self._result_kind(result)
            if kind == 1:
                if self._result_is_unsigned(result):
                    return int(self._result_unsigned(result))
                return int(self._result_integer(result))
            return float(self._result_float(result)) if kind == 2 else None
        finally:
            self._result_dispose(result)


_library: Library | None = None


def library() -> Library:
    """The one library object."""
    global _library
    if _library is None:
        _library = Library()
    return _library


def children(cursor: Cursor) -> list[Cursor]:
    """The children, in the order of the source (mostly)."""
    functions = library()
    found: list[Cursor] = []
    functions.collected = found
    functions.visit(cursor, functions.collector, None)
    unit = cursor._tu
    for child in found:
        child._tu = unit
    return found


def parts_of(cursor: Cursor, visit: Any) -> list[Cursor]:
    """Fields, bases or methods of a class, by a visitor of ``Library``: also of an instance of a
    template, which shows no children."""
    functions = library()
    found: list[Cursor] = []
    functions.collected = found
    visit(functions.type(cursor), functions.collect_member, None)
    for part in found:
        part._tu = cursor._tu
    return found


def string(value: Any) -> str:
    """Take a string of libclang over, and free it."""
    functions = library()
    raw = functions.c_string(value)
    text = raw.decode("utf-8", "replace") if raw else ""
    functions.dispose_string(value)
    return text


def name_of(cursor: Cursor) -> str:
    """The unqualified name; empty where there is none."""
    return string(library().spelling(cursor))


def is_lambda(record: Cursor) -> bool:
    """Whether a class is a lambda's."""
    return name_of(record).startswith("(lambda")


def usr(cursor: Cursor) -> str:
    """Clang's Unified Symbol Resolution: the same name in every file."""
    return string(library().usr(cursor))


def _real(result: Cursor, origin: Cursor) -> Cursor | None:
    # Null cursors and "no declaration found" are of the kinds 70-73.
    if 70 <= result._kind_id <= 73 or result._kind_id == 0:
        return None
    result._tu = origin._tu
    return result


def referenced(cursor: Cursor) -> Cursor | None:
    """The declaration that a name, member or call refers to."""
    return _real(library().referenced(cursor), cursor)


def related(relation: str, cursor: Cursor) -> Cursor | None:
    """Another cursor by a relation of ``Library``: definition, parent, template."""
    return _real(getattr(library(), relation)(cursor), cursor)


def initializer(variable: Cursor) -> Cursor | None:
    """What a variable is written to begin with. Where clang could not read that, an instance of a
    template begins with a zero that stands nowhere: nothing is known of it."""
    functions = library()
    found = _real(functions.initializer(variable), variable)
    if found is not None and found._kind_id == Kind.UNEXPOSED:
        return found if functions.extent(found).begin_int_data else None
    return found


def overridden(method: Cursor) -> list[Cursor]:
    """The methods that one overrides itself."""
    functions = library()
    found, number = ctypes.POINTER(Cursor)(), ctypes.c_uint()
    functions.overridden(method, ctypes.byref(found), ctypes.byref(number))
    # The array is freed, so each is copied out of it.
    methods = [Cursor.from_buffer_copy(found[one]) for one in range(number.value)]
    if number.value:
        functions.dispose_overridden(found)
    for one in methods:
        one._tu = method._tu
    return methods


def is_value(cursor: Cursor) -> bool:
    """Whether a child is an expression."""
    kind: int = cursor._kind_id
    return kind not in _NOT_VALUES and not Kind.UNEXPOSED_ATTRIBUTE <= kind < 500


def values_of(cursor: Cursor) -> list[Cursor]:
    """The children that are expressions."""
    return [child for child in children(cursor) if is_value(child)]


def arguments_of(construction: Cursor) -> list[Cursor]:
    """The arguments of a constructor's call. Where it names a class template, the values among the
    template's arguments are children too, and stand before them."""
    values = values_of(construction)
    count: int = library().argument_count(construction)
    return values[len(values) - count :] if 0 <= count < len(values) else values


def address(cursor: Cursor) -> int:
    """What tells one declaration of a unit from another."""
    return cursor.data[0] or 0


def type_of(cursor: Cursor) -> Any:
    """The type, as the bindings' structure without their extras."""
    return library().type(cursor)


def evaluate(cursor: Cursor) -> int | float | None:
    """The value of a constant expression, if clang can compute it."""
    return library().evaluate(cursor)


def binary_operator(cursor: Cursor) -> str:
    """``+`` of ``a + b`` and of ``a += b``."""
    number = library().binary(cursor)
    return BINARY_OPERATORS[number] if 0 <= number < len(BINARY_OPERATORS) else ""


def unary_operator(cursor: Cursor) -> str:
    """``-`` of ``-a``; ``x++`` and ``++x`` tell the two increments apart."""
    number = library().unary(cursor)
    return UNARY_OPERATORS[number] if 0 <= number < len(UNARY_OPERATORS) else ""
