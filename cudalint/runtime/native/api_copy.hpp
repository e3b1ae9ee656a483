// The functions that copy and set memory.
#pragma once

API(cudaMemcpy)(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind) {
    CALL_ENTRY(cudaMemcpy);
    return ledger::copy_plain(call, to, from, bytes, {kind},
                              [&] { return REAL(cudaMemcpy)(to, from, bytes, kind); });
}

API(cudaMemcpyAsync)(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind,
                     cudaStream_t stream) {
    CALL_ENTRY(cudaMemcpyAsync);
    return ledger::copy_plain(call, to, from, bytes, {kind, stream, true}, [&] {
        return REAL(cudaMemcpyAsync)(to, from, bytes, kind, stream);
    });
}

API(cudaMemcpyPeer)(void* to, int to_device, const void* from, int from_device, size_t bytes) {
    CALL_ENTRY(cudaMemcpyPeer);
    return ledger::copy_plain(call, to, from, bytes, {cudaMemcpyDeviceToDevice}, [&] {
        return REAL(cudaMemcpyPeer)(to, to_device, from, from_device, bytes);
    });
}

API(cudaMemcpyPeerAsync)(void* to, int to_device, const void* from, int from_device, size_t bytes,
                         cudaStream_t stream) {
    CALL_ENTRY(cudaMemcpyPeerAsync);
    return ledger::copy_plain(call, to, from, bytes, {cudaMemcpyDeviceToDevice, stream, true}, [&] {
        return REAL(cudaMemcpyPeerAsync)(to, to_device, from, from_device, bytes, stream);
    });
}

API(cudaMemcpy2D)(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                  size_t height, enum cudaMemcpyKind kind) {
    CALL_ENTRY(cudaMemcpy2D);
    if (simulating() && (width > to_pitch || width > from_pitch))
        return call.done(cudaErrorInvalidPitchValue);
    return ledger::copy(call, {Address(to), to_pitch, 0}, {Address(from), from_pitch, 0},
                        {width, height, 1}, {kind}, [&] {
                            return REAL(cudaMemcpy2D)(to, to_pitch, from, from_pitch, width, height, kind);
                        });
}

API(cudaMemcpy2DAsync)(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CALL_ENTRY(cudaMemcpy2DAsync);
    if (simulating() && (width > to_pitch || width > from_pitch))
        return call.done(cudaErrorInvalidPitchValue);
    return ledger::copy(call, {Address(to), to_pitch, 0}, {Address(from), from_pitch, 0},
                        {width, height, 1}, {kind, stream, true}, [&] {
                            return REAL(cudaMemcpy2DAsync)(to, to_pitch, from, from_pitch, width,
                                                           height, kind, stream);
                        });
}

namespace ledger {

// A copy between a variable of the device and memory.
inline cudaError_t copy_symbol(Call& call, const void* symbol, size_t offset, void* memory,
                               size_t bytes, CopyOptions options, bool to_symbol,
                               const std::function<cudaError_t()>& real) {
    if (!simulating()) {
        cudaError_t status = real();
        if (status == cudaSuccess) {
            Record record = call.make(COPY);
            record.detail = uint16_t(options.kind), record.bytes = bytes;
            (to_symbol ? record.source : record.address) = Address(memory);
            call.write(record);
        }
        return call.done(status);
    }
    Variable* v = variable(symbol);
    if (!v) return call.done(cudaErrorInvalidSymbol);
    void* place = (void*)(v->address + offset);
    return to_symbol ? copy_plain(call, place, memory, bytes, options, real)
                     : copy_plain(call, memory, place, bytes, options, real);
}

}  // namespace ledger

API(cudaMemcpyToSymbol)(const void* symbol, const void* from, size_t bytes, size_t offset,
                        enum cudaMemcpyKind kind) {
    CALL_ENTRY(cudaMemcpyToSymbol);
    return ledger::copy_symbol(call, symbol, offset, (void*)from, bytes, {kind}, true, [&] {
        return REAL(cudaMemcpyToSymbol)(symbol, from, bytes, offset, kind);
    });
}

API(cudaMemcpyToSymbolAsync)(const void* symbol, const void* from, size_t bytes, size_t offset,
                             enum cudaMemcpyKind kind, cudaStream_t stream) {
    CALL_ENTRY(cudaMemcpyToSymbolAsync);
    return ledger::copy_symbol(call, symbol, offset, (void*)from, bytes, {kind, stream, true}, true, [&] {
        return REAL(cudaMemcpyToSymbolAsync)(symbol, from, bytes, offset, kind, stream);
    });
}

API(cudaMemcpyFromSymbol)(void* to, const void* symbol, size_t bytes, size_t offset,
                          enum cudaMemcpyKind kind) {
    CALL_ENTRY(cudaMemcpyFromSymbol);
    return ledger::copy_symbol(call, symbol, offset, to, bytes, {kind}, false, [&] {
        return REAL(cudaMemcpyFromSymbol)(to, symbol, bytes, offset, kind);
    });
}

API(cudaMemcpyFromSymbolAsync)(void* to, const void* symbol, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind, cudaStream_t stream) {
    CALL_ENTRY(cudaMemcpyFromSymbolAsync);
    return ledger::copy_symbol(call, symbol, offset, to, bytes, {kind, stream, true}, false, [&] {
        return REAL(cudaMemcpyFromSymbolAsync)(to, symbol, bytes, offset, kind, stream);
    });
}

API(cudaGetSymbolAddress)(void** address, const void* symbol) {
    CALL_FORWARD(cudaGetSymbolAddress, address, symbol);
    ledger::Variable* v = ledger::variable(symbol);
    if (!address) return call.done(cudaErrorInvalidValue);
    if (!v) return call.done(cudaErrorInvalidSymbol);
    *address = (void*)v->address;
    return call.done(cudaSuccess);
}

API(cudaGetSymbolSize)(size_t* size, const void* symbol) {
    CALL_FORWARD(cudaGetSymbolSize, size, symbol);
    ledger::Variable* v = ledger::variable(symbol);
    if (!size) return call.done(cudaErrorInvalidValue);
    if (!v) return call.done(cudaErrorInvalidSymbol);
    *size = v->size;
    return call.done(cudaSuccess);
}

API(cudaMemset)(void* pointer, int value, size_t bytes) {
    CALL_ENTRY(cudaMemset);
    return ledger::fill(call, {Address(pointer), bytes, bytes}, uint32_t(value), 1, {bytes, 1, 1},
                        nullptr, false, [&] { return REAL(cudaMemset)(pointer, value, bytes); });
}

API(cudaMemsetAsync)(void* pointer, int value, size_t bytes, cudaStream_t stream) {
    CALL_ENTRY(cudaMemsetAsync);
    return ledger::fill(call, {Address(pointer), bytes, bytes}, uint32_t(value), 1, {bytes, 1, 1},
                        stream, true,
                        [&] { return REAL(cudaMemsetAsync)(pointer, value, bytes, stream); });
}

API(cudaMemset2D)(void* pointer, size_t pitch, int value, size_t width, size_t height) {
    CALL_ENTRY(cudaMemset2D);
    return ledger::fill(call, {Address(pointer), pitch, 0}, uint32_t(value), 1, {width, height, 1},
                        nullptr, false,
                        [&] { return REAL(cudaMemset2D)(pointer, pitch, value, width, height); });
}

API(cudaMemset2DAsync)(void* pointer, size_t pitch, int value, size_t width, size_t height,
                       cudaStream_t stream) {
    CALL_ENTRY(cudaMemset2DAsync);
    return ledger::fill(
        call, {Address(pointer), pitch, 0}, uint32_t(value), 1, {width, height, 1}, stream, true,
        [&] { return REAL(cudaMemset2DAsync)(pointer, pitch, value, width, height, stream); });
}

API(cudaMemset3D)(struct cudaPitchedPtr p, int value, struct cudaExtent e) {
    CALL_ENTRY(cudaMemset3D);
    return ledger::fill(call, {Address(p.ptr), p.pitch, p.pitch * p.ysize}, uint32_t(value), 1,
                        {e.width, e.height, e.depth}, nullptr, false,
                        [&] { return REAL(cudaMemset3D)(p, value, e); });
}

API(cudaMemset3DAsync)(struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t stream) {
    CALL_ENTRY(cudaMemset3DAsync);
    return ledger::fill(call, {Address(p.ptr), p.pitch, p.pitch * p.ysize}, uint32_t(value), 1,
                        {e.width, e.height, e.depth}, stream, true,
                        [&] { return REAL(cudaMemset3DAsync)(p, value, e, stream); });
}

#if CUDART_VERSION >= 13000
API(cudaMemPrefetchAsync)(const void* pointer, size_t bytes, struct cudaMemLocation location,
                          unsigned int flags, cudaStream_t stream) {
    CALL_FORWARD(cudaMemPrefetchAsync, pointer, bytes, location, flags, stream);
#else
API(cudaMemPrefetchAsync)(const void* pointer, size_t bytes, int location, cudaStream_t stream) {
    CALL_FORWARD(cudaMemPrefetchAsync, pointer, bytes, location, stream);
#endif
    ledger::Place place;
    if (!ledger::locate(call, Address(pointer), bytes, "memory to prefetch", place) ||
        place.side == ledger::Side::Pageable)
        return call.done(cudaErrorInvalidValue);
    return call.done(cudaSuccess);
}

#if CUDART_VERSION >= 13000
API(cudaMemAdvise)(const void* pointer, size_t bytes, enum cudaMemoryAdvise advice,
                   struct cudaMemLocation location) {
#else
API(cudaMemAdvise)(const void* pointer, size_t bytes, enum cudaMemoryAdvise advice, int location) {
#endif
    CALL_FORWARD(cudaMemAdvise, pointer, bytes, advice, location);
    ledger::Place place;
    if (!ledger::locate(call, Address(pointer), bytes, "memory advised on", place))
        return call.done(cudaErrorInvalidValue);
    return call.done(cudaSuccess);
}
