#include <cuda_runtime.h>
#include <cstdio>
#include <stdexcept>
#include <thrust/device_vector.h>

void sort_keys(size_t bytes, int n) {
    // @bad
    int* d_keys;
    // @end
    // @page
    // @good
    if (n < 1) throw std::runtime_error("empty");
    // @end
}

int main() {
    for (int n = 1; n < 10; ++n) {
        try {
            sort_keys(n * sizeof(int), n);
        } catch (const std::exception& error) {
            std::printf("%s\n", error.what());
        }
    }
}
