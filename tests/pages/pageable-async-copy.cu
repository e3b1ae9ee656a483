// options: --preview
#include <cuda_runtime.h>
#include <vector>

void run(float* d_frame, size_t n, cudaStream_t upload) {
    size_t bytes = n * sizeof(float);
    // @page
    cudaStreamSynchronize(upload);
    // @good
    cudaFreeHost(frame);
    // @end
}
