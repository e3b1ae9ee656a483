"""Executables are built once, and again when something they are made of changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudalint.runtime import cached_build
from cudalint.runtime.build import BuildError
from cudalint.runtime.targets import targets_of


@pytest.fixture(autouse=True)
def _needs(compiler: Path) -> None:
    """All of these build."""


def test_built_once_and_again_when_a_header_changes(tmp_path: Path) -> None:
    source, header = tmp_path / "a.cpp", tmp_path / "a.h"
    header.write_text("#define RESULT 0\n")
    source.write_text('#include "a.h"\nint main() { return RESULT; }\n')
    first = cached_build.build_cached([source], folder=tmp_path / "cache")
    assert first.seconds > 0
    second = cached_build.build_cached([source], folder=tmp_path / "cache")
    assert (second.path, second.seconds) == (first.path, 0.0)
    header.write_text("#define RESULT 1\n")
    third = cached_build.build_cached([source], folder=tmp_path / "cache")
    assert third.path != first.path


def test_built_again_when_what_is_included_from_elsewhere_changes(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    source, header = tmp_path / "src" / "a.cpp", tmp_path / "a.h"
    header.write_text("#define RESULT 0\n")
    source.write_text('#include "../a.h"\nint main() { return RESULT; }\n')
    (target,) = targets_of([source])
    assert header in target.covers

    def built() -> Path:
        cache = tmp_path / "cache"
        return cached_build.build_cached(target.sources, included=target.covers, folder=cache).path

    first = built()
    assert built() == first
    header.write_text("#define RESULT 1\n")
    assert built() != first


def test_built_again_when_the_way_to_build_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {path.name for path in cached_build.recipe_files() if path.is_file()}
    assert {"build.py", "libraries.py", "cuda_runtime.toml", "cublas_v2.h"} <= names
    recipe, source = tmp_path / "recipe", tmp_path / "a.cpp"
    source.write_text("int main() { return 0; }\n")
    monkeypatch.setattr(cached_build, "recipe_files", lambda: [recipe])
    paths = []
    for text in ("one", "one", "two"):
        recipe.write_text(text)
        cached_build._recipe.cache_clear()
        paths.append(cached_build.build_cached([source], folder=tmp_path / "cache").path)
    cached_build._recipe.cache_clear()
    assert paths[0] == paths[1] != paths[2]


def test_what_does_not_build_is_not_kept(tmp_path: Path) -> None:
    source = tmp_path / "a.cpp"
    source.write_text("int main() { return nowhere; }\n")
    with pytest.raises(BuildError, match="nowhere"):
        cached_build.build_cached([source], folder=tmp_path / "cache")
    assert list((tmp_path / "cache" / "targets").iterdir()) == []


def test_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = tmp_path / "cache" / "targets"
    for age in range(4):
        (targets / str(age)).mkdir(parents=True)
        os.utime(targets / str(age), (1000 - age, 1000 - age))
    monkeypatch.setattr(cached_build, "_MOST_KEPT", 3)
    source = tmp_path / "a.cpp"
    source.write_text("int main() { return 0; }\n")
    built = cached_build.build_cached([source], folder=tmp_path / "cache")
    assert {path.name for path in targets.iterdir()} == {"0", "1", built.path.parent.name}
