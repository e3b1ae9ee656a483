"""The cache returns what was stored, as long as everything it depends on is unchanged."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cudalint import __version__
from cudalint.project.cache import FOLDER_NAME, Cache, Memory, MemoryCache, digest, remove


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / FOLDER_NAME


def entry_of(folder: Path) -> Path:
    (entry,) = folder.rglob("*.msgpack")
    return entry


def test_what_is_stored_is_loaded_by_another_process(folder: Path) -> None:
    key = digest("a", b"b")
    Cache(folder).store(key, b"payload")
    assert Cache(folder).load(key) == b"payload"
    assert Cache(folder).load(digest("ab")) is None
    assert (folder / ".gitignore").read_text().endswith("*\n")
    assert (folder / __version__).is_dir()


def test_parts_of_a_digest_do_not_run_together() -> None:
    assert digest("ab", "c") != digest("a", "bc")


def test_a_changed_header_invalidates(folder: Path, tmp_path: Path) -> None:
    header, missing = tmp_path / "a.h", tmp_path / "b.h"
    header.write_text("1")
    Cache(folder).store("key", b"payload", [str(header), str(missing)])
    assert Cache(folder).load("key") == b"payload"
    missing.write_text("now it exists")
    assert Cache(folder).load("key") is None
    missing.unlink()
    header.write_text("2")
    assert Cache(folder).load("key") is None


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device that never ends")
def test_devices_are_not_read(folder: Path) -> None:
    Cache(folder).store("key", b"payload", ["/dev/zero", "a\0b", "/dev"])
    assert Cache(folder).load("key") == b"payload"


@pytest.mark.parametrize(
    "damage", [b"", b"\xc1", b"\x92\xc4\x07payl", b"not messagepack", b"\x93\x01\x02\x03"]
)
def test_damaged_entries_are_ignored_and_rewritten(folder: Path, damage: bytes) -> None:
    Cache(folder).store("key", b"payload")
    entry_of(folder).write_bytes(damage)
    assert Cache(folder).load("key") is None
    Cache(folder).store("key", b"payload")
    assert Cache(folder).load("key") == b"payload"


def test_a_folder_that_cannot_be_made_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    cache.store("key", b"payload")
    assert cache.load("key") is None


def test_old_entries_go(folder: Path) -> None:
    Cache(folder).store("old", b"payload")
    long_ago = time.time() - 60 * 24 * 3600
    os.utime(entry_of(folder), (long_ago, long_ago))
    abandoned = entry_of(folder).parent / "tmp12345678.tmp"
    abandoned.write_bytes(b"half of it")
    os.utime(abandoned, (long_ago, long_ago))
    precious = folder / "precious.txt"
    precious.write_text("not ours")
    os.utime(precious, (long_ago, long_ago))
    cache = Cache(folder)
    cache.store("new", b"payload")
    cache.trim()
    assert Cache(folder).load("old") is None and not abandoned.exists()
    assert Cache(folder).load("new") == b"payload"
    assert precious.exists()


def test_a_cache_has_an_end(folder: Path) -> None:
    cache = Cache(folder, largest=5000)
    keys = [digest(str(number)) for number in range(10)]
    for number, key in enumerate(keys):
        cache.store(key, b"x" * 1000)
        os.utime(cache._path(key), (10**9 + number, time.time() - 100 + number))
    cache.trim()
    assert [cache.load(key) is not None for key in keys] == [False] * 6 + [True] * 4
    assert sum(path.stat().st_size for path in folder.rglob("*.msgpack")) <= 5000


def test_remove_takes_caches_only(folder: Path, tmp_path: Path) -> None:
    assert remove(folder) is False
    Cache(folder).store("key", b"payload")
    assert remove(folder) is True and not folder.exists()
    precious = tmp_path / "precious"
    precious.mkdir()
    with pytest.raises(OSError, match="does not look like a cache"):
        remove(precious)


def test_what_nobody_saved_is_kept_in_memory(folder: Path) -> None:
    memory = Memory(1000)
    MemoryCache(folder, memory, lasting=False).store("key", b"payload")
    assert not folder.exists()
    assert MemoryCache(folder, memory, lasting=False).load("key") == b"payload"
    MemoryCache(folder, memory, lasting=True).store("other", b"payload")
    assert Cache(folder).load("other") == b"payload"
    assert MemoryCache(folder, Memory(1000), lasting=False).load("other") == b"payload"


def test_memory_has_an_end() -> None:
    memory = Memory(10)
    memory.keep("a", b"1234")
    memory.keep("b", b"1234")
    assert memory.fetch("a") == b"1234"
    memory.keep("c", b"1234")
    assert [memory.fetch(key) for key in "abc"] == [b"1234", None, b"1234"]
    memory.keep("c", b"12345678901")
    assert [memory.fetch(key) for key in "abc"] == [None, None, None]
