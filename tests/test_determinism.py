"""The same findings and summaries, byte for byte, under any hash seed, number of workers, order of
files, and with or without the cache: all in fresh processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import goldens
from cudalint.analysis.values.values import Symbol, bag

FOLDERS = sorted(path for path in (Path(__file__).parent.parent / "fixtures").iterdir())
FIRST, *OTHERS = goldens.SEEDS


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_nothing_depends_on_the_hash_seed(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Each fixture under the first seed and another one; with CUDALINT_TEST_ALL_SEEDS=1, all."""
    every = bool(os.environ.get("CUDALINT_TEST_ALL_SEEDS"))
    tried = goldens.SEEDS if every else (FIRST, OTHERS[number])
    differences = goldens.seeds(FOLDERS[number :: len(OTHERS)], tried, workers=2)
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == len(tried) >= 2, "each seed ran"
    assert not differences, "\n".join(differences[:20])


def test_a_difference_is_seen(tmp_path: Path) -> None:
    for name, text in (("a", "one\n"), ("b", "two\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / goldens.FINDINGS).write_text(text)
        (tmp_path / name / goldens.SUMMARIES).write_text("same\n")
    assert goldens.compare(tmp_path / "a", tmp_path / "a") == []
    assert "+two" in goldens.compare(tmp_path / "a", tmp_path / "b")


def test_sets_are_written_in_order() -> None:
    texts = {goldens.stable({"b", "a", name}) for name in ("a", "b")}
    assert texts == {"{'a', 'b'}"}


def test_a_bag_is_the_same_whatever_order_it_is_made_in() -> None:
    one, two = Symbol("cudaMalloc#0@1.2"), Symbol("cudaMalloc#0@1.2", older=True)
    assert bag([one, two, one]) == bag(iter((two, one)))
    assert bag([two, one]).resources == (one, two)
