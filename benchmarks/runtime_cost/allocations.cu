// Allocation-heavy: 20,000 rounds of cudaMalloc, cudaMemsetAsync and cudaFree. Prints its seconds.
#include <cuda_runtime.h>
#include <chrono>
#include <cstdio>

static bool rounds(int count) {
  for (int round = 0; round < count; round++) {
    const size_t bytes = size_t(4096) << (round % 11);
    void* block = nullptr;
    if (cudaMalloc(&block, bytes) != cudaSuccess) return false;
    if (cudaMemsetAsync(block, round & 0xFF, bytes) != cudaSuccess) return false;
    if (cudaFree(block) != cudaSuccess) return false;
  }
  return cudaDeviceSynchronize() == cudaSuccess;
}

int main() {
  if (!rounds(100)) return 1;
  const auto start = std::chrono::steady_clock::now();
  if (!rounds(20000)) return 1;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  std::printf("seconds %.6f\n", spent.count());
  return 0;
}
