"""The ``init`` command: a commented configuration for what is found in a project."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cudalint.plan import make_plan
from cudalint.project.config import (
    CONFIG_NAMES,
    ConfigurationError,
    load,
    validated,
)
from cudalint.project.files import discover
from cudalint.project.paths import display_name
from cudalint.project.settings import DEFAULT_TEST_FILES
from cudalint.project.survey import Survey, survey
from cudalint.project.toml import array, quoted
from cudalint.project.writing import UnwritableError, write_atomically
from cudalint.reports.style import escaped
from cudalint.reports.text import plural

if TYPE_CHECKING:
    from cudalint.analysis.facts.wrappers import Wrapper

MODELS = "cudalint-models.toml"
_CONFIG = "cudalint.toml"
_PROJECT = "pyproject.toml"
_TABLE = "tool.cudalint"


@dataclass(frozen=True)
class InitOptions:
    """Options of the command."""

    force: bool = False
    models: bool = True
    """Look for the project's own allocators, which takes as long as linting it."""


def run_init(folder: Path, options: InitOptions) -> int:
    """Write the configuration of a folder."""
    root = folder.resolve()
    if not root.is_dir():
        raise ConfigurationError(f"init: {folder}: is no folder")
    existing = _existing(root)
    if existing is not None and not options.force:
        raise ConfigurationError(
            f"init: {display_name(existing)}: there is a configuration already; "
            "`--force` writes a new one"
        )
    found = survey(root)
    targets = _targets(found)
    wrappers = _wrappers(root, found) if options.models else []
    if wrappers and (root / MODELS).exists() and not options.force:
        _say(f"{display_name(root / MODELS)}: left as it is (`--force` writes it anew)")
    elif wrappers:
        _write(root / MODELS, models_text(wrappers, root))
        _say(f"{display_name(root / MODELS)}: {plural(len(wrappers), 'function')} suggested")
    has_models = (root / MODELS).is_file()
    settings = list(_settings(found, targets, has_models))
    path, text = _document(root, settings, existing)
    _write(path, text)
    make_plan(load([root], config=[str(path)]))
    _say(f"{display_name(path)}: written; `cudalint config` shows the settings in force")
    return 0


def _existing(root: Path) -> Path | None:
    """The folder's own configuration, which `load` would find."""
    for name in CONFIG_NAMES:
        path = root / name
        if path.is_file() and (name != _PROJECT or _table_of(path) is not None):
            return path
    return None


def _table_of(path: Path) -> object:
    """The table of cudalint's settings in a ``pyproject.toml``."""
    try:
        tool = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("tool")
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"init: {display_name(path)}: cannot be read: {error}") from None
    return tool.get("cudalint") if isinstance(tool, dict) else None


# The configuration ------------------------------------------------------------------------------


def _settings(found: Survey, targets: Sequence[str], has_models: bool) -> Iterator[str]:
    """Its lines, without the name of the table."""
    yield "# Written by `cudalint init`. All keys and their defaults: `cudalint config`."
    yield ""
    if targets:
        yield "# The devices that the build names: their limits apply."
        yield f"target = {array(targets)}"
    else:
        yield "# The devices whose limits apply; by default, every device that CUDA supports:"
        yield '# target = ["sm_80", "sm_90"]'
    yield "# The budget of one allocation (GPU501, GPU502):"
    yield '# device-memory = "24GiB"'
    yield ""
    if found.database:
        yield f"# Headers and macros: {quoted(found.database)} is found by itself."
    elif found.include_folders:
        yield "# Where headers are; a compile_commands.json would be found by itself."
        yield f"include-folders = {array(found.include_folders)}"
    else:
        yield "# Where headers are, unless a compile_commands.json says so:"
        yield '# include-folders = ["include"]'
    if found.third_party:
        yield "# Not ours, or not ours to mend: patterns as in .gitignore, which is obeyed too."
        yield f"extend-exclude = {array(f'/{name}/' for name in found.third_party)}"
    else:
        yield "# What not to lint: patterns as in .gitignore, which is obeyed too."
        yield '# extend-exclude = ["third_party/"]'
    if found.test_folders:
        yield "# What tests lose harms nobody: warnings there are info."
        yield f"test-files = {array((*DEFAULT_TEST_FILES, *found.test_folders))}"
    yield ""
    if has_models:
        yield "# Our own allocators: take the tables there that are right out of their comments."
        yield f"models = [{quoted(MODELS)}]"
    else:
        yield "# Our own allocators, where their bodies are out of sight (docs/models.md):"
        yield f"# models = [{quoted(MODELS)}]"
    yield ""
    yield "# Findings to live with for now: `cudalint --write-baseline` makes the file."
    yield '# baseline = "cudalint-baseline.toml"'
    yield '# ignore = ["GPU506"]'
    yield '# fail-level = "error"'


def _document(root: Path, settings: Sequence[str], existing: Path | None) -> tuple[Path, str]:
    """Which file to write, and its whole text: a table at the end of a ``pyproject.toml``, else a
    file of its own."""
    body = "\n".join(settings) + "\n"
    validated(tomllib.loads(body), "init")
    project = root / _PROJECT
    if existing is not None:
        # A table that somebody wrote is not taken out of its file: this one counts before it.
        return (root / _CONFIG if existing == project else existing), body
    if project.is_file():
        before = project.read_bytes().decode("utf-8-sig")
        newline = "\r\n" if "\r\n" in before else "\n"
        gap = "" if not before or before.endswith("\n") else newline
        text = f"{before}{gap}{newline}[{_TABLE}]{newline}{body.replace(chr(10), newline)}"
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            # Such as `tool = {...}`, to which no table can be added.
            return root / _CONFIG, body
        return project, text
    return root / _CONFIG, body


def _targets(found: Survey) -> list[str]:
    """The architectures that cudalint knows the limits of."""
    from cudalint.apis.devices import limits_for

    known = []
    for number in found.architectures:
        try:
            limits_for((f"sm_{number}",), None, None, None)
        except ValueError:
            continue
        known.append(f"sm_{number}")
    return known


# Models -----------------------------------------------------------------------------------------


def _wrappers(root: Path, found: Survey) -> list[Wrapper]:
    """The project's own allocators: those that somebody else may call, each with what releases."""
    from msgspec import structs

    from cudalint.frontends.python.names import module_name
    from cudalint.linter import lint

    overrides = {
        "extend-exclude": [f"/{name}/" for name in found.third_party],
        "include-folders": [str(root / name) for name in found.include_folders],
    }
    configuration = load([root], isolated=True, overrides=overrides)
    plan = make_plan(dataclasses.replace(configuration, root=root))
    files = discover([root], plan.settings, root).files
    _say(f"looking through {plural(len(files), 'file')} for allocators of your own")
    unique: dict[str, Wrapper] = {}
    for wrapper in lint(files, plan, wrappers=True).wrappers:
        if not plan.is_test(wrapper.filename):
            # As one imports it who runs the file's neighbours.
            name = wrapper.name.removeprefix(module_name(wrapper.filename).folders)
            unique.setdefault(name, structs.replace(wrapper, name=name))
    released = {family for one in unique.values() if not one.acquires for family in one.families}
    acquired = {family for one in unique.values() if one.acquires for family in one.families}
    return [
        one
        for one in unique.values()
        if set(one.families) & (released if one.acquires else acquired)
    ]


def models_text(wrappers: Sequence[Wrapper], root: Path) -> str:
    """A model file in which each table is a comment."""
    lines = [
        "# What `cudalint init` saw of this project's own allocators. Where their bodies are among",
        "# the files that are linted nothing of this is needed. Elsewhere (in a hook that is told",
        "# three files, in another repository) take out of its comment what is right.",
        "",
        'language = "both"',
        "",
    ]
    for one in sorted(wrappers, key=lambda one: (one.name, one.filename)):
        place = Path(one.filename).resolve()
        name = place.relative_to(root) if place.is_relative_to(root) else place
        shown = quoted(name.as_posix())[1:-1]
        lines += [f"# {shown}:", *(f"# {line}" for line in _table(one)), ""]
    return "\n".join(lines)


def _table(one: Wrapper) -> Iterator[str]:
    yield f"[{quoted(one.name)}]"
    if not one.acquires:
        yield f"releases = {{ families = {array(one.families)}, handle = {quoted(one.handle)} }}"
        return
    parts = [f"family = {quoted(one.families[0])}", f"handle = {quoted(one.handle)}"]
    parts += [f"bytes = {quoted(one.bytes)}"] if one.bytes else []
    parts += [f"status = {quoted(one.status)}"] if one.status else []
    parts += ["null_on_failure = true"] if one.null_on_failure else []
    yield f"acquires = {{ {', '.join(parts)} }}"


# Files ------------------------------------------------------------------------------------------


def _write(path: Path, text: str) -> None:
    try:
        if path.is_symlink():
            # A tree that somebody else made does not choose what is written elsewhere.
            raise UnwritableError("is a link, and left as it is")
        write_atomically(path, text.encode())
    except UnwritableError as error:
        raise ConfigurationError(f"init: {display_name(path)}: {error}") from None


def _say(text: str) -> None:
    print(f"cudalint: {escaped(text)}")
