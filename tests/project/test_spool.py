"""What is put by comes back, whatever became of the disk."""

from __future__ import annotations

import pytest

from cudalint.project.spool import Made, Spool


def test_bytes_come_back_from_memory_and_from_the_file() -> None:
    spool = Spool()
    pieces = [bytes([number]) * (number * 100_000) for number in range(12)]
    kept = [spool.put(piece) for piece in pieces]
    assert [spool.get(one) for one in reversed(kept)] == pieces[::-1]
    assert all(one.data is None for one in kept)
    more = spool.put(b"after reading")
    assert (spool.get(more), spool.get(kept[3])) == (b"after reading", pieces[3])


def test_a_full_disk_costs_memory_only(monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool()
    first = spool.put(b"first")

    class Full:
        def seek(self, place: int) -> None:
            raise OSError(28, "No space left on device")

    file = spool._file
    monkeypatch.setattr(spool, "_file", Full())
    second = spool.put(b"second")
    monkeypatch.setattr(spool, "_file", file)
    third = spool.put(b"third")
    assert [spool.get(one) for one in (first, second, third)] == [b"first", b"second", b"third"]


def test_a_sequence_makes_what_it_is_asked_for() -> None:
    asked: list[int] = []

    def make(number: int) -> bytes:
        asked.append(number)
        return b"%d" % number

    made = Made(3, make)
    assert (len(made), made[1], asked) == (3, b"1", [1])
    assert list(made) == [b"0", b"1", b"2"]
