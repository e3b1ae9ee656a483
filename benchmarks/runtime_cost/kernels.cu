// Kernel-heavy: launches of a stencil over 4 Mi floats; with the argument `empty`, of a kernel that
// does nothing, so that launching is all there is. Prints its seconds.
#include <cuda_runtime.h>
#include <chrono>
#include <cstdio>

__global__ void smooth(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

__global__ void nothing() {}

static bool launches(float* a, float* b, int n, int count, bool empty) {
  for (int step = 0; step < count; step++) {
    if (empty) {
      nothing<<<1, 32>>>();
    } else {
      smooth<<<(n + 255) / 256, 256>>>(a, b, n);
      float* other = a;
      a = b;
      b = other;
    }
    if (cudaGetLastError() != cudaSuccess) return false;
  }
  return cudaDeviceSynchronize() == cudaSuccess;
}

int main(int argc, char**) {
  const bool empty = argc > 1;
  const int n = 1 << 22;
  float *a = nullptr, *b = nullptr;
  if (cudaMalloc(&a, n * sizeof(float)) != cudaSuccess) return 1;
  if (cudaMalloc(&b, n * sizeof(float)) != cudaSuccess) {
    cudaFree(a);
    return 1;
  }
  bool good = cudaMemset(a, 0, n * sizeof(float)) == cudaSuccess && launches(a, b, n, 100, empty);
  const auto start = std::chrono::steady_clock::now();
  good = good && launches(a, b, n, 30000, empty);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  cudaFree(b);
  cudaFree(a);
  std::printf("seconds %.6f\n", spent.count());
  return good ? 0 : 1;
}
