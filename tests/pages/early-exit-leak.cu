#include <cuda_runtime.h>
#include <memory>

__global__ void scale(float* values, int n) {
    if (threadIdx.x < n) values[threadIdx.x] *= 2;
}

struct CudaDeleter {
    void operator()(float* values) const { cudaFree(values); }
};

float* allocate(size_t bytes) {
    float* values = nullptr;
    cudaMalloc(&values, bytes);
    return values;
}

bool run(const float* h_out, size_t bytes, int n, int grid, int block) {
    // @bad
    float* d_out;
    // @end
    // @page
    // @good
    scale<<<grid, block>>>(out.get(), n);
    return true;
    // @end
}
