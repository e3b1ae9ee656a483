import torch


def train(model, measure, samples, features, batch):
    # @page
        loss.backward()
