#include <cuda_runtime.h>
#include <vector>

struct Record {
    size_t bytes;
};

__global__ void work(float* values, size_t n) { values[threadIdx.x] = n; }

void process(float* d_values, const Record& record) { work<<<1, 256>>>(d_values, record.bytes); }

void run(const std::vector<Record>& records, size_t largest_record_bytes) {
    // @page
}
