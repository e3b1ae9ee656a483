#include <cuda_runtime.h>
#include <cstdio>

bool run() {
    float* d_cube;
    // @page
    // @good
    cudaMemset(d_cube, 0, 4ULL << 30);
    // @end
    cudaFree(d_cube);
    return true;
}
