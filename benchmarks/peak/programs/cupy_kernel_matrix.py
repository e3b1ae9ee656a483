"""A kernel matrix and its product with a vector."""

import cupy as cp


def main() -> float:
    points = cp.random.rand(8_000, 64, dtype=cp.float32)
    squares = (points * points).sum(axis=1)
    products = points @ points.T
    distances = squares[:, None] + squares[None, :] - 2 * products
    similar = cp.exp(-distances)
    weights = cp.ones(8_000, dtype=cp.float32)
    return float((similar @ weights).sum())


if __name__ == "__main__":
    print(main())
