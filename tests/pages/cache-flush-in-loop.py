import torch
from torch.utils.data import DataLoader


def train(model, criterion, optimizer, dataset, target):
    model.cuda()
    loader = DataLoader(dataset, batch_size=64)
    # @page
