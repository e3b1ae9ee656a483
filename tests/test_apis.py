"""The shipped API models, their loader, and the languages inside them."""

from __future__ import annotations

import re
from importlib.metadata import files as distribution_files
from pathlib import Path

import pytest

import cudalint.apis
from cudalint.apis.loader import (
    LIBRARIES,
    decode,
    load,
    read_model_file,
)

FOLDER = Path(cudalint.apis.__file__).parent
MODEL_FILES = sorted(path for path in FOLDER.glob("*.toml") if path.name != "devices.toml")


def families() -> dict:
    return dict(decode("families.toml", (FOLDER / "families.toml").read_text()).families)


@pytest.mark.parametrize("path", MODEL_FILES, ids=lambda path: path.name)
def test_shipped_file_says_nothing_impossible(path):
    file = read_model_file(str(path), families())
    assert file.functions or file.families


def test_every_shipped_file_is_listed_under_its_language():
    listed = {
        library.filename: language for language in LIBRARIES for library in LIBRARIES[language]
    }
    assert set(listed) == {path.name for path in MODEL_FILES} - {"families.toml"}
    for path in MODEL_FILES:
        language = decode(path.name, path.read_text()).language
        assert language == listed.get(path.name, "both")


@pytest.mark.parametrize("language", ["cuda", "python"])
def test_every_name_is_found_where_the_loader_looks_for_it(language):
    every = load(language).names()
    for library in LIBRARIES[language]:
        text = (FOLDER / library.filename).read_text()
        for name in decode(library.filename, text).functions:
            if not name.startswith((".", "*.")):
                example = name.replace("*", "X")
                assert re.match(library.pattern, example), f"{name} in {library.filename}"
                assert name in every
                assert load(language).lookup(example) is not None


def test_releases_of_a_family_fit_it():
    for language in ("cuda", "python"):
        models = load(language)
        for name in models.names():
            function = models.lookup(name)
            for release in function.releases if function else ():
                for family in release.families:
                    assert models.families[family].releases or models.families[family].managed


def header_functions() -> set[str]:
    found: set[str] = set()
    for file in distribution_files("nvidia-cuda-runtime") or []:
        if file.name in ("cuda_runtime_api.h", "cuda_runtime.h", "cuda.h"):
            text = Path(str(file.locate())).read_text(errors="replace")
            found.update(re.findall(r"\b(cuda?[A-Z]\w+)\s*\(", text))
    return found
