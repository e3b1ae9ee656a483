import cupy

source = r"""
extern "C" __global__ void histogram(const int* keys, int* bins, int n) {
    extern __shared__ int counts[];
    counts[threadIdx.x] = 0;
    if (threadIdx.x < n) bins[keys[threadIdx.x]] = counts[threadIdx.x];
}
"""


def run(keys, bins, n, grid, block):
    # @good
    histogram = cupy.RawKernel(source, "histogram")
    # @end
    # @page
    # @good
    histogram((grid,), (block,), (keys, bins, n), shared_mem=64 * 1024)
    # @end
