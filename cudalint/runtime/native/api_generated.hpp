// Every other entry point: forwarded over a real runtime, and simulated it says that it is not
// supported, once, instead of lying.
#pragma once

#define GENERATED(name, result, parameters, types, arguments)          \
    extern "C" EXPORT result name parameters {                         \
        ledger::Call call(#name, __builtin_frame_address(0));          \
        if (call.refused()) return call.refuse();                      \
        if (!simulating()) return call.done(REAL(name) arguments);     \
        call.note("unsupported: " #name);                              \
        return call.done(cudaErrorNotSupported);                       \
    }

#include "entry_points.inc"
