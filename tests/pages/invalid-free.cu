#include <cuda_runtime.h>

__global__ void normalize(float* samples, int length) { samples[threadIdx.x] /= length; }

void run(int grid, int block) {
    const int channels = 3, length = 256;
    float* d_samples;
    cudaMalloc(&d_samples, channels * length * sizeof(float));
    // @good
    float* cursor = d_samples;
    for (int channel = 0; channel < channels; ++channel) {
        normalize<<<grid, block>>>(cursor, length);
        cursor += length;
    }
    // @end
    // @page
}
