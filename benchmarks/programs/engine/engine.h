// A small inference engine: opaque handles, a create and a destroy function for each.
#pragma once
#include <cuda_runtime.h>

struct Tensor;
struct Layer;
struct Engine;

enum Status { ENGINE_OK = 0, ENGINE_NO_MEMORY = 1, ENGINE_BAD_SHAPE = 2, ENGINE_FAILED = 3 };

const char* engine_error(Status status);

Status tensor_create(Tensor** out, int rows, int columns);
void tensor_destroy(Tensor* tensor);
Status tensor_upload(Tensor* tensor, const float* values, cudaStream_t stream);
Status tensor_download(const Tensor* tensor, float* values, cudaStream_t stream);
float* tensor_data(Tensor* tensor);
int tensor_rows(const Tensor* tensor);
int tensor_columns(const Tensor* tensor);

Status layer_create(Layer** out, int inputs, int outputs);
void layer_destroy(Layer* layer);
Status layer_load(Layer* layer, const float* weights, const float* bias, cudaStream_t stream);
Status layer_run(Layer* layer, Tensor* input, Tensor* output, cudaStream_t stream);

Status engine_create(Engine** out, const int* widths, int layers, int batch);
void engine_destroy(Engine* engine);
Status engine_load(Engine* engine, const float* weights);
Status engine_run(Engine* engine, const float* input, float* output);
