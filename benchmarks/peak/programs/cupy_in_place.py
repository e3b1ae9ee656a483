"""The in-place form of a formula: two arrays and no temporaries."""

import cupy as cp


def main() -> float:
    signal = cp.linspace(0.0, 1.0, 50_000_000)
    result = cp.empty_like(signal)
    cp.multiply(signal, signal, out=result)
    result *= 0.5
    result += signal
    cp.sqrt(result, out=result)
    return float(result.mean())


if __name__ == "__main__":
    print(main())
