"""Copies a volume to lower precision and back, keeping all three until the end."""

import torch


def main() -> float:
    volume = torch.zeros(512, 512, 256, device="cuda")
    volume += 0.5
    compact = volume.half()
    restored = compact.float()
    error = (restored - volume).abs()
    worst = error.max()
    del compact, error
    doubled = restored.double()
    return (worst + doubled.mean()).item()


if __name__ == "__main__":
    print(main())
