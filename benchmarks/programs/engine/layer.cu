#include "engine.h"

#include <new>

struct Layer {
    int inputs;
    int outputs;
    float* weights;
    float* bias;
    cudaEvent_t loaded;
};

__global__ void affine(const float* weights, const float* bias, const float* input, float* output,
                       int inputs, int outputs, int batch) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column >= outputs || row >= batch) return;
    float sum = bias[column];
    for (int i = 0; i < inputs; ++i) sum += input[row * inputs + i] * weights[i * outputs + column];
    output[row * outputs + column] = sum > 0.0f ? sum : 0.0f;
}

Status layer_create(Layer** out, int inputs, int outputs) {
    *out = nullptr;
    Layer* layer = new (std::nothrow) Layer();
    if (layer == nullptr) return ENGINE_NO_MEMORY;
    layer->inputs = inputs;
    layer->outputs = outputs;
    size_t weights = static_cast<size_t>(inputs) * outputs * sizeof(float);
    if (cudaMalloc(&layer->weights, weights) != cudaSuccess ||
        cudaMalloc(&layer->bias, outputs * sizeof(float)) != cudaSuccess ||
        cudaEventCreateWithFlags(&layer->loaded, cudaEventDisableTiming) != cudaSuccess) {
        layer_destroy(layer);
        return ENGINE_NO_MEMORY;
    }
    *out = layer;
    return ENGINE_OK;
}

void layer_destroy(Layer* layer) {
    if (layer == nullptr) return;
    if (layer->loaded) cudaEventDestroy(layer->loaded);
    if (layer->bias) cudaFree(layer->bias);
    if (layer->weights) cudaFree(layer->weights);
    delete layer;
}

Status layer_load(Layer* layer, const float* weights, const float* bias, cudaStream_t stream) {
    size_t bytes = static_cast<size_t>(layer->inputs) * layer->outputs * sizeof(float);
    if (cudaMemcpyAsync(layer->weights, weights, bytes, cudaMemcpyHostToDevice, stream) != cudaSuccess) {
        return ENGINE_FAILED;
    }
    if (cudaMemcpyAsync(layer->bias, bias, layer->outputs * sizeof(float), cudaMemcpyHostToDevice,
                        stream) != cudaSuccess) {
        return ENGINE_FAILED;
    }
    return cudaEventRecord(layer->loaded, stream) == cudaSuccess ? ENGINE_OK : ENGINE_FAILED;
}

Status layer_run(Layer* layer, Tensor* input, Tensor* output, cudaStream_t stream) {
    if (tensor_columns(input) != layer->inputs || tensor_columns(output) != layer->outputs) {
        return ENGINE_BAD_SHAPE;
    }
    if (cudaStreamWaitEvent(stream, layer->loaded, 0) != cudaSuccess) return ENGINE_FAILED;
    dim3 blocks((layer->outputs + 127) / 128, tensor_rows(input));
    affine<<<blocks, 128, 0, stream>>>(layer->weights, layer->bias, tensor_data(input),
                                       tensor_data(output), layer->inputs, layer->outputs,
                                       tensor_rows(input));
    return cudaGetLastError() == cudaSuccess ? ENGINE_OK : ENGINE_FAILED;
}
