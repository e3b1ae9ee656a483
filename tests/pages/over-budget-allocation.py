# options: --device-memory 3GiB
import torch


def consume(noise):
    print(noise.mean().item())


def run():
    # @page
    # @bad
    consume(noise)
    # @end
