from cuda.bindings import runtime as cudart


def load(path, keys):
    with open(path, "rb") as file:
        values = file.read()
    if not values:
        raise ValueError(path)
    cudart.cudaMemset(keys, values[0], len(values))


def sort(path, size):
    # @good
    err, d_keys = cudart.cudaMalloc(size)
    # @end
    # @page


def main(paths):
    for path in paths:
        try:
            sort(path, 4096)
        except ValueError as error:
            print(error)


main(["a.keys", "b.keys"])
