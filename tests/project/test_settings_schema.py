"""The schema of the configuration allows what cudalint takes, and refuses what it refuses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cudalint.project.config import ConfigurationError, validated
from cudalint.project.settings import KEYS
from cudalint.project.settings_schema import json_schema, schema_text

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def allows(values: dict[str, Any]) -> bool:
    return bool(jsonschema.Draft7Validator(json_schema()).is_valid(values))


def taken(values: dict[str, Any]) -> bool:
    try:
        validated(values, "here")
    except ConfigurationError:
        return False
    return True


def test_the_published_one_is_current() -> None:
    published = (ROOT / "docs" / "settings.schema.json").read_text("utf-8")
    assert published == schema_text(), (
        "python -m cudalint.project.settings_schema > docs/settings.schema.json"
    )
    jsonschema.Draft7Validator.check_schema(json_schema())


def test_each_key_says_what_it_means() -> None:
    properties = json_schema()["properties"]
    assert tuple(properties) == KEYS
    assert all(len(one["description"]) > 5 for one in properties.values())


def test_what_the_documents_show_is_allowed() -> None:
    blocks = [
        tomllib.loads(block)
        for document in DOCUMENTS
        for block in re.findall(r"```toml\n(.*?)```", document.read_text("utf-8"), re.DOTALL)
    ]
    shown = [block["tool"]["cudalint"] for block in blocks if "cudalint" in block.get("tool", {})]
    assert len(shown) > 3
    for values in shown:
        assert allows(values), values


@pytest.mark.parametrize(
    "text",
    [
        'select = "GPU1"',
        'select = ["GPU1"]',
        "select = [1]",
        "selekt = []",
        'fail-level = "info"',
        'fail-level = "fatal"',
        "jobs = 2",
        "jobs = 0",
        "time-limit = 0.5",
        "time-limit = 0",
        'device-memory = "40GiB"',
        "device-memory = 1.5",
        'per-file-ignores = { "a/*" = "GPU1", b = ["GPU2"] }',
        'per-file-ignores = ["a"]',
        'severity = { GPU101 = "info" }',
        'severity = { GPU101 = "off" }',
        'runtime = { budget = 900, stand-ins = { "a.npy" = "float32 2x3" } }',
        'runtime = { stand-ins = { "a.npy" = "large" } }',
        "runtime = { bugdet = 900 }",
        'runtime.targets = [{ name = "a", run = "./a", build = ["make a", ["g++", "b.cc"]] }]',
        'runtime.targets = [{ run = "./a" }]',
        "preview = 1",
    ],
)
def test_both_say_the_same(text: str) -> None:
    values = tomllib.loads(text)
    assert allows(values) == taken(values)
