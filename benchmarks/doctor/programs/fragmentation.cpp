// Every second block is freed: half of the memory is free, and no large block fits.
#include <cuda_runtime_api.h>
#include <cstdio>
#include <vector>

int main() {
    size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    const size_t block = total / 64;
    std::vector<void*> kept, dropped;
    for (int i = 0; i < 64; i++) {
        void* p = nullptr;
        if (cudaMalloc(&p, block) != cudaSuccess) break;
        (i % 2 ? kept : dropped).push_back(p);
    }
    for (void* p : dropped) cudaFree(p);
    void* large = nullptr;
    bool fits = cudaMalloc(&large, 4 * block) == cudaSuccess;
    std::fprintf(stderr, fits ? "it fits\n" : "out of memory\n");
    cudaFree(large);
    for (void* p : kept) cudaFree(p);
    return fits ? 0 : 1;
}
