#include <cuda_runtime.h>

void load(size_t bytes) {
    float* h_frame;
    cudaArray_t lookup;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    // @good
    cudaMallocHost(&h_frame, bytes);
    cudaMallocArray(&lookup, &format, 256);
    // @end
    // @page
}
