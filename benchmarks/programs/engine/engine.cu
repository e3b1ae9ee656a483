#include "engine.h"

#include <new>

static const int MOST_LAYERS = 8;

struct Engine {
    int layers;
    int batch;
    Layer* layer[MOST_LAYERS];
    Tensor* between[MOST_LAYERS + 1];
    float* staging;
    cudaStream_t compute;
    cudaStream_t copy;
};

static Status build(Engine* engine, const int* widths) {
    Status status = tensor_create(&engine->between[0], engine->batch, widths[0]);
    if (status != ENGINE_OK) return status;
    for (int i = 0; i < engine->layers; ++i) {
        status = layer_create(&engine->layer[i], widths[i], widths[i + 1]);
        if (status != ENGINE_OK) return status;
        status = tensor_create(&engine->between[i + 1], engine->batch, widths[i + 1]);
        if (status != ENGINE_OK) return status;
    }
    return ENGINE_OK;
}

Status engine_create(Engine** out, const int* widths, int layers, int batch) {
    *out = nullptr;
    if (layers < 1 || layers > MOST_LAYERS) return ENGINE_BAD_SHAPE;
    Engine* engine = new (std::nothrow) Engine();
    if (engine == nullptr) return ENGINE_NO_MEMORY;
    engine->layers = layers;
    engine->batch = batch;
    Status status = ENGINE_NO_MEMORY;
    if (cudaStreamCreate(&engine->compute) != cudaSuccess) goto fail;
    if (cudaStreamCreateWithFlags(&engine->copy, cudaStreamNonBlocking) != cudaSuccess) goto fail;
    if (cudaMallocHost(&engine->staging, batch * widths[0] * sizeof(float)) != cudaSuccess) goto fail;
    status = build(engine, widths);
    if (status != ENGINE_OK) goto fail;
    *out = engine;
    return ENGINE_OK;

fail:
    engine_destroy(engine);
    return status;
}

void engine_destroy(Engine* engine) {
    if (engine == nullptr) return;
    for (int i = 0; i < engine->layers; ++i) layer_destroy(engine->layer[i]);
    for (int i = 0; i <= engine->layers; ++i) tensor_destroy(engine->between[i]);
    if (engine->staging) cudaFreeHost(engine->staging);
    if (engine->copy) cudaStreamDestroy(engine->copy);
    if (engine->compute) cudaStreamDestroy(engine->compute);
    delete engine;
}

Status engine_load(Engine* engine, const float* weights) {
    const float* at = weights;
    for (int i = 0; i < engine->layers; ++i) {
        int inputs = tensor_columns(engine->between[i]);
        int outputs = tensor_columns(engine->between[i + 1]);
        const float* bias = at + static_cast<size_t>(inputs) * outputs;
        Status status = layer_load(engine->layer[i], at, bias, engine->copy);
        if (status != ENGINE_OK) return status;
        at = bias + outputs;
    }
    return cudaStreamSynchronize(engine->copy) == cudaSuccess ? ENGINE_OK : ENGINE_FAILED;
}

Status engine_run(Engine* engine, const float* input, float* output) {
    int count = tensor_rows(engine->between[0]) * tensor_columns(engine->between[0]);
    for (int i = 0; i < count; ++i) engine->staging[i] = input[i];
    Status status = tensor_upload(engine->between[0], engine->staging, engine->compute);
    for (int i = 0; i < engine->layers && status == ENGINE_OK; ++i) {
        status = layer_run(engine->layer[i], engine->between[i], engine->between[i + 1], engine->compute);
    }
    if (status != ENGINE_OK) return status;
    return tensor_download(engine->between[engine->layers], output, engine->compute);
}
