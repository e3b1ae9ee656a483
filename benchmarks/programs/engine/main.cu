// Runs a network of three layers once.
#include <cstdio>
#include <vector>

#include "engine.h"

static int infer(const std::vector<int>& widths, int batch) {
    size_t parameters = 0;
    for (size_t i = 0; i + 1 < widths.size(); ++i) parameters += widths[i] * widths[i + 1] + widths[i + 1];
    std::vector<float> weights(parameters, 0.01f);
    std::vector<float> input(static_cast<size_t>(batch) * widths.front(), 1.0f);
    std::vector<float> output(static_cast<size_t>(batch) * widths.back());

    Engine* engine = nullptr;
    Status status = engine_create(&engine, widths.data(), static_cast<int>(widths.size()) - 1, batch);
    if (status != ENGINE_OK) {
        std::printf("create: %s\n", engine_error(status));
        return 1;
    }
    status = engine_load(engine, weights.data());
    if (status == ENGINE_OK) status = engine_run(engine, input.data(), output.data());
    engine_destroy(engine);
    if (status != ENGINE_OK) {
        std::printf("run: %s\n", engine_error(status));
        return 1;
    }
    std::printf("%f\n", output[0]);
    return 0;
}

int main() { return infer({64, 128, 128, 10}, 32); }
