#include <cuda_runtime.h>
#include <cstdio>

__global__ void reduce(const float* values, float* sum) { atomicAdd(sum, values[threadIdx.x]); }

void total(const float* d_values) {
    // @good
    float* d_sum;
    cudaMalloc(&d_sum, sizeof(float));
    reduce<<<1, 256>>>(d_values, d_sum);
    // @end
    // @page
    cudaFree(d_sum);
}
