"""Finds, reads and merges the configuration, and remembers where each value came from."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from cudalint.project.outputs import parse_output, relocated
from cudalint.project.paths import absolute, repository_of
from cudalint.project.settings import (
    CHOICES,
    FOLDER_KEYS,
    KEYS,
    RuntimeSettings,
    Settings,
    TargetSettings,
    default_of,
    nearest,
)

CONFIG_NAMES = (".cudalint.toml", "cudalint.toml", "pyproject.toml")
DEFAULT_ORIGIN = "default"
COMMAND_LINE = "command line"

_ADDED = ("ignore", "extend-select", "extend-exclude", "defines", "include-folders", "models")
_ANEW = {
    "select": ("ignore", "extend-select"),
    "output": ("output-format",),
    "output-format": ("output",),
}
"""A key, and those of earlier layers that it makes void."""
_TABLES = ("per-file-ignores", "severity")
_OFF = frozenset({"off", "none", "no", "ignore", "disable", "disabled", "false"})
_MAP_KEY = re.compile(r"\[\.\.\.\]")


class ConfigurationError(Exception):
    """The configuration cannot be used; the message names the key and the file."""


@dataclass(frozen=True)
class Layer:
    """Settings that one source gives: a file or the command line."""

    origin: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Configuration:
    """The settings in force."""

    settings: Settings
    root: Path
    """The project's folder: patterns and fingerprints are relative to it."""
    file: Path | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    """Key to where its value came from; absent where it is the default."""

    def origin(self, key: str) -> str:
        """Where the value of a key came from."""
        return self.origins.get(key, DEFAULT_ORIGIN)


def load(
    paths: Sequence[Path] = (),
    *,
    config: Sequence[str] = (),
    isolated: bool = False,
    overrides: Mapping[str, Any] | None = None,
    origin: str = COMMAND_LINE,
) -> Configuration:
    """The configuration for linting ``paths``.

    ``config`` holds files or ``KEY=VALUE`` pairs (``--config``); ``overrides`` are the command
    line's own options, or those of another ``origin``, which win. ``isolated`` reads no
    configuration file.
    """
    files, pairs = _split_config(config)
    if isolated and files:
        raise ConfigurationError("--isolated reads no configuration file, but --config names one")
    file = files[-1] if files else None
    start = _common_folder(paths)
    if file is None and not isolated:
        file = find_config(start)
    layers = []
    if file is not None:
        layers.append(_file_layer(file))
    layers += [_pair_layer(pair) for pair in pairs]
    if overrides:
        values = validated(overrides, origin)
        layers.append(Layer(origin, _located(values, Path.cwd())))
    root = file.parent if file is not None else repository_of(start) or Path.cwd()
    values, origins = merge(layers)
    return Configuration(msgspec.convert(values, Settings), root, file, origins)


def merge(layers: Iterable[Layer]) -> tuple[dict[str, Any], dict[str, str]]:
    """Later layers win; lists that extend are joined; a ``select`` starts the selection anew, and
    so do ``output`` and its short form."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        for first, replaced in _ANEW.items():
            for key in replaced if first in layer.values else ():
                values.pop(key, None)
                origins.pop(key, None)
        for key, value in layer.values.items():
            if key in values and key in _ADDED:
                values[key] = [*values[key], *value]
                origins[key] = f"{origins[key]}, {layer.origin}"
            elif key in values and key in _TABLES:
                values[key] = {**values[key], **value}
                origins[key] = f"{origins[key]}, {layer.origin}"
            else:
                values[key] = value
                origins[key] = layer.origin
    return values, origins


def find_config(folder: Path) -> Path | None:
    """The nearest configuration file at or above a folder."""
    for candidate in (folder, *folder.parents):
        for name in CONFIG_NAMES:
            file = candidate / name
            if file.is_file() and (name != "pyproject.toml" or _section(file) is not None):
                return file
    return None


def _section(file: Path) -> Mapping[str, Any] | None:
    """The table of cudalint's settings in a file; ``None`` if there is none."""
    document = _read_toml(file)
    if file.name != "pyproject.toml":
        return document
    tool = document.get("tool", {})
    section = tool.get("cudalint") if isinstance(tool, dict) else None
    if section is not None and not isinstance(section, dict):
        raise ConfigurationError(f"{file}: `tool.cudalint` must be a table")
    return section


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file}: is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{file}: is not valid TOML: {error}") from None


def _file_layer(file: Path) -> Layer:
    section = _section(file)
    prefix = "tool.cudalint." if file.name == "pyproject.toml" else ""
    if section is None:
        raise ConfigurationError(f"{file}: has no table `[tool.cudalint]`")
    return Layer(str(file), _located(validated(section, str(file), prefix), file.parent))


def _located(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The values with the paths among them relative to a folder no more."""
    for key in FOLDER_KEYS:
        value = values.get(key)
        if isinstance(value, str):
            values[key] = os.path.normpath(folder / value)
        elif isinstance(value, list | tuple):
            values[key] = [os.path.normpath(folder / entry) for entry in value]
    if "output" in values:
        values["output"] = [relocated(entry, folder) for entry in values["output"]]
    return values


def _pair_layer(pair: str) -> Layer:
    key, _, text = pair.partition("=")
    origin = f"--config {key.strip()}"
    try:
        values = tomllib.loads(f"{key} = {text}")
    except tomllib.TOMLDecodeError:
        try:
            values = tomllib.loads(f"{key} = {_quoted(text.strip())}")
        except tomllib.TOMLDecodeError:
            raise ConfigurationError(
                f"--config {pair}: is neither a file nor KEY=VALUE in TOML"
            ) from None
    return Layer(origin, _located(validated(values, "--config"), Path.cwd()))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def validated(values: Mapping[str, Any], origin: str, prefix: str = "") -> dict[str, Any]:
    """The values of one source, checked: known keys, right types."""
    for key in values:
        if key not in KEYS:
            near = nearest(key, KEYS)
            hint = f"; did you mean `{prefix}{near}`?" if near else ""
            raise ConfigurationError(f"{origin}: unknown key `{prefix}{key}`{hint}")
    _check_runtime(values.get("runtime"), origin, prefix)
    result = dict(values)
    # A single string where a list is meant is plain enough:
    for key, value in result.items():
        if isinstance(value, str) and isinstance(default_of(key), tuple):
            result[key] = [value]
        elif key == "per-file-ignores" and isinstance(value, dict):
            result[key] = {
                pattern: [rules] if isinstance(rules, str) else rules
                for pattern, rules in value.items()
            }
    _check_severities(result.get("severity"), origin, prefix)
    for key, value in result.items():
        try:
            msgspec.convert({key: value}, Settings)
        except msgspec.ValidationError as error:
            message, _, where = str(error).partition(" - at ")
            place = _MAP_KEY.sub("", where.strip("`").removeprefix("$.")) or key
            message = message[:1].lower() + message[1:]
            if key in CHOICES and "enum" in message:
                near = nearest(value, CHOICES[key]) if isinstance(value, str) else None
                hint = f"did you mean {near}? It" if near else "it"
                message += f"; {hint} is one of {', '.join(CHOICES[key])}"
            raise ConfigurationError(f"{origin}: `{prefix}{place}`: {message}") from None
    _check_output(result, origin, prefix)
    return result


def _check_severities(table: Any, origin: str, prefix: str) -> None:
    """Refuse an unknown severity by the rule that it is for."""
    choices = CHOICES["severity"]
    for rule, level in table.items() if isinstance(table, dict) else ():
        if isinstance(level, str) and level not in choices:
            hint = "; `ignore` turns a rule off" if level.lower() in _OFF else ""
            raise ConfigurationError(
                f"{origin}: `{prefix}severity.{rule}`: there is no severity `{level}`; "
                f"it is one of {', '.join(choices)}{hint}"
            )


def _check_output(values: Mapping[str, Any], origin: str, prefix: str) -> None:
    for entry in values.get("output", ()):
        try:
            parse_output(entry)
        except ValueError as error:
            raise ConfigurationError(f"{origin}: `{prefix}output`: {error}") from None
    if "output" in values and "output-format" in values:
        raise ConfigurationError(
            f"{origin}: `{prefix}output-format` is short for one `{prefix}output`: give one of them"
        )


def _check_runtime(table: Any, origin: str, prefix: str) -> None:
    """Refuse unknown keys of the table ``runtime`` and of its targets, with the nearest name."""
    if not isinstance(table, dict):
        return
    targets = table.get("targets")
    tables: list[tuple[str, dict[str, Any], type[msgspec.Struct]]]
    tables = [("runtime", table, RuntimeSettings)]
    if isinstance(targets, list | tuple):
        tables += [
            ("runtime.targets", entry, TargetSettings)
            for entry in targets
            if isinstance(entry, dict)
        ]
    for name, entries, kind in tables:
        keys = tuple(field.encode_name for field in msgspec.structs.fields(kind))
        for key in entries:
            if key not in keys:
                near = nearest(key, keys)
                hint = f"; did you mean `{prefix}{name}.{near}`?" if near else ""
                raise ConfigurationError(f"{origin}: unknown key `{prefix}{name}.{key}`{hint}")


def _split_config(config: Sequence[str]) -> tuple[list[Path], list[str]]:
    files: list[Path] = []
    pairs: list[str] = []
    for entry in config:
        path = Path(entry)
        if "=" in entry and not path.is_file():
            pairs.append(entry)
        elif path.is_file():
            files.append(path.absolute())
        else:
            raise ConfigurationError(f"--config {entry}: no such file, and not KEY=VALUE")
    if len(files) > 1:
        raise ConfigurationError("--config: only one configuration file can be given")
    return files, pairs


def _common_folder(paths: Sequence[Path]) -> Path:
    """The folder that holds all paths (themselves, where they are folders)."""
    folders = [str(full if full.is_dir() else full.parent) for full in map(absolute, paths)]
    if not folders:
        return Path.cwd()
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # different drives
        return Path.cwd()
