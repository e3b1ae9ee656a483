// Libraries that stand in for NVIDIA's on a simulated device (cudalint/runtime/libraries.py), and
// the profiler's switches.
#pragma once

#define API_LIBRARY(name) extern "C" EXPORT int name

// Every library says success as 0; 3 is among the failures of each.
API_LIBRARY(cudalint_library_create)(const char* api, const char* family, void* out, int width, void* frame) {
    ledger::Call call(api, frame);
    if (call.refused() || !out) return call.done(call.refused() ? call.refusal() : cudaErrorInvalidValue), 3;
    Address handle = ledger::new_handle(family);
    if (width == 4) {
        // The handle is a number.
        Handle moved = runtime().handles[handle];
        runtime().handles.erase(handle);
        handle = uint32_t(handle) & 0x7fffffff;
        runtime().handles[handle] = moved;
        *(uint32_t*)out = uint32_t(handle);
    } else {
        *(Address*)out = handle;
    }
    call.acquired(family, handle, 0);
    return call.done(cudaSuccess);
}

API_LIBRARY(cudalint_library_destroy)(const char* api, const char* family, uintptr_t handle, void* frame) {
    ledger::Call call(api, frame);
    return ledger::destroy(call, handle, family, [] { return cudaSuccess; }) == cudaSuccess ? 0 : 3;
}

API_LIBRARY(cudalint_library_call)(const char* api, void** arguments, int count, void* size, int width,
                                   void* frame) {
    ledger::Call call(api, frame);
    if (call.refused()) return call.refuse(), 3;
    call.assume_order();
    call.note(std::string("not computed: ") + api);
    // It may wait for the device, and what it is given is used on a stream that is not known.
    if (simulating()) runtime().host_waits_for_all();
    int failed = 0;
    for (int i = 0; i < count; i++) {
        Address value = Address(arguments[i]);
        ledger::Memory& memory = runtime().memory;
        const auto* gone = memory.find_gone(value);
        // A number may look like an address; over a real runtime only its very beginning counts.
        bool released = gone && !simulating() && gone->first == value;
        if (ledger::Allocation* a = memory.find(value)) {
            a->tainted.add(0, a->bytes);
        } else if (memory.in_device_range(value) || released) {
            if (gone)
                call.misuse(ledger::USE_AFTER_FREE, gone->second.family, value, gone->second.bytes,
                            "argument " + std::to_string(i + 1) + " of " + api + " was released before");
        } else if (runtime().destroyed.count(value)) {
            ledger::usable(call, value, runtime().destroyed[value]);
            failed = 3;
        }
    }
    if (size) memset(size, 0, size_t(width));
    call.done(cudaSuccess);
    return failed;
}

API(cudaProfilerStart)(void) {
    CALL_FORWARD(cudaProfilerStart);
    return call.done(cudaSuccess);
}

API(cudaProfilerStop)(void) {
    CALL_FORWARD(cudaProfilerStop);
    return call.done(cudaSuccess);
}
