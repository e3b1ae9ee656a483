#include <cuda_runtime.h>
#include <cstdio>

void run(const float* d_mean, cudaStream_t stream) {
    float* h_mean;
    cudaMallocHost(&h_mean, sizeof(float));
    // @page
    cudaFreeHost(h_mean);
}
