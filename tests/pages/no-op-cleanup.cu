#include <cuda_runtime.h>

__global__ void relax(float* grid, int n) { grid[threadIdx.x] /= n; }

void solve(size_t bytes, int blocks, int threads, int n) {
    float* d_grid;
    // @good
    cudaMalloc(&d_grid, bytes);
    // @end
    // @page
}
