// The result of each step is kept; all of them are released at the end.
#include <cuda_runtime_api.h>
#include <cstdio>
#include <vector>

int main() {
    std::vector<void*> history;
    int status = 0;
    for (int i = 0; i < 100000; i++) {
        void* result = nullptr;
        if (cudaMalloc(&result, size_t(1) << 30) != cudaSuccess) {
            std::fprintf(stderr, "out of memory in step %d\n", i);
            status = 1;
            break;
        }
        history.push_back(result);
    }
    for (void* one : history) cudaFree(one);
    return status;
}
