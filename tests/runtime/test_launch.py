"""Launches: what a device would refuse, what a kernel may have written."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.runtime.build import Executable, build
from cudalint.runtime.devices import Simulated
from cudalint.runtime.events import EventKind, Violation
from cudalint.runtime.execute import Run, RunResult, execute
from cudalint.runtime.frames import Resolver, user_frame
from cudalint.runtime.toolkit import find_nvcc
from tests.runtime.conftest import Lab, account_of, trace_of

pytestmark = pytest.mark.skipif(find_nvcc() is None, reason="no nvcc on this machine")

HEAD = "#include <cuda_runtime.h>\n#include <cstdio>\n"
KERNELS = """
struct Pair { float *first; int n; };
__device__ int counter;
__constant__ float weights[4];
__global__ void plain(float *out, int n) { if (threadIdx.x < n) out[threadIdx.x] = weights[0]; }
__global__ void pair(Pair p) { p.first[threadIdx.x] = p.n; atomicAdd(&counter, 1); }
__global__ void tile(float *out) {
    __shared__ float local[1024];
    extern __shared__ float more[];
    local[threadIdx.x] = out[threadIdx.x];
    more[threadIdx.x] = local[0];
    __syncthreads();
    out[threadIdx.x] = more[1] + local[5];
}
__global__ void __launch_bounds__(128) narrow(float *out) { out[threadIdx.x] = 1; }
"""


def run(lab: Lab, main: str, device: Simulated | None = None) -> tuple[Executable, RunResult]:
    executable = lab.build(KERNELS + main, "program.cu", HEAD)
    result = lab.run(executable, device)
    return executable, result


def test_refusals(lab: Lab) -> None:
    _, result = run(
        lab,
        """
        #define EXPECT(number, wanted) { int got = cudaGetLastError(); \
            if (got != wanted) { printf("%d: %d\\n", number, got); return number; } }
        int main() {
            float *p;
            cudaMalloc(&p, 4096);
            plain<<<1, 1024>>>(p, 3); EXPECT(1, 0)
            plain<<<1, 1025>>>(p, 3); EXPECT(2, 9)
            plain<<<0, 32>>>(p, 3); EXPECT(3, 9)
            plain<<<dim3(1, 65536), 32>>>(p, 3); EXPECT(4, 9)
            plain<<<1, dim3(1, 1, 65)>>>(p, 3); EXPECT(5, 9)
            narrow<<<1, 256>>>(p); EXPECT(6, 701)
            tile<<<1, 32, 40000>>>(p); EXPECT(7, 0)
            tile<<<1, 32, 48000>>>(p); EXPECT(8, 1)
            cudaFuncSetAttribute(tile, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
            tile<<<1, 32, 100000>>>(p); EXPECT(9, 0)
            tile<<<1, 32, 232000>>>(p); EXPECT(10, 1)
            cudaFuncAttributes a;
            cudaFuncGetAttributes(&a, tile);
            if (a.sharedSizeBytes != 4096) return 11;
            cudaFuncGetAttributes(&a, narrow);
            if (a.maxThreadsPerBlock != 128) return 12;
            tile<<<1, 32>>>(p); EXPECT(13, 0)
            cudaFree(p);
            plain<<<1, 32>>>(p, 3);
            return 0;
        }
        """,
    )
    assert (result.exit_status, result.stdout) == (0, "")
    found = [event.violation for event in account_of(result).violations]
    assert found == [Violation.LAUNCH_REFUSED] * 7 + [
        Violation.MISSING_SHARED,
        Violation.USE_AFTER_FREE,
    ]
    launches = [event for event in trace_of(result).events if event.kind is EventKind.LAUNCH]
    second = launches[1].launch
    assert second is not None
    assert (second.static_shared, second.dynamic_shared) == (4096, 40000)


def test_taint(lab: Lab) -> None:
    executable, result = run(
        lab,
        """
        int main() {
            float *a, *b, host[64];
            int n;
            cudaMalloc(&a, 256);
            cudaMalloc(&b, 256);
            cudaMemset(a, 0, 256);
            cudaMemset(b, 0, 256);
            plain<<<1, 64>>>(a, 3);
            cudaMemcpy(host, b, 256, cudaMemcpyDeviceToHost);      // clean
            cudaMemcpy(b, a, 128, cudaMemcpyDeviceToDevice);
            cudaMemcpy(host, b + 32, 128, cudaMemcpyDeviceToHost); // clean
            cudaMemcpy(host, b, 256, cudaMemcpyDeviceToHost);      // tainted
            cudaMemset(b, 0, 128);
            cudaMemcpy(host, b, 256, cudaMemcpyDeviceToHost);      // clean
            pair<<<1, 1>>>(Pair{b, 1});
            cudaMemcpyFromSymbol(&n, counter, sizeof n);           // tainted
            cudaMemcpy(host, b, 4, cudaMemcpyDeviceToHost);        // tainted
            cudaFree(a);
            cudaFree(b);
            return 0;
        }
        """,
    )
    assert result.exit_status == 0
    resolver = Resolver()
    text = executable.sources[0].read_text().splitlines()
    for event in trace_of(result).events:
        frame = user_frame(resolver.resolve(event.stack), executable.sources)
        line = text[frame.line - 1] if frame else ""
        if event.kind is EventKind.TAINTED_READ:
            assert line.endswith("// tainted")
        assert not (event.kind is EventKind.LAUNCH and "<<<" not in line)
    assert len(account_of(result).tainted) == 3
    assert account_of(result).violations == ()


def test_taint_of_managed_memory(lab: Lab) -> None:
    executable, result = run(
        lab,
        """
        int main() {
            float *m, *d;
            cudaMallocManaged(&m, 4096);
            cudaMalloc(&d, 64);
            m[0] = 1;
            plain<<<1, 64>>>(m, 3);
            cudaDeviceSynchronize();
            float got = m[2];  // tainted
            m[1] = 2;
            got += m[3];
            plain<<<1, 64>>>(m, 3);
            cudaMemcpy(d, m, 64, cudaMemcpyDefault);
            cudaFree(d);
            cudaFree(m);
            return got < 0;
        }
        """,
    )
    assert result.exit_status == 0
    text = executable.sources[0].read_text().splitlines()
    frames = (
        user_frame(Resolver().resolve(event.stack), executable.sources)
        for event in account_of(result).tainted
    )
    places = [text[frame.line - 1] for frame in frames if frame is not None]
    assert [place.strip() for place in places] == ["float got = m[2];  // tainted"]
    assert account_of(result).violations == ()


def test_graphs(lab: Lab) -> None:
    _, result = run(
        lab,
        """
        int main() {
            cudaStream_t s;
            cudaStreamCreate(&s);
            int *p, host = 0, seven = 7;
            cudaMalloc(&p, 4);
            cudaGraph_t g;
            cudaGraphExec_t x;
            cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
            cudaMemcpyAsync(p, &seven, 4, cudaMemcpyHostToDevice, s);
            cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, s);
            if (cudaStreamEndCapture(s, &g)) return 1;
            if (host) return 2;
            if (cudaGraphInstantiate(&x, g, 0)) return 3;
            if (cudaGraphLaunch(x, s)) return 4;
            cudaStreamSynchronize(s);
            if (host != 7) return 5;
            cudaGraphExecDestroy(x);
            cudaStreamDestroy(s);
            return cudaFree(p);
        }
        """,
    )
    assert result.exit_status == 0
    assert [leak.family for leak in account_of(result).leaks] == ["graph"]


def test_a_folder_is_one_program(tmp_path: Path, compiler: Path) -> None:
    folder = tmp_path / "two"
    folder.mkdir()
    (folder / "kernel.cu").write_text(
        "#include <cuda_runtime.h>\n__global__ void k(int *p) { *p = 1; }\n"
        "void start(int *p) { k<<<1, 1>>>(p); }\n"
    )
    (folder / "main.cpp").write_text(
        "#include <cuda_runtime_api.h>\nvoid start(int *);\n"
        "int main() { int *p; cudaMalloc((void **)&p, 4); start(p); return cudaFree(p); }\n"
    )
    executable = build(folder, tmp_path / "build")
    result = execute(Run([executable.path], Simulated(target="sm_75", capacity=1 << 20)))
    assert result.exit_status == 0
    assert sum(event.kind is EventKind.LAUNCH for event in trace_of(result).events) == 1


def test_kernels_that_launch_kernels(lab: Lab) -> None:
    executable = lab.build(
        """
        __global__ void inner(int *p) { *p = 1; }
        __global__ void outer(int *p) { inner<<<1, 1>>>(p); }
        int main() {
            int *p;
            cudaMalloc(&p, 4);
            outer<<<1, 1>>>(p);
            return cudaFree(p);
        }
        """,
        "program.cu",
        HEAD,
    )
    assert lab.run(executable).exit_status == 0


LARGE = """
    __global__ void large(float *out) {
        __shared__ double big[8192];
        big[threadIdx.x] = out[0];
        __syncthreads();
        out[threadIdx.x] = big[63 - threadIdx.x];
    }
    int main() {
        float *p;
        cudaMalloc(&p, 256);
        large<<<1, 64>>>(p);
        int failed = cudaGetLastError();
        cudaFree(p);
        return failed;
    }
    """


def test_static_shared_memory_that_no_device_has(lab: Lab) -> None:
    _, result = run(lab, LARGE)
    assert result.exit_status != 0
    (violation,) = account_of(result).violations
    assert violation.violation is Violation.LAUNCH_REFUSED
    assert "65536 bytes of static shared memory" in violation.text


def test_a_specific_target_takes_more_static_shared_memory(lab: Lab) -> None:
    executable = lab.build(LARGE, "program.cu")
    assert lab.run(executable, Simulated("sm_90a")).exit_status == 0
    assert lab.run(executable, Simulated("sm_90")).exit_status != 0
    assert lab.run(executable, Simulated("sm_80")).exit_status != 0


def test_default_streams_per_thread(lab: Lab) -> None:
    result = lab.run(
        lab.build(
            """
            int main() {
                int *p, one = 1, back = 0;
                cudaMalloc((void **)&p, 4);
                cudaMemcpy(p, &one, 4, cudaMemcpyHostToDevice);
                cudaMemcpyAsync(&back, p, 4, cudaMemcpyDeviceToHost, 0);
                cudaStreamSynchronize(0);
                cudaFree(p);
                return back != 1;
            }
            """,
            head="#define CUDA_API_PER_THREAD_DEFAULT_STREAM\n#include <cuda_runtime_api.h>\n",
        )
    )
    assert result.exit_status == 0


def test_attributes_say_what_the_properties_say(lab: Lab) -> None:
    result = lab.run(
        """
        static int differs(cudaDeviceAttr which, int wanted) {
            int value = -1;
            return cudaDeviceGetAttribute(&value, which, 0) || value != wanted || !wanted;
        }
        int main() {
            cudaDeviceProp p;
            if (cudaGetDeviceProperties(&p, 0)) return 100;
            return differs(cudaDevAttrMaxGridDimX, p.maxGridSize[0])
                + 2 * differs(cudaDevAttrTextureAlignment, p.textureAlignment)
                + 4 * differs(cudaDevAttrTexturePitchAlignment, p.texturePitchAlignment)
                + 8 * differs(cudaDevAttrMaxTexture3DDepth, p.maxTexture3D[2])
                + 16 * differs(cudaDevAttrMaxPersistingL2CacheSize, p.persistingL2CacheMaxSize)
                + 32 * differs(cudaDevAttrMaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize)
                + 64 * differs(cudaDevAttrClusterLaunch, p.clusterLaunch);
        }
        """
    )
    assert result.exit_status == 0


@pytest.mark.parametrize(("ending", "lost"), [("cudaGraphDestroy(g)", 0), ("0", 1)])
def test_a_capture_into_a_graph_that_there_is_acquires_none(
    lab: Lab, ending: str, lost: int
) -> None:
    _, result = run(
        lab,
        """
        int main() {
            cudaStream_t s;
            cudaStreamCreate(&s);
            float *p;
            cudaMalloc(&p, 4096);
            cudaGraph_t g, same;
            cudaGraphCreate(&g, 0);
            const auto mode = cudaStreamCaptureModeGlobal;
            if (cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0, mode))
                return 1;
            plain<<<1, 32, 0, s>>>(p, 3);
            if (cudaStreamEndCapture(s, &same) || same != g) return 2;
            size_t nodes = 0;
            if (cudaGraphGetNodes(g, nullptr, &nodes) || nodes != 1) return 3;
            cudaStreamDestroy(s);
            cudaFree(p);
            return ENDING;
        }
        """.replace("ENDING", ending),
    )
    assert result.exit_status == 0
    leaks = account_of(result).leaks
    assert [leak.family for leak in leaks] == ["graph"] * lost
