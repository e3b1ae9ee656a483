#include <cuda_runtime.h>

__global__ void convolve(const float* in, float* out, int width, int height) {
    out[threadIdx.x] = in[threadIdx.y] / (width * height);
}

void run(const float* d_in, float* d_out, int width, int height, dim3 grid) {
    // @page
}
