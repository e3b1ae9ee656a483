#include <cuda_runtime.h>

// @bad
// @page 1-2
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 96 + threadIdx.x];
    __syncthreads();
    out[threadIdx.x * 96 + threadIdx.y] = tile[threadIdx.y][threadIdx.x];
}

void run(const double* in, double* out, dim3 grid, dim3 block) {
    transpose<<<grid, block>>>(in, out);
}
// @end
// @good
__global__ void transpose(const double* in, double* out) {
    // @page 1
    tile[threadIdx.y * 96 + threadIdx.x] = in[threadIdx.y * 96 + threadIdx.x];
    __syncthreads();
    out[threadIdx.x * 96 + threadIdx.y] = tile[threadIdx.y * 96 + threadIdx.x];
}

void run(const double* in, double* out, dim3 grid, dim3 block) {
    size_t bytes = 96 * 96 * sizeof(double);
    // @page 3-4
}
// @end
