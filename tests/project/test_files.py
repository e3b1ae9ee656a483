"""Which files are found."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudalint.project.files import Discovery, FileError, discover
from cudalint.project.ignore import GitIgnore
from cudalint.project.settings import Settings


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(*paths: str, text: str = "x") -> None:
    for path in paths:
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def find(*paths: str, root: str = ".", **settings: object) -> Discovery:
    options = Settings(**settings)  # type: ignore[arg-type]
    return discover([Path(path) for path in paths or (".",)], options, Path(root).absolute())


def names(*paths: str, root: str = ".", **settings: object) -> list[str]:
    return [file.filename for file in find(*paths, root=root, **settings).files]


def test_extensions_and_order() -> None:
    make("b.cu", "a.cuh", "c.py", "d.cpp", "e.h", "f.txt", "g.md", "H.CU", "sub/i.hpp")
    assert names() == ["H.CU", "a.cuh", "b.cu", "c.py", "d.cpp", "e.h", "sub/i.hpp"]
    assert [file.language for file in find("c.py", "d.cpp").files] == ["python", "cuda"]


def test_default_and_own_excludes() -> None:
    make("a.cu", "build/b.cu", ".venv/c.py", "x/node_modules/d.cu", "old/e.cu", "gen/f.gen.cu")
    assert names() == ["a.cu", "gen/f.gen.cu", "old/e.cu"]
    assert names(extend_exclude=("old/", "*.gen.cu")) == ["a.cu"]
    assert "build/b.cu" in names(exclude=("old",))


def test_explicit_files_are_linted_unless_forced() -> None:
    make("build/b.cu", "a.cu")
    assert names("build/b.cu") == ["build/b.cu"]
    assert names("build") == ["build/b.cu"]
    assert names("build/b.cu", "build", "a.cu", force_exclude=True) == ["a.cu"]


def test_explicit_files_of_other_kinds() -> None:
    make("a.inl")
    make("script", text="#!/usr/bin/env python3\n")
    make("readme.md")
    found = find("a.inl", "script", "readme.md")
    assert [(file.filename, file.language) for file in found.files] == [
        ("a.inl", "cuda"),
        ("script", "python"),
    ]
    assert [str(error) for error in found.errors] == [
        "readme.md: is not a CUDA C++ or Python source file"
    ]


def test_missing_paths_are_named() -> None:
    make("a.cu")
    found = find("a.cu", "b.cu", "nowhere/")
    assert list(map(str, found.errors)) == ["b.cu: does not exist", "nowhere: does not exist"]
    assert len(found.files) == 1


def test_gitignore_nested_and_reincluded() -> None:
    Path(".git").mkdir()
    make("a.cu", "gen/b.cu", "sub/c.cu", "sub/keep.cu", "sub/deep/d.cu", "x/out/e.cu")
    Path(".gitignore").write_text("gen/\n*.tmp.cu\nsub/*.cu\n/out\n")
    Path("sub/.gitignore").write_text("!keep.cu\ndeep\n")
    assert names() == ["a.cu", "sub/keep.cu", "x/out/e.cu"]
    assert names("sub") == ["sub/keep.cu"]
    assert "gen/b.cu" in names(respect_gitignore=False)
    # What is named explicitly is linted although git ignores it:
    assert names("gen") == ["gen/b.cu"]
    assert names("gen/b.cu") == ["gen/b.cu"]


def test_git_info_exclude() -> None:
    make("a.cu", "b.cu", ".git/info/exclude", text="b.cu\n")
    assert names() == ["a.cu"]


def test_files_are_found_once() -> None:
    make("a/b.cu")
    assert names("a", "a/b.cu", "./a/../a/b.cu", ".") == ["a/b.cu"]


def test_names_outside_the_working_directory_are_absolute(tmp_path: Path) -> None:
    make("here/a.cu", "there/b.cu")
    os.chdir("here")
    assert names("../there", ".") == [f"{tmp_path.as_posix()}/there/b.cu", "a.cu"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_links_neither_loop_nor_break() -> None:
    make("a/b.cu")
    Path("a/loop").symlink_to("..")
    Path("a/self.cu").symlink_to("self.cu")
    Path("a/gone.cu").symlink_to("nowhere.cu")
    Path("a/linked.cu").symlink_to("b.cu")
    assert names() == ["a/b.cu"]
    assert names("a/linked.cu", "a") == ["a/linked.cu"]
    (fate,) = find().left_out
    assert (fate.filename, fate.reason) == ("a/linked.cu", "the same file as a/b.cu")
    assert find("a/self.cu").errors == (FileError("a/self.cu", "does not exist"),)


def test_a_folder_without_permission_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    make("a/b.cu", "c.cu")
    scan = os.scandir

    def refuse(path: Path) -> Any:
        if Path(path).name == "a":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = find()
    assert [file.filename for file in found.files] == ["c.cu"]
    assert [str(error) for error in found.errors] == ["a: cannot be read: Permission denied"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of any bytes")
def test_names_that_are_not_utf8_can_be_shown() -> None:
    make(os.fsdecode(b"caf\xe9.cu"))
    (found,) = find().files
    assert found.filename == "caf\\xe9.cu"
    assert found.path.read_text() == "x"


def test_what_is_left_out_says_which_pattern_did_it() -> None:
    make("build/a.cu", "gen/b.cu", "c.tmp.cu", "sub/d.cu", "e.cu", ".git/info/exclude")
    Path(".gitignore").write_text("# ours\n\n*.tmp.cu\n")
    Path("sub/.gitignore").write_text("d.*\n!e.cu\n")
    fates = {fate.filename: fate.reason for fate in find(extend_exclude=("gen/",)).left_out}
    assert fates == {
        ".git/": "excluded by the pattern `.git` of `exclude`",
        "build/": "excluded by the pattern `build` of `exclude`",
        "c.tmp.cu": "git ignores it: `*.tmp.cu` of .gitignore",
        "gen/": "excluded by the pattern `gen/` of `extend-exclude`",
        "sub/d.cu": "git ignores it: `d.*` of sub/.gitignore",
    }


_TREE = (
    "a.cu", "b.py", "x/a.cu", "x/b", "x/keep/a.cu", "x/y/b.cu", "gen/a.cu", "gen/keep/b.cu",
    "y/gen/c.py", "y/x/a.cu",
)  # fmt: skip
_PATTERNS = (
    "*", "!*/", "!*.cu", "*.cu", "x/", "!x/", "x/*", "!x/keep", "!x/keep/", "gen", "gen/", "/gen",
    "!gen", "**/gen", "x/**", "!x/**", "y/**/a.cu", "keep", "!keep/", "*/", "!*.*", "x/*/", "a.*",
    "!a.cu", "/x/y", "y", "**/keep/", "!**/keep/",
)  # fmt: skip


@pytest.mark.skipif(shutil.which("git") is None, reason="git says what is right")
def test_any_patterns_ignore_what_git_ignores() -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    make(*_TREE)
    here = Path.cwd()

    def left(folder: Path, ignore: GitIgnore) -> Iterator[Path]:
        ignore = ignore.below(folder)
        for path in folder.iterdir():
            if path.name not in (".git", ".gitignore") and not ignore.ignores(path, path.is_dir()):
                yield from left(path, ignore) if path.is_dir() else (path,)

    chance = random.Random(0)
    cases = [["*", "!*.*", "!*/"], *([*chance.choices(_PATTERNS, k=1 + n % 4)] for n in range(150))]
    for lines in cases:
        Path(".gitignore").write_text("\n".join(lines))
        asked = ["git", "ls-files", "--others", "--exclude-standard"]
        listed = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
        found = {path.relative_to(here).as_posix() for path in left(here, GitIgnore(()))}
        assert found == set(listed) - {".gitignore"}, lines
