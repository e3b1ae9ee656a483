"""Ways to damage a source file. Each takes and gives bytes, and is repeatable for a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from benchmarks.robustness import notebooks

Damage = Callable[[random.Random, bytes, Sequence[bytes]], bytes]
"""Of a generator, a program, and other programs of its language."""

ENORMOUS = 5 * 1024**2
_BRACKETS = b"(){}[]<>"
_PAIRS = ((b"{", b"}"), (b"(", b")"), (b"[", b"]"))


def _place(chance: random.Random, data: bytes) -> int:
    return chance.randint(0, len(data))


def _boundary(chance: random.Random, data: bytes) -> int:
    """A place between two tokens."""
    places = [match.start() for match in re.finditer(rb"[;{}\n(]", data)] or [0]
    return chance.choice(places) + 1


def truncated(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Cut off at any byte."""
    return data[: _place(chance, data)]


def headless(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """The beginning is missing."""
    return data[_place(chance, data) :]


def random_bytes(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Some bytes replaced by any."""
    changed = bytearray(data)
    for _number in range(chance.choice((1, 3, 10, 100))):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(1, 256)
    return bytes(changed)


def random_ascii(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Some characters replaced by printable ones: what still decodes."""
    changed = bytearray(data)
    for _number in range(chance.choice((1, 2, 5, 20))):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(32, 127)
    return bytes(changed)


def invalid_utf8(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Bytes that no UTF-8 text holds."""
    wrong = chance.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xfe\xff"))
    place = _place(chance, data)
    return data[:place] + wrong + data[place:]


def nul_bytes(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """NUL in the middle, or at the end."""
    place = chance.choice((_place(chance, data), len(data)))
    return data[:place] + b"\0" * chance.choice((1, 4, 4096)) + data[place:]


def nested(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Brackets nested deeply, closed or not."""
    depth = chance.choice((50, 300, 2_000, 20_000, 100_000))
    opening, closing = chance.choice(_PAIRS)
    closed = closing * chance.choice((depth, depth, depth - 1, 0))
    place = _boundary(chance, data)
    return data[:place] + opening * depth + chance.choice((b"", b"1", b"a")) + closed + data[place:]


def unbalanced(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Brackets dropped, doubled or swapped."""
    changed = bytearray(data)
    for _number in range(chance.choice((1, 2, 8))):
        places = [index for index, byte in enumerate(changed) if byte in _BRACKETS]
        if not places:
            break
        place = chance.choice(places)
        match chance.randrange(3):
            case 0:
                del changed[place]
            case 1:
                changed.insert(place, changed[place])
            case _:
                changed[place] = chance.choice(_BRACKETS)
    return bytes(changed)


def spliced(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Lines of two programs, mixed."""
    lines, more = data.splitlines(True), chance.choice(others).splitlines(True)
    for _number in range(chance.choice((1, 5, 20))):
        if not more:
            break
        start = chance.randrange(len(more))
        place = chance.randint(0, len(lines))
        lines[place : place + chance.randint(0, 3)] = more[start : start + chance.randint(1, 8)]
    return b"".join(lines)


def shuffled(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """All lines in another order, or some repeated."""
    lines = data.splitlines(True)
    if chance.random() < 0.3:
        chance.shuffle(lines)
    else:
        for _number in range(chance.randint(1, 30)):
            if lines:
                lines.insert(chance.randint(0, len(lines)), chance.choice(lines))
    return b"".join(lines)


def dropped_lines(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Every so many lines, one is missing."""
    share = chance.choice((0.02, 0.1, 0.4))
    return b"".join(line for line in data.splitlines(True) if chance.random() > share)


def joined_lines(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Other line ends: joined by backslashes, old Mac's, Windows', form feeds, none."""
    end = chance.choice((b"\\\n", b"\r", b"\r\n", b"\f\n", b" ", b"\\ \n", b"\n\n\n"))
    share = chance.choice((0.1, 1.0))
    return re.sub(rb"\n", lambda _match: end if chance.random() < share else b"\n", data)


def odd_tokens(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Names, numbers and texts of odd length or kind."""
    odd = chance.choice(
        (
            b"9" * chance.choice((50, 5_000)),
            b"0x" + b"f" * 200,
            b"1e999999",
            b"n" * chance.choice((300, 100_000)),
            b'"' + b"t" * 200_000 + b'"',
            "\u202e\u200b\N{GREEK SMALL LETTER ALPHA}\N{PILE OF POO}".encode(),
            b"'",
            b'"',
            b'"""',
            b"/*",
            b'R"(',
            b"\\",
            b"\x0c\x0b\x1a\x7f",
            b"#",
            b"<<<>>>",
            b"::" * 300,
            b"@" * 300,
            b"0" * 5000 + b"1",
        )
    )
    place = _boundary(chance, data)
    return data[:place] + odd + data[place:]


def swapped_words(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Words exchanged for words of other programs."""
    words = list(set(re.findall(rb"\w+", chance.choice(others)))) or [b"x"]
    words.sort()
    share = chance.choice((0.01, 0.1, 0.5))
    return re.sub(
        rb"\w+",
        lambda match: chance.choice(words) if chance.random() < share else match.group(),
        data,
    )


def indented(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Indentation that fits nowhere."""
    lines = data.splitlines(True)
    for _number in range(chance.choice((1, 5))):
        if lines:
            number = chance.randrange(len(lines))
            lines[number] = (
                chance.choice((b"\t", b" ", b"   ", b" " * 500)) + lines[number].lstrip()
            )
    return b"".join(lines)


def encoded(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Another encoding, or a mark that says so."""
    text = data.decode("utf-8", "replace")
    match chance.randrange(5):
        case 0:
            return text.encode("utf-16")
        case 1:
            return text.encode("utf-32")
        case 2:
            return b"\xef\xbb\xbf\xef\xbb\xbf" + data
        case 3:
            return b"\xff\xfe" + data
        case _:
            return (
                b"# -*- coding: "
                + chance.choice((b"utf-7", b"rot13", b"no-such", b""))
                + b" -*-\n"
                + data
            )


def long_line(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """5 MB on a single line."""
    unit = chance.choice(
        (b"1,", b"a+", b"f(", b"x ", b"{}", b"//", b"#", b";", b"if(a)b;else ", b" ")
    )
    line = unit * (ENORMOUS // len(unit))
    return chance.choice((line, data.replace(b"\n", b" ") + line, line + b"\n" + data))


def chained_cuda(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Long chains: ``else if``, sums, shifts, calls, templates, pointers."""
    count = chance.choice((100, 1_000, 10_000))
    chain = chance.choice(
        (
            b"void chain(int a) { " + b"if (a) { a--; } else " * count + b"{ } }\n",
            b"int chain(int a) { return " + b"a + " * count + b"1; }\n",
            b"void chain() { float* p = 0; " + b"if (p) { cudaFree(p); } " * count + b"}\n",
            b"void chain() { float* p = 0; " + b"cudaMalloc(&p, 4); " * count + b"}\n",
            b"void chain(int a) { " + b"if (a) { " * count + b"}" * count + b"}\n",
            b"int " + b"*" * count + b" chain;\n",
            b"template <class T> struct W {}; " + b"W<" * count + b"int" + b">" * count + b" w;\n",
            b"auto chain = " + b"[] { return " * count + b"1; }" + b"(); }" * (count - 1) + b";\n",
            b"void chain(int a) { switch (a) { "
            + b"".join(b"case %d: a++; " % n for n in range(count)) + b"} }\n",
            b"void chain(bool a) { bool b = " + b"!(" * count + b"a" + b")" * count + b"; }\n",
            b"void chain() { " + b"for (;;) " * count + b"; }\n",
            b"struct A { A& operator<<(int); }; void chain(A a) { a" + b" << 1" * count + b"; }\n",
            b"namespace n { " * count + b"}" * count + b"\n",
        )
    )  # fmt: skip
    return data + chain if chance.random() < 0.5 else chain + data


def chained_python(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Long chains: ``elif``, sums, attributes, calls, nested blocks."""
    count = chance.choice((50, 1_000, 10_000))
    levels = min(count, 300)
    chain = chance.choice(
        (
            b"def chain(a):\n if a: pass\n" + b" elif a: pass\n" * count,
            b"chain = " + b"1 + " * count + b"1\n",
            b"chain = " + b"not " * count + b"1\n",
            b"chain = a" + b".a" * count + b"\n",
            b"chain = a" + b"()" * count + b"\n",
            b"chain = " + b"lambda: " * count + b"1\n",
            b"chain = " + b"[" * levels + b"]" * levels + b"\n",
            b"".join(b" " * n + b"if a:\n" for n in range(levels)) + b" " * levels + b"pass\n",
            b"".join(b" " * n + b"def f():\n" for n in range(levels)) + b" " * levels + b"pass\n",
            b"".join(b" " * n + b"try:\n" for n in range(20)) + b" " * 20 + b"pass\n"
            + b"".join(b" " * n + b"finally: f()\n" for n in reversed(range(20))),
            b"chain = " + b"a if b else " * count + b"c\n",
            b"import cupy\n" + b"x = cupy.zeros(10)\n" * count,
            b"def chain(a):\n" + b" p = cudart.cudaMalloc(4)\n if a: return\n" * count,
            b"chain = f'" + b"{a}" * count + b"'\n",
            b"@a\n" * count + b"def chain(): pass\n",
        )
    )  # fmt: skip
    return data + b"\n" + chain if chance.random() < 0.5 else chain + data


def bombs(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """What expands without end: macros, includes, templates."""
    doubling = b"".join(b"#define M%d M%d M%d\n" % (n + 1, n, n) for n in range(40))
    return chance.choice(
        (
            b"#define M0 x;\n" + doubling + b"void bomb() { M40 }\n",
            b"#include __FILE__\n",
            b"template <int N> struct B : B<N + 1> {}; B<0> bomb;\n",
            b"constexpr int f(long n) { return n ? f(n - 1) + f(n - 1) : 0; } int bomb = f(60);\n",
            b"#define R R\nint bomb = R;\n",
            b'#include "/dev/zero"\n#include "/dev/stdin"\n#include "."\n',
        )
    ) + data  # fmt: skip


ANY: tuple[Damage, ...] = (
    truncated, headless, random_bytes, random_ascii, invalid_utf8, nul_bytes, nested, unbalanced,
    spliced, shuffled, dropped_lines, joined_lines, odd_tokens, swapped_words, indented, encoded,
)  # fmt: skip
CHAINS = {"cuda": chained_cuda, "python": chained_python, "notebook": chained_python}
_RARE = {"cuda": (long_line, bombs), "python": (long_line,), "notebook": (long_line,)}
_OWN: dict[str, tuple[Damage, ...]] = {"notebook": notebooks.DAMAGES}
_IN_CELLS = 0.75
"""Share of notebooks whose code is damaged, and not the JSON around it."""
_RARE_EVERY = 100


def damages(language: str) -> tuple[Damage, ...]:
    """All kinds of damage of a language."""
    return (*ANY, CHAINS[language], *_OWN.get(language, ()), *_RARE[language])


def damaged(number: int, seed: int, language: str, programs: Sequence[bytes]) -> tuple[str, bytes]:
    """One damaged file: which damage it got, and its content.

    Some files get two kinds. Those that cost much are rare.
    """
    chance = random.Random(f"{seed}/{language}/{number}")
    data = chance.choice(programs)
    rare = _RARE[language]
    if number % _RARE_EVERY < len(rare):
        damage = rare[number % _RARE_EVERY]
        return damage.__name__, damage(chance, data, programs)
    common = (*ANY, CHAINS[language], *_OWN.get(language, ()))
    first = common[number % len(common)]
    if language == "notebook" and first not in notebooks.DAMAGES and chance.random() < _IN_CELLS:
        others = [notebooks.code_of(program) for program in programs[:20]]
        code = first(chance, notebooks.code_of(data), others)
        return first.__name__, notebooks.notebook_of(code)
    data = first(chance, data, programs)
    if chance.random() < 0.25:
        second = chance.choice(ANY)
        return f"{first.__name__}+{second.__name__}", second(chance, data, programs)
    return first.__name__, data
