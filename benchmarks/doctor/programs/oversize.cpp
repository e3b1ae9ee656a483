// One matrix of a wrong shape.
#include <cuda_runtime_api.h>
#include <cstdio>

int main() {
    const size_t rows = 1 << 20, columns = 1 << 18;
    float* matrix = nullptr;
    if (cudaMalloc((void**)&matrix, rows * columns * sizeof(float)) != cudaSuccess) {
        std::fprintf(stderr, "out of memory\n");
        return 1;
    }
    cudaFree(matrix);
    return 0;
}
