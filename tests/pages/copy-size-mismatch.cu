#include <cuda_runtime.h>

void run(const float3* h_points, size_t n) {
    float3* d_points;
    // @good
    cudaMalloc(&d_points, n * sizeof(float3));
    // @end
    // @page
    cudaFree(d_points);
}
