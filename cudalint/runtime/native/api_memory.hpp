// Allocation and release: device, pinned, managed, pitched and registered memory.
#pragma once

namespace ledger {

bool trim_pools(int device);

inline cudaError_t simulated_take(Call& call, Address* out, uint64_t bytes) {
    Memory& memory = runtime().memory;
    Address start = memory.take_device(bytes, thread().device);
    if (!start) {
        if (trim_pools(thread().device)) start = memory.take_device(bytes, thread().device);
    }
    if (!start) return cudaErrorMemoryAllocation;
    Allocation& a = memory.add(start, bytes, "device", thread().device);
    int pattern = configuration().profile.pattern;
    if (pattern >= 0 && memory.back(a, bytes)) memset(memory.bytes_at(start), pattern, bytes);
    *out = start;
    (void)call;
    return cudaSuccess;
}

// Device memory in either mode. Zero bytes are no memory.
template <class Real>
cudaError_t take_device(Call& call, void** pointer, uint64_t bytes, Real real) {
    if (!pointer) return call.done(cudaErrorInvalidValue);
    call.asks(bytes, "device");
    if (!simulating()) {
        cudaError_t status = real();
        if (status == cudaSuccess && *pointer) {
            std::lock_guard<std::recursive_mutex> guard(runtime().mutex);
            runtime().memory.add(Address(*pointer), bytes, "device", thread().device);
            call.acquired("device", Address(*pointer), bytes);
        }
        return call.done(status);
    }
    if (bytes == 0) {
        *pointer = nullptr;
        return call.done(cudaSuccess);
    }
    Address start = 0;
    cudaError_t status = simulated_take(call, &start, bytes);
    if (status != cudaSuccess) return call.done(status);
    *pointer = (void*)start;
    call.acquired("device", start, bytes);
    return call.done(cudaSuccess);
}

template <class Real>
cudaError_t take_host(Call& call, void** pointer, uint64_t bytes, const char* family, Real real) {
    if (!pointer) return call.done(cudaErrorInvalidValue);
    call.asks(bytes, family);
    Address start = 0;
    if (!simulating()) {
        cudaError_t status = real();
        if (status != cudaSuccess || !*pointer) return call.done(status);
        start = Address(*pointer);
    } else {
        if (bytes == 0) {
            *pointer = nullptr;
            return call.done(strcmp(family, "managed") ? cudaSuccess : cudaErrorInvalidValue);
        }
        start = runtime().memory.take_host(bytes);
        if (!start) return call.done(cudaErrorMemoryAllocation);
        *pointer = (void*)start;
    }
    {
        std::lock_guard<std::recursive_mutex> guard(runtime().mutex);
        runtime().memory.add(start, bytes, family, thread().device);
    }
    call.acquired(family, start, bytes);
    return call.done(cudaSuccess);
}

// "device memory", "physical memory".
inline std::string memory_text(const char* family) {
    std::string text = family;
    std::replace(text.begin(), text.end(), '-', ' ');
    bool ends = text.size() > 6 && text.compare(text.size() - 6, 6, "memory") == 0;
    return ends ? text : text + " memory";
}

inline void tell_never_allocated(Call& call, Address address, const char* wanted) {
    call.misuse(INVALID_POINTER, wanted, address, 0,
                "the pointer released was never allocated by CUDA");
}

// What is wrong with releasing this pointer as one of these families. Whether that is known: a real
// runtime has memory that the ledger has not seen come.
inline bool tell_bad_release(Call& call, Address address, const char* wanted) {
    Memory& memory = runtime().memory;
    if (Allocation* inside = memory.find(address)) {
        if (inside->start == address)
            call.misuse(WRONG_DEALLOCATOR, inside->family, address, inside->bytes,
                        memory_text(inside->family) + " is released by " + call.api());
        else
            call.misuse(INVALID_POINTER, inside->family, address, inside->bytes,
                        std::string("released ") + size_text(address - inside->start) +
                            " into an allocation of " + size_text(inside->bytes));
        return true;
    }
    auto handle = runtime().handles.find(address);
    if (handle != runtime().handles.end()) {
        call.misuse(WRONG_DEALLOCATOR, handle->second.family, address, 0,
                    std::string("a handle of family ") + handle->second.family +
                        " is released by " + call.api());
        return true;
    }
    const auto* gone = memory.find_gone(address);
    if (gone && gone->first == address)
        call.misuse(DOUBLE_FREE, gone->second.family, address, gone->second.bytes,
                    "released a second time");
    else if (simulating())
        tell_never_allocated(call, address, wanted);
    else
        return false;
    return true;
}

using Fits = bool (*)(const char* family);

inline bool fits_free(const char* f) { return !strcmp(f, "device") || !strcmp(f, "managed"); }
inline bool fits_host(const char* f) { return !strcmp(f, "pinned"); }
inline bool fits_registered(const char* f) { return !strcmp(f, "host-registered"); }

void give_pool(Allocation& a);
struct Graph;
Graph* capturing(cudaStream_t stream);

template <class Real>
cudaError_t release(Call& call, void* pointer, Fits fits, const char* wanted, Real real,
                    cudaStream_t stream = nullptr, bool asynchronous = false) {
    Address address = Address(pointer);
    Runtime& r = runtime();
    std::unique_lock<std::recursive_mutex> guard(r.mutex);
    auto it = r.memory.live.find(address);
    bool good = it != r.memory.live.end() && fits(it->second.family) && !it->second.symbol;
    Allocation copy;
    if (good) copy = it->second;
    if (!pointer && simulating() && !call.refused()) return call.done(cudaSuccess);
    if (call.refused()) {
        // The context is lost, and its memory with it: the program has done what it could.
        if (good && !call.injected()) {
            r.memory.remove(address);
            call.released(copy.family, address, copy.bytes, Address(stream), asynchronous,
                          call.refusal());
        }
        return call.refuse();
    }
    bool known = good || !pointer || tell_bad_release(call, address, wanted);
    cudaError_t status = cudaErrorInvalidValue;
    if (!simulating()) {
        guard.unlock();
        status = real();
        guard.lock();
        if (!known && status != cudaSuccess) tell_never_allocated(call, address, wanted);
    } else if (good) {
        status = cudaSuccess;
    }
    if (good && status == cudaSuccess) {
        if (simulating()) {
            if (!asynchronous) {
                release_by_host(call, copy);
            } else if (!capturing(stream)) {
                begin_work(call, stream);
                release_in_order(call, copy);
            }
            if (copy.pool)
                give_pool(it->second);
            else if (r.memory.in_device_range(address))
                r.memory.give_device(it->second);
            else if (copy.ours)
                r.memory.give_host(it->second);
        }
        r.memory.remove(address);
        call.released(copy.family, address, copy.bytes, Address(stream), asynchronous);
    }
    return call.done(status);
}

}  // namespace ledger

#define CALL_RELEASE(name) ledger::Call call(#name, __builtin_frame_address(0))

API(cudaMalloc)(void** pointer, size_t bytes) {
    CALL_ENTRY(cudaMalloc);
    return ledger::take_device(call, pointer, bytes, [&] { return REAL(cudaMalloc)(pointer, bytes); });
}

API(cudaFree)(void* pointer) {
    CALL_RELEASE(cudaFree);
    return ledger::release(call, pointer, ledger::fits_free, "device",
                           [&] { return REAL(cudaFree)(pointer); });
}

API(cudaMallocHost)(void** pointer, size_t bytes) {
    CALL_ENTRY(cudaMallocHost);
    return ledger::take_host(call, pointer, bytes, "pinned",
                             [&] { return REAL(cudaMallocHost)(pointer, bytes); });
}

API(cudaHostAlloc)(void** pointer, size_t bytes, unsigned int flags) {
    CALL_ENTRY(cudaHostAlloc);
    return ledger::take_host(call, pointer, bytes, "pinned",
                             [&] { return REAL(cudaHostAlloc)(pointer, bytes, flags); });
}

API(cudaFreeHost)(void* pointer) {
    CALL_RELEASE(cudaFreeHost);
    call.assume_order();
    return ledger::release(call, pointer, ledger::fits_host, "pinned",
                           [&] { return REAL(cudaFreeHost)(pointer); });
}

API(cudaMallocManaged)(void** pointer, size_t bytes, unsigned int flags) {
    CALL_ENTRY(cudaMallocManaged);
    return ledger::take_host(call, pointer, bytes, "managed",
                             [&] { return REAL(cudaMallocManaged)(pointer, bytes, flags); });
}

API(cudaMallocPitch)(void** pointer, size_t* pitch, size_t width, size_t height) {
    CALL_ENTRY(cudaMallocPitch);
    if (!pointer || !pitch) return call.done(cudaErrorInvalidValue);
    if (simulating()) *pitch = (width + 511) / 512 * 512;
    size_t bytes = (width + 511) / 512 * 512 * height;
    return ledger::take_device(call, pointer, bytes,
                               [&] { return REAL(cudaMallocPitch)(pointer, pitch, width, height); });
}

API(cudaMalloc3D)(struct cudaPitchedPtr* pointer, struct cudaExtent extent) {
    CALL_ENTRY(cudaMalloc3D);
    if (!pointer) return call.done(cudaErrorInvalidValue);
    size_t pitch = (extent.width + 511) / 512 * 512;
    if (simulating()) *pointer = {nullptr, pitch, extent.width, extent.height};
    return ledger::take_device(call, &pointer->ptr, pitch * extent.height * extent.depth,
                               [&] { return REAL(cudaMalloc3D)(pointer, extent); });
}

API(cudaHostRegister)(void* pointer, size_t bytes, unsigned int flags) {
    CALL_ENTRY(cudaHostRegister);
    Address address = Address(pointer);
    cudaError_t status = cudaSuccess;
    if (!simulating()) {
        status = REAL(cudaHostRegister)(pointer, bytes, flags);
    } else if (!pointer || !bytes || runtime().memory.in_device_range(address)) {
        status = cudaErrorInvalidValue;
    } else if (runtime().memory.find(address)) {
        status = cudaErrorHostMemoryAlreadyRegistered;
    }
    if (status != cudaSuccess) return call.done(status);
    {
        std::lock_guard<std::recursive_mutex> guard(runtime().mutex);
        runtime().memory.add(address, bytes, "host-registered", thread().device).ours = false;
    }
    call.acquired("host-registered", address, bytes);
    return call.done(cudaSuccess);
}

API(cudaHostUnregister)(void* pointer) {
    CALL_RELEASE(cudaHostUnregister);
    if (simulating() && !call.refused() && !runtime().memory.find(Address(pointer))) {
        const auto* gone = runtime().memory.find_gone(Address(pointer));
        if (gone && gone->first == Address(pointer) && ledger::fits_registered(gone->second.family))
            ledger::tell_bad_release(call, Address(pointer), "host-registered");
        return call.done(cudaErrorHostMemoryNotRegistered);
    }
    return ledger::release(call, pointer, ledger::fits_registered, "host-registered",
                           [&] { return REAL(cudaHostUnregister)(pointer); });
}

API(cudaHostGetDevicePointer)(void** device, void* host, unsigned int flags) {
    CALL_FORWARD(cudaHostGetDevicePointer, device, host, flags);
    ledger::Allocation* a = runtime().memory.find(Address(host));
    if (!device || !a || runtime().memory.in_device_range(Address(host)))
        return call.done(cudaErrorInvalidValue);
    *device = host;
    return call.done(cudaSuccess);
}

API(cudaHostGetFlags)(unsigned int* flags, void* host) {
    CALL_FORWARD(cudaHostGetFlags, flags, host);
    if (!flags || !runtime().memory.find(Address(host))) return call.done(cudaErrorInvalidValue);
    *flags = cudaHostAllocMapped;
    return call.done(cudaSuccess);
}

API(cudaMemGetInfo)(size_t* left, size_t* total) {
    CALL_FORWARD(cudaMemGetInfo, left, total);
    const ledger::Space& space = runtime().memory.devices[size_t(thread().device)];
    if (left) *left = space.left();
    if (total) *total = space.size();
    return call.done(cudaSuccess);
}

API(cudaPointerGetAttributes)(struct cudaPointerAttributes* attributes, const void* pointer) {
    CALL_FORWARD(cudaPointerGetAttributes, attributes, pointer);
    if (!attributes) return call.done(cudaErrorInvalidValue);
    memset(attributes, 0, sizeof *attributes);
    ledger::Allocation* a = runtime().memory.find(Address(pointer));
    attributes->device = a ? a->device : -2;
    attributes->type = cudaMemoryTypeUnregistered;
    if (!a) {
        attributes->hostPointer = (void*)pointer;
        return call.done(cudaSuccess);
    }
    attributes->devicePointer = (void*)pointer;
    if (!strcmp(a->family, "managed")) {
        attributes->type = cudaMemoryTypeManaged;
        attributes->hostPointer = (void*)pointer;
    } else if (runtime().memory.in_device_range(Address(pointer))) {
        attributes->type = cudaMemoryTypeDevice;
    } else {
        attributes->type = cudaMemoryTypeHost;
        attributes->hostPointer = (void*)pointer;
    }
    return call.done(cudaSuccess);
}
