"""Words that the rules' messages share: sizes, lists, lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cudalint.analysis.facts import FunctionFacts, Misuse, Site, is_shown, readable
from cudalint.findings.finding import Defect, Step
from cudalint.project.units import size_text
from cudalint.source import Span

_CLOSE = 0.01
_IN_WORDS = ("the result of ", "a temporary")
"""How facts call what has no name."""


def format_against(size: int, limit: int) -> tuple[str, str]:
    """Two sizes that a message compares: in plain bytes where rounding would hide what differs."""
    shown = size_text(size), size_text(limit)
    close = size != limit and abs(size - limit) < _CLOSE * max(size, limit)
    mixed = any(text.endswith(" bytes") for text in shown) and max(size, limit) < 1024**2
    return (f"{size} bytes", f"{limit} bytes") if close or mixed else shown


def quoted(name: str, otherwise: str = "a temporary") -> str:
    """A name of the code, in backquotes; ``otherwise`` for what has no name."""
    if name.startswith(_IN_WORDS):
        return name
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
