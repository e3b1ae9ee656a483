# options: --preview
import numpy as np
from numba import cuda


def run(n):
    upload = cuda.stream()
    # @page
    upload.synchronize()
    return d_frame
