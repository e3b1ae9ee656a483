// Memory and events of other processes (CUDA Runtime API, "Device Management": cudaIpc...). What another
// process holds is not ours to count, and what it put there is not known: it is tainted.
#pragma once

namespace ledger {

// What a handle carries to the other process, in its 64 bytes.
struct SharedBlock {
    char magic[8];
    uint64_t bytes;
    Address start;
    uint64_t process;
    uint64_t flags;  // Of an event.
};

static_assert(sizeof(SharedBlock) <= sizeof(cudaIpcMemHandle_t), "");
constexpr char memory_magic[8] = "cudaIpM", event_magic[8] = "cudaIpE";

struct Opened {
    SharedBlock block;
    int references = 1;
};

template <class Handle>
void write_shared(Handle* out, const char (&magic)[8], Address start, uint64_t bytes, uint64_t flags) {
    SharedBlock block{{}, bytes, start, uint64_t(getpid()), flags};
    memcpy(block.magic, magic, sizeof magic);
    memset(out, 0, sizeof *out);
    memcpy(out, &block, sizeof block);
}

// False for what no call for such a handle has written.
template <class Handle>
bool read_shared(const Handle& handle, const char (&magic)[8], SharedBlock* block) {
    memcpy(block, &handle, sizeof *block);
    return !memcmp(block->magic, magic, sizeof magic);
}

template <class Out>
cudaError_t share_memory(Call& call, Out* out, Address pointer) {
    Place place;
    if (!out || !locate(call, pointer, 0, "memory to share", place)) return call.done(cudaErrorInvalidValue);
    // "A pointer to the base of an existing device memory allocation created with cudaMalloc."
    Allocation* a = place.allocation;
    bool good = a && !strcmp(a->family, "device") && !a->pool && !runtime().memory.ranges.contains(a->start);
    if (!good) return call.done(cudaErrorInvalidValue);
    write_shared(out, memory_magic, a->start, a->bytes, 0);
    return call.done(cudaSuccess);
}

template <class In, class Real>
cudaError_t open_memory(Call& call, void** pointer, const In& handle, unsigned flags, Real real) {
    if (!pointer) return call.done(cudaErrorInvalidValue);
    if (!simulating()) {
        cudaError_t status = real();
        if (status == cudaSuccess) call.acquired("ipc-memory", Address(*pointer), 0);
        return call.done(status);
    }
    SharedBlock block;
    if (flags != cudaIpcMemLazyEnablePeerAccess || !read_shared(handle, memory_magic, &block))
        return call.done(cudaErrorInvalidValue);
    // A process cannot open what is its own.
    if (block.process == uint64_t(getpid())) return call.done(cudaErrorDeviceUninitialized);
    Runtime& r = runtime();
    // "The reference count on the handle is incremented by 1 and the existing device pointer is
    // returned."
    for (auto& [address, known] : r.handles) {
        if (strcmp(known.family, "ipc-memory") || known.device != thread().device) continue;
        auto* opened = (Opened*)known.content.get();
        if (opened->block.start != block.start || opened->block.process != block.process) continue;
        opened->references++;
        *pointer = (void*)address;
        call.acquired("ipc-memory", address, 0);
        return call.done(cudaSuccess);
    }
    Address start = r.memory.ranges.take(block.bytes);
    if (!start) return call.done(cudaErrorMemoryAllocation);
    r.memory.add(start, block.bytes, "ipc-memory", thread().device).tainted.add(0, block.bytes);
    Handle& made = r.handles[start];
    made = Handle{"ipc-memory", thread().device};
    made.content = std::make_shared<Opened>(Opened{block});
    r.destroyed.erase(start);
    *pointer = (void*)start;
    call.acquired("ipc-memory", start, 0);
    return call.done(cudaSuccess);
}

template <class Real>
cudaError_t close_memory(Call& call, Address pointer, Real real) {
    Handle* known = simulating() ? find_handle(pointer, "ipc-memory") : nullptr;
    if (known && !call.refused() && --((Opened*)known->content.get())->references > 0) {
        call.released("ipc-memory", pointer, 0);
        return call.done(cudaSuccess);
    }
    cudaError_t status = destroy(call, pointer, "ipc-memory", real);
    if (known && !find_handle(pointer, "ipc-memory")) {
        // "When the reference count reaches 0, this API unmaps the memory."
        Memory& memory = runtime().memory;
        if (Allocation* a = memory.find(pointer)) memory.give_device(*a);
        memory.remove(pointer);
    }
    return status;
}

template <class Out>
cudaError_t share_event(Call& call, Out* out, Address event) {
    if (!out) return call.done(cudaErrorInvalidValue);
    if (!usable(call, event, "event")) return call.done(cudaErrorInvalidResourceHandle);
    // "Must have been created with the cudaEventInterprocess and cudaEventDisableTiming flags set."
    uint64_t flags = find_handle(event, "event")->flags, needed = cudaEventInterprocess | cudaEventDisableTiming;
    if ((flags & needed) != needed) return call.done(cudaErrorInvalidValue);
    write_shared(out, event_magic, event, 0, flags);
    return call.done(cudaSuccess);
}

template <class Out, class In, class Real>
cudaError_t open_event(Call& call, Out* out, const In& handle, Real real) {
    SharedBlock block{};
    if (simulating() && !read_shared(handle, event_magic, &block)) return call.done(cudaErrorInvalidValue);
    return create(call, out, "event", real, [&](Handle& h) { h.flags = block.flags, h.recorded = true; });
}

}  // namespace ledger

API(cudaIpcGetMemHandle)(cudaIpcMemHandle_t* handle, void* pointer) {
    CALL_FORWARD(cudaIpcGetMemHandle, handle, pointer);
    return ledger::share_memory(call, handle, Address(pointer));
}

API(cudaIpcOpenMemHandle)(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags) {
    CALL_ENTRY(cudaIpcOpenMemHandle);
    return ledger::open_memory(call, pointer, handle, flags,
                               [&] { return REAL(cudaIpcOpenMemHandle)(pointer, handle, flags); });
}

API(cudaIpcCloseMemHandle)(void* pointer) {
    CALL_RELEASE(cudaIpcCloseMemHandle);
    return ledger::close_memory(call, Address(pointer), [&] { return REAL(cudaIpcCloseMemHandle)(pointer); });
}

API(cudaIpcGetEventHandle)(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
    CALL_FORWARD(cudaIpcGetEventHandle, handle, event);
    return ledger::share_event(call, handle, Address(event));
}

API(cudaIpcOpenEventHandle)(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
    CALL_ENTRY(cudaIpcOpenEventHandle);
    return ledger::open_event(call, event, handle, [&] { return REAL(cudaIpcOpenEventHandle)(event, handle); });
}

API_CU(cuIpcGetMemHandle)(CUipcMemHandle* handle, CUdeviceptr pointer) {
    CU_FORWARD(cuIpcGetMemHandle, handle, pointer);
    return ledger::given(ledger::share_memory(call, handle, pointer));
}

API_CU(cuIpcOpenMemHandle_v2)(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned int flags) {
    CU_ENTRY(cuIpcOpenMemHandle_v2);
    return ledger::given(ledger::open_memory(call, (void**)pointer, handle, flags,
                                             CU_REAL(cuIpcOpenMemHandle_v2, (pointer, handle, flags))));
}

API_CU(cuIpcCloseMemHandle)(CUdeviceptr pointer) {
    ledger::Call call("cuIpcCloseMemHandle", __builtin_frame_address(0));
    return ledger::given(ledger::close_memory(call, pointer, CU_REAL(cuIpcCloseMemHandle, (pointer))));
}

API_CU(cuIpcGetEventHandle)(CUipcEventHandle* handle, CUevent event) {
    CU_FORWARD(cuIpcGetEventHandle, handle, event);
    return ledger::given(ledger::share_event(call, handle, Address(event)));
}

API_CU(cuIpcOpenEventHandle)(CUevent* event, CUipcEventHandle handle) {
    CU_ENTRY(cuIpcOpenEventHandle);
    return ledger::given(ledger::open_event(call, event, handle, CU_REAL(cuIpcOpenEventHandle, (event, handle))));
}
