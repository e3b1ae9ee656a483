#include <cuda_runtime.h>

class Layer {
public:
    explicit Layer(size_t n);
    ~Layer();
    Layer(const Layer&) = delete;
    Layer& operator=(const Layer&) = delete;

private:
    float *weights_, *bias_;
};

// @good
Layer::Layer(size_t n) {
    cudaMalloc(&weights_, n * sizeof(float));
    cudaMalloc(&bias_, n * sizeof(float));
}
// @end
// @page
