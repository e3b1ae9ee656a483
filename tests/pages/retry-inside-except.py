import torch


def run(model, batch):
    # @page
    return output
