// An image pipeline of owning classes: buffers, streams, events, stages that hold them, and a factory.
#include <cuda_runtime.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpu {

class Error : public std::runtime_error {
  public:
    Error(cudaError_t status, const std::string& what)
        : std::runtime_error(what + ": " + cudaGetErrorString(status)) {}
};

inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw Error(status, what);
}

template <typename T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(size_t count) : count_(count) {
        check(cudaMalloc(&data_, count * sizeof(T)), "buffer");
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~Buffer() { cudaFree(data_); }

    T* get() const { return data_; }
    size_t size() const { return count_; }

    void upload(const std::vector<T>& host) {
        if (host.size() > count_) throw std::length_error("upload");
        check(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
    }
    std::vector<T> download() const {
        std::vector<T> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
        return host;
    }

  private:
    T* data_ = nullptr;
    size_t count_ = 0;
};

class Stream {
  public:
    Stream() { check(cudaStreamCreate(&stream_), "stream"); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { cudaStreamDestroy(stream_); }
    cudaStream_t get() const { return stream_; }
    void wait() const { check(cudaStreamSynchronize(stream_), "wait"); }

  private:
    cudaStream_t stream_ = nullptr;
};

class Stopwatch {
  public:
    explicit Stopwatch(const Stream& stream) : stream_(stream) {
        check(cudaEventCreate(&start_), "event");
        if (cudaEventCreate(&stop_) != cudaSuccess) {
            cudaEventDestroy(start_);
            throw std::runtime_error("event");
        }
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    ~Stopwatch() {
        cudaEventDestroy(start_);
        cudaEventDestroy(stop_);
    }
    void start() { check(cudaEventRecord(start_, stream_.get()), "start"); }
    float stop() {
        check(cudaEventRecord(stop_, stream_.get()), "stop");
        check(cudaEventSynchronize(stop_), "stop");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start_, stop_), "elapsed");
        return milliseconds;
    }

  private:
    const Stream& stream_;
    cudaEvent_t start_ = nullptr;
    cudaEvent_t stop_ = nullptr;
};

}  // namespace gpu

__global__ void blur(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    int count = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            int nx = x + dx, ny = y + dy;
            if (nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
            sum += in[ny * width + nx];
            ++count;
        }
    }
    out[y * width + x] = sum / count;
}

__global__ void lookup(const float* table, float* image, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) image[i] = table[min(255, max(0, (int)(image[i] * 255)))];
}

struct Image {
    int width;
    int height;
    gpu::Buffer<float> pixels;
};

class Stage {
  public:
    virtual ~Stage() = default;
    virtual void apply(Image& image, const gpu::Stream& stream) = 0;
};

class Blur : public Stage {
  public:
    explicit Blur(size_t pixels) : scratch_(pixels) {}
    void apply(Image& image, const gpu::Stream& stream) override {
        dim3 block(16, 16);
        dim3 blocks((image.width + 15) / 16, (image.height + 15) / 16);
        blur<<<blocks, block, 0, stream.get()>>>(image.pixels.get(), scratch_.get(), image.width, image.height);
        gpu::check(cudaGetLastError(), "blur");
        std::swap(image.pixels, scratch_);
    }

  private:
    gpu::Buffer<float> scratch_;
};

class Gamma : public Stage {
  public:
    explicit Gamma(float gamma) {
        std::vector<float> table(256);
        for (int i = 0; i < 256; ++i) table[i] = gamma * i / 255.0f;
        gpu::check(cudaMallocHost(&pinned_, 256 * sizeof(float)), "pinned");
        if (cudaMalloc(&table_, 256 * sizeof(float)) != cudaSuccess) {
            cudaFreeHost(pinned_);
            throw std::runtime_error("table");
        }
        for (int i = 0; i < 256; ++i) pinned_[i] = table[i];
    }
    Gamma(const Gamma&) = delete;
    Gamma& operator=(const Gamma&) = delete;
    ~Gamma() override {
        cudaFree(table_);
        cudaFreeHost(pinned_);
    }
    void apply(Image& image, const gpu::Stream& stream) override {
        int count = image.width * image.height;
        gpu::check(cudaMemcpyAsync(table_, pinned_, 256 * sizeof(float), cudaMemcpyHostToDevice, stream.get()), "table");
        lookup<<<(count + 255) / 256, 256, 0, stream.get()>>>(table_, image.pixels.get(), count);
        gpu::check(cudaGetLastError(), "lookup");
    }

  private:
    float* pinned_ = nullptr;
    float* table_ = nullptr;
};

static std::unique_ptr<Stage> make_stage(const std::string& name, size_t pixels) {
    if (name == "blur") return std::make_unique<Blur>(pixels);
    if (name == "gamma") return std::make_unique<Gamma>(0.8f);
    throw std::invalid_argument(name);
}

static std::vector<float> process(const std::vector<float>& input, int width, int height,
                                  const std::vector<std::string>& names) {
    gpu::Stream stream;
    gpu::Stopwatch watch(stream);
    Image image{width, height, gpu::Buffer<float>(input.size())};
    image.pixels.upload(input);
    std::vector<std::unique_ptr<Stage>> stages;
    for (const auto& name : names) stages.push_back(make_stage(name, input.size()));
    watch.start();
    for (auto& stage : stages) stage->apply(image, stream);
    std::printf("%.3f ms\n", watch.stop());
    stream.wait();
    return image.pixels.download();
}

int main() {
    try {
        std::vector<float> input(64 * 48, 0.5f);
        std::vector<float> output = process(input, 64, 48, {"blur", "gamma", "blur"});
        std::printf("%f\n", output[0]);
    } catch (const std::exception& error) {
        std::puts(error.what());
        return 1;
    }
    return 0;
}
