#include <cublas_v2.h>
#include <cuda_runtime.h>

void multiply(const float* d_a, const float* d_b, float* d_c, float* h_c, int n, size_t bytes) {
    const float one = 1, zero = 0;
    cublasHandle_t handle;
    // @good
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, d_a, n, d_b, n, &zero, d_c, n);
    // @end
    // @page
}
