#include <cuda_runtime.h>

__global__ void blur(float* image, const float* mask, int width) {
    image[threadIdx.x] *= mask[threadIdx.x] / width;
}

void soften(float* d_image, size_t bytes, int grid, int block, int width) {
    float* d_mask;
    // @page
}
