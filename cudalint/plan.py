"""What the settings mean: the rules that run, their severities, the limits. All looked up once."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cudalint import registry
from cudalint.executor import Bounds
from cudalint.findings.baseline import Baseline, BaselineError
from cudalint.findings.finding import Severity
from cudalint.findings.rule import Limits, Rule
from cudalint.project.cache import FOLDER_NAME, contents_digest, digest
from cudalint.project.compile_commands import DATABASE, CompileCommands, CompileCommandsError
from cudalint.project.config import Configuration, ConfigurationError
from cudalint.project.ignore import Patterns
from cudalint.project.paths import absolute, display_name, relative_name
from cudalint.project.settings import Settings

_HEADER_WHEELS = ("nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-cuda-cccl")
_LEAST = 1024**2
_STANDARD = re.compile(
    r"(?:c|gnu)\+\+(?:98|03|0x|11|1y|14|1z|17|2a|20|2b|23|2c|26)"
    r"|(?:c|gnu)(?:89|90|99|9x|11|1x|17|18|23|2x|2y)|iso9899:\d+"
)
_Meant = TypeVar("_Meant")


@dataclass(frozen=True)
class Plan:
    """The settings of a run with everything in them looked up."""

    settings: Settings
    root: Path
    known: Mapping[str, type[Rule]]
    rules: tuple[type[Rule], ...]
    severities: Mapping[str, Severity]
    """Code to the severity that replaces the rule's own."""
    per_file_ignores: tuple[tuple[Patterns, frozenset[str]], ...]
    test_files: Patterns
    limits: Limits
    fail_level: Severity
    bounds: Bounds
    jobs: int
    max_file_size: int
    models: tuple[Path, ...]
    baseline: Baseline | None
    """The findings that are known; ``None`` where the settings name no file of them."""
    compile_commands: CompileCommands | None
    """The database that the settings name; else each file's nearest one counts."""
    cache_folder: Path | None
    cache_size: int
    warnings: tuple[str, ...]
    """What of the settings has no effect, as it cannot have been meant."""
    version: str
    """Changes with cudalint's own code, its rules and what it reads with: part of cache keys."""
    lowering_version: str
    """The same of all that decides how a file is lowered: neither rules nor analysis do."""
    scheduler: str | None = None
    """The address of the Dask scheduler whose cluster does the work. No setting: what is linted
    must not choose who is sent its text."""

    @property
    def named(self) -> frozenset[str]:
        """The codes of the rules that the settings select by their own code or name."""
        chosen = {*self.settings.select, *self.settings.extend_select}
        return frozenset(code for code, rule in self.known.items() if chosen & {code, rule.name})

    def is_test(self, filename: str) -> bool:
        """Whether a file is one of the tests."""
        return self.test_files.match(relative_name(Path(filename), self.root))

    def idle_patterns(self, filenames: Iterable[str]) -> list[str]:
        """The patterns of ``per-file-ignores`` that match none of some files."""
        paths = [relative_name(Path(name), self.root) for name in filenames]
        given = zip(self.settings.per_file_ignores, self.per_file_ignores, strict=True)
        return [
            pattern
            for pattern, (compiled, _) in given
            if not any(compiled.match(path) for path in paths)
        ]

    def ignored_in(self, filename: str) -> frozenset[str]:
        """The codes that are silent in a file."""
        path = relative_name(Path(filename), self.root)
        found: frozenset[str] = frozenset()
        for patterns, codes in self.per_file_ignores:
            if patterns.match(path):
                found |= codes
        return found


def make_plan(configuration: Configuration, *, new_baseline: bool = False) -> Plan:
    """Look everything up; what is unknown is refused with its key and where it stands. A baseline
    that is about to be written need not be there."""
    settings = configuration.settings
    resolver = _Resolver(configuration)
    known = registry.all_rules()
    return Plan(
        settings=settings,
        root=configuration.root,
        known=known,
        rules=resolver.rules(known),
        severities=resolver.severities(known),
        per_file_ignores=resolver.per_file_ignores(known),
        test_files=Patterns(settings.test_files),
        limits=resolver.limits(),
        fail_level=Severity(settings.fail_level),
        bounds=Bounds(settings.time_limit, resolver.bytes("memory-limit", settings.memory_limit)),
        jobs=settings.jobs or processors(),
        max_file_size=resolver.bytes("max-file-size", settings.max_file_size),
        models=resolver.models(),
        baseline=resolver.baseline(new_baseline),
        compile_commands=resolver.compile_commands(),
        cache_folder=cache_folder(configuration) if settings.cache else None,
        cache_size=resolver.bytes("cache-size", settings.cache_size),
        warnings=resolver.warnings(),
        version=_version(known),
        lowering_version=_lowering_version(),
    )


def cache_folder(configuration: Configuration) -> Path:
    """Where the cache of a project is, whether it is used or not."""
    chosen = configuration.settings.cache_dir or os.environ.get("CUDALINT_CACHE_DIR")
    return absolute(chosen) if chosen else configuration.root / FOLDER_NAME


def code_version() -> str:
    """A digest of cudalint's own code, without rules: the same on every machine that has it."""
    return digest(_lowering_version(), _analysis_version())


def _version(known: Mapping[str, type[Rule]]) -> str:
    """A digest of the code: an installation can change without its version changing."""
    plugins = sorted({rule.__module__.partition(".")[0] for rule in known.values()})
    origins = [getattr(sys.modules.get(module), "__file__", None) for module in plugins]
    rules = [path for origin in origins if origin for path in Path(origin).parent.glob("*.py")]
    return digest(code_version(), _digest_of(rules))


@functools.cache
def _analysis_version() -> str:
    return _digest_of(_code("analysis"))


@functools.cache
def _lowering_version() -> str:
    """A digest of all that decides how a file is lowered: whoever works on the analysis or on a
    rule need not have every file parsed again."""
    distributions = []
    for name in ("libclang-ng", "libcst", *_HEADER_WHEELS):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            distributions.append(f"{name} {importlib.metadata.version(name)}")
    code = set(_code(".")) - set(_code("analysis"))
    return digest(_digest_of(code), *distributions)


def _digest_of(code: Iterable[Path]) -> str:
    """By content: a cache may come from another machine, where times and folders differ."""
    return contents_digest(sorted(code))


def _code(folder: str) -> list[Path]:
    package = Path(__file__).parent / folder
    return [path for kind in ("*.py", "*.toml", "*.h") for path in package.rglob(kind)]


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Resolver:
    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.settings = configuration.settings

    def error(self, key: str, reason: object) -> ConfigurationError:
        """An error that names the key and where its value came from."""
        origin = self.configuration.origin(key)
        if origin == "command line":
            return ConfigurationError(f"--{key}: {reason}")
        return ConfigurationError(f"{origin}: `{key}`: {reason}")

    def _rule_errors(self, key: str, look_up: Callable[[], _Meant]) -> _Meant:
        try:
            return look_up()
        except registry.UnknownRule as error:
            raise self.error(key, error) from None
        except registry.RegistryError as error:
            raise ConfigurationError(str(error)) from None

    def rules(self, known: Mapping[str, type[Rule]]) -> tuple[type[Rule], ...]:
        settings = self.settings
        # One at a time first, so that the error names the right key:
        for key, selectors in (
            ("select", settings.select),
            ("ignore", settings.ignore),
            ("extend-select", settings.extend_select),
        ):
            for selector in selectors:
                self._meant(key, known, selector)
        chosen = registry.select(
            known,
            settings.select or (registry.ALL,),
            settings.ignore,
            settings.extend_select,
            settings.preview,
        )
        return tuple(chosen)

    def _meant(self, key: str, known: Mapping[str, type[Rule]], selector: str) -> frozenset[str]:
        rules = self._rule_errors(key, lambda: registry.select(known, (selector,), preview=True))
        return frozenset(rule.code for rule in rules)

    def severities(self, known: Mapping[str, type[Rule]]) -> dict[str, Severity]:
        found: dict[str, Severity] = {}
        # A code wins over the prefix that it starts with:
        for selector, name in sorted(self.settings.severity.items(), key=lambda item: len(item[0])):
            for code in sorted(self._meant("severity", known, selector)):
                found[code] = Severity(name)
        return found

    def per_file_ignores(
        self, known: Mapping[str, type[Rule]]
    ) -> tuple[tuple[Patterns, frozenset[str]], ...]:
        return tuple(
            (
                Patterns((pattern,)),
                frozenset[str]().union(
                    *(self._meant("per-file-ignores", known, selector) for selector in selectors)
                ),
            )
            for pattern, selectors in self.settings.per_file_ignores.items()
        )

    def bytes(self, key: str, value: str | int) -> int:
        from cudalint.apis.devices import parse_bytes

        try:
            return parse_bytes(value)
        except ValueError as error:
            raise self.error(key, error) from None

    def limits(self) -> Limits:
        from cudalint.apis.devices import limits_for

        settings = self.settings
        for key in ("device-memory", "max-transfer", "large-allocation"):
            value = getattr(settings, key.replace("-", "_"))
            if value is not None and self.bytes(key, value) < _LEAST and str(value).isdigit():
                reason = f"{value} bytes cannot be meant; did you mean `{value}GiB`?"
                raise self.error(key, reason)
        standard = settings.standard
        if standard is not None and _STANDARD.fullmatch(standard) is None:
            raise self.error("standard", f"`{standard}` is no standard, such as c++17 or c11")
        try:
            return limits_for(
                settings.target,
                settings.device_memory,
                settings.max_transfer,
                settings.large_allocation,
            )
        except ValueError as error:
            raise self.error("target", error) from None

    def warnings(self) -> tuple[str, ...]:
        return tuple(
            str(self.error("include-folders", f"there is no folder `{display_name(Path(folder))}`"))
            for folder in self.settings.include_folders
            if not Path(folder).is_dir()
        )

    def models(self) -> tuple[Path, ...]:
        from cudalint.apis.loader import read_model_file
        from cudalint.apis.validation import ModelError

        paths = tuple(Path(model) for model in self.settings.models)
        for path in paths:
            if not path.is_file():
                raise self.error("models", f"{path}: no such file")
            try:
                read_model_file(str(path))
            except ModelError as error:
                raise self.error("models", error) from None
        return paths

    def baseline(self, new: bool) -> Baseline | None:
        if self.settings.baseline is None:
            return None
        path = Path(self.settings.baseline)
        if not path.exists() and not path.is_symlink():
            if new:
                return Baseline(path)
            raise self.error("baseline", f"{path}: no such file (`--write-baseline` makes it)")
        try:
            return Baseline.load(path)
        except BaselineError as error:
            raise self.error("baseline", error) from None

    def compile_commands(self) -> CompileCommands | None:
        given = self.settings.compile_commands
        if given is None:
            return None
        path = Path(given)
        try:
            return CompileCommands.load(path / DATABASE if path.is_dir() else path)
        except CompileCommandsError as error:
            raise self.error("compile-commands", error) from None
