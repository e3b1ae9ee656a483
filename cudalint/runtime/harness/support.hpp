// What a harness stands on. Everything that it makes it keeps until the end, so that what a function
// hands to its caller is not taken for lost.
#include <cuda_runtime_api.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <unistd.h>

namespace cudalint_harness {

const int rejected = 86;  // The exit status where an exception came out of the function.
const size_t block_bytes = 1 << 20;
void* kept[4096];
int count = 0;

inline void* keep(void* pointer) {
    if (count < 4096) kept[count++] = pointer;
    return pointer;
}
template <class T> T& held(T* object) { return keep((void*)object), *object; }

inline long setting(const char* name, long usual) {
    const char* text = getenv(name);
    return text ? atol(text) : usual;
}
inline long number() { return setting("CUDALINT_HARNESS_NUMBER", 64); }
inline bool flag() { return setting("CUDALINT_HARNESS_FLAG", 1) != 0; }
inline bool releasing() { return setting("CUDALINT_HARNESS_RELEASING", 0) != 0; }
inline bool preparing() { return setting("CUDALINT_HARNESS_PREPARING", 0) != 0; }
template <class T> bool there(const T&) { return true; }
template <class T> bool there(T* object) { return object != nullptr; }
// What was released holds nothing for its user any more.
template <class T> void forget(T& object) { memset((void*)&object, 0, sizeof object); }
inline const char* text() { return number() > 0 ? "cudalint" : nullptr; }

// Managed memory: the host and the device may both use it.
inline void* block() {
    if (number() <= 0) return nullptr;
    void* pointer = nullptr;
    if (cudaMallocManaged(&pointer, block_bytes, cudaMemAttachGlobal) != cudaSuccess) _exit(3);
    memset(pointer, 0, block_bytes);
    return keep(pointer);
}
inline void* table() {
    void** pointers = (void**)block();
    for (int i = 0; pointers && i < 8; i++) pointers[i] = block();
    return pointers;
}
inline cudaStream_t stream() {
    cudaStream_t stream;
    if (cudaStreamCreate(&stream) != cudaSuccess) _exit(3);
    return (cudaStream_t)keep(stream);
}
inline cudaEvent_t event() {
    cudaEvent_t event;
    if (cudaEventCreate(&event) != cudaSuccess) _exit(3);
    return (cudaEvent_t)keep(event);
}
template <class Status, class Handle> Handle made(Status (*create)(Handle*)) {
    Handle handle{};
    if ((int)create(&handle) != 0) _exit(3);
    return (Handle)keep((void*)handle);
}

}  // namespace cudalint_harness
