#include <cuda_runtime.h>

// @bad
// @page 1-6

int main() {
    Volume scan(4096);
    // @page 7
}
void smooth(Volume volume) { cudaMemset(volume.data, 0, 16); }
// @end
// @good
// @page 1-3
    float* data;
    explicit Volume(size_t n) { cudaMalloc(&data, n * sizeof(float)); }
    ~Volume() { cudaFree(data); }
// @page 5-6

int main() {
    Volume scan(4096);
    smooth(scan);
}
void smooth(const Volume& volume) { cudaMemset(volume.data, 0, 16); }
// @end
