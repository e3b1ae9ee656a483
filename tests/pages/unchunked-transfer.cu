// options: --device-memory 6GiB
#include <algorithm>
#include <cuda_runtime.h>

__global__ void summarise(const float* rows, float* sums) { sums[threadIdx.x] = rows[threadIdx.x]; }

// @bad
void run(const float* h_rows, float* d_sums, int grid, int block) {
    float* d_rows;
    // @page
    cudaFree(d_rows);
}
// @end
// @good
void run(const char* h_rows, float* d_sums, int grid, int block, cudaStream_t stream) {
    const size_t total = 4ULL << 30, chunk = 64 << 20;
    float* d_chunk;
    cudaMalloc(&d_chunk, chunk);
    // @page
    cudaStreamSynchronize(stream);
    cudaFree(d_chunk);
}
// @end
