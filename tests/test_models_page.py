"""The page on API models: its examples load, and it knows every key."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from cudalint.apis.loader import read_model_file
from cudalint.apis.model import ApiFunction

PAGE = Path(__file__).parent.parent / "docs" / "models.md"
EXAMPLES = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
INTERNAL = {"guess", "receiver"}
"""Set by the loader: from the name (``*``, ``@stream``)."""


@pytest.mark.parametrize("text", EXAMPLES[1:], ids=lambda text: text.partition("\n")[0][:40])
def test_examples_are_model_files(text: str, tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    file.write_text(text, encoding="utf-8")
    found = read_model_file(str(file))
    tables = (
        found.functions,
        found.tensors,
        found.hooks,
        found.lifetimes,
        found.kernels,
        found.tests,
    )
    assert any(tables)


def test_every_key_has_an_example() -> None:
    said: set[str] = set()
    for text in EXAMPLES[1:]:
        for table in tomllib.loads(text).values():
            said |= set(table) if isinstance(table, dict) else set()
    keys = {field.encode_name for field in msgspec.structs.fields(ApiFunction)}
    assert keys - said - INTERNAL == set()
