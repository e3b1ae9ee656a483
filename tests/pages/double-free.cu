#include <cuda_runtime.h>

void read(float* h_sum, size_t bytes) {
    float* d_sum;
    cudaMalloc(&d_sum, bytes);
    // @page
}
