"""Sorts a sample and looks at its quantiles."""

import cupy as cp


def main() -> float:
    sample = cp.random.rand(40_000_000, dtype=cp.float32)
    ordered = cp.sort(sample)
    steps = ordered[1:] - ordered[:-1]
    joined = cp.concatenate((steps, ordered))
    return float(joined.max())


if __name__ == "__main__":
    print(main())
