// Memory and semaphores of other interfaces (CUDA Runtime API, "External Resource Interoperability").
// What the other interface put there is not known: it is tainted.
#pragma once

namespace ledger {

struct External {
    uint64_t bytes = 0;
    int file = -1;  // "Ownership of the file descriptor is transferred to the CUDA driver."
    std::vector<Address> buffers;

    ~External() {
        if (file >= 0) close(file);
    }
};

// Only file descriptors are imported on this system; every open one is taken as what it should be.
template <class Out, class Real>
cudaError_t import(Call& call, Out* out, const char* family, bool by_file, int file, uint64_t bytes, Real real) {
    if (simulating() && !by_file) {
        call.note(std::string("unsupported: ") + call.api() + " but of a file descriptor");
        return call.done(cudaErrorNotSupported);
    }
    if (simulating() && fcntl(file, F_GETFD) < 0) return call.done(cudaErrorInvalidValue);
    return create(call, out, family, real, [&](Handle& h) {
        auto content = std::make_shared<External>();
        content->bytes = bytes, content->file = file;
        h.content = content;
    });
}

template <class Real>
cudaError_t map_buffer(Call& call, void** pointer, Address object, uint64_t offset, uint64_t bytes,
                       unsigned flags, Real real) {
    if (!pointer) return call.done(cudaErrorInvalidValue);
    Runtime& r = runtime();
    Address start = 0;
    if (!simulating()) {
        cudaError_t status = real();
        if (status != cudaSuccess) return call.done(status);
        start = Address(*pointer);
    } else {
        if (!usable(call, object, "external-memory")) return call.done(cudaErrorInvalidResourceHandle);
        auto* external = (External*)find_handle(object, "external-memory")->content.get();
        bool inside = bytes && offset <= external->bytes && bytes <= external->bytes - offset;
        if (!inside || flags) return call.done(cudaErrorInvalidValue);
        start = r.memory.ranges.take(bytes);
        if (!start) return call.done(cudaErrorMemoryAllocation);
        external->buffers.push_back(start);
        *pointer = (void*)start;
    }
    {
        std::lock_guard<std::recursive_mutex> guard(r.mutex);
        r.memory.add(start, bytes, "device", thread().device).tainted.add(0, bytes);
    }
    call.acquired("device", start, bytes);
    return call.done(cudaSuccess);
}

// "Any existing buffers ... mapped onto this object must no longer be used and must be explicitly freed
// using cudaFree."
template <class Real>
cudaError_t destroy_external(Call& call, Address object, Real real) {
    Handle* known = simulating() ? find_handle(object, "external-memory") : nullptr;
    auto content = known ? std::static_pointer_cast<External>(known->content) : nullptr;
    cudaError_t status = destroy(call, object, "external-memory", real);
    if (content && status == cudaSuccess)
        for (Address buffer : content->buffers)
            if (Allocation* a = runtime().memory.find(buffer))
                a->barred = "maps external memory that was destroyed before";
    return status;
}

inline cudaError_t use_semaphores(Call& call, const void* const* semaphores, unsigned count,
                                  const void* parameters, cudaStream_t stream) {
    if (count && !(semaphores && parameters)) return call.done(cudaErrorInvalidValue);
    if (!usable_stream(call, stream)) return call.done(cudaErrorInvalidResourceHandle);
    for (unsigned i = 0; i < count; i++)
        if (!usable(call, Address(semaphores[i]), "external-semaphore"))
            return call.done(cudaErrorInvalidResourceHandle);
    // Another interface signals it, after work of any stream.
    runtime().order.wait_for_all(timeline_of(stream));
    work_on(stream, 1000);
    return call.done(cudaSuccess);
}

}  // namespace ledger

API(cudaImportExternalMemory)(cudaExternalMemory_t* out, const struct cudaExternalMemoryHandleDesc* from) {
    CALL_ENTRY(cudaImportExternalMemory);
    if (!from || !from->size) return call.done(cudaErrorInvalidValue);
    return ledger::import(call, out, "external-memory", from->type == cudaExternalMemoryHandleTypeOpaqueFd,
                          from->handle.fd, from->size,
                          [&] { return REAL(cudaImportExternalMemory)(out, from); });
}

API(cudaExternalMemoryGetMappedBuffer)(void** pointer, cudaExternalMemory_t object,
                                       const struct cudaExternalMemoryBufferDesc* wanted) {
    CALL_ENTRY(cudaExternalMemoryGetMappedBuffer);
    if (!wanted) return call.done(cudaErrorInvalidValue);
    return ledger::map_buffer(call, pointer, Address(object), wanted->offset, wanted->size, wanted->flags, [&] {
        return REAL(cudaExternalMemoryGetMappedBuffer)(pointer, object, wanted);
    });
}

API(cudaDestroyExternalMemory)(cudaExternalMemory_t object) {
    CALL_RELEASE(cudaDestroyExternalMemory);
    return ledger::destroy_external(call, Address(object), [&] { return REAL(cudaDestroyExternalMemory)(object); });
}

API(cudaImportExternalSemaphore)(cudaExternalSemaphore_t* out,
                                 const struct cudaExternalSemaphoreHandleDesc* from) {
    CALL_ENTRY(cudaImportExternalSemaphore);
    if (!from) return call.done(cudaErrorInvalidValue);
    bool by_file = from->type == cudaExternalSemaphoreHandleTypeOpaqueFd ||
                   from->type == cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd;
    return ledger::import(call, out, "external-semaphore", by_file, from->handle.fd, 0,
                          [&] { return REAL(cudaImportExternalSemaphore)(out, from); });
}

API(cudaSignalExternalSemaphoresAsync)(const cudaExternalSemaphore_t* semaphores,
                                       const struct cudaExternalSemaphoreSignalParams* parameters,
                                       unsigned int count, cudaStream_t stream) {
    CALL_FORWARD(cudaSignalExternalSemaphoresAsync, semaphores, parameters, count, stream);
    return ledger::use_semaphores(call, (const void* const*)semaphores, count, parameters, stream);
}

API(cudaWaitExternalSemaphoresAsync)(const cudaExternalSemaphore_t* semaphores,
                                     const struct cudaExternalSemaphoreWaitParams* parameters,
                                     unsigned int count, cudaStream_t stream) {
    CALL_FORWARD(cudaWaitExternalSemaphoresAsync, semaphores, parameters, count, stream);
    return ledger::use_semaphores(call, (const void* const*)semaphores, count, parameters, stream);
}

API(cudaDestroyExternalSemaphore)(cudaExternalSemaphore_t semaphore) {
    DESTROY(cudaDestroyExternalSemaphore, semaphore, "external-semaphore");
}

API_CU(cuImportExternalMemory)(CUexternalMemory* out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* from) {
    CU_ENTRY(cuImportExternalMemory);
    CU_CHECK(from && from->size, cudaErrorInvalidValue);
    return ledger::given(ledger::import(
        call, out, "external-memory", from->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
        from->handle.fd, from->size, CU_REAL(cuImportExternalMemory, (out, from))));
}

API_CU(cuExternalMemoryGetMappedBuffer)(CUdeviceptr* pointer, CUexternalMemory object,
                                        const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* wanted) {
    CU_ENTRY(cuExternalMemoryGetMappedBuffer);
    CU_CHECK(wanted, cudaErrorInvalidValue);
    return ledger::given(ledger::map_buffer(call, (void**)pointer, Address(object), wanted->offset, wanted->size,
                                            wanted->flags,
                                            CU_REAL(cuExternalMemoryGetMappedBuffer, (pointer, object, wanted))));
}

API_CU(cuDestroyExternalMemory)(CUexternalMemory object) {
    ledger::Call call("cuDestroyExternalMemory", __builtin_frame_address(0));
    return ledger::given(ledger::destroy_external(call, Address(object), CU_REAL(cuDestroyExternalMemory, (object))));
}

API_CU(cuImportExternalSemaphore)(CUexternalSemaphore* out,
                                  const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* from) {
    CU_ENTRY(cuImportExternalSemaphore);
    CU_CHECK(from, cudaErrorInvalidValue);
    bool by_file = from->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
                   from->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    return ledger::given(ledger::import(call, out, "external-semaphore", by_file, from->handle.fd, 0,
                                        CU_REAL(cuImportExternalSemaphore, (out, from))));
}

API_CU(cuSignalExternalSemaphoresAsync)(const CUexternalSemaphore* semaphores,
                                        const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters,
                                        unsigned int count, CUstream stream) {
    CU_FORWARD(cuSignalExternalSemaphoresAsync, semaphores, parameters, count, stream);
    return ledger::given(ledger::use_semaphores(call, (const void* const*)semaphores, count, parameters, stream));
}

API_CU(cuWaitExternalSemaphoresAsync)(const CUexternalSemaphore* semaphores,
                                      const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters,
                                      unsigned int count, CUstream stream) {
    CU_FORWARD(cuWaitExternalSemaphoresAsync, semaphores, parameters, count, stream);
    return ledger::given(ledger::use_semaphores(call, (const void* const*)semaphores, count, parameters, stream));
}

API_CU(cuDestroyExternalSemaphore)(CUexternalSemaphore semaphore) {
    ledger::Call call("cuDestroyExternalSemaphore", __builtin_frame_address(0));
    return ledger::given(ledger::destroy(call, Address(semaphore), "external-semaphore",
                                         CU_REAL(cuDestroyExternalSemaphore, (semaphore))));
}
