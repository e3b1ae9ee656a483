"""Programs whose device code is linked (``nvcc -rdc=true``): what is known of their kernels."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.project.compile_commands import CompileFlags
from cudalint.runtime.build import BuildOptions, Executable, build
from cudalint.runtime.devices import Simulated
from cudalint.runtime.events import EventKind, Violation
from cudalint.runtime.execute import Run, RunResult, execute
from cudalint.runtime.frames import Resolver, user_frame
from cudalint.runtime.toolkit import find_nvcc
from tests.runtime.conftest import account_of, needs_nvcc, trace_of
from tests.runtime.test_commands import shared_runtime

pytestmark = needs_nvcc

KERNELS = """
#include <cuda_runtime.h>
#include <string>
struct Pair { float *first; int n; };
__device__ float turned(float value);
__device__ float both(float value);
__device__ float kept(float value);
__global__ void plain(float *out) { out[threadIdx.x] = 1; }
__global__ void pair(Pair p) { p.first[threadIdx.x] = p.n; }
__global__ void tile(float *out) { out[threadIdx.x] = turned(out[0]); }
__global__ void tiles(float *out) { out[threadIdx.x] = both(out[0]) + turned(out[1]); }
__global__ void hidden(float *out) { out[threadIdx.x] = kept(out[0]); }
__global__ void __launch_bounds__(128) narrow(float *out) { out[threadIdx.x] = 1; }
"""
FUNCTIONS = """
__device__ float turned(float value) {
    __shared__ float local[1024];
    local[threadIdx.x] = value;
    __syncthreads();
    return local[1023 - threadIdx.x];
}
__device__ float both(float value) {
    __shared__ double more[16];
    more[threadIdx.x & 15] = turned(value);
    __syncthreads();
    return more[threadIdx.x + 1 & 15];
}
__device__ float kept(float value) {
    extern __shared__ float dynamic[];
    dynamic[threadIdx.x] = value;
    __syncthreads();
    return dynamic[0];
}
"""
CASES = {
    "counted": "plain<<<1, 32>>>(p); tile<<<1, 32>>>(p); tiles<<<1, 32>>>(p);",
    "too many threads": "narrow<<<1, 256>>>(p);",
    "all threads": "narrow<<<1, 128>>>(p);",
    "static and dynamic": "tile<<<1, 32, 48000>>>(p);",
    "dynamic alone": "plain<<<1, 32, 48000>>>(p);",
    "just fits": "tile<<<1, 32, 45056>>>(p);",
    "too much": "tile<<<1, 32, 230000>>>(p);",
    "opted in": """
        cudaFuncSetAttribute(tile, cudaFuncAttributeMaxDynamicSharedMemorySize, 48000);
        tile<<<1, 32, 48000>>>(p);
        """,
    "no dynamic": "hidden<<<1, 32>>>(p);",
    "dynamic": "hidden<<<1, 32, 128>>>(p); tile<<<1, 32>>>(p);",
    "freed": "cudaFree(p); pair<<<1, 32>>>(Pair{p, 1}); p = nullptr;",
    "not freed": "pair<<<1, 32>>>(Pair{p, 1});",
    "tainted": """
        float *q, host[8];
        cudaMalloc(&q, 4096);
        cudaMemset(p, 0, 4096);
        cudaMemset(q, 0, 4096);
        tile<<<1, 8>>>(p);
        cudaMemcpy(host, q, 32, cudaMemcpyDeviceToHost);  // clean
        cudaMemcpy(host, p, 32, cudaMemcpyDeviceToHost);  // tainted
        cudaFree(q);
        """,
}
CALLED = {"": "tile<<<1, 32>>>(p);"}
LINKED = BuildOptions(arguments=("-rdc=true",))


def sources(folder: Path, cases: Mapping[str, str]) -> list[Path]:
    """A program of two files, where kernels in one call functions in the other; its argument says
    which of its cases runs."""
    parts = (f'if (word == "{name}") {{ {body} }}' for name, body in cases.items())
    chosen = "\n".join(parts)
    files = [folder / "main.cu", folder / "functions.cu"]
    files[0].write_text(
        f"""{KERNELS}
int main(int count, char **words) {{
    std::string word = count > 1 ? words[1] : "{next(iter(cases))}";
    float *p;
    cudaMalloc(&p, 4096);
    {chosen}
    cudaFree(p);
}}
"""
    )
    files[1].write_text(FUNCTIONS)
    return files


def run(executable: Executable, *arguments: str) -> RunResult:
    result = execute(Run([executable.path, *arguments], Simulated()))
    assert result.exit_status == 0
    return result


def static_shared(result: RunResult) -> list[int]:
    launches = (event for event in trace_of(result).events if event.kind is EventKind.LAUNCH)
    return [event.launch.static_shared for event in launches if event.launch is not None]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, compiler: Path) -> Executable:
    folder = tmp_path_factory.mktemp("linked")
    executable = build(sources(folder, CASES), folder / "build", LINKED)
    assert "-rdc=true" in executable.command
    return executable


def test_shared_memory_of_another_file_counts_once(program: Executable) -> None:
    assert static_shared(run(program, "counted")) == [0, 4096, 4096 + 128]


@pytest.mark.parametrize(
    ("case", "violation", "text"),
    [
        (
            "too many threads",
            Violation.LAUNCH_REFUSED,
            "256 threads per block, the kernel's launch",
        ),
        ("static and dynamic", Violation.LAUNCH_REFUSED, "52096 bytes of shared memory without"),
        ("too much", Violation.LAUNCH_REFUSED, "234096 bytes of shared memory, the device has"),
        (
            "no dynamic",
            Violation.MISSING_SHARED,
            "uses dynamic shared memory, and the launch gives",
        ),
        ("freed", Violation.USE_AFTER_FREE, "argument 1 of kernel _Z4pair4Pair was released"),
    ],
)
def test_what_is_wrong(program: Executable, case: str, violation: Violation, text: str) -> None:
    (event,) = account_of(run(program, case)).violations
    assert event.violation is violation
    assert text in event.text


@pytest.mark.parametrize(
    "case", ["all threads", "dynamic alone", "just fits", "opted in", "dynamic", "not freed"]
)
def test_what_is_right(program: Executable, case: str) -> None:
    result = run(program, case)
    assert account_of(result).violations == ()
    assert static_shared(result)


def test_only_what_a_kernel_was_given_is_tainted(program: Executable) -> None:
    text = program.sources[0].read_text().splitlines()
    frames = (
        user_frame(Resolver().resolve(event.stack), program.sources)
        for event in account_of(run(program, "tainted")).tainted
    )
    lines = [text[frame.line - 1] for frame in frames if frame is not None]
    assert [line.partition("// ")[2] for line in lines] == ["tainted"]


def test_kernels_that_launch_kernels(tmp_path: Path) -> None:
    source = tmp_path / "program.cu"
    source.write_text(
        """
        #include <cuda_runtime.h>
        __global__ void inner(int *p) {
            __shared__ int values[64];
            values[threadIdx.x] = p[0];
            __syncthreads();
            p[threadIdx.x] = values[63 - threadIdx.x];
        }
        __global__ void __launch_bounds__(64) outer(int *p) { inner<<<1, 1>>>(p); }
        int main() {
            int *p;
            cudaMalloc(&p, 4);
            outer<<<1, 1>>>(p);
            inner<<<1, 1>>>(p);
            outer<<<1, 65>>>(p);
            return cudaFree(p);
        }
        """
    )
    result = run(build(source, tmp_path / "build"))
    # The inner one has shared memory of its own.
    assert static_shared(result) == [0, 256]
    (violation,) = account_of(result).violations
    assert violation.violation is Violation.LAUNCH_REFUSED


@pytest.mark.parametrize(
    "options",
    [
        BuildOptions(),
        BuildOptions(flags=CompileFlags(relocatable=True)),
        BuildOptions(arguments=("-dc",)),
        BuildOptions(arguments=("--relocatable-device-code", "true")),
        BuildOptions(machine_code=True),
    ],
    ids=["called", "flags", "-dc", "two-words", "machine-code"],
)
def test_how_a_program_comes_to_be_linked(tmp_path: Path, options: BuildOptions) -> None:
    executable = build(sources(tmp_path, CALLED), tmp_path / "build", options)
    assert executable.command.count("-rdc=true") == 1
    assert static_shared(run(executable)) == [4096]


def test_what_needs_no_linking_is_not_linked(tmp_path: Path) -> None:
    source = tmp_path / "program.cu"
    source.write_text(
        """
        #include <cassert>
        #include <cstdio>
        __global__ void k(int *p) { assert(p); printf("%d", *p); delete[] new int[*p]; }
        int main() { k<<<1, 1>>>(nullptr); }
        """
    )
    assert "-rdc=true" not in build(source, tmp_path / "build").command


def test_a_function_that_no_source_defines(tmp_path: Path) -> None:
    executable = build(sources(tmp_path, CALLED)[:1], tmp_path / "build")
    assert "-rdc=true" not in executable.command
    assert static_shared(run(executable)) == [0]


def test_too_much_static_shared_memory_is_still_shown(tmp_path: Path) -> None:
    source = tmp_path / "program.cu"
    source.write_text(
        """
        #include <cuda_runtime.h>
        __global__ void large(float *out) {
            __shared__ double big[8192];
            big[threadIdx.x] = out[0];
            __syncthreads();
            out[threadIdx.x] = big[63 - threadIdx.x];
        }
        int main() { float *p; cudaMalloc(&p, 256); large<<<1, 64>>>(p); cudaFree(p); }
        """
    )
    result = run(build(source, tmp_path / "build", LINKED))
    (violation,) = account_of(result).violations
    assert "65536 bytes of static shared memory" in violation.text


def test_a_database_that_compiles_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = sources(tmp_path, {"": CASES["too many threads"]})
    entries = [
        {"directory": str(tmp_path), "file": str(file), "command": f"nvcc -dc {file.name}"}
        for file in files
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    arguments = ["--isolated", "--runtime=sim", "--output-format", "json", "--select", "GPU304"]
    assert main(["check", *arguments, "--verbose", str(tmp_path)]) == 1
    out = capsys.readouterr()
    (finding,) = json.loads(out.out)["findings"]
    assert finding["runtime"]["verdict"] == "confirmed"
    assert "launch bounds allow 128" in finding["runtime"]["evidence"][0]["message"]


def test_a_program_that_was_linked_elsewhere(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    nvcc = find_nvcc()
    assert nvcc is not None
    shared_runtime()
    number = nvcc.architecture_for("sm_90")
    code = f"-gencode=arch=compute_{number},code=[compute_{number},sm_{number}]"
    objects: list[Path] = []
    for file in sources(tmp_path, CASES):
        objects.append(file.with_suffix(".o"))
        options = ["-dc", code, "-no-compress"]
        subprocess.run([nvcc.path, *options, file, "-o", objects[-1]], check=True)
    program = str(tmp_path / "program")
    subprocess.run([nvcc.path, "-cudart", "shared", code, *objects, "-o", program], check=True)
    for case, status in (("too many threads", 1), ("all threads", 0)):
        assert main(["run", "--runtime=sim", "--isolated", "--", program, case]) == status
        assert ("launch bounds allow 128" in capfd.readouterr().err) is bool(status)
