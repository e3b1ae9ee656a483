from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.doctor import snapshot as reader
from cudalint.doctor.causes import causes
from cudalint.doctor.pickles import PickleError
from cudalint.doctor.record import Case
from cudalint.doctor.snapshot import read_snapshot
from tests.doctor.snapshots import MIB, Recorder, frames

TRAIN = frames(("train.py", 30, "step"), ("train.py", 50, "<module>"))
MODEL = frames(
    ("/v/site-packages/torch/nn/functional.py", 1701, "relu"), ("train.py", 12, "forward"),
)  # fmt: skip


def fragmented() -> Recorder:
    made = Recorder()
    for _ in range(6):
        made.segment(("active_allocated", 60 * MIB, TRAIN), ("inactive", 40 * MIB, None))
    made.event("oom", 0, 64 * MIB, MODEL, device_free=10 * MIB)
    return made


def test_live_bytes_by_site_and_the_largest_hole() -> None:
    found = read_snapshot(fragmented().dumped())
    assert (found.live, found.cached, found.process) == (360 * MIB, 240 * MIB, 600 * MIB)
    assert (found.largest, found.holes) == (40 * MIB, 6)
    assert (found.asked, found.free) == (64 * MIB, 10 * MIB)
    assert [(site.place, site.bytes, site.count) for site in found.sites] == [
        ("train.py:30 (step)", 360 * MIB, 6)
    ]
    assert found.stack[-1] == "train.py:12 (forward)"
    assert causes(Case(failure=found))[0].name == "cache-fragmentation"


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_every_protocol(protocol: int) -> None:
    assert read_snapshot(fragmented().dumped(protocol)) == read_snapshot(fragmented().dumped())


def test_adjacent_free_blocks_are_one_hole() -> None:
    made = Recorder()
    made.segment(
        ("active_allocated", MIB, TRAIN), ("inactive", 2 * MIB, None), ("inactive", 3 * MIB, None),
        ("active_awaiting_free", MIB, MODEL),
    )  # fmt: skip
    found = read_snapshot(made.dumped())
    assert found.largest == 5 * MIB
    assert {site.place for site in found.between} == {"train.py:30 (step)", "train.py:12 (forward)"}


def test_the_peak_and_the_growth_of_the_trace() -> None:
    made = Recorder()
    made.event("alloc", 1 << 40, 100 * MIB, TRAIN)
    made.event("free_completed", 1 << 40, 100 * MIB, TRAIN)
    made.segment(("active_allocated", 30 * MIB, TRAIN))
    found = read_snapshot(made.dumped())
    assert (found.peak, found.growth, found.live) == (100 * MIB, 30 * MIB, 30 * MIB)


def test_without_history() -> None:
    made = Recorder(history=False)
    made.segment(("active_allocated", 30 * MIB, None))
    found = read_snapshot(made.dumped())
    assert found.peak is None
    assert "_record_memory_history" in found.notes[0]
    assert "unknown place" in found.sites[0].place


def test_frames_of_older_versions() -> None:
    made = Recorder(history=False)
    made.segment(("active_allocated", 30 * MIB, None))
    made.segments[0]["blocks"][0]["history"] = [{"addr": 1, "real_size": 1, "frames": TRAIN}]
    assert read_snapshot(made.dumped()).sites[0].place == "train.py:30 (step)"


def test_a_kept_graph() -> None:
    made = Recorder()
    for _ in range(20):
        made.segment(("active_allocated", 64 * MIB, MODEL))
        made.segment(("active_allocated", 32 * MIB, TRAIN))
    made.event("oom", 0, 64 * MIB, MODEL, device_free=0)
    assert causes(Case(failure=read_snapshot(made.dumped())))[0].name == "kept-graph"


@pytest.mark.parametrize(
    "data", [[], {}, {"segments": 3}, {"segments": [3]}, {"segments": [{"blocks": [None]}]}]
)
def test_what_is_no_snapshot(data: object) -> None:
    with pytest.raises(PickleError):
        read_snapshot(pickle.dumps(data))


def test_values_of_other_types_are_unknown() -> None:
    odd = {"segments": [{"total_size": "x", "blocks": [{"size": None, "state": 7, "frames": {}}]}],
           "device_traces": [[{"action": [], "addr": -1, "size": 1 << 90}]]}  # fmt: skip
    assert read_snapshot(pickle.dumps(odd)).live == 0


def test_parts_that_are_shared_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A billion laughs: a small file of lists that hold each other many times."""
    monkeypatch.setattr(reader, "_MOST", 50_000)
    block = {"size": 1, "state": "active_allocated", "frames": TRAIN}
    segment = {"blocks": [block] * 1000}
    with pytest.raises(PickleError, match="too much"):
        read_snapshot(pickle.dumps({"segments": [segment] * 1000}))


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(fragmented().dumped())
    status = main(["doctor", "--isolated", "--output-format=json", "--snapshot", str(path)])
    report = json.loads(capsys.readouterr().out)
    assert status == 1
    assert report["failure"]["largest"] == 40 * MIB
    assert report["causes"][0]["name"] == "cache-fragmentation"
    path.write_bytes(b"\x80\x02cos\nsystem\n.")
    assert main(["doctor", "--isolated", "--snapshot", str(path)]) == 2
    assert "not executed" in capsys.readouterr().err
