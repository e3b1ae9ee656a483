// A ring of slots, each with a stream, an event, pinned and device memory, to overlap copies and work.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

static const int SLOTS = 3;

struct Slot {
    cudaStream_t stream;
    cudaEvent_t ready;
    float* pinned;
    float* device;
    size_t filled;
};

struct Ring {
    Slot slots[SLOTS];
    size_t capacity;
    int next;
};

__global__ void scale(float* values, size_t count, float factor) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < count) values[i] *= factor;
}

static void slot_close(Slot* slot) {
    if (slot->stream) cudaStreamDestroy(slot->stream);
    if (slot->ready) cudaEventDestroy(slot->ready);
    if (slot->pinned) cudaFreeHost(slot->pinned);
    if (slot->device) cudaFree(slot->device);
    *slot = Slot{};
}

static cudaError_t slot_open(Slot* slot, size_t capacity) {
    *slot = Slot{};
    cudaError_t status = cudaStreamCreateWithFlags(&slot->stream, cudaStreamNonBlocking);
    if (status != cudaSuccess) return status;
    status = cudaEventCreateWithFlags(&slot->ready, cudaEventDisableTiming);
    if (status != cudaSuccess) {
        slot_close(slot);
        return status;
    }
    status = cudaMallocHost(&slot->pinned, capacity * sizeof(float));
    if (status != cudaSuccess) {
        slot_close(slot);
        return status;
    }
    status = cudaMalloc(&slot->device, capacity * sizeof(float));
    if (status != cudaSuccess) {
        slot_close(slot);
        return status;
    }
    return cudaSuccess;
}

static void ring_close(Ring* ring) {
    for (int i = 0; i < SLOTS; ++i) slot_close(&ring->slots[i]);
    delete ring;
}

static Ring* ring_open(size_t capacity) {
    Ring* ring = new Ring();
    ring->capacity = capacity;
    for (int i = 0; i < SLOTS; ++i) {
        if (slot_open(&ring->slots[i], capacity) != cudaSuccess) {
            ring_close(ring);
            return nullptr;
        }
    }
    return ring;
}

static bool submit(Ring* ring, const float* values, size_t count, float factor) {
    Slot& slot = ring->slots[ring->next];
    ring->next = (ring->next + 1) % SLOTS;
    if (cudaEventSynchronize(slot.ready) != cudaSuccess) return false;
    std::copy(values, values + count, slot.pinned);
    slot.filled = count;
    if (cudaMemcpyAsync(slot.device, slot.pinned, count * sizeof(float), cudaMemcpyHostToDevice, slot.stream) !=
        cudaSuccess) {
        return false;
    }
    scale<<<static_cast<unsigned>((count + 255) / 256), 256, 0, slot.stream>>>(slot.device, count, factor);
    if (cudaGetLastError() != cudaSuccess) return false;
    if (cudaMemcpyAsync(slot.pinned, slot.device, count * sizeof(float), cudaMemcpyDeviceToHost, slot.stream) !=
        cudaSuccess) {
        return false;
    }
    return cudaEventRecord(slot.ready, slot.stream) == cudaSuccess;
}

static bool drain(Ring* ring, std::vector<float>& out) {
    for (int i = 0; i < SLOTS; ++i) {
        Slot& slot = ring->slots[(ring->next + i) % SLOTS];
        if (slot.filled == 0) continue;
        if (cudaEventSynchronize(slot.ready) != cudaSuccess) return false;
        out.insert(out.end(), slot.pinned, slot.pinned + slot.filled);
        slot.filled = 0;
    }
    return true;
}

static int work(size_t total, size_t chunk) {
    std::vector<float> input(total, 1.0f), output;
    Ring* ring = ring_open(chunk);
    if (ring == nullptr) return 1;
    int failed = 0;
    for (size_t at = 0; at < total && !failed; at += chunk) {
        size_t count = std::min(chunk, total - at);
        if (!submit(ring, input.data() + at, count, 2.0f)) failed = 1;
        else if (ring->next == 0 && !drain(ring, output)) failed = 1;
    }
    if (!failed && !drain(ring, output)) failed = 1;
    ring_close(ring);
    if (!failed) std::printf("%zu values, first %f\n", output.size(), output.empty() ? 0.0f : output[0]);
    return failed;
}

int main() { return work(10000, 1024); }
