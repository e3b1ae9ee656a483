import torch
from torch import nn
from torch.utils.data import DataLoader


@torch.no_grad()
def predict(dataset):
    model = nn.Linear(64, 10).cuda()
    loader = DataLoader(dataset, batch_size=64)
    predictions = []
    # @page
