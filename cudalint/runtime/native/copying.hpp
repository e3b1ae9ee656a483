// Copies and fills: what they touch is checked, bytes move, and taint with them.
#pragma once

#include <functional>

namespace ledger {

enum class Side { Pageable, Pinned, Managed, Device };

struct Place {
    Address at = 0;
    Allocation* allocation = nullptr;
    Side side = Side::Pageable;
    bool host() const { return side != Side::Device; }
    const char* family() const { return allocation ? allocation->family : "host"; }
};

inline const char* side_name(Side side) {
    switch (side) {
        case Side::Pageable: return "host";
        case Side::Pinned: return "pinned";
        case Side::Managed: return "managed";
        default: return "device";
    }
}

// Where `span` bytes from `at` lie; false, and a violation, where they cannot be used.
inline bool locate(Call& call, Address at, uint64_t span, const char* role, Place& place) {
    Memory& memory = runtime().memory;
    place.at = at;
    Allocation* a = place.allocation = memory.find(at);
    bool device = simulating() && memory.in_device_range(at);
    if (device) place.side = Side::Device;
    if (!a) {
        // One past the end is where a copy of nothing ends.
        const auto* gone = memory.find_gone(at);
        if (gone && (device || memory.in_host_range(at) || !simulating())) {
            if (!simulating() && strcmp(gone->second.family, "device")) return true;
            place.side = device ? Side::Device : Side::Pinned;
            call.misuse(USE_AFTER_FREE, gone->second.family, at, span,
                        std::string("the ") + role + " was released before");
            return false;
        }
        if (!device) return true;
        Allocation* near = memory.before(at);
        bool past = near && at - near->start <= near->bytes + 4096;
        call.misuse(past ? OUT_OF_BOUNDS : INVALID_POINTER, "device", at, span,
                    std::string("the ") + role + " lies in no allocation");
        return false;
    }
    if (a->barred) {
        call.misuse(USE_AFTER_FREE, a->family, at, span, std::string("the ") + role + " " + a->barred);
        return false;
    }
    if (!strcmp(a->family, "managed"))
        place.side = Side::Managed;
    else if (!strcmp(a->family, "pinned") || !strcmp(a->family, "host-registered"))
        place.side = Side::Pinned;
    else
        place.side = Side::Device;
    uint64_t offset = at - a->start;
    if (span > a->bytes - offset && strcmp(a->family, "host-registered")) {
        call.misuse(OUT_OF_BOUNDS, a->family, at, span,
                    std::string("the ") + role + " has " + size_text(a->bytes - offset) +
                        " from here on, and " + size_text(span) + " are asked for");
        return false;
    }
    return true;
}

inline bool contradicts(cudaMemcpyKind kind, const Place& to, const Place& from) {
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) return false;
    auto wrong = [](bool device, const Place& place) {
        if (place.side == Side::Managed) return false;
        return device ? place.host() : place.side == Side::Device;
    };
    return wrong(to_device, to) || wrong(from_device, from);
}

// Moves bytes; false where a host pointer is bad.
inline bool move_bytes(void* to, const void* from, size_t bytes) {
    ThreadState& t = thread();
    if (sigsetjmp(t.escape, 1)) return false;
    t.copying = true;
    memmove(to, from, bytes);
    t.copying = false;
    return true;
}

inline bool set_bytes(void* to, int value, size_t bytes) {
    ThreadState& t = thread();
    if (sigsetjmp(t.escape, 1)) return false;
    t.copying = true;
    memset(to, value, bytes);
    t.copying = false;
    return true;
}

// A block of memory: rows of `width` bytes, `height` of them, `depth` times.
struct Block {
    Address at = 0;
    uint64_t pitch = 0, slice = 0;
};

struct Extent {
    uint64_t width = 0, height = 1, depth = 1;
    uint64_t bytes() const { return width * height * depth; }
    uint64_t span(const Block& b) const {
        if (!width || !height || !depth) return 0;
        return (depth - 1) * b.slice + (height - 1) * b.pitch + width;
    }
};

inline bool tainted(const Place& place, uint64_t span) {
    if (!place.allocation) return false;
    uint64_t offset = place.at - place.allocation->start;
    return place.allocation->unbacked || place.allocation->tainted.overlaps(offset, offset + span);
}

inline void taint(const Place& place, uint64_t span, bool on) {
    if (!place.allocation) return;
    uint64_t offset = place.at - place.allocation->start;
    if (on)
        place.allocation->tainted.add(offset, offset + span);
    else
        place.allocation->tainted.remove(offset, offset + span);
}

// Other values in place of those that nobody computed: what the program does either way does not
// depend on them.
inline void spoil(const Block& block, Extent extent) {
    static const char* chosen = getenv("CUDALINT_SPOIL");
    if (!chosen) return;
    static const int value = atoi(chosen);
    Memory& memory = runtime().memory;
    for (uint64_t z = 0; z < extent.depth; z++)
        for (uint64_t y = 0; y < extent.height; y++)
            set_bytes(memory.bytes_at(block.at + z * block.slice + y * block.pitch), value,
                      extent.width);
}

// Does what was checked.
inline cudaError_t perform_copy(Call& call, const Place& to, const Block& to_block,
                                const Place& from, const Block& from_block, Extent extent,
                                bool asynchronous = true) {
    Memory& memory = runtime().memory;
    use_in_order(call, to.allocation);
    use_in_order(call, from.allocation);
    uint64_t to_span = extent.span(to_block), from_span = extent.span(from_block);
    bool dirty = tainted(from, from_span);
    if (dirty && to.host()) {
        Record record = call.make(TAINTED_READ);
        record.address = from.at, record.bytes = extent.bytes();
        call.write(record,
                   from.allocation->unbacked ? "the simulated device did not keep these bytes" : "",
                   from.family());
    }
    bool backed = true;
    if (to.allocation)
        backed = memory.back(*to.allocation, to.at - to.allocation->start + to_span);
    if (from.allocation && from.allocation->unbacked) backed = false;
    if (!backed) {
        call.note("more device memory is used than the host can keep: some bytes are dropped");
        taint(to, to_span, true);
        return cudaSuccess;
    }
    for (uint64_t z = 0; z < extent.depth; z++) {
        if (extent.width == to_block.pitch && extent.width == from_block.pitch) {
            if (!move_bytes(memory.bytes_at(to.at + z * to_block.slice),
                            memory.bytes_at(from.at + z * from_block.slice),
                            extent.width * extent.height))
                return cudaErrorInvalidValue;
            continue;
        }
        for (uint64_t y = 0; y < extent.height; y++)
            if (!move_bytes(memory.bytes_at(to.at + z * to_block.slice + y * to_block.pitch),
                            memory.bytes_at(from.at + z * from_block.slice + y * from_block.pitch),
                            extent.width))
                return cudaErrorInvalidValue;
    }
    if (dirty && to.host()) spoil(to_block, extent);
    taint(to, to_span, dirty);
    if (asynchronous && to.side == Side::Pinned && from.side == Side::Device &&
        to_span == extent.bytes())
        runtime().pending.add(memory, *to.allocation, to.at, to_span, runtime().order.current());
    return cudaSuccess;
}

// Whether the host waits for a copy (CUDA Runtime API, "API synchronization behavior"). For one into
// pageable memory it need not, but does.
inline bool waits_for_copy(const Place& to, const Place& from, bool asynchronous) {
    if (to.side == Side::Device) return !asynchronous && from.side != Side::Device;
    bool pinned = to.side == Side::Pinned && from.side == Side::Device;
    return !(asynchronous && pinned);
}

struct Graph;
Graph* capturing(cudaStream_t stream);
void record_node(Graph* graph, cudaGraphNodeType type, std::function<cudaError_t(Call&)> work);
bool usable_stream(Call& call, cudaStream_t stream);
void work_on(cudaStream_t stream, uint64_t nanoseconds);

struct CopyOptions {
    cudaMemcpyKind kind = cudaMemcpyDefault;
    cudaStream_t stream = nullptr;
    bool asynchronous = false;
};

// A copy of any shape. `real` forwards it.
inline cudaError_t copy(Call& call, Block to_block, Block from_block, Extent extent,
                        CopyOptions options, const std::function<cudaError_t()>& real) {
    std::unique_lock<std::recursive_mutex> guard(runtime().mutex);
    Place to, from;
    bool good = true;
    std::string contradiction;
    if (extent.bytes()) {
        if (simulating() && (!to_block.at || !from_block.at)) return call.done(cudaErrorInvalidValue);
        good = locate(call, to_block.at, extent.span(to_block), "destination of the copy", to);
        good &= locate(call, from_block.at, extent.span(from_block), "source of the copy", from);
        if (good && contradicts(options.kind, to, from)) {
            contradiction = std::string("copied from ") + side_name(from.side) + " memory to " +
                            side_name(to.side) + " memory, which the direction contradicts";
            // Under unified addressing, memory that both sides reach is copied all the same.
            good = to.side != Side::Pageable && from.side != Side::Pageable &&
                   (to.host() || from.host());
        }
    }
    cudaError_t status = cudaSuccess;
    if (!simulating()) {
        guard.unlock();
        status = real();
        // What the ledger does not know may be device memory of a library: then it is a success.
        if (status == cudaSuccess && !(to.allocation && from.allocation)) contradiction.clear();
    }
    if (!contradiction.empty())
        call.misuse(COPY_DIRECTION, to.family(), to_block.at, extent.bytes(), contradiction);
    if (!simulating()) {
        // Done.
    } else if (!usable_stream(call, options.stream)) {
        status = cudaErrorInvalidResourceHandle;
    } else if (!good) {
        status = cudaErrorInvalidValue;
    } else if (Graph* graph = options.asynchronous ? capturing(options.stream) : nullptr) {
        CopyOptions later = options;
        later.stream = nullptr;
        record_node(graph, cudaGraphNodeTypeMemcpy, [=](Call& inner) {
            Place a, b;
            if (!extent.bytes()) return cudaSuccess;
            if (!locate(inner, to_block.at, extent.span(to_block), "destination of the copy", a) ||
                !locate(inner, from_block.at, extent.span(from_block), "source of the copy", b))
                return cudaErrorInvalidValue;
            return perform_copy(inner, a, to_block, b, from_block, extent);
        });
        return call.done(cudaSuccess);
    } else if (extent.bytes()) {
        begin_work(call, options.stream);
        status = perform_copy(call, to, to_block, from, from_block, extent, options.asynchronous);
        if (waits_for_copy(to, from, options.asynchronous)) {
            host_waits_for(options.stream);
            if (options.asynchronous && from.side == Side::Device) call.assume_order();
        }
        work_on(options.stream, 2000 + extent.bytes() / 16);
    }
    if (status == cudaSuccess) {
        int kind = options.kind;
        if (kind == cudaMemcpyDefault && (to.allocation || from.allocation))
            kind = (from.side == Side::Device ? 2 : 0) + (to.side == Side::Device ? 1 : 0);
        Record record = call.make(COPY);
        record.detail = uint16_t(kind);
        record.address = to_block.at, record.source = from_block.at, record.bytes = extent.bytes();
        record.stream = Address(options.stream);
        if (options.asynchronous) record.flags |= ASYNCHRONOUS;
        bool pageable = to.side == Side::Pageable || from.side == Side::Pageable;
        call.write(record, pageable ? "pageable" : "");
    }
    return call.done(status);
}

inline cudaError_t copy_plain(Call& call, void* to, const void* from, size_t bytes,
                              CopyOptions options, const std::function<cudaError_t()>& real) {
    return copy(call, {Address(to), bytes, bytes}, {Address(from), bytes, bytes}, {bytes, 1, 1},
                options, real);
}

inline cudaError_t perform_fill(Call& call, const Place& place, Block block, Extent extent,
                                uint64_t value, unsigned element) {
    Memory& memory = runtime().memory;
    use_in_order(call, place.allocation);
    uint64_t span = extent.span(block);
    if (place.allocation && memory.in_device_range(place.at)) {
        uint64_t end = place.at - place.allocation->start + span;
        if (!memory.back(*place.allocation, end)) {
            // Fresh memory reads as 0 anyway.
            call.note("more device memory is used than the host can keep: some bytes are dropped");
            taint(place, span, true);
            return cudaSuccess;
        }
    }
    for (uint64_t z = 0; z < extent.depth; z++)
        for (uint64_t y = 0; y < extent.height; y++) {
            char* row = memory.bytes_at(place.at + z * block.slice + y * block.pitch);
            if (element == 1) {
                if (!set_bytes(row, int(value), extent.width)) return cudaErrorInvalidValue;
            } else {
                for (uint64_t x = 0; x + element <= extent.width; x += element)
                    memcpy(row + x, &value, element);
            }
        }
    taint(place, span, false);
    return cudaSuccess;
}

// Sets memory; `element` is how many bytes of `value` count.
inline cudaError_t fill(Call& call, Block block, uint64_t value, unsigned element, Extent extent,
                        cudaStream_t stream, bool asynchronous,
                        const std::function<cudaError_t()>& real) {
    std::unique_lock<std::recursive_mutex> guard(runtime().mutex);
    Place place;
    bool good = true;
    if (extent.bytes()) {
        if (simulating() && !block.at) return call.done(cudaErrorInvalidValue);
        good = locate(call, block.at, extent.span(block), "memory to set", place);
        if (good && simulating() && place.side == Side::Pageable) {
            call.misuse(COPY_DIRECTION, "host", block.at, extent.bytes(),
                        "the memory to set is the host's");
            good = false;
        }
    }
    int64_t given = int32_t(value);
    if (element == 1 && (given < -128 || given > 255))
        call.misuse(FILL_VALUE, place.family(), block.at, extent.bytes(),
                    std::to_string(given) + " does not fit a byte: only its lowest 8 bits are set");
    cudaError_t status = cudaSuccess;
    if (!simulating()) {
        guard.unlock();
        status = real();
    } else if (!usable_stream(call, stream)) {
        status = cudaErrorInvalidResourceHandle;
    } else if (!good) {
        status = cudaErrorInvalidValue;
    } else if (Graph* graph = asynchronous ? capturing(stream) : nullptr) {
        record_node(graph, cudaGraphNodeTypeMemset, [=](Call& inner) {
            Place p;
            if (!extent.bytes()) return cudaSuccess;
            if (!locate(inner, block.at, extent.span(block), "memory to set", p))
                return cudaErrorInvalidValue;
            return perform_fill(inner, p, block, extent, value, element);
        });
        return call.done(cudaSuccess);
    } else if (extent.bytes()) {
        begin_work(call, stream);
        status = perform_fill(call, place, block, extent, value, element);
        if (!asynchronous && place.side != Side::Device) host_waits_for(stream);
        work_on(stream, 2000 + extent.bytes() / 1024);
    }
    if (status == cudaSuccess) {
        Record record = call.make(FILL);
        record.address = block.at, record.bytes = extent.bytes(), record.source = value;
        record.stream = Address(stream);
        if (asynchronous) record.flags |= ASYNCHRONOUS;
        call.write(record);
    }
    return call.done(status);
}

// The device's copy of a __device__ or __constant__ variable; made when it is first asked for.
inline Variable* variable(const void* symbol) {
    auto found = runtime().program.variables.find(symbol);
    if (found == runtime().program.variables.end()) return nullptr;
    Variable& v = found->second;
    Memory& memory = runtime().memory;
    if (!v.address && simulating()) {
        v.address = v.managed ? memory.take_host(v.size) : memory.take_device(v.size, 0);
        if (!v.address) return nullptr;
        Allocation& a = memory.add(v.address, v.size, v.managed ? "managed" : "device", 0);
        a.symbol = symbol;
        if (runtime().launched && !v.constant) a.tainted.add(0, v.size);
    }
    return &v;
}

}  // namespace ledger
