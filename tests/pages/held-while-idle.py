import time

import torch


def run():
    # @page
