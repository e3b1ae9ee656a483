"""How sizes read."""

from __future__ import annotations

import pytest

from cudalint.project.units import size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (512, "512 bytes"),
        (1000, "1000 bytes"),
        (1024, "1 KiB"),
        (49152, "48 KiB"),
        (49156, "49156 bytes"),
        (50_000, "48.83 KiB"),
        (232_448, "227 KiB"),
        (4 << 20, "4 MiB"),
        (3 << 19, "1.5 MiB"),
        (256 << 20, "256 MiB"),
        (4 << 30, "4 GiB"),
        (800_000_000, "762.94 MiB"),
        (4_000_000_000, "3.73 GiB"),
        (288 * 1000**3, "268.22 GiB"),
        (1 << 44, "16 TiB"),
        (1_234_567_890, "1.15 GiB"),
        (1_600_000_000, "1.49 GiB"),
        (480_000, "468.75 KiB"),
        (1_920_000, "1.83 MiB"),
        (100 << 20, "100 MiB"),
        (50_001, "48.83 KiB"),
        (64_000, "62.5 KiB"),
        (4 * 1024**3 + 4, "4294967300 bytes"),
        (-2_147_483_648, "-2147483648 bytes"),
    ],
)
def test_sizes_for_people(size: int, text: str) -> None:
    assert size_text(size) == text
