"""Patterns as in ``.gitignore``, and git's own nested ignore files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pathspec import GitIgnoreSpec

from cudalint.project.paths import below, display_name, repository_of


class Patterns:
    """A list of patterns; the last one that matches decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = tuple(filter(None, lines))
        self._spec = GitIgnoreSpec.from_lines(self._lines)
        self._any = _alternatives(self._spec)

    def match(self, path: str, folder: bool = False) -> bool:
        """Whether a path (relative, with ``/``) matches."""
        return self.decide(path, folder) is True

    def decide(self, path: str, folder: bool = False) -> bool | None:
        """True: ignored; False: re-included (``!pattern``); ``None``: no pattern matches."""
        decided = self._last(path, folder)
        return None if decided is None else self._spec.patterns[decided].include

    def deciding(self, path: str, folder: bool = False) -> str:
        """The pattern that decides; empty if none matches."""
        decided = self._last(path, folder)
        return "" if decided is None else self._lines[decided]

    def _last(self, path: str, folder: bool) -> int | None:
        name = f"{path}/" if folder else path
        if self._any.search(name) is None:
            return None
        if not folder:
            return self._spec.check_file(name).index
        # What the library says of a name with a slash at its end is meant for what is in it, of
        # which ``*`` speaks louder than ``!*/``.
        indexes = reversed(range(len(self._spec.patterns)))
        return next((index for index in indexes if self._is_of_itself(index, name)), None)

    def _is_of_itself(self, index: int, folder: str) -> bool:
        """Whether a pattern matches a folder, with its slash, and not only one that it is in."""
        regex = self._spec.patterns[index].regex
        found = [*regex.finditer(folder)] if regex is not None else []
        if self._lines[index].endswith("/**"):
            return any(one.end() < len(folder) for one in found)
        return any(one.end() == len(folder) for one in found)


class GitIgnore:
    """The ignore files in force in one folder: its own and those of the folders above, up to the
    top of the repository. The deepest that says anything decides."""

    def __init__(self, levels: tuple[tuple[Path, Patterns], ...]) -> None:
        self._levels = levels

    @classmethod
    def above(cls, folder: Path) -> GitIgnore:
        """The ignore files of the folders above; none that would ignore ``folder`` itself."""
        top = repository_of(folder)
        if top is None or top == folder:
            return cls(())
        ignore = cls(())
        for parent in reversed([p for p in folder.parents if p == top or top in p.parents]):
            ignore = ignore.below(parent)
        walked = [p for p in (folder, *folder.parents) if top in p.parents]
        if any(ignore.ignores(path, True) for path in walked):
            return cls(())
        return ignore

    def below(self, folder: Path) -> GitIgnore:
        """With the ignore files of ``folder`` added."""
        lines = _lines(folder / ".gitignore")
        if (folder / ".git").is_dir():
            lines = _lines(folder / ".git" / "info" / "exclude") + lines
        if not lines:
            return self
        return GitIgnore(((folder, Patterns(lines)), *self._levels))

    def ignores(self, path: Path, folder: bool) -> bool:
        """Whether git ignores a path."""
        level = self._deciding(path, folder)
        return level is not None and level[2]

    def reason(self, path: Path, folder: bool) -> str:
        """Which pattern of which folder ignores a path."""
        level = self._deciding(path, folder)
        if level is None:
            return ""
        base, patterns, _ = level
        pattern = patterns.deciding(path.relative_to(base).as_posix(), folder)
        own = pattern in _lines(base / ".gitignore")
        file = base / (".gitignore" if own else ".git/info/exclude")
        return f"git ignores it: `{pattern}` of {display_name(file)}"

    def _deciding(self, path: Path, folder: bool) -> tuple[Path, Patterns, bool] | None:
        for base, patterns in self._levels:
            relative = below(path, base)
            if not relative:
                continue
            decision = patterns.decide(relative, folder)
            if decision is not None:
                return base, patterns, decision
        return None


def _alternatives(spec: GitIgnoreSpec) -> re.Pattern[str]:
    """What matches if any of the patterns does: most paths match none, and one look tells."""
    patterns = (pattern.regex for pattern in spec.patterns)
    texts = (re.sub(r"\(\?P<\w+>", "(?:", one.pattern) for one in patterns if one is not None)
    return re.compile("|".join(f"(?:{text})" for text in texts) or "(?!)")


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
