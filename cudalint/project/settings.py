"""The settings of a run: every key of the configuration, with its type, default and meaning."""

from __future__ import annotations

import difflib
from typing import Annotated, Any, Literal, get_args

import msgspec

SeverityName = Literal["error", "warning", "info"]
OutputFormat = Literal[
    "full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit", "markdown",
    "html",
]  # fmt: skip
Count = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]

DEFAULT_TEST_FILES = (
    "test/", "tests/", "test_*.cu", "*_test.cu", "test_*.cpp", "*_test.cpp", "test_*.cc",
    "*_test.cc", "test_*.c", "*_test.c",
)  # fmt: skip
DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".cudalint_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "build",
    "cmake-build-*",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)


class TargetSettings(
    msgspec.Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True
):
    """A program to run: an entry of ``[[tool.cudalint.runtime.targets]]``."""

    name: str
    """How reports call it."""
    run: str | tuple[str, ...]
    """The command, as a line or as words; relative to ``folder``."""
    build: tuple[str | tuple[str, ...], ...] = ()
    """Commands that build it, one after another."""
    folder: str = "."
    """Where the commands run, relative to the project."""
    arguments: tuple[str, ...] = ()
    """Added to ``run``."""
    environment: dict[str, str] = {}
    """Added to the environment of all its commands."""
    time_limit: Seconds | None = None
    """Seconds that one run may take."""
    covers: tuple[str, ...] = ()
    """Patterns of the files whose findings it can show; empty: all."""


StandIn = Annotated[str, msgspec.Meta(pattern=r"^[a-z]+[0-9]+ [0-9]+(x[0-9]+)*$")]


class RuntimeSettings(
    msgspec.Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True
):
    """``[tool.cudalint.runtime]``: what ``--runtime`` runs, and within which limits."""

    time_limit: Seconds = 60.0
    """Seconds that one run of a target may take."""
    budget: Seconds = 600.0
    """Seconds that all runs together may take."""
    arguments: tuple[str, ...] = ()
    """What programs that are found, not named, are started with."""
    environment: dict[str, str] = {}
    """What is added to their environment."""
    build_arguments: tuple[str, ...] = ()
    """What the compiler is given besides: ``-lfoo``."""
    stand_ins: dict[str, StandIn] = {}
    """Small data in place of files that are absent, by name: ``"data/*.npy" = "float32 100x784"``.
    """
    targets: tuple[TargetSettings, ...] = ()
    """Programs of one's own: tests, tools. Where there are any, no others are looked for."""


class Settings(
    msgspec.Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True
):
    """What a run obeys; the field names with dashes are the keys of ``[tool.cudalint]``."""

    select: tuple[str, ...] = ()
    """Rules that run, by code, prefix or name; empty: the default set."""
    ignore: tuple[str, ...] = ()
    """Rules that do not."""
    extend_select: tuple[str, ...] = ()
    """Rules that run besides ``select`` or the default set."""
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    """File pattern to the rules that are silent there."""
    severity: dict[str, SeverityName] = {}
    """Rule to the severity of its findings, in place of its own."""
    test_files: tuple[str, ...] = DEFAULT_TEST_FILES
    """What is lost where a test ends harms nobody: warnings of these files are ``info``; patterns
    as in ``.gitignore``."""
    preview: bool = False
    """Preview rules and findings of low confidence too."""
    fail_level: SeverityName = "warning"
    """The least severity that makes the exit status 1."""
    baseline: str | None = None
    """A file of findings that are known and not reported: ``--write-baseline`` writes it."""

    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    """What the search for files leaves out: patterns as in ``.gitignore``."""
    extend_exclude: tuple[str, ...] = ()
    """Left out besides ``exclude``."""
    force_exclude: bool = False
    """Leave excluded files out even where they are named explicitly."""
    respect_gitignore: bool = True
    """Leave out what git ignores."""
    max_file_size: str | int = "10MiB"
    """Files above it are reported, not read."""

    target: tuple[str, ...] = ()
    """Compute capabilities (``sm_86``) or ``native``: they decide the limits."""
    device_memory: str | int | None = None
    """The budget of one allocation: ``16GiB``."""
    max_transfer: str | int | None = None
    """The largest copy that should go in one piece: ``256MiB``."""
    large_allocation: str | int | None = None
    """From what size on memory should not be held while the program waits: ``1GiB``."""
    models: tuple[str, ...] = ()
    """Own API models: TOML files."""

    include_folders: tuple[str, ...] = ()
    """Folders searched for C++ headers."""
    defines: tuple[str, ...] = ()
    """C++ macros: ``NAME`` or ``NAME=VALUE``."""
    standard: str | None = None
    """The C++ standard: ``c++20``."""
    compile_commands: str | None = None
    """A ``compile_commands.json``, or the folder that holds it."""

    output_format: OutputFormat | None = None
    """How findings are shown; by default full on a terminal, concise elsewhere."""
    output: tuple[str, ...] = ()
    """Several reports of one run, in place of ``output-format``: ``sarif=a.sarif``, ``github``."""
    documentation: str | None = None
    """Where the documentation is published: reports link to its pages of the rules."""
    cache: bool = True
    """Keep what was read of unchanged files."""
    cache_dir: str | None = None
    """Where: by default ``.cudalint_cache`` in the project's folder."""
    cache_size: str | int = "1GiB"
    """What it may hold besides precompiled headers; the least used entries go first."""
    jobs: Count | None = None
    """Worker processes; by default one per processor."""
    time_limit: Seconds = 30.0
    """CPU seconds that one file may take."""
    memory_limit: str | int = "4GiB"
    """Memory that one worker may use."""

    runtime: RuntimeSettings = RuntimeSettings()
    """What ``--runtime`` runs, and how long."""


FIELDS = {field.encode_name: field for field in msgspec.structs.fields(Settings)}
KEYS = tuple(FIELDS)

CHOICES = {
    "severity": get_args(SeverityName),
    "fail-level": get_args(SeverityName),
    "output-format": get_args(OutputFormat),
}
FOLDER_KEYS = ("include-folders", "models", "compile-commands", "cache-dir", "baseline")
"""Keys that hold paths: relative to the file that gives them."""


def default_of(key: str) -> Any:
    """The value that a key has when nobody sets it."""
    field = FIELDS[key]
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return field.default_factory()


def nearest(name: str, candidates: tuple[str, ...] | list[str]) -> str | None:
    """The candidate that a misspelt name most likely means."""
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    found = difflib.get_close_matches(name.lower().replace("_", "-"), by_lower, 1, 0.5)
    return by_lower[found[0]] if found else None
