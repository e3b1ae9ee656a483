#include <cuda_runtime.h>

void run() {
    unsigned char* d_image;
    // @good
    const int width = 32768, height = 32768, channels = 4;
    // @end
    // @page
    cudaFree(d_image);
}
