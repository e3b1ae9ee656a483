// The stack of a call: return addresses, innermost first, and which modules they lie in.
#pragma once

namespace ledger {

struct Stack {
    static constexpr size_t most = 48;
    Address frames[most];
    size_t count = 0;
};

struct StackBounds {
    Address low = 0, high = 0;
};

inline const StackBounds& stack_bounds() {
    static thread_local StackBounds bounds = [] {
        StackBounds b;
        pthread_attr_t attributes;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            void* base;
            size_t size;
            if (pthread_attr_getstack(&attributes, &base, &size) == 0)
                b.low = Address(base), b.high = b.low + size;
            pthread_attr_destroy(&attributes);
        }
        return b;
    }();
    return bounds;
}

struct Unwinding {
    Stack* stack;
    Address first;
    bool begun;
};

inline _Unwind_Reason_Code unwind_one(_Unwind_Context* context, void* data) {
    Unwinding* u = (Unwinding*)data;
    Address address = _Unwind_GetIP(context);
    if (!address) return _URC_END_OF_STACK;
    if (!u->begun && address == u->first) u->begun = true;
    if (u->begun) {
        if (u->stack->count == Stack::most) return _URC_END_OF_STACK;
        u->stack->frames[u->stack->count++] = address;
    }
    return _URC_NO_REASON;
}

// `frame` is the frame of the entry point: its return address is the caller's.
inline void capture(Stack& stack, void* frame) {
    Address at = Address(frame);
    const StackBounds& bounds = stack_bounds();
    stack.count = 0;
    if (configuration().frame_pointers) {
        while (at >= bounds.low && at + 16 <= bounds.high && at % 8 == 0) {
            Address next = ((Address*)at)[0], address = ((Address*)at)[1];
            if (address < 4096) break;
            stack.frames[stack.count++] = address;
            if (stack.count == Stack::most || next <= at) break;
            at = next;
        }
        return;
    }
    Unwinding u{&stack, ((Address*)at)[1], false};
    _Unwind_Backtrace(unwind_one, &u);
}

struct LoadedModule {
    Address start, end, bias;
    std::string path;
};

inline std::vector<LoadedModule>& modules() {
    static auto* m = new std::vector<LoadedModule>;
    return *m;
}

inline int note_module(dl_phdr_info* info, size_t, void*) {
    Address start = ~Address(0), end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD) continue;
        start = std::min<Address>(start, info->dlpi_addr + part.p_vaddr);
        end = std::max<Address>(end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
    }
    if (start >= end) return 0;
    for (const LoadedModule& known : modules())
        if (known.start == start && known.end == end) return 0;
    std::string path = info->dlpi_name ? info->dlpi_name : "";
    if (path.empty()) {
        char own[4096];
        ssize_t length = readlink("/proc/self/exe", own, sizeof own);
        bool first = modules().empty();
        path = first && length > 0 ? std::string(own, size_t(length)) : "";
    }
    modules().push_back({start, end, info->dlpi_addr, path});
    writer().module(info->dlpi_addr, start, end, path);
    Record record{};
    record.kind = LIBRARY;
    record.address = start;
    record.bytes = end - start;
    record.text = writer().string(path);
    if (!path.empty()) writer().event(record);
    return 0;
}

// Before a stack is written, so that the reader knows its modules. Cheap when nothing was loaded.
inline void note_modules() {
    static uint64_t adds = 0;
    static uint32_t generation = 0;
    uint64_t now = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
            *(uint64_t*)data = info->dlpi_adds;
            return 1;
        },
        &now);
    if (generation != writer().generation) modules().clear();
    if (now == adds && generation == writer().generation) return;
    adds = now;
    generation = writer().generation;
    dl_iterate_phdr(note_module, nullptr);
}

inline const LoadedModule* module_of(Address address) {
    for (const LoadedModule& m : modules())
        if (m.start <= address && address < m.end) return &m;
    return nullptr;
}

}  // namespace ledger
