"""Types that are promoted on the way: bytes to integers to doubles."""

import cupy as cp


def main() -> float:
    pixels = cp.zeros((8_000, 8_000), dtype=cp.uint8)
    offsets = cp.arange(8_000, dtype=cp.int32)
    shifted = pixels + offsets
    scaled = shifted / 3
    mask = scaled > 100.0
    chosen = cp.where(mask, scaled, 0.0)
    return float(chosen.mean())


if __name__ == "__main__":
    print(main())
