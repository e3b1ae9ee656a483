// Measured by Google Benchmark.
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>
#include <vector>

static void copy(benchmark::State &state) {
    const size_t bytes = state.range(0);
    float *device = nullptr;
    cudaMalloc(&device, bytes); // expect: GPU101
    std::vector<float> host(bytes / 4);
    for (auto _ : state) {
        float *more = nullptr;
        cudaMalloc(&more, bytes); // expect: GPU101
        cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice);
        benchmark::DoNotOptimize(host.data());
    }
    state.SetBytesProcessed(int64_t(state.iterations()) * bytes);
}
BENCHMARK(copy)->Range(1 << 10, 1 << 20);

class Fixture : public benchmark::Fixture {
public:
    void SetUp(const benchmark::State &) override { cudaMalloc(&memory, 1024); } // expect: GPU105
    void TearDown(const benchmark::State &) override {}
    float *memory = nullptr;
};

BENCHMARK_F(Fixture, Set)(benchmark::State &state) {
    float *more;
    cudaMalloc(&more, 2048); // expect: GPU101
    for (auto _ : state) cudaMemset(memory, 0, 1024);
}

BENCHMARK_MAIN();
