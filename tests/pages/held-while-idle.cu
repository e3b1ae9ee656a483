#include <chrono>
#include <cuda_runtime.h>
#include <thread>

bool summarize(float* table) { return cudaMemset(table, 0, 4ull << 30) == cudaSuccess; }

int main() {
    // @page
    return done ? 0 : 1;
}
