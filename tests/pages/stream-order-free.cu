#include <cuda_runtime.h>

__global__ void blur(float* tile) { tile[threadIdx.x] /= 2; }

void run(size_t bytes, int grid, int block) {
    float* d_tile;
    cudaStream_t compute, cleanup;
    cudaEvent_t blurred;
    cudaStreamCreate(&compute);
    cudaStreamCreate(&cleanup);
    cudaEventCreate(&blurred);
    cudaMallocAsync(&d_tile, bytes, compute);
    // @page
    cudaEventDestroy(blurred);
    cudaStreamDestroy(cleanup);
    cudaStreamDestroy(compute);
}
