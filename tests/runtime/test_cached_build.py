"""Executables are built once, and again when something they are made of changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudalint.runtime import cached_build
from cudalint.runtime.build import BuildError


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
