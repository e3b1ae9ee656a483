# options: --device-memory 12GiB
import cupy


def run():
    # @page
    return a
