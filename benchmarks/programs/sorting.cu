// Sorting with policies: wrappers that throw, a base that owns, templates over key and allocator.
#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

#define REQUIRE(call)                                                            \
    do {                                                                         \
        cudaError_t status_ = (call);                                            \
        if (status_ != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status_)); \
    } while (0)

struct DeviceAllocator {
    static void* take(size_t bytes) {
        void* p = nullptr;
        REQUIRE(cudaMalloc(&p, bytes));
        return p;
    }
    static void drop(void* p) noexcept { cudaFree(p); }
};

struct ManagedAllocator {
    static void* take(size_t bytes) {
        void* p = nullptr;
        REQUIRE(cudaMallocManaged(&p, bytes));
        return p;
    }
    static void drop(void* p) noexcept { cudaFree(p); }
};

template <typename T, typename Allocator>
class Storage {
  public:
    explicit Storage(size_t count) : data_(static_cast<T*>(Allocator::take(count * sizeof(T)))), count_(count) {}
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    ~Storage() { Allocator::drop(data_); }

    T* data() const { return data_; }
    size_t count() const { return count_; }

  protected:
    T* data_;
    size_t count_;
};

template <typename T, typename Allocator>
class Array : public Storage<T, Allocator> {
  public:
    using Storage<T, Allocator>::Storage;
    void read(const std::vector<T>& host) {
        REQUIRE(cudaMemcpy(this->data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    void write(std::vector<T>& host) const {
        host.resize(this->count_);
        REQUIRE(cudaMemcpy(host.data(), this->data_, this->count_ * sizeof(T), cudaMemcpyDeviceToHost));
    }
};

template <typename T>
__global__ void odd_even(T* keys, size_t count, int odd) {
    size_t i = 2 * (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) + odd;
    if (i + 1 < count && keys[i + 1] < keys[i]) {
        T kept = keys[i];
        keys[i] = keys[i + 1];
        keys[i + 1] = kept;
    }
}

template <typename T>
__global__ void count_bits(const T* keys, size_t count, unsigned bit, unsigned* ones) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < count && (static_cast<unsigned>(keys[i]) >> bit & 1u)) atomicAdd(ones, 1u);
}

class Sorter {
  public:
    Sorter() {
        REQUIRE(cudaStreamCreate(&stream_));
        try {
            ones_ = static_cast<unsigned*>(DeviceAllocator::take(sizeof(unsigned)));
        } catch (...) {
            cudaStreamDestroy(stream_);
            throw;
        }
    }
    Sorter(const Sorter&) = delete;
    Sorter& operator=(const Sorter&) = delete;
    virtual ~Sorter() {
        cudaFree(ones_);
        cudaStreamDestroy(stream_);
    }
    virtual const char* name() const = 0;

    template <typename T>
    unsigned ones(const T* keys, size_t count, unsigned bit) {
        REQUIRE(cudaMemsetAsync(ones_, 0, sizeof(unsigned), stream_));
        count_bits<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream_>>>(keys, count, bit, ones_);
        REQUIRE(cudaGetLastError());
        REQUIRE(cudaStreamSynchronize(stream_));
        unsigned result = 0;
        REQUIRE(cudaMemcpy(&result, ones_, sizeof result, cudaMemcpyDeviceToHost));
        return result;
    }

  protected:
    cudaStream_t stream_ = nullptr;
    unsigned* ones_ = nullptr;
};

template <typename T, typename Allocator>
class Transposition : public Sorter {
  public:
    explicit Transposition(size_t most) : keys_(most), backup_(most) {
        REQUIRE(cudaEventCreate(&begun_));
        if (cudaEventCreate(&ended_) != cudaSuccess) {
            cudaEventDestroy(begun_);
            throw std::runtime_error("event");
        }
    }
    ~Transposition() override {
        cudaEventDestroy(ended_);
        cudaEventDestroy(begun_);
    }
    const char* name() const override { return "transposition"; }

    float sort(std::vector<T>& keys) {
        if (keys.size() != keys_.count()) throw std::length_error("keys");
        keys_.read(keys);
        backup_.read(keys);
        REQUIRE(cudaEventRecord(begun_, stream_));
        unsigned blocks = static_cast<unsigned>((keys.size() / 2 + 255) / 256);
        for (size_t round = 0; round < keys.size(); ++round) {
            odd_even<<<blocks, 256, 0, stream_>>>(keys_.data(), keys.size(), static_cast<int>(round % 2));
        }
        REQUIRE(cudaGetLastError());
        REQUIRE(cudaEventRecord(ended_, stream_));
        REQUIRE(cudaEventSynchronize(ended_));
        float milliseconds = 0;
        REQUIRE(cudaEventElapsedTime(&milliseconds, begun_, ended_));
        if (ones(keys_.data(), keys.size(), 0) != ones(backup_.data(), keys.size(), 0)) {
            throw std::runtime_error("keys were lost");
        }
        keys_.write(keys);
        return milliseconds;
    }

  private:
    Array<T, Allocator> keys_;
    Array<T, Allocator> backup_;
    cudaEvent_t begun_ = nullptr;
    cudaEvent_t ended_ = nullptr;
};

template <typename T, typename Allocator>
static void try_out(size_t count) {
    std::vector<T> keys(count);
    for (size_t i = 0; i < count; ++i) keys[i] = static_cast<T>((i * 7919) % count);
    Transposition<T, Allocator> sorter(count);
    float milliseconds = sorter.sort(keys);
    std::printf("%s: %.3f ms\n", sorter.name(), milliseconds);
}

int main() {
    try {
        try_out<int, DeviceAllocator>(512);
        try_out<unsigned, ManagedAllocator>(512);
    } catch (const std::exception& error) {
        std::puts(error.what());
        return 1;
    }
    return 0;
}
