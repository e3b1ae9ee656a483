from numba import cuda

blocks = 4


# @page
