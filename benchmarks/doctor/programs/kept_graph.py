"""The sum of the losses keeps the graph of every pass."""

import torch

model = torch.nn.Sequential(
    torch.nn.Linear(8192, 8192),
    torch.nn.ReLU(),
    torch.nn.Linear(8192, 8192),
    torch.nn.ReLU(),
    torch.nn.Linear(8192, 1),
).cuda()
total = torch.zeros((), device="cuda")
while True:
    batch = torch.randn(16384, 8192, device="cuda")
    total = total + model(batch).pow(2).mean()
