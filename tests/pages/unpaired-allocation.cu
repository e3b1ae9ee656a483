#include <cuda_runtime.h>

__global__ void blur(float* image, const float* mask, int width) {
    image[threadIdx.x] *= mask[threadIdx.x] / width;
}

void soften(size_t bytes, int grid, int block, int width) {
    float *d_image, *d_mask;
    // @good
    cudaMalloc(&d_image, bytes);
    cudaMalloc(&d_mask, bytes);
    blur<<<grid, block>>>(d_image, d_mask, width);
    // @end
    // @page
}
