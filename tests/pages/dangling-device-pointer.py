import cupy as cp


def multiply(library, matrix, rows, columns):
    matrix = cp.asarray(matrix)
    # @page
