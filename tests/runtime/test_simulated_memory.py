"""The simulated device's memory: what is lost, what does not fit, what is released wrongly."""

from __future__ import annotations

from cudalint.runtime.devices import Simulated
from cudalint.runtime.events import EventKind, Violation
from cudalint.runtime.execute import RunResult
from cudalint.runtime.frames import Resolver, user_frame
from tests.runtime.conftest import Lab, account_of, trace_of

MIB = 1024 * 1024


def violations(result: RunResult) -> list[Violation | None]:
    return [event.violation for event in account_of(result).violations]


def test_a_leak_shows_with_its_line(lab: Lab) -> None:
    executable = lab.build(
        """
        static float *grab(size_t n) {
            void *p = nullptr;
            cudaMalloc(&p, n);
            return (float *)p;
        }
        int main() {
            cudaFree(grab(64));
            grab(4096);
            return 0;
        }
        """
    )
    result = lab.run(executable)
    assert (result.exit_status, result.problem, trace_of(result).complete) == (0, "", True)
    (leak,) = account_of(result).leaks
    assert (leak.api, leak.family, leak.bytes) == ("cudaMalloc", "device", 4096)
    stack = Resolver().resolve(leak.stack)
    frame = user_frame(stack, executable.sources)
    assert frame is not None
    assert (frame.function, frame.line) == ("grab", 9)
    assert [f.function for f in stack][:2] == ["grab", "main"]


def test_out_of_memory_by_capacity(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            void *a = 0, *b = 0;
            if (cudaMalloc(&a, 48 << 20)) return 1;
            if (cudaMalloc(&b, 32 << 20) != cudaErrorMemoryAllocation) return 2;
            if (b) return 3;
            // The error stays until it is asked for.
            if (cudaPeekAtLastError() != cudaErrorMemoryAllocation) return 4;
            if (cudaGetLastError() != cudaErrorMemoryAllocation) return 5;
            if (cudaGetLastError() != cudaSuccess) return 6;
            size_t left, total;
            cudaMemGetInfo(&left, &total);
            if (total != 64 << 20 || left != 16 << 20) return 7;
            cudaFree(a);
            return cudaMalloc(&b, 64 << 20);
        }
        """,
        Simulated(capacity=64 * MIB),
    )
    assert result.exit_status == 0
    (failure,) = account_of(result).failures
    assert (failure.api, failure.status) == ("cudaMalloc", 2)


def test_fragmentation(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            void *p[8], *big;
            for (auto &q : p) if (cudaMalloc(&q, 8 << 20)) return 1;
            for (int i = 0; i < 8; i += 2) cudaFree(p[i]);
            size_t left, total;
            cudaMemGetInfo(&left, &total);
            if (left != 32 << 20) return 2;
            // Half is free, and no two neighbours of it are.
            if (cudaMalloc(&big, 16 << 20) != cudaErrorMemoryAllocation) return 3;
            // First fit: the lowest hole.
            if (cudaMalloc(&big, 4 << 20) || big != p[0]) return 4;
            cudaFree(p[1]);
            cudaFree(big);
            return cudaMalloc(&big, 24 << 20) || big != p[0] ? 5 : 0;
        }
        """,
        Simulated(capacity=64 * MIB),
    )
    assert result.exit_status == 0


def test_wrong_releases(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            void *p, *h;
            cudaMalloc(&p, 1000);
            cudaMallocHost(&h, 1000);
            if (cudaFree((char *)p + 256) != cudaErrorInvalidValue) return 1;
            if (cudaFreeHost(p) != cudaErrorInvalidValue) return 2;
            if (cudaFree(h) != cudaErrorInvalidValue) return 3;
            int local;
            if (cudaFree(&local) != cudaErrorInvalidValue) return 4;
            if (cudaFree(p)) return 5;
            if (cudaFree(p) != cudaErrorInvalidValue) return 6;
            if (cudaFree(nullptr)) return 7;
            return cudaFreeHost(h);
        }
        """
    )
    assert result.exit_status == 0
    assert violations(result) == [
        Violation.INVALID_POINTER,
        Violation.WRONG_DEALLOCATOR,
        Violation.WRONG_DEALLOCATOR,
        Violation.INVALID_POINTER,
        Violation.DOUBLE_FREE,
    ]
    assert account_of(result).leaks == ()


def test_free_of_device_memory(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            void *p;
            cudaMalloc(&p, 1000);
            free(p);
            return 0;
        }
        """
    )
    # It has been recognised: the run goes on, so that what comes after it is seen too.
    assert result.ending == "exit status 0"
    assert violations(result) == [Violation.WRONG_DEALLOCATOR]


def test_copies_copy_and_are_checked(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            char in[64], out[64] = {0};
            for (int i = 0; i < 64; i++) in[i] = i;
            char *a, *b;
            cudaMalloc((void **)&a, 64);
            cudaMalloc((void **)&b, 32);
            if (cudaMemcpy(a, in, 64, cudaMemcpyHostToDevice)) return 1;
            if (cudaMemcpy(b, a + 16, 32, cudaMemcpyDeviceToDevice)) return 2;
            if (cudaMemcpy(out, b, 32, cudaMemcpyDefault)) return 3;
            if (memcmp(out, in + 16, 32)) return 4;
            if (cudaMemset(a + 1, 7, 3)) return 5;
            if (cudaMemcpy(out, a, 5, cudaMemcpyDeviceToHost)) return 6;
            if (out[0] != 0 || out[1] != 7 || out[3] != 7 || out[4] != 4) return 7;
            if (cudaMemcpy(b, in, 33, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 8;
            if (cudaMemset(a + 60, 0, 5) != cudaErrorInvalidValue) return 9;
            if (cudaMemcpy(out, b, 8, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 10;
            // Rows of 8 bytes, 16 apart.
            if (cudaMemcpy2D(out, 8, a, 16, 8, 4, cudaMemcpyDeviceToHost)) return 11;
            if (out[8] != 16 || out[31] != 55) return 12;
            if (cudaMemcpy2D(out, 8, a + 8, 16, 9, 4, cudaMemcpyDeviceToHost)
                != cudaErrorInvalidPitchValue) return 13;
            cudaFree(b);
            if (cudaMemcpy(b, in, 8, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 14;
            // A bad host pointer is an error of the call, no crash.
            if (cudaMemcpy(a, (void *)16, 8, cudaMemcpyHostToDevice) != cudaErrorInvalidValue)
                return 15;
            return cudaFree(a);
        }
        """
    )
    assert result.exit_status == 0
    assert violations(result) == [
        Violation.OUT_OF_BOUNDS,
        Violation.OUT_OF_BOUNDS,
        Violation.COPY_DIRECTION,
        Violation.USE_AFTER_FREE,
    ]


def test_the_host_cannot_read_device_memory(lab: Lab) -> None:
    executable = lab.build(
        """
        int main() {
            int *p;
            cudaMalloc((void **)&p, 4000);
            printf("begun\\n");
            fflush(stdout);
            return p[10];  // here
        }
        """
    )
    result = lab.run(executable)
    assert (result.signal, result.stdout) == (11, "begun\n")
    (violation,) = account_of(result).violations
    assert violation.violation is Violation.HOST_DEREFERENCE
    frame = user_frame(Resolver().resolve(violation.stack), executable.sources)
    assert frame is not None
    assert frame.function == "main"
    assert executable.sources[0].read_text().splitlines()[frame.line - 1].endswith("// here")


def test_pinned_managed_and_registered(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            int *h, *m, heap[8];
            cudaHostAlloc((void **)&h, 400, cudaHostAllocMapped);
            cudaMallocManaged((void **)&m, 400, cudaMemAttachGlobal);
            if (cudaHostRegister(heap, sizeof heap, 0)) return 1;
            h[99] = 5;
            if (cudaMemcpy(m, h, 400, cudaMemcpyHostToDevice)) return 2;
            if (m[99] != 5) return 3;
            void *d;
            if (cudaHostGetDevicePointer(&d, h, 0) || d != h) return 4;
            cudaPointerAttributes a;
            cudaPointerGetAttributes(&a, m + 3);
            if (a.type != cudaMemoryTypeManaged) return 5;
            cudaHostUnregister(heap);
            if (cudaHostUnregister(heap) != cudaErrorHostMemoryNotRegistered) return 6;
            return cudaFreeHost(h);
        }
        """
    )
    assert result.exit_status == 0
    assert [leak.family for leak in account_of(result).leaks] == ["managed"]


def test_pools(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            cudaStream_t s;
            cudaStreamCreate(&s);
            cudaMemPool_t pool;
            cudaDeviceGetDefaultMemPool(&pool, 0);
            unsigned long long keep = 1 << 30, held = 0;
            cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
            void *a, *b;
            if (cudaMallocAsync(&a, 40 << 20, s)) return 1;
            cudaFreeAsync(a, s);
            cudaStreamSynchronize(s);
            cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &held);
            if (held != 40 << 20) return 2;
            size_t left, total;
            cudaMemGetInfo(&left, &total);
            if (left != 24 << 20) return 3;
            // The pool gives back what a plain allocation needs.
            if (cudaMalloc(&b, 50 << 20)) return 4;
            cudaFree(b);
            keep = 0;
            cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
            if (cudaMallocAsync(&a, 8 << 20, s)) return 5;
            cudaFreeAsync(a, s);
            cudaDeviceSynchronize();
            cudaMemGetInfo(&left, &total);
            if (left != total) return 6;
            if (cudaMemcpyAsync(a, a, 8, cudaMemcpyDeviceToDevice, s) == cudaSuccess) return 7;
            return cudaStreamDestroy(s);
        }
        """,
        Simulated(capacity=64 * MIB),
    )
    assert result.exit_status == 0
    assert violations(result) == [Violation.USE_AFTER_FREE] * 2


def test_reset_takes_everything(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            void *p;
            cudaMalloc(&p, 100);
            cudaDeviceReset();
            size_t left, total;
            cudaMemGetInfo(&left, &total);
            return left != total;
        }
        """
    )
    assert result.exit_status == 0
    sums = account_of(result)
    assert (len(sums.reset), sums.leaks) == (1, ())


def test_more_than_the_host_has(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            char *p;
            if (cudaMalloc((void **)&p, 100ull << 30)) return 1;
            if (cudaMemset(p, 1, 100ull << 30)) return 2;
            return cudaFree(p);
        }
        """
    )
    assert result.exit_status == 0
    assert account_of(result).notes == (
        "more device memory is used than the host can keep: some bytes are dropped",
    )


def test_unsupported_says_so_once(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            cudaMipmappedArray_t m;
            cudaExternalMemoryMipmappedArrayDesc d{};
            for (int i = 0; i < 3; i++)
                if (cudaExternalMemoryGetMappedMipmappedArray(&m, nullptr, &d) !=
                    cudaErrorNotSupported) return 1;
            return 0;
        }
        """
    )
    assert result.exit_status == 0
    assert account_of(result).notes == ("unsupported: cudaExternalMemoryGetMappedMipmappedArray",)


def test_arrays_textures_and_handles(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            auto f = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
            cudaArray_t a;
            if (cudaMallocArray(&a, &f, 16, 4, 0)) return 1;
            float in[64], out[64] = {0};
            for (int i = 0; i < 64; i++) in[i] = i;
            if (cudaMemcpy2DToArray(a, 0, 0, in, 64, 64, 4, cudaMemcpyHostToDevice)) return 2;
            if (cudaMemcpy2DFromArray(out, 64, a, 0, 0, 64, 4, cudaMemcpyDeviceToHost)) return 3;
            if (memcmp(in, out, sizeof in)) return 4;
            cudaResourceDesc r{};
            r.resType = cudaResourceTypeArray;
            r.res.array.array = a;
            cudaTextureDesc t{};
            cudaTextureObject_t x;
            if (cudaCreateTextureObject(&x, &r, &t, nullptr)) return 5;
            cudaDestroyTextureObject(x);
            cudaEvent_t e, g;
            cudaEventCreate(&e);
            cudaEventCreate(&g);
            cudaEventRecord(e, 0);
            cudaEventRecord(g, 0);
            float ms = -1;
            if (cudaEventElapsedTime(&ms, e, g) || ms <= 0) return 6;
            cudaEventDestroy(e);
            if (cudaEventDestroy(e) == cudaSuccess) return 7;
            return cudaFree(a) == cudaSuccess;
        }
        """
    )
    assert result.exit_status == 0
    sums = account_of(result)
    assert [leak.family for leak in sums.leaks] == ["array", "event"]
    assert [v.violation for v in sums.violations] == [
        Violation.DOUBLE_FREE,
        Violation.WRONG_DEALLOCATOR,
    ]
    assert sums.leaks[0].bytes == 256


def test_every_event_kind_has_a_place(lab: Lab) -> None:
    result = lab.run(
        """
        int main() {
            cudaStream_t s;
            cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
            char *p, host[8];
            cudaMalloc((void **)&p, 8);
            cudaMemsetAsync(p, 300, 8, s);
            cudaMemcpyAsync(host, p, 8, cudaMemcpyDeviceToHost, s);
            cudaStreamSynchronize(s);
            cudaStreamDestroy(s);
            return cudaFree(p);
        }
        """
    )
    events = [event for event in trace_of(result).events if event.kind is not EventKind.LIBRARY]
    assert [event.kind.name for event in events] == [
        "ACQUIRE", "ACQUIRE", "VIOLATION", "FILL", "COPY", "SYNC", "RELEASE", "RELEASE", "END",
    ]  # fmt: skip
    fill, copy = events[3], events[4]
    assert (fill.value, fill.asynchronous, copy.text) == (300, True, "pageable")
    assert copy.stream == fill.stream == events[0].address
    assert [event.call for event in events] == [1, 2, 0, 3, 4, 5, 6, 7, 0]
    every = trace_of(result).events
    assert [event.sequence for event in every] == list(range(1, len(every) + 1))
