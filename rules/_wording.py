"""Words that the rules' messages share: sizes, lists, lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cudalint.analysis.facts import FunctionFacts, Misuse, Site, is_shown, readable
from cudalint.findings.finding import Defect, Step
from cudalint.source import Span

_BINARY = (("TiB", 1024**4), ("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024))
_DECIMAL = (("TB", 1000**4), ("GB", 1000**3), ("MB", 1000**2), ("kB", 1000))
_CLOSE = 0.01


def format_bytes(size: int) -> str:
    """A size as a person would say it: ``4 MiB``, ``800 MB``, ``49156 bytes``.

    In binary or in decimal units, wherever the number is the rounder one; the exact count while
    that is short and nothing is round; three digits otherwise.
    """
    if size == 1:
        return "1 byte"
    exact = [
        f"{size / scale:g} {unit}"
        for units, part in ((_BINARY, 4), (_DECIMAL, 100))
        for unit, scale in units
        if scale <= size < 1024 * scale
        and size * part % scale == 0
        and (units is _BINARY or size >= 10_000)
    ]
    if exact:
        return min(exact, key=len)
    if size < 1024**2:
        return f"{size} bytes"
    unit, scale = next((u, s) for u, s in _BINARY if size >= s)
    return f"{size / scale:.2f} {unit}"


def format_kibibytes(size: int) -> str:
    """A size below 1 MiB in the unit of shared memory's limits, where it is round in it."""
    if size < 1024**2 and size * 4 % 1024 == 0:
        return f"{size / 1024:g} KiB"
    return format_bytes(size)


def format_against(size: int, limit: int) -> tuple[str, str]:
    """Two sizes that a message compares: in plain bytes where rounding would hide what differs."""
    shown = format_bytes(size), format_bytes(limit)
    close = size != limit and abs(size - limit) < _CLOSE * max(size, limit)
    mixed = any(text.endswith(" bytes") for text in shown) and max(size, limit) < 1024**2
    return (f"{size} bytes", f"{limit} bytes") if close or mixed else shown


def quoted(name: str, otherwise: str = "a temporary") -> str:
    """A name of the code, in backquotes; ``otherwise`` for what has no name."""
    return f"`{name}`" if is_shown(name) else otherwise


def subject(name: str, api: str) -> str:
    """What a fingerprint says of a finding: the name, or the API where it has none, because the
    numbers of temporaries change."""
    return name if is_shown(name) else readable(api)


def listing(items: Iterable[str], most: int = 4) -> str:
    """``a``, ``a and b``, ``a, b and c``; beyond ``most`` items ``a, b, c and 3 more``."""
    words = list(dict.fromkeys(items))
    if len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def its_siblings(names: Iterable[str]) -> str:
    """The subject of a comparison: ``its siblings `d_a` and `d_b` are``."""
    shown = list(dict.fromkeys(map(quoted, names)))
    word, verb = ("sibling", "is") if len(shown) == 1 else ("siblings", "are")
    return f"its {word} {listing(shown)} {verb}"


def rows(spans: Iterable[Span]) -> str:
    """``line 12``, ``lines 40-41``, ``lines 12, 30 and 44``."""
    numbers = sorted({span.row for span in spans})
    if not numbers:
        return ""
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"lines {numbers[0]}-{numbers[-1]}"
    return f"lines {listing(map(str, numbers))}"


def places(sites: Sequence[Site], filename: str) -> str:
    """Where some sites are, as seen from a file: ``lines 40-41``, ``pool.cu line 12``."""
    here = rows(site.span for site in sites if site.filename == filename)
    files = dict.fromkeys(site.filename for site in sites if site.filename != filename)
    away = [f"{file} {rows(s.span for s in sites if s.filename == file)}" for file in files]
    return listing([*([here] if here else []), *away])


def released_early(misuse: Misuse, facts: FunctionFacts) -> Defect | None:
    """The statement that releases too early, for all that it releases and all that comes later."""
    if misuse.released is None or misuse.at_end is not None:
        return None
    return Defect(f"{facts.function}: a release", misuse.released.span, misuse.name)


def steps_at(sites: Iterable[Site], message: str, *, aside: bool = False) -> tuple[Step, ...]:
    """A step for each site; ``{text}`` in the message stands for the site's text."""
    return tuple(
        Step(site.filename, site.span, message.replace("{text}", site.text), aside)
        for site in sites
    )


def plural(count: int, noun: str) -> str:
    """``1 part``, ``3 parts``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
