"""What has changed since a commit, by a git that runs nothing of the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.project.changes import ChangedLines, ChangesError, changes_since, parse_diff

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX names and scripts")


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.email", "a@example.org")
        self.git("config", "user.name", "a")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, name: str, *rows: object) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{row}\n" for row in rows))
        return path

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "x")
        return self.git("rev-parse", "HEAD")

    def changed(self, name: str, revision: str = "main") -> ChangedLines | None:
        return changes_since(revision, self.folder).of(self.folder / name)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    folder = tmp_path / "repository"
    folder.mkdir()
    made = Repository(folder)
    made.write("a.cu", *range(1, 9))
    made.write("old.cu", *range(1, 30))
    made.write("same.cu", 1)
    made.commit()
    return made


def test_lines_that_changed_since_the_branch_began(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.write("a.cu", 1, 2, "three", 4, 5, 7, 8, "nine")
    repository.commit()
    # What main did in the meantime is none of the topic's changes:
    repository.git("checkout", "--quiet", "main")
    repository.write("same.cu", "changed on main")
    repository.commit()
    repository.git("checkout", "--quiet", "topic")
    assert repository.changed("a.cu") == ChangedLines([range(3, 4), range(8, 9)], [5])
    assert repository.changed("same.cu") == ChangedLines()
    # What is not committed, and what is only staged, counts:
    repository.write("a.cu", "one", 2, "three", 4, 5, 7, 8, "nine")
    repository.git("add", "a.cu")
    repository.write("same.cu", 1, 2)
    assert repository.changed("a.cu") == ChangedLines([range(1, 2), range(3, 4), range(8, 9)], [5])
    assert repository.changed("same.cu") == ChangedLines([range(2, 3)])


def test_new_untracked_ignored_and_renamed_files(repository: Repository, tmp_path: Path) -> None:
    repository.write("new.cu", 1, 2)
    repository.git("add", "new.cu")
    repository.write("untracked.cu", 1)
    repository.write(".gitignore", "build/")
    repository.write("build/made.cu", 1)
    repository.git("mv", "old.cu", "sub folder.cu")
    repository.write("sub folder.cu", *range(1, 29), "end")
    for name in ("untracked.cu", "build/made.cu"):
        assert repository.changed(name) is None
    assert repository.changed("new.cu") == ChangedLines([range(1, 3)])
    assert repository.changed("sub folder.cu") == ChangedLines([range(29, 30)])
    assert repository.changed("../elsewhere.cu") is None
    # One that was taken out of the index and still is there is new as a whole:
    repository.git("rm", "--quiet", "--cached", "same.cu")
    assert repository.changed("same.cu") is None


@needs_posix
def test_names_of_any_letters_and_lines_that_look_like_headers(repository: Repository) -> None:
    names = ["with space.cu", 'qu"ote\\.cu', "new\nline.cu", "tab\t.cu", "漢.cu", "-x.cu"]
    names.append(os.fsdecode(b"\xff.cu"))
    for name in names:
        repository.write(name, 1, 2, 3)
    repository.commit()
    for name in names:
        repository.write(name, 1, "++ b/same.cu", "-- a/same.cu", "@@ -1 +1 @@", 3)
    for name in names:
        assert repository.changed(name) == ChangedLines([range(2, 5)])
    assert repository.changed("same.cu") == ChangedLines()


def test_errors_are_told(repository: Repository, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    with pytest.raises(ChangesError, match="alone: is in no git repository"):
        changes_since("main", alone)
    for revision in ("nowhere", "--output=x", "-h", "", "main..main", "HEAD:a.cu", "a\nb"):
        with pytest.raises(ChangesError, match="git knows no commit"):
            repository.changed("a.cu", revision)
    with pytest.raises(ChangesError):
        repository.changed("a.cu", "a\0b")
    repository.git("checkout", "--quiet", "--orphan", "other")
    repository.write("a.cu", "another root")
    repository.commit()
    with pytest.raises(ChangesError, match="no commit in common with this branch"):
        repository.changed("a.cu", "main")


def test_git_may_be_missing(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository.folder))
    with pytest.raises(ChangesError, match="git is not installed"):
        repository.changed("a.cu")


@needs_posix
def test_nothing_that_the_repository_names_is_run(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = repository.folder.parent / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 $@ >> {trap}.sprung\ncat\n")
    trap.chmod(0o755)
    hooks = repository.folder / ".git" / "hooks"
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-auto-gc"):
        shutil.copy(trap, hooks / hook)
    for key in (
        "core.fsmonitor", "core.pager", "pager.diff", "pager.ls-tree", "diff.external",
        "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge",
        "filter.ev=il.process", "core.sshCommand", "core.editor", "gpg.program",
        "core.alternateRefsCommand", "uploadpack.packObjectsHook", "interactive.diffFilter",
    ):  # fmt: skip
        repository.git("config", key, str(trap))
    repository.git("config", "filter.evil.required", "true")
    repository.git("config", "core.hooksPath", str(hooks))
    repository.git("config", "diff.ignoreSubmodules", "none")
    repository.git("config", "diff.noprefix", "true")
    repository.git("config", "diff.relative", "true")
    repository.git("config", "color.ui", "always")
    (repository.folder / ".gitattributes").write_text(
        "*.cu diff=evil filter=evil -text\nold.cu filter=ev=il\nsame.cu binary\n"
    )
    repository.write("a.cu", 1, 2, "three", *range(4, 9))
    repository.write("old.cu", *range(1, 29))
    repository.write("same.cu", 2)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    before = (repository.folder / ".git" / "index").read_bytes()
    assert repository.changed("a.cu") == ChangedLines([range(3, 4)])
    assert repository.changed("old.cu") == ChangedLines(removed=[28])
    assert repository.changed("same.cu") == ChangedLines([range(1, 2)])
    assert not Path(f"{trap}.sprung").exists()
    assert (repository.folder / ".git" / "index").read_bytes() == before
    # The trap does work:
    monkeypatch.delenv("GIT_DIR")
    subprocess.run(["git", "diff"], cwd=repository.folder, capture_output=True, check=False)
    assert Path(f"{trap}.sprung").exists()


@settings(deadline=None)
@given(st.lists(st.sampled_from(
    [b"--- a/x", b"+++ b/x", b"+++ /dev/null", b"@@ -1,2 +3,4 @@", b"@@ -1 +1 @@", b"-a", b"+b",
     b"\\ No newline", b"rename from x", b'rename to "\\', b'+++ "b/\\3', b"", b"@@ -0,0 +1,999 @@"]
)).map(b"\n".join))  # fmt: skip
def test_any_diff_is_read(diff: bytes) -> None:
    lines, _ = parse_diff(diff)
    for one in lines.values():
        one.touch(1, 5)
