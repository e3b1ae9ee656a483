// The host's own allocations, files and settings, put before the C library's where a fault is to hit one of
// them, and only then. The ledger knows which.
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <new>

#define EXPORT __attribute__((visibility("default")))

extern "C" __attribute__((weak)) bool cudalint_host_call_fails(const char* name, void* frame);

#define HOST_CALL_FAILS(name) \
    (cudalint_host_call_fails && cudalint_host_call_fails(name, __builtin_frame_address(0)))

extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);

extern "C" EXPORT void* malloc(size_t bytes) {
    if (HOST_CALL_FAILS("malloc")) return errno = ENOMEM, nullptr;
    return __libc_malloc(bytes);
}

extern "C" EXPORT void* calloc(size_t count, size_t bytes) {
    if (HOST_CALL_FAILS("calloc")) return errno = ENOMEM, nullptr;
    return __libc_calloc(count, bytes);
}

extern "C" EXPORT FILE* fopen(const char* path, const char* how) {
    static auto real = (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen");
    if (HOST_CALL_FAILS("fopen")) return errno = ENOENT, nullptr;
    return real(path, how);
}

extern "C" EXPORT size_t fread(void* into, size_t bytes, size_t count, FILE* file) {
    static auto real = (size_t(*)(void*, size_t, size_t, FILE*))dlsym(RTLD_NEXT, "fread");
    if (HOST_CALL_FAILS("fread")) return 0;
    return real(into, bytes, count, file);
}

// A setting cannot fail: instead it is the other way round.
extern "C" EXPORT char* getenv(const char* name) {
    static auto real = (char* (*)(const char*))dlsym(RTLD_NEXT, "getenv");
    static char set[] = "1";
    char* value = real(name);
    if (!strncmp(name, "CUDALINT_", 9) || !HOST_CALL_FAILS("getenv")) return value;
    return value ? nullptr : set;
}

EXPORT void* operator new(size_t bytes) {
    static auto real = (void* (*)(size_t))dlsym(RTLD_NEXT, "_Znwm");
    if (HOST_CALL_FAILS("operator new")) throw std::bad_alloc();
    return real(bytes);
}

EXPORT void* operator new[](size_t bytes) {
    static auto real = (void* (*)(size_t))dlsym(RTLD_NEXT, "_Znam");
    if (HOST_CALL_FAILS("operator new")) throw std::bad_alloc();
    return real(bytes);
}

EXPORT void* operator new(size_t bytes, const std::nothrow_t& how) noexcept {
    static auto real = (void* (*)(size_t, const std::nothrow_t&))dlsym(RTLD_NEXT, "_ZnwmRKSt9nothrow_t");
    if (HOST_CALL_FAILS("operator new")) return nullptr;
    return real(bytes, how);
}
