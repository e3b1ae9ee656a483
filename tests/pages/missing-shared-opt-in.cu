#include <cuda_runtime.h>

__global__ void histogram(const int* keys, int* bins, int n) {
    extern __shared__ int counts[];
    counts[threadIdx.x] = 0;
    if (threadIdx.x < n) bins[keys[threadIdx.x]] = counts[threadIdx.x];
}

void run(const int* d_keys, int* d_bins, int n, int grid, int block) {
    // @good
    size_t bytes = 64 * 1024;
    // @end
    // @page
}
