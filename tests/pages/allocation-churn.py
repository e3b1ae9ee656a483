# also: GPU504
import torch


def consume(noise):
    print(noise.mean().item())


def run(sizes):
    # @page
