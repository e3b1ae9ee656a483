"""What a name that no header declares is for a macro, by how a file uses it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

CHECK = "cudalint_check"
"""What a macro is taken to call that is a statement by itself (``apis/cpp.toml``)."""
_C_CHECK = f"void {CHECK}(void);"
_STATEMENT_BEGINS = re.compile(r"[;{}]\s*$")
_BLOCK = re.compile(r"\s*(\(\s*[&=(][^;{}]*\))?\s*\{[^{}]*[;{]")

_HEAD = re.compile(r"\s*\(\s*(?:(?:\w|::|<[^<>;{}()]*>)*\s*[,)]\s*)+\{")
LARGEST_BLOCK = 4000
"""How much of the text behind a name is looked at, at most."""
BLOCKS = frozenset({"block", "capturing block"})
KINDS = frozenset({"macro", "check", "end", "head", *BLOCKS})


def macro_kind(uses: Collection[tuple[str, str]], is_c: bool) -> str | None:
    """Which kind of macro a name is whose uses stand between these texts; ``None`` if none."""
    if not uses:
        return None
    if all(_is_alone(before, after) for before, after in uses):
        return "macro"
    if all(_is_statement(before, after) for before, after in uses):
        return "check"
    if all(_is_end(before, after) for before, after in uses):
        return "end"
    if is_c or not all(_is_before_block(before, after) for before, after in uses):
        return None
    return "capturing block" if any(_captures(after) for _, after in uses) else "block"


def is_head(before: str, after: str) -> bool:
    """Whether a name, with names and texts in brackets, stands for the whole head of a function
    whose body follows: ``TEST_CASE("copies") {``. Declared parameters would be there to read.
    (Texts are blank here.)"""
    return bool(re.search(r"(?:^|[;}>]|\n)\s*$", before) and _HEAD.match(after))


def definition(name: str, kind: str, is_c: bool) -> Iterator[str]:
    """The lines that define such a macro."""
    if kind == "macro":
        yield f"#define {name}"
    elif kind == "end":
        yield f"#define {name} ;"
    elif kind == "check":
        yield _C_CHECK if is_c else f'extern "C" {_C_CHECK}'
        yield f"#define {name} {CHECK}();"
    elif kind == "head":
        # All have one name; each a parameter of its own.
        yield f"#define cudalint_{name}_of(number) static void {name}(struct cudalint_##number *)"
        yield f"#define cudalint_{name}(number) cudalint_{name}_of(number)"
        yield f"#define {name}(...) cudalint_{name}(__COUNTER__)"
    else:
        # The block is kept somewhere: whether and when it runs is out of sight.
        kept = "{ template <class Block> void operator=(Block &&); }"
        yield f"extern struct cudalint_keeps_{name} {kept} cudalint_{name};"
        parameters = "(...)" if kind == "capturing block" else ""
        yield f"#define {name}{parameters} cudalint_{name} = [&]"


def _is_alone(before: str, after: str) -> bool:
    """Whether a name stands alone on a line inside of something: a macro, and a statement of its
    own (``Py_BEGIN_ALLOW_THREADS``)."""
    begins = re.search(r"(?<![(,=+\-*&|<?\s])\s*\n[ \t]+$", before)
    return bool(begins and re.match(r"[ \t]*\n\s*[^),;?\]\s]", after))


def _is_statement(before: str, after: str) -> bool:
    """Whether a name is a whole statement, behind another one on its line or with a semicolon: a
    macro that looks at what went before, by its convention (``cudaMalloc(&p, n); CUERR``)."""
    if re.search(r";[ \t]*$", before):
        return bool(re.match(r"[ \t]*[;\n}]", after))
    return bool(re.search(r"[;{}][ \t]*\n[ \t]*$", before) and re.match(r"[ \t]*;", after))


def _is_end(before: str, after: str) -> bool:
    """Whether a name ends a block, on its line: one that another macro has begun."""
    return bool(re.search(r"\}[ \t]*$", before) and re.match(r"[ \t]*\n", after))


def _is_before_block(before: str, after: str) -> bool:
    """Whether a name, and what it captures, stands before a block of statements, which ends with a
    semicolon as an expression does (``SCOPE_EXIT { cudaFree(p); };``): a guard of some kind."""
    block = _BLOCK.match(after) if _STATEMENT_BEGINS.search(before) else None
    if block is None:
        return False
    depth = 0
    for place, character in enumerate(after):
        depth += (character == "{") - (character == "}")
        if character == "}" and depth == 0:
            return bool(block[1]) or bool(re.match(r"\s*;", after[place + 1 :]))
    return bool(block[1])


def _captures(after: str) -> bool:
    return bool(re.match(r"\s*\(", after))
