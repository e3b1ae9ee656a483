from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cudalint.doctor.addresses import GRANULE, Block, holes_of, window

BASE = 1 << 40
MEMORY = 24 * GRANULE
PARTS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=8)


def placed(parts: list[tuple[int, int]]) -> list[Block]:
    at, blocks = BASE, []
    for gap, length in [(0, parts[0][1]), *parts[1:]]:
        at += gap * GRANULE
        if at + length * GRANULE > BASE + MEMORY:
            break
        blocks.append(Block(at, length * GRANULE))
        at += length * GRANULE
    return blocks


@given(PARTS, st.integers(1, 26))
def test_the_fewest_bytes_whose_release_makes_room(
    parts: list[tuple[int, int]], asked: int
) -> None:
    blocks = placed(parts)
    costs = []
    for first in range(len(blocks) + 1):
        for last in range(first, len(blocks) + 1):
            low = blocks[first - 1].end if first else BASE
            high = blocks[last].start if last < len(blocks) else BASE + MEMORY
            if high - low >= asked * GRANULE:
                costs.append(sum(block.bytes for block in blocks[first:last]))
    found = window(blocks, asked * GRANULE, MEMORY)
    assert sum(block.bytes for block in found) == (min(costs) if costs else 0)


def test_gaps_of_another_mapping_are_no_holes() -> None:
    blocks = [Block(0, 512), Block(1024, 512), Block(1 << 40, 512)]
    assert [hole.bytes for hole in holes_of(blocks, exact=False)] == [512]
    assert len(holes_of(blocks, exact=True)) == 2
