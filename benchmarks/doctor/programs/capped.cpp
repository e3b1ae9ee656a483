// Fits a whole device, not a slice of it.
#include <cuda_runtime_api.h>
#include <cstdio>

int main() {
    void *weights = nullptr, *activations = nullptr;
    if (cudaMalloc(&weights, size_t(6) << 30) != cudaSuccess) return 2;
    bool fits = cudaMalloc(&activations, size_t(9) << 30) == cudaSuccess;
    std::fprintf(stderr, fits ? "it fits\n" : "out of memory\n");
    if (fits) cudaFree(activations);
    cudaFree(weights);
    return fits ? 0 : 1;
}
