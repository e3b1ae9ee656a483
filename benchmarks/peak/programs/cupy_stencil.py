"""Steps of the heat equation with slices and temporaries."""

import cupy as cp


def main() -> float:
    grid = cp.zeros((6_000, 6_000), dtype=cp.float32)
    grid[0, :] = 1
    for _ in range(20):
        inner = grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
        grid[1:-1, 1:-1] = inner * cp.float32(0.25)
    return float(grid.sum())


if __name__ == "__main__":
    print(main())
