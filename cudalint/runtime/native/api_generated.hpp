// Every other entry point: forwarded over a real runtime, and simulated it says that it is not
// supported, once, instead of lying.
#pragma once

// Small, because there are hundreds: over a real runtime not even the call is noted.
namespace ledger {

__attribute__((noinline)) inline cudaError_t unsupported(const char* name, void* frame) {
    Call call(name, frame);
    if (call.refused()) return call.refuse();
    call.note(std::string("unsupported: ") + name);
    return call.done(cudaErrorNotSupported);
}

__attribute__((noinline)) inline void* forwarded(const char* name, bool driver) {
    void* function = driver ? driver_function(name) : real_function(name);
    if (!function) die("the CUDA %s has no %s", driver ? "driver" : "runtime", name);
    return function;
}

}  // namespace ledger

#define GENERATED(name, result, parameters, types, arguments)                                      \
    extern "C" EXPORT result name parameters {                                                     \
        if (simulating()) return ledger::unsupported(#name, __builtin_frame_address(0));           \
        return ((result(*) types)ledger::forwarded(#name, false)) arguments;                       \
    }

#define GENERATED_CU(name, result, parameters, types, arguments)                                   \
    API_CU(name) parameters {                                                                      \
        if (simulating())                                                                          \
            return ledger::given(ledger::unsupported(#name, __builtin_frame_address(0)));          \
        return ((result(*) types)ledger::forwarded(#name, true)) arguments;                        \
    }

#include "entry_points.inc"
