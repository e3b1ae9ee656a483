"""A chain of matrix products, whose intermediate results are rebound."""

import torch


def main() -> float:
    size = 8_192
    left = torch.randn(size, size, device="cuda", dtype=torch.float16)
    right = torch.randn(size, size, device="cuda", dtype=torch.float16)
    product = left @ right
    for _ in range(3):
        product = product @ right
        product = product / 128.0
    total = product.float().sum()
    return total.item()


if __name__ == "__main__":
    print(main())
