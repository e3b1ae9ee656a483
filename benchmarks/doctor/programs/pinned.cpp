// A whole data set is pinned.
#include <cuda_runtime_api.h>
#include <cstdio>

int main() {
    float* device = nullptr;
    float* host = nullptr;
    if (cudaMalloc((void**)&device, 1 << 28) != cudaSuccess) return 2;
    if (cudaHostAlloc((void**)&host, size_t(100) << 30, cudaHostAllocDefault) != cudaSuccess) {
        std::fprintf(stderr, "out of memory\n");
        cudaFree(device);
        return 1;
    }
    cudaFreeHost(host);
    cudaFree(device);
    return 0;
}
