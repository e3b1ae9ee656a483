import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader


def train(model, optimizer, dataset):
    loader = DataLoader(dataset, batch_size=64)
    class_weights = torch.rand(1000)
    # @page
        loss.backward()
        optimizer.step()
