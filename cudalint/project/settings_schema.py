"""The JSON schema of the configuration: editors of TOML complete and check ``cudalint.toml`` by it.

``python -m cudalint.project.settings_schema > docs/settings.schema.json`` writes it anew.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from cudalint.project import settings

_DIALECT = "http://json-schema.org/draft-07/schema#"
"""The one that editors of TOML know."""
_TITLE = "The configuration of cudalint: cudalint.toml, or [tool.cudalint] of a pyproject.toml"


def json_schema() -> dict[str, Any]:
    """The schema, with what each key means."""
    (_,), parts = msgspec.json.schema_components(
        [settings.Settings], ref_template="#/definitions/{name}"
    )
    for name, part in parts.items():
        for key, description in _descriptions(name):
            part["properties"][key]["description"] = description
    whole = parts.pop(settings.Settings.__name__)
    properties = whole["properties"]
    for value in (*properties.values(), properties["per-file-ignores"]["additionalProperties"]):
        if value.get("type") == "array":  # one string is a list of one
            items = value.pop("items")
            value["anyOf"] = [{"type": value.pop("type"), "items": items}, items]
    return {"$schema": _DIALECT, **whole, "title": _TITLE, "definitions": parts}


def _descriptions(name: str) -> Iterator[tuple[str, str]]:
    """The keys of a table, each with the string below its field, as plain text."""
    (body,) = ast.parse(inspect.getsource(getattr(settings, name))).body
    assert isinstance(body, ast.ClassDef)
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            assert isinstance(field.target, ast.Name) and isinstance(below.value, ast.Constant)
            text = re.sub(r"\s+", " ", str(below.value.value)).strip().replace("``", "`")
            yield field.target.id.replace("_", "-"), text


def schema_text() -> str:
    """The schema, as it is published."""
    return msgspec.json.format(msgspec.json.encode(json_schema()), indent=2).decode() + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
