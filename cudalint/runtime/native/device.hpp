// The state of the runtime that we are: devices, handles, errors.
#pragma once

namespace ledger {

struct Handle {
    const char* family;
    int device = 0;
    uint64_t flags = 0;
    int64_t priority = 0;
    // Streams.
    uint64_t clock = 0;  // Nanoseconds of work that kernels would have taken.
    Address capturing = 0;  // The graph that its calls are put into.
    uint32_t timeline = 0;  // Its own, once it has been given work.
    // Events.
    bool recorded = false;
    Clock stands_for;  // What has happened where it has.
    uint64_t time = 0;
    // Pools.
    uint64_t threshold = 0, used = 0, used_high = 0, cached_bytes = 0, reserved_high = 0;
    std::vector<std::pair<Address, uint64_t>> cached;
    bool builtin = false;
    // Arrays, textures, graphs: what they carry.
    std::shared_ptr<void> content;
};

struct Runtime {
    std::recursive_mutex mutex;
    Memory memory;
    Order order;
    Pending pending;
    Program program;
    std::map<Address, Handle> handles;
    std::map<Address, const char*> destroyed;
    std::multimap<Address, const char*> held;  // What was acquired and not released: its family.
    std::set<std::string> noted;
    std::vector<Address> default_pools, current_pools;
    std::map<std::pair<int, int>, bool> peers;
    std::map<int, unsigned> device_flags;
    std::map<std::pair<int, int>, size_t> limits;
    cudaError_t sticky = cudaSuccess;
    uint64_t calls = 0;
    Address next_handle = 0x10;
    uint64_t next_id = 1;
    bool used = false;       // A call was made.
    bool launched = false;   // A kernel was.
    bool inherited = false;  // Forked from a process that had used CUDA.

    bool holds(Address address, const char* family) {
        std::lock_guard<std::recursive_mutex> guard(mutex);
        auto [first, last] = held.equal_range(address);
        return std::any_of(first, last, [&](auto& one) { return !strcmp(one.second, family); });
    }

    void host_waits_for_all() {
        order.host_waits_for_all();
        pending.settle(order, memory);
    }
};

inline Runtime& runtime() {
    static Runtime* r = [] {
        Runtime* made = new Runtime;
        if (simulating()) made->memory.prepare();
        return made;
    }();
    return *r;
}

struct ThreadState {
    cudaError_t last = cudaSuccess;
    int device = 0;
    int depth = 0;
    // Of `<<<...>>>`, between its two halves.
    struct Configuration {
        dim3 grid, block;
        size_t shared;
        cudaStream_t stream;
    };
    std::vector<Configuration> pushed;
    Stack launch_stack;
    bool launch_pending = false;
    // While bytes are copied, a bad host pointer comes back here.
    sigjmp_buf escape;
    volatile bool copying = false;
    volatile Address fault = 0;
    int capture_mode = cudaStreamCaptureModeGlobal;
};

inline ThreadState& thread() {
    static thread_local ThreadState state;
    return state;
}

// Handles are no addresses: whoever reads through one crashes, and none is ever used twice.
inline Address new_handle(const char* family) {
    Runtime& r = runtime();
    Address handle = 0x500000000000ull + (r.next_handle += 0x10);
    Handle& h = r.handles[handle];
    h.family = family;
    h.device = thread().device;
    return handle;
}

inline Handle* find_handle(Address handle, const char* family) {
    auto found = runtime().handles.find(handle);
    if (found == runtime().handles.end() || strcmp(found->second.family, family)) return nullptr;
    return &found->second;
}

// Errors that end the context: every later call gives them again.
inline bool is_sticky(cudaError_t status) {
    switch (int(status)) {
        case 214: case 220: case 226: case 700: case 702: case 710: case 714: case 715: case 716:
        case 717: case 718: case 719: case 721:
            return true;
        default:
            return false;
    }
}

}  // namespace ledger
