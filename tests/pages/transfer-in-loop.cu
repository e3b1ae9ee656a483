#include <cuda_runtime.h>

__global__ void apply(const float* table, float* images) { images[threadIdx.x] *= table[0]; }

void run(const float* table, float* d_table, float* d_images, size_t bytes, int rounds, int pixels,
         int grid, int block) {
    // @page
}
