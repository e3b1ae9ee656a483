#include <cuda_runtime.h>

void read(int* h_histogram, size_t bytes) {
    int* d_histogram;
    cudaMalloc(&d_histogram, bytes);
    // @page
}
