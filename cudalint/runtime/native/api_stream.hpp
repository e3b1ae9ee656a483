// Streams and events. Work is done when it is asked for: every order that streams allow includes
// the order in which the host asked.
#pragma once

namespace ledger {

inline bool is_special(cudaStream_t stream) {
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

inline bool usable(Call& call, Address handle, const char* family) {
    if (find_handle(handle, family)) return true;
    auto gone = runtime().destroyed.find(handle);
    if (gone != runtime().destroyed.end())
        call.misuse(INVALID_HANDLE, gone->second, handle, 0,
                    std::string("the ") + gone->second + " was destroyed before");
    return false;
}

inline bool usable_stream(Call& call, cudaStream_t stream) {
    return is_special(stream) || usable(call, Address(stream), "stream");
}

inline Handle* stream_handle(cudaStream_t stream) {
    if (!is_special(stream)) return find_handle(Address(stream), "stream");
    static Handle standard[16];
    return &standard[thread().device & 15];
}

inline uint32_t timeline_of(cudaStream_t stream) {
    Order& order = runtime().order;
    if (stream == cudaStreamPerThread) return order.of_thread(thread_number());
    Handle* h = is_special(stream) ? nullptr : find_handle(Address(stream), "stream");
    if (!h) return Order::legacy;
    if (!h->timeline) h->timeline = order.add(!(h->flags & cudaStreamNonBlocking));
    return h->timeline;
}

inline void work_on(cudaStream_t stream, uint64_t nanoseconds) {
    Handle* h = stream_handle(stream);
    if (h) h->clock += nanoseconds;
}

// Makes a handle of a family in either mode; `fill` sets up the simulated one.
template <class H, class Real, class Fill>
cudaError_t create(Call& call, H* out, const char* family, Real real, Fill fill) {
    if (!out) return call.done(cudaErrorInvalidValue);
    if (simulating()) {
        Address made = new_handle(family);
        *out = (H)made;
        fill(runtime().handles[made]);
    } else {
        cudaError_t status = real();
        if (status != cudaSuccess) return call.done(status);
    }
    call.acquired(family, Address(*out), 0);
    return call.done(cudaSuccess);
}

template <class Real>
cudaError_t destroy(Call& call, Address handle, const char* family, Real real) {
    Runtime& r = runtime();
    if (call.refused()) {
        bool lost = simulating() && !call.injected() && find_handle(handle, family);
        if (lost) {
            r.handles.erase(handle);
            r.destroyed[handle] = family;
            call.released(family, handle, 0, 0, false, call.refusal());
        }
        return call.refuse();
    }
    if (!simulating()) {
        std::unique_lock<std::recursive_mutex> guard(r.mutex);
        auto gone = r.destroyed.find(handle);
        // Before the call: a real driver crashes on some of these.
        if (gone != r.destroyed.end() && !strcmp(gone->second, family))
            call.misuse(DOUBLE_FREE, family, handle, 0, "destroyed a second time");
        else if (r.held.count(handle) <= 1)  // What was acquired twice is released twice.
            r.destroyed[handle] = family;
        guard.unlock();
        cudaError_t status = real();
        if (status == cudaSuccess) call.released(family, handle, 0);
        return call.done(status);
    }
    Handle* h = find_handle(handle, family);
    if (!h || h->builtin) {
        auto gone = r.destroyed.find(handle);
        if (gone != r.destroyed.end())
            call.misuse(DOUBLE_FREE, gone->second, handle, 0, "destroyed a second time");
        else if (handle)
            call.misuse(INVALID_HANDLE, family, handle, 0, std::string("no ") + family);
        return call.done(cudaErrorInvalidResourceHandle);
    }
    r.order.end(h->timeline);
    r.handles.erase(handle);
    r.destroyed[handle] = family;
    call.released(family, handle, 0);
    return call.done(cudaSuccess);
}

}  // namespace ledger

#define CREATE(name, out, family, arguments, ...) \
    return ledger::create(call, out, family, [&] { return REAL(name) arguments; }, [&](Handle& h) { (void)h; __VA_ARGS__; })
#define DESTROY(name, handle, family) \
    CALL_RELEASE(name);               \
    return ledger::destroy(call, Address(handle), family, [&] { return REAL(name)(handle); })
#define STREAM_CHECK(stream) \
    if (!ledger::usable_stream(call, stream)) return call.done(cudaErrorInvalidResourceHandle)

API(cudaStreamCreate)(cudaStream_t* stream) {
    CALL_ENTRY(cudaStreamCreate);
    CREATE(cudaStreamCreate, stream, "stream", (stream));
}

API(cudaStreamCreateWithFlags)(cudaStream_t* stream, unsigned int flags) {
    CALL_ENTRY(cudaStreamCreateWithFlags);
    CREATE(cudaStreamCreateWithFlags, stream, "stream", (stream, flags), h.flags = flags);
}

API(cudaStreamCreateWithPriority)(cudaStream_t* stream, unsigned int flags, int priority) {
    CALL_ENTRY(cudaStreamCreateWithPriority);
    CREATE(cudaStreamCreateWithPriority, stream, "stream", (stream, flags, priority),
           h.flags = flags, h.priority = priority);
}

API(cudaStreamDestroy)(cudaStream_t stream) { DESTROY(cudaStreamDestroy, stream, "stream"); }

API(cudaStreamSynchronize)(cudaStream_t stream) {
    CALL_ENTRY(cudaStreamSynchronize);
    if (!simulating()) {
        cudaError_t status = REAL(cudaStreamSynchronize)(stream);
        if (status == cudaSuccess) call.synchronized(Address(stream));
        return call.done(status);
    }
    STREAM_CHECK(stream);
    if (ledger::capturing(stream)) return call.done(cudaErrorStreamCaptureUnsupported);
    ledger::host_waits_for(stream);
    ledger::settle_pools();
    call.synchronized(Address(stream));
    return call.done(cudaSuccess);
}

API(cudaStreamQuery)(cudaStream_t stream) {
    CALL_FORWARD(cudaStreamQuery, stream);
    STREAM_CHECK(stream);
    ledger::host_waits_for(stream);
    return call.done(cudaSuccess);
}

API(cudaStreamWaitEvent)(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    CALL_FORWARD(cudaStreamWaitEvent, stream, event, flags);
    STREAM_CHECK(stream);
    if (!ledger::usable(call, Address(event), "event")) return call.done(cudaErrorInvalidResourceHandle);
    Handle* e = ledger::find_handle(Address(event), "event");
    // A stream that waits for a captured event is captured too.
    if (e->capturing && !ledger::is_special(stream))
        ledger::find_handle(Address(stream), "stream")->capturing = e->capturing;
    if (e->flags & cudaEventInterprocess)
        runtime().order.wait_for_all(ledger::timeline_of(stream));
    else if (!e->capturing)
        runtime().order.wait(ledger::timeline_of(stream), e->stands_for);
    return call.done(cudaSuccess);
}

API(cudaStreamGetFlags)(cudaStream_t stream, unsigned int* flags) {
    CALL_FORWARD(cudaStreamGetFlags, stream, flags);
    STREAM_CHECK(stream);
    if (!flags) return call.done(cudaErrorInvalidValue);
    *flags = (unsigned)ledger::stream_handle(stream)->flags;
    return call.done(cudaSuccess);
}

API(cudaStreamGetPriority)(cudaStream_t stream, int* priority) {
    CALL_FORWARD(cudaStreamGetPriority, stream, priority);
    STREAM_CHECK(stream);
    if (!priority) return call.done(cudaErrorInvalidValue);
    *priority = int(ledger::stream_handle(stream)->priority);
    return call.done(cudaSuccess);
}

API(cudaStreamGetId)(cudaStream_t stream, unsigned long long* id) {
    CALL_FORWARD(cudaStreamGetId, stream, id);
    STREAM_CHECK(stream);
    if (!id) return call.done(cudaErrorInvalidValue);
    *id = Address(stream);
    return call.done(cudaSuccess);
}

API(cudaStreamAttachMemAsync)(cudaStream_t stream, void* pointer, size_t bytes, unsigned int flags) {
    CALL_FORWARD(cudaStreamAttachMemAsync, stream, pointer, bytes, flags);
    STREAM_CHECK(stream);
    ledger::Allocation* a = runtime().memory.find(Address(pointer));
    return call.done(a ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaStreamSetAttribute)(cudaStream_t stream, cudaLaunchAttributeID id,
                            const cudaLaunchAttributeValue* value) {
    CALL_FORWARD(cudaStreamSetAttribute, stream, id, value);
    STREAM_CHECK(stream);
    return call.done(value ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaLaunchHostFunc)(cudaStream_t stream, cudaHostFn_t function, void* data) {
    CALL_FORWARD(cudaLaunchHostFunc, stream, function, data);
    STREAM_CHECK(stream);
    if (!function) return call.done(cudaErrorInvalidValue);
    if (ledger::Graph* graph = ledger::capturing(stream)) {
        ledger::record_node(graph, cudaGraphNodeTypeHost, [=](Call&) {
            ledger::host_waits_for(runtime().order.current().timeline);
            function(data);
            return cudaSuccess;
        });
        return call.done(cudaSuccess);
    }
    ledger::host_waits_for(stream);  // The function may tell another thread that it is done.
    call.assume_order();
    function(data);
    return call.done(cudaSuccess);
}

API(cudaStreamAddCallback)(cudaStream_t stream, cudaStreamCallback_t function, void* data,
                           unsigned int flags) {
    CALL_FORWARD(cudaStreamAddCallback, stream, function, data, flags);
    STREAM_CHECK(stream);
    if (!function) return call.done(cudaErrorInvalidValue);
    ledger::host_waits_for(stream);
    call.assume_order();
    function(stream, cudaSuccess, data);
    return call.done(cudaSuccess);
}

API(cudaEventCreate)(cudaEvent_t* event) {
    CALL_ENTRY(cudaEventCreate);
    CREATE(cudaEventCreate, event, "event", (event));
}

API(cudaEventCreateWithFlags)(cudaEvent_t* event, unsigned int flags) {
    CALL_ENTRY(cudaEventCreateWithFlags);
    CREATE(cudaEventCreateWithFlags, event, "event", (event, flags), h.flags = flags);
}

API(cudaEventDestroy)(cudaEvent_t event) { DESTROY(cudaEventDestroy, event, "event"); }

namespace ledger {

inline cudaError_t record_event(Call& call, cudaEvent_t event, cudaStream_t stream) {
    STREAM_CHECK(stream);
    if (!usable(call, Address(event), "event")) return call.done(cudaErrorInvalidResourceHandle);
    Handle* e = find_handle(Address(event), "event");
    Handle* s = stream_handle(stream);
    e->capturing = s->capturing;
    if (s->capturing) return call.done(cudaSuccess);
    e->recorded = true;
    e->stands_for = runtime().order.recorded(timeline_of(stream));
    // Events of one stream are apart by what was asked of it, and by at least a little.
    s->clock += 1000;
    e->time = nanoseconds() + s->clock;
    return call.done(cudaSuccess);
}

}  // namespace ledger

API(cudaEventRecord)(cudaEvent_t event, cudaStream_t stream) {
    CALL_FORWARD(cudaEventRecord, event, stream);
    return ledger::record_event(call, event, stream);
}

API(cudaEventRecordWithFlags)(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    CALL_FORWARD(cudaEventRecordWithFlags, event, stream, flags);
    return ledger::record_event(call, event, stream);
}

API(cudaEventQuery)(cudaEvent_t event) {
    CALL_FORWARD(cudaEventQuery, event);
    bool good = ledger::usable(call, Address(event), "event");
    if (good) ledger::host_waits_for(*ledger::find_handle(Address(event), "event"));
    return call.done(good ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

API(cudaEventSynchronize)(cudaEvent_t event) {
    CALL_ENTRY(cudaEventSynchronize);
    if (!simulating()) {
        cudaError_t status = REAL(cudaEventSynchronize)(event);
        if (status == cudaSuccess) call.synchronized();
        return call.done(status);
    }
    if (!ledger::usable(call, Address(event), "event")) return call.done(cudaErrorInvalidResourceHandle);
    ledger::host_waits_for(*ledger::find_handle(Address(event), "event"));
    ledger::settle_pools();
    call.synchronized();
    return call.done(cudaSuccess);
}

namespace ledger {

inline cudaError_t elapsed(Call& call, float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    if (!milliseconds) return call.done(cudaErrorInvalidValue);
    if (!usable(call, Address(from), "event") || !usable(call, Address(to), "event"))
        return call.done(cudaErrorInvalidResourceHandle);
    Handle *a = find_handle(Address(from), "event"), *b = find_handle(Address(to), "event");
    if (!a->recorded || !b->recorded || ((a->flags | b->flags) & cudaEventDisableTiming))
        return call.done(cudaErrorInvalidResourceHandle);
    host_waits_for(*a), host_waits_for(*b);  // It answers what has happened.
    *milliseconds = float(double(int64_t(b->time - a->time)) / 1e6);
    return call.done(cudaSuccess);
}

}  // namespace ledger

API(cudaEventElapsedTime)(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    CALL_FORWARD(cudaEventElapsedTime, milliseconds, from, to);
    return ledger::elapsed(call, milliseconds, from, to);
}

API(cudaMemPoolDestroy)(cudaMemPool_t pool) {
    CALL_RELEASE(cudaMemPoolDestroy);
    if (simulating() && !call.refused()) {
        Handle* h = ledger::find_handle(Address(pool), "mempool");
        if (h && !h->builtin) ledger::trim(*h, 0);
    }
    return ledger::destroy(call, Address(pool), "mempool",
                           [&] { return REAL(cudaMemPoolDestroy)(pool); });
}

API(cudaDeviceSynchronize)(void) {
    CALL_ENTRY(cudaDeviceSynchronize);
    if (!simulating()) {
        cudaError_t status = REAL(cudaDeviceSynchronize)();
        if (status == cudaSuccess) call.synchronized();
        return call.done(status);
    }
    runtime().host_waits_for_all();
    ledger::settle_pools();
    call.synchronized();
    return call.done(cudaSuccess);
}
