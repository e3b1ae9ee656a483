"""The simulated device's memory that is apart from its addresses: virtual memory management, other
processes' memory, external memory, memory nodes of graphs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cudalint.runtime.account import Account, account
from cudalint.runtime.devices import Device, Gpu, Simulated
from cudalint.runtime.events import Violation
from tests.runtime.conftest import Lab, account_of

MIB = 1024 * 1024

VIRTUAL = """
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cstdio>
#include <cstring>
static const size_t PAGE = 2 << 20;
static CUmemAllocationProp on_device() {
    CUmemAllocationProp p{};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return p;
}
static CUmemAllocationProp properties = on_device();
static CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
#define IS(call, status) if ((call) != status) return __LINE__
#define OK(call) IS(call, CUDA_SUCCESS)
#define BAD(call) IS(call, CUDA_ERROR_INVALID_VALUE)
static CUmemGenericAllocationHandle first, second;
static CUdeviceptr at;
"""

RUNTIME = """
#include <cuda_runtime_api.h>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define IS(call, status) if ((call) != status) return __LINE__
#define OK(call) IS(call, cudaSuccess)
#define BAD(call) IS(call, cudaErrorInvalidValue)
"""


def run(lab: Lab, text: str, head: str, device: Device | None = None) -> Account:
    result = lab.run(lab.build(text, head=head), device)
    assert (result.exit_status, result.problem) == (0, "")
    return account_of(result)


def told(summary: Account) -> list[tuple[Violation | None, str]]:
    return [(event.violation, event.family) for event in summary.violations]


def test_mappings_side_by_side_are_one_piece(lab: Lab) -> None:
    summary = run(
        lab,
        """
        int main() {
            OK(cuInit(0));
            size_t page = 0;
            OK(cuMemGetAllocationGranularity(&page, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
            if (page != PAGE) return __LINE__;
            OK(cuMemAddressReserve(&at, 4 * PAGE, 0, 0, 0));
            OK(cuMemCreate(&first, PAGE, &properties, 0));
            OK(cuMemCreate(&second, PAGE, &properties, 0));
            OK(cuMemMap(at, PAGE, 0, first, 0));
            OK(cuMemSetAccess(at, PAGE, &access, 1));
            OK(cuMemsetD8(at, 7, PAGE));
            OK(cuMemMap(at + PAGE, PAGE, 0, second, 0));
            OK(cuMemSetAccess(at + PAGE, PAGE, &access, 1));
            // It grew where it was, and kept what it held.
            OK(cuMemsetD8(at + PAGE / 2, 9, PAGE));
            unsigned char a = 0, b = 0;
            OK(cuMemcpyDtoH(&a, at + PAGE / 2 - 1, 1));
            OK(cuMemcpyDtoH(&b, at + PAGE + 1, 1));
            if (a != 7 || b != 9) return __LINE__;
            unsigned long long flags = 0;
            OK(cuMemGetAccess(&flags, &properties.location, at));
            if (flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return __LINE__;
            OK(cuMemUnmap(at, 2 * PAGE));
            OK(cuMemRelease(first));
            OK(cuMemRelease(second));
            return cuMemAddressFree(at, 4 * PAGE);
        }
        """,
        VIRTUAL,
    )
    assert (told(summary), summary.leaks, summary.peak) == ([], (), 4 * MIB)


def test_memory_stays_until_its_last_mapping_is_gone(lab: Lab) -> None:
    summary = run(
        lab,
        """
        int main() {
            size_t before, during, after, total;
            OK(cuInit(0));
            cudaMemGetInfo(&before, &total);
            OK(cuMemAddressReserve(&at, 2 * PAGE, 0, 0, 0));
            OK(cuMemCreate(&first, PAGE, &properties, 0));
            OK(cuMemMap(at, PAGE, 0, first, 0));
            OK(cuMemMap(at + PAGE, PAGE, 0, first, 0));
            OK(cuMemRelease(first));
            OK(cuMemSetAccess(at, 2 * PAGE, &access, 1));
            // The same bytes at two addresses.
            OK(cuMemsetD8(at, 5, PAGE));
            unsigned char seen = 0;
            OK(cuMemcpyDtoH(&seen, at + 2 * PAGE - 1, 1));
            if (seen != 5) return __LINE__;
            CUmemGenericAllocationHandle again;
            OK(cuMemRetainAllocationHandle(&again, (void *)(at + 100)));
            if (again != first) return __LINE__;
            OK(cuMemRelease(again));
            OK(cuMemUnmap(at, PAGE));
            cudaMemGetInfo(&during, &total);
            OK(cuMemUnmap(at + PAGE, PAGE));
            cudaMemGetInfo(&after, &total);
            if (before - during != PAGE || after != before) return __LINE__;
            return cuMemAddressFree(at, 2 * PAGE);
        }
        """,
        VIRTUAL,
    )
    assert (told(summary), summary.leaks) == ([], ())


def test_what_virtual_memory_management_refuses(lab: Lab) -> None:
    summary = run(
        lab,
        """
        int main() {
            OK(cuInit(0));
            BAD(cuMemCreate(&first, 1000, &properties, 0));
            IS(cuMemCreate(&first, 128 * PAGE, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
            OK(cuMemCreate(&first, 2 * PAGE, &properties, 0));
            BAD(cuMemAddressReserve(&at, 1000, 0, 0, 0));
            BAD(cuMemAddressReserve(&at, PAGE, 3, 0, 0));
            OK(cuMemAddressReserve(&at, 4 * PAGE, 0, 0, 0));
            BAD(cuMemMap(at, PAGE, PAGE, first, 0));
            BAD(cuMemMap(at + 3 * PAGE, 2 * PAGE, 0, first, 0));
            BAD(cuMemSetAccess(at, PAGE, &access, 1));
            OK(cuMemMap(at, 2 * PAGE, 0, first, 0));
            BAD(cuMemMap(at + PAGE, 2 * PAGE, 0, first, 0));
            BAD(cuMemUnmap(at, PAGE));
            BAD(cuMemSetAccess(at, 3 * PAGE, &access, 1));
            BAD(cuMemAddressFree(at, 4 * PAGE));
            OK(cuMemUnmap(at, 2 * PAGE));
            BAD(cuMemAddressFree(at, PAGE));
            OK(cuMemRelease(first));
            return cuMemAddressFree(at, 4 * PAGE);
        }
        """,
        VIRTUAL,
        Simulated(capacity=64 * MIB),
    )
    assert (told(summary), summary.leaks) == ([], ())


def test_misuses_of_virtual_memory(lab: Lab) -> None:
    summary = run(
        lab,
        """
        int main() {
            OK(cuInit(0));
            OK(cuMemAddressReserve(&at, PAGE, 0, 0, 0));
            OK(cuMemCreate(&first, PAGE, &properties, 0));
            OK(cuMemMap(at, PAGE, 0, first, 0));
            BAD(cuMemsetD8(at, 1, 16));         // No access was given.
            OK(cuMemSetAccess(at, PAGE, &access, 1));
            BAD(cuMemsetD8(at, 1, PAGE + 1));   // Longer than what is mapped.
            BAD(cuMemFree(at));                 // It is unmapped, not freed.
            OK(cuMemUnmap(at, PAGE));
            BAD(cuMemsetD8(at, 1, 16));         // After it was unmapped.
            OK(cuMemRelease(first));
            cuMemRelease(first);                // A second time.
            return 0;                           // The addresses are never given back.
        }
        """,
        VIRTUAL,
    )
    assert told(summary) == [
        (Violation.USE_AFTER_FREE, "physical-memory"),
        (Violation.OUT_OF_BOUNDS, "physical-memory"),
        (Violation.WRONG_DEALLOCATOR, "physical-memory"),
        (Violation.USE_AFTER_FREE, "physical-memory"),
        (Violation.DOUBLE_FREE, "physical-memory"),
    ]
    assert [one.text for one in summary.violations][:3] == [
        "the memory to set is mapped, and cuMemSetAccess gave no access to it",
        "the memory to set has 2097152 bytes from here on, and 2097153 bytes are asked for",
        "physical memory is released by cuMemFree_v2",
    ]
    # What a static still points at is kept.
    assert [one.family for one in summary.kept] == ["address-range"]


def test_shareable_handles(lab: Lab) -> None:
    summary = run(
        lab,
        """
        int main() {
            OK(cuInit(0));
            auto BY_FILE = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
            int file = -1;
            OK(cuMemCreate(&first, PAGE, &properties, 0));
            OK(cuMemExportToShareableHandle(&file, first, BY_FILE, 0));
            OK(cuMemImportFromShareableHandle(&second, (void *)(long)file, BY_FILE));
            OK(cuMemRelease(first));
            CUmemGenericAllocationHandle lost = 0;
            OK(cuMemImportFromShareableHandle(&lost, (void *)(long)file, BY_FILE));
            return cuMemRelease(second);
        }
        """,
        VIRTUAL,
    )
    assert told(summary) == []
    assert [(one.api, one.family) for one in summary.leaks] == [
        ("cuMemImportFromShareableHandle", "physical-memory")
    ]


def test_memory_of_another_process(lab: Lab) -> None:
    result = lab.run(
        lab.build(
            """
            int main() {
                int there[2], back[2];
                if (pipe(there) || pipe(back)) return 1;
                pid_t child = fork();
                if (!child) {
                    cudaIpcMemHandle_t handle;
                    if (read(there[0], &handle, sizeof handle) != sizeof handle) return 2;
                    void *mine = nullptr, *same = nullptr;
                    BAD(cudaIpcOpenMemHandle(&mine, handle, 0));
                    OK(cudaIpcOpenMemHandle(&mine, handle, cudaIpcMemLazyEnablePeerAccess));
                    OK(cudaIpcOpenMemHandle(&same, handle, cudaIpcMemLazyEnablePeerAccess));
                    if (mine != same) return __LINE__;
                    BAD(cudaFree(mine));
                    OK(cudaIpcCloseMemHandle(same));
                    char bytes[4096];
                    OK(cudaMemcpy(bytes, mine, sizeof bytes, cudaMemcpyDefault));
                    OK(cudaIpcCloseMemHandle(mine));
                    BAD(cudaMemcpy(bytes, mine, sizeof bytes, cudaMemcpyDefault));
                    OK(cudaIpcOpenMemHandle(&mine, handle, cudaIpcMemLazyEnablePeerAccess));
                    return 0;  // Never closed.
                }
                void *block = nullptr;
                cudaIpcMemHandle_t handle;
                OK(cudaMalloc(&block, 4096));
                OK(cudaIpcGetMemHandle(&handle, block));
                void *own = nullptr;
                IS(cudaIpcOpenMemHandle(&own, handle, cudaIpcMemLazyEnablePeerAccess),
                   cudaErrorDeviceUninitialized);
                if (write(there[1], &handle, sizeof handle) != sizeof handle) return 3;
                int status = 0;
                waitpid(child, &status, 0);
                OK(cudaFree(block));
                BAD(cudaIpcGetMemHandle(&handle, block));
                return WEXITSTATUS(status);
            }
            """,
            head=RUNTIME,
        )
    )
    assert (result.exit_status, result.problem) == (0, "")
    (child_trace,) = result.children
    parent, child = account_of(result), account(child_trace.events)
    assert (told(parent), parent.leaks) == ([(Violation.USE_AFTER_FREE, "device")], ())
    assert told(child) == [
        (Violation.WRONG_DEALLOCATOR, "ipc-memory"),
        (Violation.USE_AFTER_FREE, "ipc-memory"),
    ]
    assert [(one.api, one.family) for one in child.leaks] == [
        ("cudaIpcOpenMemHandle", "ipc-memory")
    ]
    # What the other process wrote there is not known.
    assert len(child.tainted) == 1


def test_what_a_runtime_opens_twice_is_closed_twice(
    lab: Lab, compiler: Path, tmp_path: Path
) -> None:
    source, library = tmp_path / "runtime.c", tmp_path / "runtime.so"
    source.write_text(
        """
        int cudaIpcOpenMemHandle(void **pointer, ...) { *pointer = (void *)0x700000; return 0; }
        int cudaIpcCloseMemHandle(void *pointer) { return 0; }
        """
    )
    subprocess.run(
        [str(compiler), "-x", "c", "-shared", "-fPIC", str(source), "-o", str(library)], check=True
    )
    summary = run(
        lab,
        """
        int main() {
            cudaIpcMemHandle_t handle{};
            void *first, *second;
            OK(cudaIpcOpenMemHandle(&first, handle, cudaIpcMemLazyEnablePeerAccess));
            OK(cudaIpcOpenMemHandle(&second, handle, cudaIpcMemLazyEnablePeerAccess));
            OK(cudaIpcCloseMemHandle(first));
            OK(cudaIpcCloseMemHandle(second));
            cudaIpcCloseMemHandle(second);  // Once too often.
            return 0;
        }
        """,
        RUNTIME,
        Gpu("a runtime of two functions", "sm_90", 1 << 30, library),
    )
    assert told(summary) == [(Violation.DOUBLE_FREE, "ipc-memory")]
    assert summary.leaks == ()


def test_external_memory(lab: Lab) -> None:
    summary = run(
        lab,
        """
        int main() {
            cudaExternalMemoryHandleDesc from{};
            from.type = cudaExternalMemoryHandleTypeOpaqueFd;
            from.size = 1 << 20;
            from.handle.fd = 999;
            cudaExternalMemory_t memory;
            BAD(cudaImportExternalMemory(&memory, &from));
            int file = from.handle.fd = memfd_create("memory", 0);
            OK(cudaImportExternalMemory(&memory, &from));
            cudaExternalMemoryBufferDesc all{};
            all.size = 2 << 20;
            void *buffer, *other;
            BAD(cudaExternalMemoryGetMappedBuffer(&buffer, memory, &all));
            all.size = 1 << 20;
            OK(cudaExternalMemoryGetMappedBuffer(&buffer, memory, &all));
            OK(cudaExternalMemoryGetMappedBuffer(&other, memory, &all));
            OK(cudaMemset(buffer, 0, 1 << 20));
            OK(cudaFree(buffer));
            OK(cudaDestroyExternalMemory(memory));
            // The file descriptor was CUDA's own.
            if (close(file) == 0) return __LINE__;
            BAD(cudaMemset(other, 0, 16));
            IS(cudaDestroyExternalMemory(memory), cudaErrorInvalidResourceHandle);
            return 0;
        }
        """,
        RUNTIME,
    )
    assert told(summary) == [
        (Violation.USE_AFTER_FREE, "device"),
        (Violation.DOUBLE_FREE, "external-memory"),
    ]
    assert [(one.api, one.bytes) for one in summary.leaks] == [
        ("cudaExternalMemoryGetMappedBuffer", MIB)
    ]


def test_external_semaphores(lab: Lab) -> None:
    summary = run(
        lab,
        """
        int main() {
            cudaExternalSemaphoreHandleDesc from{};
            from.type = cudaExternalSemaphoreHandleTypeOpaqueFd;
            from.handle.fd = memfd_create("semaphore", 0);
            cudaExternalSemaphore_t semaphore;
            OK(cudaImportExternalSemaphore(&semaphore, &from));
            cudaExternalSemaphoreSignalParams signal{};
            cudaExternalSemaphoreWaitParams wait{};
            OK(cudaSignalExternalSemaphoresAsync(&semaphore, &signal, 1, 0));
            OK(cudaWaitExternalSemaphoresAsync(&semaphore, &wait, 1, 0));
            OK(cudaDestroyExternalSemaphore(semaphore));
            IS(cudaWaitExternalSemaphoresAsync(&semaphore, &wait, 1, 0),
               cudaErrorInvalidResourceHandle);
            from.handle.fd = memfd_create("another", 0);
            return cudaImportExternalSemaphore(&semaphore, &from);
        }
        """,
        RUNTIME,
    )
    assert told(summary) == [(Violation.INVALID_HANDLE, "external-semaphore")]
    assert [one.family for one in summary.leaks] == ["external-semaphore"]


GRAPH = """
static cudaGraphNode_t node, last;
static void *add(cudaGraph_t graph, size_t bytes) {
    cudaMemAllocNodeParams p{};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location = {cudaMemLocationTypeDevice, 0};
    p.bytesize = bytes;
    return cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &p) ? nullptr : p.dptr;
}
static size_t used() {
    size_t bytes = 0;
    cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes);
    return bytes;
}
static size_t left() {
    size_t bytes = 0, total;
    cudaMemGetInfo(&bytes, &total);
    return bytes;
}
"""


def test_a_graph_owns_what_it_frees(lab: Lab) -> None:
    summary = run(
        lab,
        """
        int main() {
            cudaGraph_t graph, copy;
            cudaGraphExec_t exec, second;
            size_t before = left();
            OK(cudaGraphCreate(&graph, 0));
            char *p = (char *)add(graph, 1 << 20);
            cudaMemsetParams set{};
            set.dst = p, set.value = 3, set.elementSize = 1, set.width = 1 << 20, set.height = 1;
            OK(cudaGraphAddMemsetNode(&last, graph, &node, 1, &set));
            OK(cudaGraphAddMemFreeNode(&node, graph, &last, 1, p));
            BAD(cudaGraphClone(&copy, graph));
            OK(cudaGraphInstantiate(&exec, graph, 0));
            BAD(cudaGraphInstantiate(&second, graph, 0));
            for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(exec, 0));
            OK(cudaDeviceSynchronize());
            // Kept for the next launch until it is trimmed.
            if (used() || before - left() != 1 << 20) return __LINE__;
            OK(cudaDeviceGraphMemTrim(0));
            if (left() != before) return __LINE__;
            OK(cudaGraphExecDestroy(exec));
            return cudaGraphDestroy(graph);
        }
        """,
        RUNTIME + GRAPH,
    )
    assert (told(summary), summary.leaks, summary.peak) == ([], (), MIB)


@pytest.mark.parametrize("freed", ["cudaFree(p)", "cudaFreeAsync(p, 0)", "0"])
def test_what_a_graph_leaves_is_freed_by_the_program(lab: Lab, freed: str) -> None:
    summary = run(
        lab,
        f"""
        int main() {{
            cudaGraph_t graph;
            cudaGraphExec_t exec;
            OK(cudaGraphCreate(&graph, 0));
            void *p = add(graph, 1 << 20);
            OK(cudaGraphInstantiate(&exec, graph, 0));
            OK(cudaGraphLaunch(exec, 0));
            OK(cudaMemset(p, 1, 1 << 20));
            // It is still there: another launch has nowhere to allocate it.
            BAD(cudaGraphLaunch(exec, 0));
            OK(cudaGraphExecDestroy(exec));
            OK(cudaGraphDestroy(graph));
            return {freed};
        }}
        """,
        RUNTIME + GRAPH,
    )
    assert told(summary) == []
    lost = [] if "p" in freed else [("cudaGraphLaunch", MIB)]
    assert [(one.api, one.bytes) for one in summary.leaks] == lost


def test_a_graph_that_frees_on_launch(lab: Lab) -> None:
    summary = run(
        lab,
        """
        int main() {
            cudaGraph_t graph;
            cudaGraphExec_t exec;
            OK(cudaGraphCreate(&graph, 0));
            void *p = add(graph, 1 << 20);
            OK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
            for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(exec, 0));
            if (used() != 1 << 20) return __LINE__;
            OK(cudaFree(p));
            OK(cudaGraphExecDestroy(exec));
            return cudaGraphDestroy(graph);
        }
        """,
        RUNTIME + GRAPH,
    )
    assert (told(summary), summary.leaks) == ([], ())


def test_nodes_of_every_kind_by_one_function(lab: Lab) -> None:
    summary = run(
        lab,
        """
        static int called;
        static void count(void *) { called++; }
        static cudaGraph_t graph;
        static bool put(cudaGraphNodeParams &p) {
        #if CUDART_VERSION >= 13000
            return cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p) == cudaSuccess;
        #else
            return cudaGraphAddNode(&node, graph, nullptr, 0, &p) == cudaSuccess;
        #endif
        }
        int main() {
            OK(cudaGraphCreate(&graph, 0));
            cudaGraphNodeParams p{};
            p.type = cudaGraphNodeTypeMemAlloc;
            p.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
            p.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
            p.alloc.bytesize = 4096;
            if (!put(p)) return __LINE__;
            void *at = p.alloc.dptr;
            p = {};
            p.type = cudaGraphNodeTypeMemset;
            p.memset.dst = at, p.memset.value = 6, p.memset.elementSize = 1;
            p.memset.width = 4096, p.memset.height = 1;
            if (!put(p)) return __LINE__;
            char first = 0;
            p = {};
            p.type = cudaGraphNodeTypeMemcpy;
            p.memcpy.copyParams.srcPtr = {at, 1, 1, 1};
            p.memcpy.copyParams.dstPtr = {&first, 1, 1, 1};
            p.memcpy.copyParams.extent = {1, 1, 1};
            p.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
            if (!put(p)) return __LINE__;
            p = {};
            p.type = cudaGraphNodeTypeHost;
            p.host.fn = count;
            if (!put(p)) return __LINE__;
            p = {};
            p.type = cudaGraphNodeTypeMemFree;
            p.free.dptr = at;
            if (!put(p)) return __LINE__;
            p = {};
            p.type = cudaGraphNodeTypeConditional;
            if (put(p)) return __LINE__;
            cudaGraphExec_t exec;
            OK(cudaGraphInstantiate(&exec, graph, 0));
            OK(cudaGraphLaunch(exec, 0));
            OK(cudaGraphExecDestroy(exec));
            if (called != 1 || first != 6) return __LINE__;
            return cudaGraphDestroy(graph);
        }
        """,
        RUNTIME + GRAPH,
    )
    assert (told(summary), summary.leaks, summary.peak) == ([], (), 4096)
    assert summary.notes == ("unsupported: cudaGraphAddNode of another kind",)


def test_misuses_of_memory_of_graphs(lab: Lab) -> None:
    summary = run(
        lab,
        """
        int main() {
            cudaGraph_t graph, other;
            cudaGraphExec_t exec;
            OK(cudaGraphCreate(&graph, 0));
            OK(cudaGraphCreate(&other, 0));
            void *p = add(graph, 1 << 20), *q;
            OK(cudaGraphAddMemFreeNode(&last, graph, &node, 1, p));
            BAD(cudaGraphAddMemFreeNode(&last, graph, &node, 1, p));   // Twice in its graph.
            BAD(cudaGraphAddMemFreeNode(&last, other, nullptr, 0, p)); // In another as well.
            OK(cudaMalloc(&q, 64));
            BAD(cudaGraphAddMemFreeNode(&last, other, nullptr, 0, q)); // Not of a graph.
            OK(cudaGraphInstantiate(&exec, graph, 0));
            OK(cudaGraphLaunch(exec, 0));
            BAD(cudaFree(p));                                          // Its graph has freed it.
            BAD(cudaMemset(p, 0, 16));
            OK(cudaFree(q));
            OK(cudaGraphExecDestroy(exec));
            OK(cudaGraphDestroy(other));
            return cudaGraphDestroy(graph);
        }
        """,
        RUNTIME + GRAPH,
    )
    assert [violation for violation, _ in told(summary)] == [
        Violation.DOUBLE_FREE,
        Violation.DOUBLE_FREE,
        Violation.WRONG_DEALLOCATOR,
        Violation.DOUBLE_FREE,
        Violation.USE_AFTER_FREE,
    ]
    assert summary.leaks == ()
