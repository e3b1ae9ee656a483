// A plan is made for each shape; the library keeps the workspace of each.
#include <cuda_runtime_api.h>
#include <cstdio>

extern "C" void* vendor_plan(size_t bytes);

int main() {
    for (int i = 0; i < 100000; i++) {
        if (!vendor_plan(size_t(2) << 30)) {
            std::fprintf(stderr, "out of memory in plan %d\n", i);
            return 1;
        }
    }
    return 0;
}
