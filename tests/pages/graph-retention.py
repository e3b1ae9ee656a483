import torch
from torch import nn
from torch.utils.data import DataLoader


def train(dataset):
    model = nn.Linear(64, 10).cuda()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(dataset, batch_size=64)
    total = 0
    # @page
    return total
