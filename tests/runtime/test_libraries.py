"""Libraries that stand in for NVIDIA's: handles are real, results are not."""

from __future__ import annotations

from cudalint.runtime.events import Violation
from cudalint.runtime.libraries import (
    generate,
    generated_functions,
    link_arguments,
    undeclared_headers,
    undefined_functions,
)
from tests.runtime.conftest import Lab, account_of

HEAD = "#include <cuda_runtime_api.h>\n#include <cublas_v2.h>\n#include <cufft.h>\n"


def test_handles(lab: Lab) -> None:
    executable = lab.build(
        """
        int main() {
            cublasHandle_t kept, destroyed;
            cufftHandle plan;
            float *v, one = 2;
            if (cublasCreate(&kept) || cublasCreate(&destroyed)) return 1;
            if (cufftPlan1d(&plan, 64, CUFFT_C2C, 1)) return 2;
            cudaMalloc((void **)&v, 256);
            if (cublasSscal(kept, 64, &one, v, 1)) return 3;
            float host[64];
            cudaMemcpy(host, v, 256, cudaMemcpyDeviceToHost);
            cudaFree(v);
            cublasSscal(kept, 64, &one, v, 1);
            if (cublasDestroy(destroyed)) return 4;
            return cufftDestroy(plan);
        }
        """,
        head=HEAD,
    )
    result = lab.run(executable)
    assert (result.exit_status, result.problem) == (0, "")
    sums = account_of(result)
    assert [leak.family for leak in sums.leaks] == ["cublas"]
    assert [event.violation for event in sums.violations] == [Violation.USE_AFTER_FREE]
    # What a library wrote is as unknown as what a kernel wrote.
    assert len(sums.tainted) == 1
    assert sums.notes == ("not computed: cublasSscal",)


def test_what_the_linker_asked_for() -> None:
    output = "a.o: undefined reference to `cublasCreate_v2'\nundefined reference to `mine'\n"
    assert undefined_functions(output) == {"cublasCreate_v2"}
    assert link_arguments(["cublasCreate_v2", "cufftPlan1d"]) == ["-lcublas", "-lcufft"]


def test_a_size_is_written_where_the_program_looks() -> None:
    text = generate(
        ["cusolverDnSpotrf_bufferSize"], ["cusolverDnSpotrf_bufferSize(h, f(1, 2), &n);"]
    )
    assert "all, 3, a2, 4," in text


def test_the_headers_of_what_a_compiler_does_not_know() -> None:
    output = (
        'a.cu(3): error: identifier "cufftComplex" is undefined\n'
        "b.cpp:4:1: error: ‘ncclComm_t’ does not name a type\n"
        "b.cpp:5:1: error: 'cufftReal' was not declared in this scope\n"
        'a.cu(9): error: identifier "Complex" is undefined\n'
    )
    assert undeclared_headers(output) == ["cufft.h", "nccl.h"]


def test_what_it_generates_can_be_told_again() -> None:
    names = ["cufftDestroy", "cublasGetStatusString", "nvrtcCompileProgram"]
    assert generated_functions(generate(names, [])) == sorted(names)
