// Work in the order of its stream: what it touches of the stream-ordered allocator must have been
// allocated before it, and is not to be released before it is done (CUDA C++ Programming Guide,
// "Stream Ordered Memory Allocator").
#pragma once

namespace ledger {

uint32_t timeline_of(cudaStream_t stream);

inline void begin_work(Call& call, cudaStream_t stream) {
    if (simulating()) runtime().order.work(timeline_of(stream), call.api());
}

inline void host_waits_for(uint32_t timeline) {
    runtime().order.host_waits(timeline);
    runtime().pending.settle(runtime().order, runtime().memory);
}

inline void host_waits_for(cudaStream_t stream) { host_waits_for(timeline_of(stream)); }

inline void host_waits_for(const Handle& event) {
    runtime().order.host_waits(event.stands_for);
    runtime().pending.settle(runtime().order, runtime().memory);
}

// The work that began last uses it.
inline void use_in_order(Call& call, Allocation* a) {
    if (!a || !a->pool) return;
    const Order& order = runtime().order;
    const Work& now = order.current();
    if (!order.before(a->made, now.timeline))
        call.misuse(STREAM_ORDER, a->family, a->start, a->bytes,
                    std::string(now.api) + " uses memory that " + a->made.api +
                        " allocates in the order of another stream: nothing orders the two");
    a->note_use(now);
}

inline void tell_released_early(Call& call, const Allocation& a, const Work& use, const char* why) {
    call.misuse(STREAM_ORDER, a.family, a.start, a.bytes,
                std::string(call.api()) + " releases memory that " + use.api +
                    " on another stream may still use: " + why);
}

// By the work that began last.
inline void release_in_order(Call& call, const Allocation& a) {
    if (!a.pool) return;
    const Order& order = runtime().order;
    uint32_t timeline = order.current().timeline;
    if (const Work* use = a.find_use([&](const Work& one) { return !order.before(one, timeline); }))
        tell_released_early(call, a, *use, "nothing orders the two");
    else if (!order.before(a.made, timeline))
        call.misuse(STREAM_ORDER, a.family, a.start, a.bytes,
                    std::string(call.api()) + " releases memory that " + a.made.api +
                        " allocates in the order of another stream: nothing orders the two");
}

// By the host. Of memory of the stream-ordered allocator `cuMemFree` waits for nothing: its callers see
// to it that all uses are over (CUDA Driver API, `cuMemFree`). For other memory it waits for the device.
inline void release_by_host(Call& call, const Allocation& a) {
    if (!a.pool) return runtime().host_waits_for_all();
    const Order& order = runtime().order;
    if (const Work* use = a.find_use([&](const Work& one) { return !order.before_host(one); }))
        tell_released_early(call, a, *use, "the host has not waited for it");
}

}  // namespace ledger
