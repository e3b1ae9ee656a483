// A library that is shipped without its source: built without `-g`.
#include <cuda_runtime_api.h>

extern "C" void* vendor_plan(size_t bytes) {
    void* workspace = nullptr;
    return cudaMalloc(&workspace, bytes) == cudaSuccess ? workspace : nullptr;
}
