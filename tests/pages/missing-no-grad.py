import torch
from torch import nn
from torch.utils.data import DataLoader


def evaluate(dataset):
    model = nn.Linear(64, 10).cuda()
    loader = DataLoader(dataset, batch_size=64)
    right = 0
    # @page
    return right
