"""Moments of a large sample, in CuPy's default of double precision."""

import cupy as cp


def main() -> float:
    sample = cp.random.rand(30_000_000)
    centred = sample - sample.mean()
    third = (centred**3).mean()
    fourth = (centred * centred * centred * centred).mean()
    return float(third + fourth)


if __name__ == "__main__":
    print(main())
