// Gravitation of many bodies: one long function with a label for the clean-up, and its helpers.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Options {
    int bodies;
    int steps;
    float dt;
    bool energy;
};

__global__ void accelerate(const float4* position, float4* acceleration, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float4 own = position[i];
    float3 sum = make_float3(0, 0, 0);
    for (int j = 0; j < count; ++j) {
        float4 other = position[j];
        float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f);
        float force = other.w * inverse * inverse * inverse;
        sum.x += dx * force;
        sum.y += dy * force;
        sum.z += dz * force;
    }
    acceleration[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

__global__ void integrate(float4* position, float4* velocity, const float4* acceleration, int count, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    velocity[i].x += acceleration[i].x * dt;
    velocity[i].y += acceleration[i].y * dt;
    velocity[i].z += acceleration[i].z * dt;
    position[i].x += velocity[i].x * dt;
    position[i].y += velocity[i].y * dt;
    position[i].z += velocity[i].z * dt;
}

__global__ void kinetic(const float4* position, const float4* velocity, float* energy, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float4 v = velocity[i];
    energy[i] = 0.5f * position[i].w * (v.x * v.x + v.y * v.y + v.z * v.z);
}

static void scatter(float4* bodies, int count) {
    for (int i = 0; i < count; ++i) {
        bodies[i].x = static_cast<float>(std::rand()) / RAND_MAX;
        bodies[i].y = static_cast<float>(std::rand()) / RAND_MAX;
        bodies[i].z = static_cast<float>(std::rand()) / RAND_MAX;
        bodies[i].w = 1.0f / count;
    }
}

static int total_energy(const float4* position, const float4* velocity, int count, cudaStream_t stream, float* total) {
    float *energy = nullptr, *host = nullptr;
    int failed = 1;
    *total = 0;
    if (cudaMalloc(&energy, count * sizeof(float)) != cudaSuccess) return 1;
    host = static_cast<float*>(std::malloc(count * sizeof(float)));
    if (host == nullptr) goto done;
    kinetic<<<(count + 127) / 128, 128, 0, stream>>>(position, velocity, energy, count);
    if (cudaGetLastError() != cudaSuccess) goto done;
    if (cudaStreamSynchronize(stream) != cudaSuccess) goto done;
    if (cudaMemcpy(host, energy, count * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) goto done;
    for (int i = 0; i < count; ++i) *total += host[i];
    failed = 0;
done:
    std::free(host);
    cudaFree(energy);
    return failed;
}

static int simulate(const Options& options, float4* result) {
    const size_t bytes = options.bodies * sizeof(float4);
    const int blocks = (options.bodies + 127) / 128;
    float4 *position = nullptr, *velocity = nullptr, *acceleration = nullptr, *staging = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t begun = nullptr, ended = nullptr;
    float milliseconds = 0;
    int failed = 1;

    if (cudaMallocHost(&staging, bytes) != cudaSuccess) goto done;
    if (cudaMalloc(&position, bytes) != cudaSuccess) goto done;
    if (cudaMalloc(&velocity, bytes) != cudaSuccess) goto done;
    if (cudaMalloc(&acceleration, bytes) != cudaSuccess) goto done;
    if (cudaStreamCreate(&stream) != cudaSuccess) goto done;
    if (cudaEventCreate(&begun) != cudaSuccess) goto done;
    if (cudaEventCreate(&ended) != cudaSuccess) goto done;

    scatter(staging, options.bodies);
    if (cudaMemcpyAsync(position, staging, bytes, cudaMemcpyHostToDevice, stream) != cudaSuccess) goto done;
    if (cudaMemsetAsync(velocity, 0, bytes, stream) != cudaSuccess) goto done;
    if (cudaEventRecord(begun, stream) != cudaSuccess) goto done;
    for (int step = 0; step < options.steps; ++step) {
        accelerate<<<blocks, 128, 0, stream>>>(position, acceleration, options.bodies);
        integrate<<<blocks, 128, 0, stream>>>(position, velocity, acceleration, options.bodies, options.dt);
        if (cudaGetLastError() != cudaSuccess) goto done;
        if (options.energy && step % 16 == 0) {
            float total = 0;
            if (total_energy(position, velocity, options.bodies, stream, &total) != 0) goto done;
            std::printf("%4d %f\n", step, total);
        }
    }
    if (cudaEventRecord(ended, stream) != cudaSuccess) goto done;
    if (cudaEventSynchronize(ended) != cudaSuccess) goto done;
    if (cudaEventElapsedTime(&milliseconds, begun, ended) != cudaSuccess) goto done;
    std::printf("%.3f ms\n", milliseconds);
    if (cudaMemcpyAsync(staging, position, bytes, cudaMemcpyDeviceToHost, stream) != cudaSuccess) goto done;
    if (cudaStreamSynchronize(stream) != cudaSuccess) goto done;
    std::memcpy(result, staging, bytes);
    failed = 0;

done:
    if (ended) cudaEventDestroy(ended);
    if (begun) cudaEventDestroy(begun);
    if (stream) cudaStreamDestroy(stream);
    if (acceleration) cudaFree(acceleration);
    if (velocity) cudaFree(velocity);
    if (position) cudaFree(position);
    if (staging) cudaFreeHost(staging);
    return failed;
}

static bool parse(int count, char** words, Options* options) {
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(words[i], "--energy") == 0) {
            options->energy = true;
        } else if (i + 1 < count && std::strcmp(words[i], "--bodies") == 0) {
            options->bodies = std::atoi(words[++i]);
        } else if (i + 1 < count && std::strcmp(words[i], "--steps") == 0) {
            options->steps = std::atoi(words[++i]);
        } else {
            std::fprintf(stderr, "unknown: %s\n", words[i]);
            return false;
        }
    }
    return options->bodies > 0 && options->steps > 0;
}

int main(int count, char** words) {
    Options options{256, 32, 0.01f, false};
    if (!parse(count, words, &options)) return 2;
    float4* result = static_cast<float4*>(std::malloc(options.bodies * sizeof(float4)));
    if (result == nullptr) return 1;
    int failed = simulate(options, result);
    if (!failed) std::printf("%f %f %f\n", result[0].x, result[0].y, result[0].z);
    std::free(result);
    return failed;
}
