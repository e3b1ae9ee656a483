// Graphs: what is captured or added is done when the graph is launched.
#pragma once

namespace ledger {

struct Node {
    cudaGraphNodeType type;
    std::function<cudaError_t(Call&)> work;
    Address handle;
};

struct GraphBlock;

struct Graph {
    std::vector<Node> nodes;
    Address handle = 0;
    std::vector<std::shared_ptr<GraphBlock>> blocks;  // What its nodes allocate.
    std::set<Address> released;                       // What its nodes release.
    bool frees_on_launch = false;                     // Instantiated so: what is still allocated.
    std::weak_ptr<Graph> instance;

    bool has_memory() const { return !blocks.empty() || !released.empty(); }
};

cudaError_t free_before_launch(Call& call, const Graph& graph);

inline Graph* graph_content(Address handle, const char* family = "graph") {
    Handle* h = find_handle(handle, family);
    return h ? (Graph*)h->content.get() : nullptr;
}

inline Graph* capturing(cudaStream_t stream) {
    if (is_special(stream)) return nullptr;
    Handle* h = find_handle(Address(stream), "stream");
    return h && h->capturing ? graph_content(h->capturing) : nullptr;
}

inline void record_node(Graph* graph, cudaGraphNodeType type,
                        std::function<cudaError_t(Call&)> work) {
    graph->nodes.push_back({type, std::move(work), 0x600000000000ull + (runtime().next_handle += 0x10)});
}

inline Address make_graph() {
    Address made = new_handle("graph");
    auto graph = std::make_shared<Graph>();
    graph->handle = made;
    runtime().handles[made].content = graph;
    return made;
}

template <class Make>
cudaError_t begin_capture(Call& call, cudaStream_t stream, Make make) {
    if (is_special(stream)) return call.done(cudaErrorStreamCaptureUnsupported);
    Handle* h = find_handle(Address(stream), "stream");
    if (h->capturing) return call.done(cudaErrorIllegalState);
    h->capturing = make();
    return call.done(cudaSuccess);
}

// A graph that the capture was given is its maker's already.
inline cudaError_t end_capture(Call& call, Address graph) {
    if (!runtime().holds(graph, "graph")) call.acquired("graph", graph, 0);
    return call.done(cudaSuccess);
}

template <class Work>
cudaError_t add_node(Call& call, cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNodeType type,
                     Work work) {
    Graph* g = graph_content(Address(graph));
    if (!node || !g) return call.done(cudaErrorInvalidValue);
    record_node(g, type, work);
    *node = (cudaGraphNode_t)g->nodes.back().handle;
    return call.done(cudaSuccess);
}

}  // namespace ledger

API(cudaStreamBeginCapture)(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    CALL_FORWARD(cudaStreamBeginCapture, stream, mode);
    STREAM_CHECK(stream);
    return ledger::begin_capture(call, stream, ledger::make_graph);
}

#if CUDART_VERSION >= 12030
API(cudaStreamBeginCaptureToGraph)(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   const cudaGraphEdgeData* edges, size_t count,
                                   enum cudaStreamCaptureMode mode) {
    CALL_FORWARD(cudaStreamBeginCaptureToGraph, stream, graph, dependencies, edges, count, mode);
    STREAM_CHECK(stream);
    if (!ledger::graph_content(Address(graph))) return call.done(cudaErrorInvalidValue);
    return ledger::begin_capture(call, stream, [=] { return Address(graph); });
}
#endif

API(cudaStreamEndCapture)(cudaStream_t stream, cudaGraph_t* graph) {
    CALL_ENTRY(cudaStreamEndCapture);
    if (!graph) return call.done(cudaErrorInvalidValue);
    if (!simulating()) {
        cudaError_t status = REAL(cudaStreamEndCapture)(stream, graph);
        return status == cudaSuccess ? ledger::end_capture(call, Address(*graph)) : call.done(status);
    }
    STREAM_CHECK(stream);
    Handle* h = ledger::is_special(stream) ? nullptr : ledger::find_handle(Address(stream), "stream");
    if (!h || !h->capturing) return call.done(cudaErrorIllegalState);
    Address made = h->capturing;
    for (auto& part : runtime().handles)
        if (part.second.capturing == made) part.second.capturing = 0;
    *graph = (cudaGraph_t)made;
    return ledger::end_capture(call, made);
}

API(cudaStreamIsCapturing)(cudaStream_t stream, enum cudaStreamCaptureStatus* status) {
    CALL_FORWARD(cudaStreamIsCapturing, stream, status);
    STREAM_CHECK(stream);
    if (!status) return call.done(cudaErrorInvalidValue);
    *status = ledger::capturing(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return call.done(cudaSuccess);
}

API(cudaGraphCreate)(cudaGraph_t* graph, unsigned int flags) {
    CALL_ENTRY(cudaGraphCreate);
    CREATE(cudaGraphCreate, graph, "graph", (graph, flags),
           h.content = std::make_shared<ledger::Graph>());
}

API(cudaGraphDestroy)(cudaGraph_t graph) { DESTROY(cudaGraphDestroy, graph, "graph"); }

API(cudaGraphClone)(cudaGraph_t* clone, cudaGraph_t graph) {
    CALL_ENTRY(cudaGraphClone);
    ledger::Graph* g = simulating() ? ledger::graph_content(Address(graph)) : nullptr;
    // With memory nodes "the graph cannot be cloned".
    if (simulating() && (!g || g->has_memory())) return call.done(cudaErrorInvalidValue);
    CREATE(cudaGraphClone, clone, "graph", (clone, graph), h.content = std::make_shared<ledger::Graph>(*g));
}

namespace ledger {

inline cudaError_t instantiate(Call& call, cudaGraphExec_t* executable, cudaGraph_t graph,
                               unsigned long long flags, const std::function<cudaError_t()>& real) {
    Graph* g = simulating() ? graph_content(Address(graph)) : nullptr;
    if (simulating() && !g) return call.done(cudaErrorInvalidValue);
    // With memory nodes "only one instantiation of the graph may exist at any point in time".
    if (g && g->has_memory() && !g->instance.expired()) return call.done(cudaErrorInvalidValue);
    return create(call, executable, "graph-exec", real, [&](Handle& h) {
        auto instance = std::make_shared<Graph>(*g);
        instance->frees_on_launch = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
        g->instance = instance;
        h.content = instance;
    });
}

}  // namespace ledger

#if CUDART_VERSION >= 12000
API(cudaGraphInstantiate)(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
    CALL_ENTRY(cudaGraphInstantiate);
    return ledger::instantiate(call, executable, graph, flags,
                               [&] { return REAL(cudaGraphInstantiate)(executable, graph, flags); });
}
#endif

API(cudaGraphInstantiateWithFlags)(cudaGraphExec_t* executable, cudaGraph_t graph,
                                   unsigned long long flags) {
    CALL_ENTRY(cudaGraphInstantiateWithFlags);
    return ledger::instantiate(call, executable, graph, flags, [&] {
        return REAL(cudaGraphInstantiateWithFlags)(executable, graph, flags);
    });
}

API(cudaGraphExecDestroy)(cudaGraphExec_t executable) {
    DESTROY(cudaGraphExecDestroy, executable, "graph-exec");
}

API(cudaGraphUpload)(cudaGraphExec_t executable, cudaStream_t stream) {
    CALL_FORWARD(cudaGraphUpload, executable, stream);
    bool good = ledger::usable(call, Address(executable), "graph-exec");
    return call.done(good ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

API(cudaGraphLaunch)(cudaGraphExec_t executable, cudaStream_t stream) {
    CALL_FORWARD(cudaGraphLaunch, executable, stream);
    STREAM_CHECK(stream);
    if (!ledger::usable(call, Address(executable), "graph-exec"))
        return call.done(cudaErrorInvalidResourceHandle);
    ledger::Graph graph = *ledger::graph_content(Address(executable), "graph-exec");
    cudaError_t status = ledger::free_before_launch(call, graph);
    if (status != cudaSuccess) return call.done(status);
    ledger::begin_work(call, stream);
    for (auto& node : graph.nodes) {
        cudaError_t one = node.work(call);
        if (one != cudaSuccess) status = one;
        ledger::work_on(stream, 5000);
    }
    return call.done(status);
}

API(cudaGraphGetNodes)(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    CALL_FORWARD(cudaGraphGetNodes, graph, nodes, count);
    ledger::Graph* g = ledger::graph_content(Address(graph));
    if (!g || !count) return call.done(cudaErrorInvalidValue);
    if (nodes)
        for (size_t i = 0; i < std::min(*count, g->nodes.size()); i++)
            nodes[i] = (cudaGraphNode_t)g->nodes[i].handle;
    *count = g->nodes.size();
    return call.done(cudaSuccess);
}

namespace ledger {

template <class Parameters>
cudaError_t add_host(Call& call, cudaGraphNode_t* node, cudaGraph_t graph, const Parameters* p) {
    if (!p) return call.done(cudaErrorInvalidValue);
    Parameters copy = *p;
    return add_node(call, node, graph, cudaGraphNodeTypeHost, [copy](Call&) {
        host_waits_for(runtime().order.current().timeline);
        copy.fn(copy.userData);
        return cudaSuccess;
    });
}

template <class Parameters>
cudaError_t add_kernel(Call& call, cudaGraphNode_t* node, cudaGraph_t graph, const Parameters* p) {
    if (!p) return call.done(cudaErrorInvalidValue);
    Kernel* kernel = runtime().program.find(p->func);
    if (!kernel) return call.done(cudaErrorInvalidDeviceFunction);
    cudaError_t why;
    std::string reason = refusal(
        kernel, {p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes, nullptr}, &why);
    if (!reason.empty()) {
        call.misuse(LAUNCH_REFUSED, "", 0, 0, kernel->name + ": " + reason);
        return call.done(why);
    }
    std::vector<std::vector<char>> values;
    if (kernel->known && p->kernelParams)
        for (size_t i = 0; i < kernel->facts.parameters.size(); i++) {
            const char* at = (const char*)p->kernelParams[i];
            values.emplace_back(at, at + (at ? kernel->facts.parameters[i].size : 0));
        }
    return add_node(call, node, graph, cudaGraphNodeTypeKernel, [kernel, values](Call& inner) mutable {
        std::vector<void*> arguments;
        for (auto& value : values) arguments.push_back(value.data());
        taint_arguments(inner, kernel, arguments.empty() ? nullptr : arguments.data());
        return cudaSuccess;
    });
}

template <class Parameters>
cudaError_t add_fill(Call& call, cudaGraphNode_t* node, cudaGraph_t graph, const Parameters* p) {
    if (!p) return call.done(cudaErrorInvalidValue);
    Parameters m = *p;
    return add_node(call, node, graph, cudaGraphNodeTypeMemset, [m](Call& inner) {
        Place place;
        Block block{Address(m.dst), m.pitch, 0};
        Extent extent{m.width * m.elementSize, std::max<size_t>(m.height, 1), 1};
        if (!locate(inner, block.at, extent.span(block), "memory to set", place))
            return cudaErrorInvalidValue;
        return perform_fill(inner, place, block, extent, m.value, m.elementSize);
    });
}

inline cudaError_t replay_copy(Call& call, Block to, Block from, Extent extent) {
    Place a, b;
    if (!extent.bytes()) return cudaSuccess;
    if (!locate(call, to.at, extent.span(to), "destination of the copy", a) ||
        !locate(call, from.at, extent.span(from), "source of the copy", b))
        return cudaErrorInvalidValue;
    return perform_copy(call, a, to, b, from, extent);
}

inline cudaError_t add_copy(Call& call, cudaGraphNode_t* node, cudaGraph_t graph, const cudaMemcpy3DParms* p) {
    if (!p) return call.done(cudaErrorInvalidValue);
    if (p->srcArray || p->dstArray) {
        call.note(std::string("unsupported: ") + call.api() + " with arrays");
        return call.done(cudaErrorNotSupported);
    }
    cudaMemcpy3DParms m = *p;
    auto block = [](const cudaPitchedPtr& ptr, const cudaPos& pos) {
        Block b{0, ptr.pitch, ptr.pitch * ptr.ysize};
        b.at = Address(ptr.ptr) + pos.x + pos.y * b.pitch + pos.z * b.slice;
        return b;
    };
    Block to = block(m.dstPtr, m.dstPos), from = block(m.srcPtr, m.srcPos);
    Extent extent{m.extent.width, m.extent.height, m.extent.depth};
    return add_node(call, node, graph, cudaGraphNodeTypeMemcpy, [=](Call& inner) {
        return replay_copy(inner, to, from, extent);
    });
}

}  // namespace ledger

API(cudaGraphAddEmptyNode)(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                           size_t count) {
    CALL_FORWARD(cudaGraphAddEmptyNode, node, graph, after, count);
    return ledger::add_node(call, node, graph, cudaGraphNodeTypeEmpty, [](Call&) { return cudaSuccess; });
}

API(cudaGraphAddHostNode)(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                          size_t count, const struct cudaHostNodeParams* p) {
    CALL_FORWARD(cudaGraphAddHostNode, node, graph, after, count, p);
    return ledger::add_host(call, node, graph, p);
}

API(cudaGraphAddKernelNode)(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                            size_t count, const struct cudaKernelNodeParams* p) {
    CALL_FORWARD(cudaGraphAddKernelNode, node, graph, after, count, p);
    return ledger::add_kernel(call, node, graph, p);
}

API(cudaGraphAddMemsetNode)(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                            size_t count, const struct cudaMemsetParams* p) {
    CALL_FORWARD(cudaGraphAddMemsetNode, node, graph, after, count, p);
    return ledger::add_fill(call, node, graph, p);
}

API(cudaGraphAddMemcpyNode1D)(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                              size_t count, void* to, const void* from, size_t bytes,
                              enum cudaMemcpyKind kind) {
    CALL_FORWARD(cudaGraphAddMemcpyNode1D, node, graph, after, count, to, from, bytes, kind);
    return ledger::add_node(call, node, graph, cudaGraphNodeTypeMemcpy, [=](Call& inner) {
        return ledger::replay_copy(inner, {Address(to), bytes, bytes}, {Address(from), bytes, bytes},
                                   {bytes, 1, 1});
    });
}

API(cudaGraphAddMemcpyNode)(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                            size_t count, const struct cudaMemcpy3DParms* p) {
    CALL_FORWARD(cudaGraphAddMemcpyNode, node, graph, after, count, p);
    return ledger::add_copy(call, node, graph, p);
}

API(cudaGraphAddDependencies)(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
#if CUDART_VERSION >= 13000
                              const cudaGraphEdgeData* edges,
#endif
                              size_t count) {
#if CUDART_VERSION >= 13000
    CALL_FORWARD(cudaGraphAddDependencies, graph, from, to, edges, count);
#else
    CALL_FORWARD(cudaGraphAddDependencies, graph, from, to, count);
#endif
    return call.done(ledger::graph_content(Address(graph)) ? cudaSuccess : cudaErrorInvalidValue);
}
