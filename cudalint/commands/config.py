"""The ``config`` command: the settings in force, and where each came from."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import msgspec

from cudalint.plan import Plan, make_plan
from cudalint.project.cache import FOLDER_NAME
from cudalint.project.config import Configuration, ConfigurationError
from cudalint.project.settings import FIELDS, KEYS, Settings, nearest
from cudalint.project.units import size_text


def run_config(key: str | None, configuration: Configuration) -> int:
    """Print all settings, or one with its meaning."""
    plan = make_plan(configuration)  # refuses what `check` would refuse
    if key is None:
        where = configuration.file or "no configuration file"
        print(f"# {where}\n# project: {configuration.root}")
        for name in KEYS:
            print(_line(name, configuration, plan))
        return 0
    if key not in KEYS:
        near = nearest(key, KEYS)
        hint = f"; did you mean `{near}`?" if near else ""
        raise ConfigurationError(f"config: there is no key `{key}`{hint}")
    print(f"# {descriptions()[key]}\n{_line(key, configuration, plan)}")
    return 0


def _line(key: str, configuration: Configuration, plan: Plan) -> str:
    value = getattr(configuration.settings, FIELDS[key].name)
    origin = configuration.origin(key)
    if value is None or (key == "target" and not value):
        return f"# {key}: {_meaning(key, plan)}  # {origin}"
    return f"{key} = {_toml(value)}  # {origin}"


def _meaning(key: str, plan: Plan) -> str:
    """What counts where nobody sets a key."""
    match key:
        case "target":
            return "every device there is"
        case "device-memory":
            return f"{size_text(plan.limits.device_memory)}, the largest device's"
        case "max-transfer":
            return size_text(plan.limits.max_transfer)
        case "large-allocation":
            return size_text(plan.limits.large_allocation)
        case "jobs":
            return f"{plan.jobs}, one per processor"
        case "standard":
            return "c++17, or what a file cannot do without"
        case "compile-commands":
            return "the nearest one of each file"
        case "output-format":
            return "full on a terminal, concise elsewhere"
        case "cache-dir":
            return FOLDER_NAME
    return "none"


def _toml(value: Any) -> str:
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    if isinstance(value, dict):
        pairs = ", ".join(f"{_toml(key)} = {_toml(entry)}" for key, entry in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    return msgspec.json.encode(value).decode()


def descriptions() -> dict[str, str]:
    """The meaning of each key: the strings below the fields of ``Settings``."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(Settings))).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for field, text in zip(definition.body, definition.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(description))),
            ):
                found[name.replace("_", "-")] = description
    return found
