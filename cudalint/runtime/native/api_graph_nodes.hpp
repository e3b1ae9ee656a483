// Nodes of whatever kind, by one function (CUDA Runtime API, "Graph Management": cudaGraphAddNode).
#pragma once

#if CUDART_VERSION >= 12020
API(cudaGraphAddNode)(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
#if CUDART_VERSION >= 13000
                      const cudaGraphEdgeData* edges,
#endif
                      size_t count, struct cudaGraphNodeParams* p) {
#if CUDART_VERSION >= 13000
    CALL_FORWARD(cudaGraphAddNode, node, graph, after, edges, count, p);
#else
    CALL_FORWARD(cudaGraphAddNode, node, graph, after, count, p);
#endif
    if (!p) return call.done(cudaErrorInvalidValue);
    switch (p->type) {
        case cudaGraphNodeTypeEmpty:
            return ledger::add_node(call, node, graph, p->type, [](Call&) { return cudaSuccess; });
        case cudaGraphNodeTypeHost: return ledger::add_host(call, node, graph, &p->host);
        case cudaGraphNodeTypeKernel: return ledger::add_kernel(call, node, graph, &p->kernel);
        case cudaGraphNodeTypeMemset: return ledger::add_fill(call, node, graph, &p->memset);
        case cudaGraphNodeTypeMemcpy: return ledger::add_copy(call, node, graph, &p->memcpy.copyParams);
        case cudaGraphNodeTypeMemAlloc: return ledger::add_allocation(call, node, graph, &p->alloc);
        case cudaGraphNodeTypeMemFree:
            return ledger::add_release(call, node, graph, Address(p->free.dptr));
        default:
            call.note("unsupported: cudaGraphAddNode of another kind");
            return call.done(cudaErrorNotSupported);
    }
}
#endif
