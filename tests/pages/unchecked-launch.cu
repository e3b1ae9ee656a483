// options: --preview
#include <cuda_runtime.h>

__global__ void scale(float* image, float factor, int n) {
    if (threadIdx.x < n) image[threadIdx.x] *= factor;
}

bool run(float* d_image, float* image, size_t bytes, int grid, int block, int n) {
    // @page
    return true;
}

int main() {
    float image[256], *d_image;
    if (cudaMalloc(&d_image, sizeof image) != cudaSuccess) return 1;
    bool done = run(d_image, image, sizeof image, 1, 256, 256);
    cudaFree(d_image);
    return done ? 0 : 1;
}
