// options: --device-memory 3GiB
#include <algorithm>
#include <cuda_runtime.h>

void run(size_t table_bytes) {
    // @good
    float* d_table;
    // @end
    // @page
    cudaFree(d_table);
}
