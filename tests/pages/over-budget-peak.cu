// options: --device-memory 16GiB
#include <cuda_runtime.h>

void run() {
    // @bad
    float *d_grid, *d_next;
    // @end
    // @good
    float* d_half;
    // @end
    // @page
    // @bad
    cudaFree(d_next);
    cudaFree(d_grid);
    // @end
    // @good
    cudaFree(d_half);
    // @end
}
