#include <cuda_runtime.h>
#include <vector>

void run(size_t n) {
    const size_t bytes = n * sizeof(float);
    std::vector<float> result(n);
    float *h_result = result.data(), *d_result;
    cudaMalloc(&d_result, bytes);
    cudaMemset(d_result, 0, bytes);
    // @page
    cudaFree(d_result);
}
