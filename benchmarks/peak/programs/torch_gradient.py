"""One step of gradient descent on a small network that is written out."""

import torch


def main() -> float:
    inputs = torch.randn(16_384, 2_048, device="cuda")
    targets = torch.randn(16_384, 512, device="cuda")
    first = torch.randn(2_048, 4_096, device="cuda", requires_grad=True)
    second = torch.randn(4_096, 512, device="cuda", requires_grad=True)
    hidden = torch.tanh(inputs @ first)
    outputs = hidden @ second
    difference = outputs - targets
    loss = (difference * difference).mean()
    loss.backward()
    return loss.item()


if __name__ == "__main__":
    print(main())
