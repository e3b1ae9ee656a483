"""Snapshots are read without a pickle being executed: hostile ones are refused."""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.doctor.pickles import PickleError, load

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats(allow_nan=False)
    | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner)
    | st.tuples(inner, inner),
    max_leaves=30,
)  # fmt: skip


@given(PLAIN, st.integers(2, 5))
def test_reads_plain_data_as_pickle_does(data: object, protocol: int) -> None:
    assert load(pickle.dumps(data, protocol)) == data


@given(st.binary(max_size=300))
def test_anything_is_data_or_an_error(data: bytes) -> None:
    for text in (data, b"\x80\x04" + data):
        with contextlib.suppress(PickleError):
            load(text)


@given(PLAIN, st.data())
def test_what_is_cut_off_is_an_error(data: object, draw: st.DataObject) -> None:
    whole = pickle.dumps(data)
    with pytest.raises(PickleError):
        load(whole[: draw.draw(st.integers(0, len(whole) - 1))])


class _Calls:
    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self._call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self._call


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_nothing_is_called(tmp_path: Path, protocol: int) -> None:
    mark = tmp_path / "executed"
    for hostile in (
        _Calls(os.system, f"touch {mark}"),
        {"segments": [_Calls(exec, f"open({str(mark)!r}, 'w')")]},
        [_Calls(__import__, "antigravity")],
        _Calls(Path.touch, mark),
    ):
        with pytest.raises(PickleError, match="not executed"):
            load(pickle.dumps(hostile, protocol))
    assert not mark.exists()


@pytest.mark.parametrize(
    ("hostile", "says"),
    [
        (b"cos\nsystem\n(S'id'\ntR.", "no pickle of protocol"),
        (b"\x80\x02cos\nsystem\n.", "names a class"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "names a class"),
        (b"\x80\x02(i__main__\nThing\n.", "names a class"),
        (b"\x80\x02P1\n.", "outside"),
        (b"\x80\x02}}b.", "state of an object"),
        (b"\x80\x02\x82\x01.", "registered"),
        (b"\x80\x02X" + struct.pack("<I", 2**32 - 1) + b"a.", "cut off"),
        (b"\x80\x04\x8d" + struct.pack("<Q", 2**63) + b"a.", "cut off"),
        (b"\x80\x02\x8a\xff" + b"\x01" * 255 + b".", "integer of 255 bytes"),
        (b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b".", "plain data"),
        (b"\x80\x02e.", "end without"),
        (b"\x80\x02h\x05.", "no"),
        (b"\x80\x02](K\x01K\x01u.", "added to"),
        (b"\x80\x02}(]K\x01u.", "key"),
        (b"\x80\x02}(K\x01u.", "no value"),
        (b"\x80\x02.", "not there"),
        (b"\x80\x02]", "cut off"),
        (b"", "no pickle"),
    ],
)  # fmt: skip
def test_hostile_opcodes(hostile: bytes, says: str) -> None:
    with pytest.raises(PickleError, match=says):
        load(hostile)


def test_no_number_decides_how_much_memory_is_taken() -> None:
    """The memo of pickle's own reader grows to the number that a file names."""
    hostile = b"\x80\x02]r" + struct.pack("<I", 2**31) + b"r" + struct.pack("<I", 2**32 - 1) + b"."
    tracemalloc.start()
    assert load(hostile) == []
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_what_refers_to_itself_is_read() -> None:
    own: list[object] = []
    own.append(own)
    found = load(pickle.dumps(own))
    assert found[0] is found
