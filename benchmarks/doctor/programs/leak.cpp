// Each step loses its scratch memory.
#include <cuda_runtime_api.h>
#include <cstdio>

static bool step(size_t bytes) {
    void* scratch = nullptr;
    if (cudaMalloc(&scratch, bytes) != cudaSuccess) return false;
    cudaMemset(scratch, 0, 1024);
    return true;
}

int main() {
    void* weights = nullptr;
    if (cudaMalloc(&weights, size_t(4) << 30) != cudaSuccess) return 2;
    int done = 0;
    while (step(size_t(1) << 30)) done++;
    std::fprintf(stderr, "out of memory in step %d\n", done);
    cudaFree(weights);
    return 1;
}
