// What a harness stands on. Everything that it makes it keeps until the end, so that what a function
// hands to its caller is not taken for lost.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cassert>  // which headers are often short of
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <unistd.h>
#undef gpuPciDeviceID  // which stands for more where older members are wanted

namespace cudalint_harness {

const int rejected = 86;  // The exit status where an exception came out of the function.
const size_t zeroed_bytes = 1 << 20;
struct Kept {
    Kept* next;
    void* pointer;
};
Kept* kept = nullptr;

inline void* keep(void* pointer) {
    kept = new Kept{kept, pointer};
    return pointer;
}
template <class T> T& held(T* object) { return keep((void*)object), *object; }

// What somebody else would do is not known.
inline void stands_in() {
    static const bool said = fputs("cudalint: a class or function stands in\n", stderr) >= 0;
    (void)said;
}
// Who is given something may take it over.
inline void keep_all() {}
template <class One, class... Others> void keep_all(const One& one, const Others&... others) {
    stands_in();
    keep(memcpy(malloc(sizeof one), (const void*)&one, sizeof one));
    keep_all(others...);
}

inline int thrown(const char* text) {
    fprintf(stderr, "cudalint: the function throws %s\n", text);
    return rejected;
}

inline long setting(const char* name, long usual) {
    const char* text = getenv(name);
    return text ? atol(text) : usual;
}
inline long number() { return setting("CUDALINT_HARNESS_NUMBER", 64); }
inline bool flag() { return setting("CUDALINT_HARNESS_FLAG", 1) != 0; }
inline bool releasing() { return setting("CUDALINT_HARNESS_RELEASING", 0) != 0; }
inline long preparing() { return setting("CUDALINT_HARNESS_PREPARING", 0); }
// As large as the product of a few sizes, or as what a program may have fixed.
inline size_t block_bytes() { return size_t(setting("CUDALINT_HARNESS_ROOM", 16)) << 20; }
// Which of the values that can be made up for a thing it is given: 0 is the usual one.
inline long choice() { return setting("CUDALINT_HARNESS_CHOICE", 0); }
// A file that is there until the end.
struct File {
    char name[40] = "/tmp/cudalint-harness-XXXXXX";
    explicit File(const char* inside) {
        int opened = mkstemp(name);
        if (opened < 0 || write(opened, inside, strlen(inside)) < 0) _exit(3);
        close(opened);
    }
    ~File() { unlink(name); }
};
// A word; the name of a file with nothing in it; that of one that begins as a compiled module does,
// which a simulated device takes for one with every kernel.
inline const char* words() {
    if (choice() % 3 == 0) return "cudalint";
    static const File file(choice() % 3 == 1 ? "" : "\x7f" "ELF");
    return file.name;
}
inline const char* text() { return number() > 0 ? words() : nullptr; }
// A value that the code compares a thing with, or what it is else.
inline long chosen(long usual, std::initializer_list<long> asked) {
    return choice() > 0 && number() > 0 ? asked.begin()[(choice() - 1) % asked.size()] : usual;
}
template <class T> bool there(const T&) { return true; }
template <class T> bool there(T* object) { return object != nullptr; }
// What was released holds nothing for its user any more.
template <class T> void forget(T& object) { memset((void*)&object, 0, sizeof object); }

// Managed memory: the host and the device may both use it.
inline void* block() {
    if (number() <= 0) return nullptr;
    void* pointer = nullptr;
    if (cudaMallocManaged(&pointer, block_bytes(), cudaMemAttachGlobal) != cudaSuccess) _exit(3);
    memset(pointer, 0, zeroed_bytes);
    return keep(pointer);
}
inline void* table() {
    void** pointers = (void**)block();
    for (int i = 0; pointers && i < 8; i++) pointers[i] = block();
    return pointers;
}
// One thing or many of a kind: of nothing, or all as one is.
template <class T> T* array(const T& one) {
    T* all = (T*)block();
    if (choice() > 0)
        for (size_t i = 0; all && i < zeroed_bytes / sizeof one; i++)
            memcpy((void*)(all + i), (const void*)&one, sizeof one);
    return all;
}
// A handle that the first call which succeeds puts where it is told to.
template <class Handle> Handle made() { _exit(3); }
template <class Handle, class Create, class... Others> Handle made(Create create, Others... others) {
    Handle handle{};
    if ((int)create(&handle) != 0) return made<Handle>(others...);
    return keep((void*)(uintptr_t)handle), handle;
}

}  // namespace cudalint_harness
