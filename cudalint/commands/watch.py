"""``check --watch``: lint again whenever a file changes.

By asking the file system, not by waiting for its events: that needs no library, works on network
file systems, and looks at the very files that are linted. It takes at most a tenth of one
processor.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from cudalint.project.config import CONFIG_NAMES, Configuration, ConfigurationError
from cudalint.project.files import discover
from cudalint.project.paths import absolute, display_name
from cudalint.reports.style import escaped
from cudalint.reports.text import plural

INTERRUPTED = 130
_SECONDS = 0.5
_SHARE = 10
_MOST_NAMED = 3
_State = dict[Path, tuple[int, int, int]]


def run_watch(
    paths: Sequence[str],
    configuration: Callable[[], Configuration],
    check: Callable[[], int],
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Run ``check`` now and after each change; ends when it, or the user, is interrupted."""
    if "-" in paths:
        raise ConfigurationError("--watch: standard input does not change")
    changed: list[Path] = []
    while True:
        # Taken before: what changes while files are read is seen afterwards.
        before = _state(paths, configuration)
        if sys.stdout.isatty():
            click.clear()
        if changed:
            _say(_named(changed))
        if check() == INTERRUPTED:
            return INTERRUPTED
        _say(f"watching {plural(len(before), 'file')}; Ctrl-C ends it")
        changed = _wait(before, paths, configuration, sleep)


def _wait(
    before: _State,
    paths: Sequence[str],
    configuration: Callable[[], Configuration],
    sleep: Callable[[float], None],
) -> list[Path]:
    """The files that have changed, as soon as any has."""
    pause = 0.0
    while True:
        sleep(max(_SECONDS, pause))
        started = time.monotonic()
        now = _state(paths, configuration)
        if now != before:
            return sorted(path for path in {*now, *before} if now.get(path) != before.get(path))
        pause = (time.monotonic() - started) * _SHARE


def _state(paths: Sequence[str], configuration: Callable[[], Configuration]) -> _State:
    """When each file changed that a run would read, as far as that can be told."""
    found: _State = {}
    for path in _files(paths, configuration):
        try:
            status = path.stat()
        except (OSError, ValueError):
            continue
        found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def _files(paths: Sequence[str], configuration: Callable[[], Configuration]) -> Iterator[Path]:
    named = [Path(path) for path in paths] or [Path()]
    for folder in dict.fromkeys(
        folder for path in named for folder in (absolute(path), *absolute(path).parents)
    ):
        yield from (folder / name for name in CONFIG_NAMES)
    try:
        chosen = configuration()
        settings = chosen.settings
        found = discover(named, settings, chosen.root).files
    except (ConfigurationError, OSError):
        # The run says what is wrong; once the configuration has changed, all is looked at.
        return
    yield from (file.path for file in found)
    others = (*settings.models, settings.baseline, settings.compile_commands, chosen.file)
    yield from (Path(other) for other in others if other is not None)


def _named(changed: Sequence[Path]) -> str:
    names = ", ".join(display_name(path) for path in changed[:_MOST_NAMED])
    more = f" and {len(changed) - _MOST_NAMED} more" if len(changed) > _MOST_NAMED else ""
    return f"changed: {names}{more}"


def _say(text: str) -> None:
    print(f"cudalint: {escaped(text)}", file=sys.stderr, flush=True)
