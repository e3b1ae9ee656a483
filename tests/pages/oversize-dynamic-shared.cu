#include <cuda_runtime.h>

__global__ void prefix_sum(const float* in, float* out, int size) {
    extern __shared__ float partial[];
    partial[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < size) out[threadIdx.x] = partial[threadIdx.x];
}

void run(const float* d_in, float* d_out, int grid) {
    // @good
    int size = 1024 * 1024;
    // @end
    // @page
}
