// The beginning and the end of the process, its forks, its crashes, and the host's `free`.
#pragma once

namespace ledger {

struct sigaction previous_fault[2];

// The stack of a fault: its own address first, then the frames below it.
inline void capture_fault(Stack& stack, void* context) {
#if defined(__x86_64__)
    const ucontext_t* at = (const ucontext_t*)context;
    Address fault = Address(at->uc_mcontext.gregs[REG_RIP]);
    if (!is_own_code(fault)) {
        // `memcpy` and its like have no frame pointers.
        Unwinding tables{&stack, fault, false};
        _Unwind_Backtrace(unwind_one, &tables);
        if (stack.count) {
            stack.frames[0]++;
            return;
        }
    }
    stack.frames[stack.count++] = fault + 1;
    Stack below;
    bool pointers = configuration().frame_pointers;
    configuration().frame_pointers = true;
    capture(below, (void*)at->uc_mcontext.gregs[REG_RBP]);
    configuration().frame_pointers = pointers;
    for (size_t i = 0; i < below.count && stack.count < Stack::most; i++)
        stack.frames[stack.count++] = below.frames[i];
#endif
}

inline bool is_write(void* context) {
#if defined(__x86_64__)
    return ((const ucontext_t*)context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
    return false;
#endif
}

// The host looks at pinned memory that an asynchronous copy may still be writing.
inline bool looked_early(Address address, void* context) {
    Runtime& r = runtime();
    if (!simulating() || !r.memory.in_host_range(address)) return false;
    std::lock_guard<std::recursive_mutex> lock(r.mutex);
    Pending::Copy copy;
    if (!r.pending.take(address, r.memory, copy)) {
        // Another thread may have waited for it meanwhile: then the same instruction succeeds.
        static thread_local Address again = 0;
        Allocation* a = r.memory.find(address);
        bool open = a && a->ours && !a->guarded && again != address;
        again = open ? address : 0;
        return open;
    }
    Allocation* a = r.memory.find(address);
    // What the ledger looks at, or a function that it calls in the stream's order, is not too early.
    bool ours = thread().depth || thread().copying;
    if (ours || address < copy.low || address >= copy.high) return !a || !a->guarded;
    Stack stack;
    capture_fault(stack, context);
    Record record{};
    record.kind = VIOLATION;
    record.detail = UNSYNCHRONIZED_READ;
    record.address = copy.low, record.bytes = copy.high - copy.low, record.thread = thread_number();
    std::lock_guard<std::recursive_mutex> guard(writer().mutex);
    note_modules();
    record.stack = writer().stack(stack.frames, stack.count);
    record.api = writer().literal(copy.work.api);
    record.family = writer().literal("pinned");
    record.text = writer().string(std::string("the host ") + (is_write(context) ? "writes" : "reads") +
                                  " what " + copy.work.api +
                                  " may still be copying: nothing has waited for it");
    writer().event(record);
    return !a || !a->guarded;
}

// The host looks at managed or pinned memory that a kernel may have written.
inline bool looked(Address address, void* context) {
    Memory& memory = runtime().memory;
    Allocation* a = simulating() ? memory.find(address) : nullptr;
    if (!a || !a->guarded) return false;
    if (thread().copying) return memory.unguard(*a), true;
    if (is_write(context)) return memory.unguard_page(address), true;
    memory.unguard(*a);
    Stack stack;
    capture_fault(stack, context);
    Record record{};
    record.kind = TAINTED_READ;
    record.address = address, record.bytes = a->bytes, record.thread = thread_number();
    std::lock_guard<std::recursive_mutex> guard(writer().mutex);
    note_modules();
    record.stack = writer().stack(stack.frames, stack.count);
    record.family = writer().literal(a->family);
    writer().event(record);
    return true;
}

// Over a real runtime: the host's `free` reads the size that it keeps before what it gave out, where
// an allocation of the device begins.
inline bool misfreed_over_gpu(Address address) {
    const Allocation* hit = nullptr;
    for (Address before : {8, 16}) {
        Allocation* a = runtime().memory.find(address + before);
        if (a && a->start == address + before && !strcmp(a->family, "device")) hit = a;
    }
    if (!hit || !writer().active()) return false;
    Record record{};
    record.kind = VIOLATION;
    record.detail = WRONG_DEALLOCATOR;
    record.address = hit->start, record.bytes = hit->bytes, record.thread = thread_number();
    Stack stack;
    Unwinding all{&stack, 0, true};
    _Unwind_Backtrace(unwind_one, &all);
    std::lock_guard<std::recursive_mutex> guard(writer().mutex);
    note_modules();
    record.stack = writer().stack(stack.frames, stack.count);
    record.api = writer().literal("free");
    record.family = writer().literal(hit->family);
    record.text = writer().string("device memory is released by free or delete");
    writer().event(record);
    return true;
}

inline void on_fault(int signal, siginfo_t* info, void* context) {
    ThreadState& t = thread();
    Address address = Address(info->si_addr);
    if (looked_early(address, context) || looked(address, context)) return;
    if (t.copying) {
        t.copying = false;
        t.fault = address;
        siglongjmp(t.escape, 1);
    }
    Memory& memory = runtime().memory;
    bool on_device = memory.in_device_range(address), on_host = memory.in_host_range(address);
    if (!simulating()) {
        if (misfreed_over_gpu(address)) {
            sigaction(signal, &previous_fault[signal == SIGBUS], nullptr);
            return;
        }
        const Allocation* hit = memory.find(address);
        const auto* was = memory.find_gone(address);
        const char* family = hit ? hit->family : was ? was->second.family : "";
        on_device = !strcmp(family, "device");
    }
    if ((on_device || on_host) && writer().active()) {
        Record record{};
        record.kind = VIOLATION;
        record.address = address;
        record.thread = thread_number();
        std::string text;
        const auto* gone = memory.find_gone(address);
        Allocation* live = memory.find(address);
        record.detail = on_device && !gone ? HOST_DEREFERENCE : USE_AFTER_FREE;
        if (on_host && !gone) record.detail = OUT_OF_BOUNDS;
        text = on_device ? "the host reads or writes device memory"
                         : "the host reads or writes beyond its pinned or managed memory";
        if (gone) text = "the host reads or writes memory that was freed";
        if (live) record.bytes = live->bytes;
        Stack stack;
        capture_fault(stack, context);
        std::lock_guard<std::recursive_mutex> guard(writer().mutex);
        note_modules();
        record.stack = writer().stack(stack.frames, stack.count);
        record.family = writer().literal(gone ? gone->second.family : live ? live->family : "device");
        record.text = writer().string(text);
        writer().event(record);
    }
    // What was there before takes it from here: the same instruction faults again.
    sigaction(signal, &previous_fault[signal == SIGBUS], nullptr);
}

inline void watch_faults() {
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_fault[0]);
    sigaction(SIGBUS, &action, &previous_fault[1]);
}

inline void before_fork() {
    runtime().mutex.lock();
    writer().mutex.lock();
}

inline void after_fork_parent() {
    writer().mutex.unlock();
    runtime().mutex.unlock();
}

inline void after_fork_child() {
    // They belong to a thread of the parent, which does not exist here.
    new (&writer().mutex) std::recursive_mutex;
    new (&runtime().mutex) std::recursive_mutex;
    // CUDA does not survive a fork: the child of a process that used it gets errors.
    if (runtime().used) runtime().inherited = true;
    writer().open(true);
}

__attribute__((constructor(101))) void begin() {
    configuration();
    runtime();
    writer().open(false);
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    watch_faults();
    watching_host = getenv("CUDALINT_HOST_CALLS") != nullptr;
}

__attribute__((destructor)) void finish() {
    watching_host = false;
    Record record{};
    record.kind = END;
    record.thread = thread_number();
    {
        std::lock_guard<std::recursive_mutex> guard(writer().mutex);
        writer().event(record);
    }
    writer().close();
    if (uncaught) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
}

using FreeFunction = void (*)(void*);

inline FreeFunction real_free() {
    static FreeFunction function = (FreeFunction)dlsym(RTLD_NEXT, "free");
    return function;
}

// The host frees what it cannot.
__attribute__((noinline)) inline bool misfreed(void* pointer, void* frame) {
    Memory& memory = runtime().memory;
    Address address = Address(pointer);
    Call call("free", frame, Needs::Nothing);
    Allocation* live = memory.find(address);
    const auto* gone = memory.find_gone(address);
    const char* family = live ? live->family : gone ? gone->second.family : "device";
    if (live) {
        call.misuse(WRONG_DEALLOCATOR, family, address, live->bytes,
                    std::string(family) + " memory is released by free or delete");
        call.released(family, address, live->bytes);
        memory.remove(address);
    }
    else
        call.misuse(gone ? DOUBLE_FREE : INVALID_POINTER, family, address, 0,
                    "free or delete of an address of the device's range");
    return true;
}

}  // namespace ledger

#if defined(__GLIBC__)
extern "C" void __libc_free(void*);

extern "C" EXPORT void free(void* pointer) {
    static bool ready = false;  // Before main, and while the ledger itself begins.
    if (__builtin_expect(pointer != nullptr, 1)) {
        if (!ready && ledger::writer().active()) ready = true;
        if (ready && simulating()) {
            ledger::Memory& memory = runtime().memory;
            Address address = Address(pointer);
            if (memory.in_device_range(address) || memory.in_host_range(address)) {
                // glibc would find no heap there; what comes after can be seen all the same.
                ledger::misfreed(pointer, __builtin_frame_address(0));
                return;
            }
        }
    }
    __libc_free(pointer);
}
#endif

#include "exits.hpp"
