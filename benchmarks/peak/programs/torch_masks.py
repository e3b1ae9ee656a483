"""Comparisons and selections over a large picture."""

import torch


def main() -> float:
    picture = torch.rand(12_000, 10_000, device="cuda")
    bright = picture > 0.75
    dark = picture < 0.25
    either = bright | dark
    flattened = torch.where(either, picture, torch.zeros_like(picture))
    return flattened.sum().item()


if __name__ == "__main__":
    print(main())
