import torch


def run(n):
    scores = torch.rand(n, device="cuda")
    # @page
