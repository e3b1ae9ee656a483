import torch
from torch import nn
from torch.utils.data import DataLoader


def train(dataset, criterion):
    cell = nn.GRUCell(64, 64).cuda()
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
    loader = DataLoader(dataset, batch_size=64)
    state = torch.zeros(64, 64, device="cuda")
    # @page
