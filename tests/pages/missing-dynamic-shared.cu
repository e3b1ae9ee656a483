#include <cuda_runtime.h>

// @bad
// @page 1-3
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

void run(const float* d_in, float* d_out, int grid) {
    // @page 6
}
// @end
// @good
__global__ void reduce(const float* in, float* out) {
    extern __shared__ float partial[];
    partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

void run(const float* d_in, float* d_out, int grid) {
    // @page
}
// @end
