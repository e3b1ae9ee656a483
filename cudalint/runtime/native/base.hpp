// What every part needs: the configuration, and the way to the real runtime.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" cudaError_t cudaProfilerStart(void);
extern "C" cudaError_t cudaProfilerStop(void);

#define EXPORT __attribute__((visibility("default")))

// An entry point that is written by hand; ledger.py finds them by this word.
#define API(name) extern "C" EXPORT cudaError_t name

namespace ledger {

using Address = uintptr_t;

[[noreturn]] inline void die(const char* format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dprintf(2, "cudalint ledger: %s\n", text);
    _exit(127);
}

// "key=value;key=value"
inline std::map<std::string, std::string> parse_pairs(const char* text) {
    std::map<std::string, std::string> pairs;
    std::string rest = text ? text : "";
    while (!rest.empty()) {
        size_t end = rest.find(';');
        std::string part = rest.substr(0, end);
        rest = end == std::string::npos ? "" : rest.substr(end + 1);
        size_t equals = part.find('=');
        if (equals != std::string::npos) pairs[part.substr(0, equals)] = part.substr(equals + 1);
    }
    return pairs;
}

struct Profile {
    std::string name = "cudalint simulated device";
    int major = 9, minor = 0, count = 1;
    uint64_t memory = 16ull << 30;
    uint64_t static_shared = 49152, default_shared = 49152, optin_shared = 232448;
    uint64_t sm_shared = 233472;
    uint64_t threads = 1024;
    uint64_t block[3] = {1024, 1024, 64};
    uint64_t grid[3] = {2147483647, 65535, 65535};
    int pattern = -1;
    int multiprocessors = 132;
};

struct Fault {
    bool set = false, always = false;
    uint64_t call = 0, nth = 1, seen = 0;
    std::string api, module;
    Address site = 0;
    int status = 0;
};

struct Configuration {
    bool simulate = true;
    bool frame_pointers = true;
    Profile profile;
    Fault fault;
    uint64_t backing = 2ull << 30;  // Bytes of host memory that device memory may really take.
};

inline uint64_t number(const std::map<std::string, std::string>& pairs, const char* key,
                       uint64_t otherwise) {
    auto found = pairs.find(key);
    return found == pairs.end() ? otherwise : strtoull(found->second.c_str(), nullptr, 0);
}

inline void three(const std::map<std::string, std::string>& pairs, const char* key,
                  uint64_t values[3]) {
    auto found = pairs.find(key);
    if (found == pairs.end()) return;
    unsigned long long a, b, c;
    if (sscanf(found->second.c_str(), "%llux%llux%llu", &a, &b, &c) == 3)
        values[0] = a, values[1] = b, values[2] = c;
}

inline Configuration read_configuration() {
    Configuration c;
    const char* mode = getenv("CUDALINT_MODE");
    c.simulate = !mode || strcmp(mode, "observe") != 0;
    const char* unwind = getenv("CUDALINT_UNWIND");
    // The host's own libraries have no frame pointers.
    bool tables = (unwind && !strcmp(unwind, "tables")) || getenv("CUDALINT_HOST_CALLS");
    c.frame_pointers = !tables;
    if (const char* backing = getenv("CUDALINT_BACKING"))
        c.backing = strtoull(backing, nullptr, 0);
    auto device = parse_pairs(getenv("CUDALINT_DEVICE"));
    Profile& p = c.profile;
    if (device.count("name")) p.name = device["name"];
    p.major = int(number(device, "major", p.major));
    p.minor = int(number(device, "minor", p.minor));
    p.count = int(number(device, "count", p.count));
    p.memory = number(device, "memory", p.memory);
    p.static_shared = number(device, "static_shared", p.static_shared);
    p.default_shared = number(device, "default_shared", p.default_shared);
    p.optin_shared = number(device, "optin_shared", p.optin_shared);
    p.sm_shared = number(device, "sm_shared", p.sm_shared);
    p.threads = number(device, "threads", p.threads);
    p.pattern = device.count("pattern") ? int(number(device, "pattern", 0)) : -1;
    three(device, "block", p.block);
    three(device, "grid", p.grid);
    auto fault = parse_pairs(getenv("CUDALINT_FAULT"));
    Fault& f = c.fault;
    f.call = number(fault, "call", 0);
    f.nth = number(fault, "nth", 1);
    f.api = fault.count("api") ? fault["api"] : "";
    f.module = fault.count("module") ? fault["module"] : "";
    f.site = number(fault, "site", 0);
    f.status = int(number(fault, "status", 0));
    f.always = number(fault, "always", 0) != 0;
    f.set = f.call || !f.api.empty() || f.site;
    return c;
}

inline Configuration& configuration() {
    static Configuration* c = new Configuration(read_configuration());
    return *c;
}

inline bool simulating() { return configuration().simulate; }

// The real runtime, for `observe`.
inline void* real_library() {
    static void* library = [] {
        const char* chosen = getenv("CUDALINT_CUDART");
        char versioned[64];
        snprintf(versioned, sizeof versioned, "libcudart.so.%d", CUDART_VERSION / 1000);
        for (const char* name : {chosen, (const char*)versioned, "libcudart.so"}) {
            if (!name) continue;
            void* found = dlopen(name, RTLD_NOW | RTLD_LOCAL);
            if (found) return found;
        }
        die("no CUDA runtime: %s", dlerror());
    }();
    return library;
}

inline void* real_function(const char* name) { return dlsym(real_library(), name); }

// The real function of the same type; each place looks it up once.
#define REAL(name)                                                                  \
    ([] {                                                                           \
        static auto function = (decltype(&name))ledger::real_function(#name);       \
        if (!function) ledger::die("the CUDA runtime has no %s", #name);            \
        return function;                                                            \
    }())

inline uint64_t nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000ull + uint64_t(now.tv_nsec);
}

}  // namespace ledger
