#include "engine.h"

#include <new>

struct Tensor {
    float* data;
    int rows;
    int columns;
};

const char* engine_error(Status status) {
    switch (status) {
        case ENGINE_OK: return "ok";
        case ENGINE_NO_MEMORY: return "no memory";
        case ENGINE_BAD_SHAPE: return "bad shape";
        default: return "failed";
    }
}

static size_t bytes_of(const Tensor* tensor) {
    return static_cast<size_t>(tensor->rows) * tensor->columns * sizeof(float);
}

Status tensor_create(Tensor** out, int rows, int columns) {
    *out = nullptr;
    if (rows <= 0 || columns <= 0) return ENGINE_BAD_SHAPE;
    Tensor* tensor = new (std::nothrow) Tensor();
    if (tensor == nullptr) return ENGINE_NO_MEMORY;
    tensor->rows = rows;
    tensor->columns = columns;
    if (cudaMalloc(&tensor->data, bytes_of(tensor)) != cudaSuccess) {
        delete tensor;
        return ENGINE_NO_MEMORY;
    }
    *out = tensor;
    return ENGINE_OK;
}

void tensor_destroy(Tensor* tensor) {
    if (tensor == nullptr) return;
    cudaFree(tensor->data);
    delete tensor;
}

Status tensor_upload(Tensor* tensor, const float* values, cudaStream_t stream) {
    cudaError_t status =
        cudaMemcpyAsync(tensor->data, values, bytes_of(tensor), cudaMemcpyHostToDevice, stream);
    return status == cudaSuccess ? ENGINE_OK : ENGINE_FAILED;
}

Status tensor_download(const Tensor* tensor, float* values, cudaStream_t stream) {
    if (cudaMemcpyAsync(values, tensor->data, bytes_of(tensor), cudaMemcpyDeviceToHost, stream) !=
        cudaSuccess) {
        return ENGINE_FAILED;
    }
    return cudaStreamSynchronize(stream) == cudaSuccess ? ENGINE_OK : ENGINE_FAILED;
}

float* tensor_data(Tensor* tensor) { return tensor->data; }
int tensor_rows(const Tensor* tensor) { return tensor->rows; }
int tensor_columns(const Tensor* tensor) { return tensor->columns; }
