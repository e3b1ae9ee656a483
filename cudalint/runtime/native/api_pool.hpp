// Stream-ordered allocation, and the pools that it takes from.
#pragma once

namespace ledger {

inline Address default_pool(int device) {
    Runtime& r = runtime();
    while (r.default_pools.size() < size_t(configuration().profile.count)) {
        Address made = new_handle("mempool");
        r.handles[made].builtin = true;
        r.handles[made].device = int(r.default_pools.size());
        r.default_pools.push_back(made);
        r.current_pools.push_back(made);
    }
    return r.default_pools[size_t(device)];
}

inline Address current_pool(int device) {
    default_pool(device);
    return runtime().current_pools[size_t(device)];
}

// Gives cached memory back to the device until the pool keeps no more than `keep`.
inline bool trim(Handle& pool, uint64_t keep) {
    bool any = false;
    while (!pool.cached.empty() && pool.cached_bytes + pool.used > keep) {
        auto block = pool.cached.back();
        pool.cached.pop_back();
        pool.cached_bytes -= block.second;
        runtime().memory.devices[size_t(pool.device)].give(block.first, block.second);
        any = true;
    }
    return any;
}

inline bool trim_pools(int device) {
    bool any = false;
    for (auto& part : runtime().handles)
        if (!strcmp(part.second.family, "mempool") && part.second.device == device)
            any |= trim(part.second, 0);
    return any;
}

// What synchronising does: memory above the release threshold goes back.
inline void settle_pools() {
    for (auto& part : runtime().handles)
        if (!strcmp(part.second.family, "mempool"))
            trim(part.second, std::max(part.second.threshold, part.second.used));
}

// A block of a pool's, out of what it keeps or new; 0 when there is none left.
inline Address take_block(Handle& pool, uint64_t bytes) {
    Runtime& r = runtime();
    uint64_t size = r.memory.devices[size_t(pool.device)].round(bytes);
    Address start = 0;
    for (size_t i = 0; i < pool.cached.size() && !start; i++) {
        auto& block = pool.cached[i];
        if (block.second < size) continue;
        start = block.first;
        pool.cached_bytes -= size;
        block.first += size, block.second -= size;
        if (!block.second) pool.cached.erase(pool.cached.begin() + long(i));
    }
    if (!start) start = r.memory.take_device(bytes, pool.device);
    if (!start && trim_pools(pool.device)) start = r.memory.take_device(bytes, pool.device);
    if (!start) return 0;
    pool.used += size;
    pool.used_high = std::max(pool.used_high, pool.used);
    pool.reserved_high = std::max(pool.reserved_high, pool.used + pool.cached_bytes);
    return start;
}

inline cudaError_t take_from(Handle& pool, uint64_t bytes, Address handle, Address* out) {
    *out = take_block(pool, bytes);
    if (!*out) return cudaErrorMemoryAllocation;
    runtime().memory.add(*out, bytes, "device", pool.device).pool = handle;
    return cudaSuccess;
}

inline void give_block(Handle& pool, Address start, uint64_t bytes) {
    uint64_t size = runtime().memory.devices[size_t(pool.device)].round(bytes);
    pool.used -= std::min(pool.used, size);
    pool.cached.emplace_back(start, size);
    pool.cached_bytes += size;
}

inline void give_pool(Allocation& a) {
    Memory& memory = runtime().memory;
    memory.forget_bytes(a);
    if (Handle* pool = find_handle(a.pool, "mempool"))
        give_block(*pool, a.start, a.bytes);
    else
        memory.devices[size_t(a.device)].give(a.start, a.bytes);
}

template <class Real>
cudaError_t take_ordered(Call& call, void** pointer, uint64_t bytes, Address pool,
                         cudaStream_t stream, Real real) {
    if (!pointer) return call.done(cudaErrorInvalidValue);
    call.asks(bytes, "device");
    Address start = 0;
    if (!simulating()) {
        cudaError_t status = real();
        if (status != cudaSuccess || !*pointer) return call.done(status);
        start = Address(*pointer);
        std::lock_guard<std::recursive_mutex> guard(runtime().mutex);
        runtime().memory.add(start, bytes, "device", thread().device);
    } else {
        if (!usable_stream(call, stream)) return call.done(cudaErrorInvalidResourceHandle);
        Handle* from = find_handle(pool, "mempool");
        if (!from) return call.done(cudaErrorInvalidValue);
        if (!bytes) {
            *pointer = nullptr;
            return call.done(cudaSuccess);
        }
        cudaError_t status = take_from(*from, bytes, pool, &start);
        if (status != cudaSuccess) return call.done(status);
        if (!capturing(stream))
            runtime().memory.find(start)->made =
                runtime().order.work(timeline_of(stream), call.api());
        *pointer = (void*)start;
    }
    call.acquired("device", start, bytes, Address(stream), true);
    return call.done(cudaSuccess);
}

}  // namespace ledger

API(cudaMallocAsync)(void** pointer, size_t bytes, cudaStream_t stream) {
    CALL_ENTRY(cudaMallocAsync);
    Address pool = simulating() ? ledger::current_pool(thread().device) : 0;
    return ledger::take_ordered(call, pointer, bytes, pool, stream,
                                [&] { return REAL(cudaMallocAsync)(pointer, bytes, stream); });
}

API(cudaMallocFromPoolAsync)(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    CALL_ENTRY(cudaMallocFromPoolAsync);
    return ledger::take_ordered(call, pointer, bytes, Address(pool), stream, [&] {
        return REAL(cudaMallocFromPoolAsync)(pointer, bytes, pool, stream);
    });
}

API(cudaFreeAsync)(void* pointer, cudaStream_t stream) {
    CALL_RELEASE(cudaFreeAsync);
    if (simulating() && !call.refused() && !ledger::usable_stream(call, stream))
        return call.done(cudaErrorInvalidResourceHandle);
    if (simulating() && !call.refused() && !pointer) return call.done(cudaErrorInvalidValue);
    return ledger::release(call, pointer, [](const char* f) { return !strcmp(f, "device"); }, "device",
                           [&] { return REAL(cudaFreeAsync)(pointer, stream); }, stream, true);
}

API(cudaMemPoolCreate)(cudaMemPool_t* pool, const struct cudaMemPoolProps* properties) {
    CALL_ENTRY(cudaMemPoolCreate);
    if (!pool || !properties) return call.done(cudaErrorInvalidValue);
    if (simulating()) {
        int device = properties->location.id;
        if (device < 0 || device >= ledger::configuration().profile.count)
            return call.done(cudaErrorInvalidValue);
        *pool = (cudaMemPool_t)ledger::new_handle("mempool");
        runtime().handles[Address(*pool)].device = device;
    } else {
        cudaError_t status = REAL(cudaMemPoolCreate)(pool, properties);
        if (status != cudaSuccess) return call.done(status);
    }
    call.acquired("mempool", Address(*pool), 0);
    return call.done(cudaSuccess);
}

API(cudaMemPoolTrimTo)(cudaMemPool_t pool, size_t keep) {
    CALL_FORWARD(cudaMemPoolTrimTo, pool, keep);
    Handle* h = ledger::find_handle(Address(pool), "mempool");
    if (!h) return call.done(cudaErrorInvalidValue);
    ledger::trim(*h, keep);
    return call.done(cudaSuccess);
}

API(cudaMemPoolSetAttribute)(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value) {
    CALL_FORWARD(cudaMemPoolSetAttribute, pool, attribute, value);
    Handle* h = ledger::find_handle(Address(pool), "mempool");
    if (!h || !value) return call.done(cudaErrorInvalidValue);
    if (attribute == cudaMemPoolAttrReleaseThreshold) h->threshold = *(uint64_t*)value;
    return call.done(cudaSuccess);
}

API(cudaMemPoolGetAttribute)(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value) {
    CALL_FORWARD(cudaMemPoolGetAttribute, pool, attribute, value);
    Handle* h = ledger::find_handle(Address(pool), "mempool");
    if (!h || !value) return call.done(cudaErrorInvalidValue);
    switch (int(attribute)) {
        case cudaMemPoolAttrReleaseThreshold: *(uint64_t*)value = h->threshold; break;
        case cudaMemPoolAttrReservedMemCurrent: *(uint64_t*)value = h->used + h->cached_bytes; break;
        case cudaMemPoolAttrReservedMemHigh: *(uint64_t*)value = h->reserved_high; break;
        case cudaMemPoolAttrUsedMemCurrent: *(uint64_t*)value = h->used; break;
        case cudaMemPoolAttrUsedMemHigh: *(uint64_t*)value = h->used_high; break;
        default: *(int*)value = 1; break;
    }
    return call.done(cudaSuccess);
}

API(cudaDeviceGetDefaultMemPool)(cudaMemPool_t* pool, int device) {
    CALL_FORWARD(cudaDeviceGetDefaultMemPool, pool, device);
    if (!pool || device < 0 || device >= ledger::configuration().profile.count)
        return call.done(cudaErrorInvalidValue);
    *pool = (cudaMemPool_t)ledger::default_pool(device);
    return call.done(cudaSuccess);
}

API(cudaDeviceGetMemPool)(cudaMemPool_t* pool, int device) {
    CALL_FORWARD(cudaDeviceGetMemPool, pool, device);
    if (!pool || device < 0 || device >= ledger::configuration().profile.count)
        return call.done(cudaErrorInvalidValue);
    *pool = (cudaMemPool_t)ledger::current_pool(device);
    return call.done(cudaSuccess);
}

API(cudaDeviceSetMemPool)(int device, cudaMemPool_t pool) {
    CALL_FORWARD(cudaDeviceSetMemPool, device, pool);
    if (device < 0 || device >= ledger::configuration().profile.count ||
        !ledger::find_handle(Address(pool), "mempool"))
        return call.done(cudaErrorInvalidValue);
    ledger::current_pool(device);
    runtime().current_pools[size_t(device)] = Address(pool);
    return call.done(cudaSuccess);
}

API(cudaMemPoolSetAccess)(cudaMemPool_t pool, const struct cudaMemAccessDesc* list, size_t count) {
    CALL_FORWARD(cudaMemPoolSetAccess, pool, list, count);
    bool good = ledger::find_handle(Address(pool), "mempool") && (list || !count);
    return call.done(good ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaMemPoolGetAccess)(enum cudaMemAccessFlags* flags, cudaMemPool_t pool,
                          struct cudaMemLocation* location) {
    CALL_FORWARD(cudaMemPoolGetAccess, flags, pool, location);
    if (!flags || !ledger::find_handle(Address(pool), "mempool"))
        return call.done(cudaErrorInvalidValue);
    *flags = cudaMemAccessFlagsProtReadWrite;
    return call.done(cudaSuccess);
}
