// Memory nodes of graphs (CUDA Runtime API, "Graph Management": cudaGraphAddMemAllocNode). The address
// is the node's, for as long as a graph has it; memory is behind it from a launch to its release.
#pragma once

namespace ledger {

// "The allocation's address remains fixed across instantiations and launches."
struct GraphBlock {
    Address start;
    uint64_t bytes;
    int device;
    bool freed_inside = false, freed_elsewhere = false;

    ~GraphBlock() { runtime().memory.ranges.give(start, bytes); }
};

// The device's memory for graphs is kept as a pool keeps it, until it is trimmed.
inline Handle& graph_pool(int device) {
    static std::map<int, Address> pools;
    Address& handle = pools[device];
    if (!find_handle(handle, "mempool")) {
        handle = new_handle("mempool");
        Handle& made = runtime().handles[handle];
        made.builtin = true, made.device = device, made.threshold = ~0ull;
    }
    return runtime().handles[handle];
}

// What lies behind a block while it is allocated.
struct GraphMemory {
    std::shared_ptr<GraphBlock> block;
    Address start;

    ~GraphMemory() { give_block(graph_pool(block->device), start, block->bytes); }
};

inline Allocation* allocated(const GraphBlock& block) {
    auto found = runtime().memory.live.find(block.start);
    return found == runtime().memory.live.end() ? nullptr : &found->second;
}

inline cudaError_t allocate(Call& call, const std::shared_ptr<GraphBlock>& block) {
    call.asks(block->bytes, "device");
    Address start = take_block(graph_pool(block->device), block->bytes);
    if (!start) return cudaErrorMemoryAllocation;
    Allocation& a = runtime().memory.add(block->start, block->bytes, "device", block->device);
    a.backing = std::shared_ptr<GraphMemory>(new GraphMemory{block, start});
    call.acquired("device", block->start, block->bytes);
    return cudaSuccess;
}

inline void deallocate(Call& call, Allocation& a) {
    Address start = a.start;
    uint64_t bytes = a.bytes;
    runtime().memory.forget_bytes(a);
    runtime().memory.remove(start);
    call.released("device", start, bytes);
}

// What a launch of the graph finds allocated: freed first, or else an error, as the program asked.
inline cudaError_t free_before_launch(Call& call, const Graph& graph) {
    for (const auto& block : graph.blocks) {
        Allocation* a = allocated(*block);
        if (a && !graph.frees_on_launch) return cudaErrorInvalidValue;
        if (a) deallocate(call, *a);
    }
    return cudaSuccess;
}

inline std::shared_ptr<GraphBlock> graph_block(Address start) {
    for (auto& [address, handle] : runtime().handles)
        if (!strcmp(handle.family, "graph"))
            for (const auto& block : ((Graph*)handle.content.get())->blocks)
                if (block->start == start) return block;
    return nullptr;
}

template <class Parameters>
cudaError_t add_allocation(Call& call, cudaGraphNode_t* node, cudaGraph_t graph, Parameters* p) {
    Graph* g = graph_content(Address(graph));
    if (!g || !p || !p->bytesize) return call.done(cudaErrorInvalidValue);
    const auto& place = p->poolProps.location;
    if (int(place.type) != int(cudaMemLocationTypeDevice) || bad_device(place.id))
        return call.done(cudaErrorInvalidValue);
    Address start = runtime().memory.ranges.take(p->bytesize);
    if (!start) return call.done(cudaErrorMemoryAllocation);
    std::shared_ptr<GraphBlock> block(new GraphBlock{start, p->bytesize, place.id});
    g->blocks.push_back(block);
    p->dptr = decltype(p->dptr)(start);
    return add_node(call, node, graph, cudaGraphNodeTypeMemAlloc,
                    [block](Call& inner) { return allocate(inner, block); });
}

inline cudaError_t add_release(Call& call, cudaGraphNode_t* node, cudaGraph_t graph, Address pointer) {
    Graph* g = graph_content(Address(graph));
    auto block = graph_block(pointer);
    if (!g || !block) {
        // "An address that was not returned by an allocation node."
        if (g && pointer) tell_bad_release(call, pointer, "device");
        return call.done(cudaErrorInvalidValue);
    }
    bool own = std::find(g->blocks.begin(), g->blocks.end(), block) != g->blocks.end();
    // "It is not possible to free an allocation in both the owning graph and another graph", nor
    // "twice in the same graph".
    bool twice = block->freed_inside || g->released.count(pointer) || (own && block->freed_elsewhere);
    if (twice) {
        call.misuse(DOUBLE_FREE, "device", pointer, block->bytes, "a second node releases it");
        return call.done(cudaErrorInvalidValue);
    }
    (own ? block->freed_inside : block->freed_elsewhere) = true;
    g->released.insert(pointer);
    return add_node(call, node, graph, cudaGraphNodeTypeMemFree, [block](Call& inner) {
        if (Allocation* a = allocated(*block)) return deallocate(inner, *a), cudaSuccess;
        tell_bad_release(inner, block->start, "device");
        return cudaErrorInvalidValue;
    });
}

inline cudaError_t graph_memory(Call& call, int device, int attribute, uint64_t* value) {
    if (bad_device(device) || !value) return call.done(cudaErrorInvalidValue);
    Handle& pool = graph_pool(device);
    switch (attribute) {
        case cudaGraphMemAttrUsedMemCurrent: *value = pool.used; break;
        case cudaGraphMemAttrUsedMemHigh: *value = pool.used_high; break;
        case cudaGraphMemAttrReservedMemCurrent: *value = pool.used + pool.cached_bytes; break;
        case cudaGraphMemAttrReservedMemHigh: *value = pool.reserved_high; break;
        default: return call.done(cudaErrorInvalidValue);
    }
    return call.done(cudaSuccess);
}

}  // namespace ledger

API(cudaGraphAddMemAllocNode)(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                              size_t count, struct cudaMemAllocNodeParams* p) {
    CALL_FORWARD(cudaGraphAddMemAllocNode, node, graph, after, count, p);
    return ledger::add_allocation(call, node, graph, p);
}

API(cudaGraphAddMemFreeNode)(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             size_t count, void* pointer) {
    CALL_FORWARD(cudaGraphAddMemFreeNode, node, graph, after, count, pointer);
    return ledger::add_release(call, node, graph, Address(pointer));
}

API(cudaDeviceGraphMemTrim)(int device) {
    CALL_FORWARD(cudaDeviceGraphMemTrim, device);
    if (ledger::bad_device(device)) return call.done(cudaErrorInvalidDevice);
    ledger::trim(ledger::graph_pool(device), 0);
    return call.done(cudaSuccess);
}

API(cudaDeviceGetGraphMemAttribute)(int device, enum cudaGraphMemAttributeType attribute, void* value) {
    CALL_FORWARD(cudaDeviceGetGraphMemAttribute, device, attribute, value);
    return ledger::graph_memory(call, device, attribute, (uint64_t*)value);
}

API(cudaDeviceSetGraphMemAttribute)(int device, enum cudaGraphMemAttributeType attribute, void* value) {
    CALL_FORWARD(cudaDeviceSetGraphMemAttribute, device, attribute, value);
    // "High watermark can only be reset to zero."
    bool high = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    if (ledger::bad_device(device) || !value || !high || *(uint64_t*)value)
        return call.done(cudaErrorInvalidValue);
    Handle& pool = ledger::graph_pool(device);
    (attribute == cudaGraphMemAttrUsedMemHigh ? pool.used_high : pool.reserved_high) = 0;
    return call.done(cudaSuccess);
}
