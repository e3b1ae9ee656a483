"""Distances between all pairs of points, through broadcasting."""

import torch


def main() -> float:
    points = torch.rand(6_000, 8, device="cuda")
    centres = torch.rand(2_000, 8, device="cuda")
    offsets = points[:, None, :] - centres[None, :, :]
    distances = (offsets * offsets).sum(dim=2).sqrt()
    nearest = distances.argmin(dim=1)
    return nearest.float().mean().item()


if __name__ == "__main__":
    print(main())
