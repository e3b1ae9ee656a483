"""HIP is read as CUDA is: the same tables, the same headers, the same findings."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from cudalint.apis.loader import decode, load

APIS = Path(__file__).parent.parent / "cudalint" / "apis"
FIXTURES = APIS.parent.parent / "fixtures"
LIBRARIES = ("cuda_runtime.toml", "cuda_driver.toml", "cuda_math.toml", "cuda_libraries.toml")

BEGINNINGS = {
    "cudnn": "miopen", "cublas": "hipblas", "cufft": "hipfft", "curand": "hiprand",
    "cusolver": "hipsolver", "cusparse": "hipsparse", "nvrtc": "hiprtc", "cuda": "hip", "cu": "hip",
}  # fmt: skip

NAMED_OTHERWISE = {
    "cuMemAlloc": "hipMalloc", "cuMemAllocAsync": "hipMallocAsync",
    "cuMemAllocFromPoolAsync": "hipMallocFromPoolAsync", "cuMemAllocManaged": "hipMallocManaged",
    "cuMemFree": "hipFree", "cuMemFreeAsync": "hipFreeAsync", "cuMemFreeHost": "hipHostFree",
    "cuMemHostAlloc": "hipHostAlloc", "cuMemHostGetDevicePointer": "hipHostGetDevicePointer",
    "cuMemHostRegister": "hipHostRegister", "cuMemHostUnregister": "hipHostUnregister",
    "cudaThreadExit": "hipDeviceReset", "cudaThreadSynchronize": "hipDeviceSynchronize",
}  # fmt: skip

WITHOUT_TWIN = """
nccl* npp* nvJitLink* nvPTXCompiler* nvjpeg* nvtiff* nvml* nvvm* rmm* RMM_* cutensor*

cuCtxAttach cuCtxDetach cuEventCreateFromEGLSync cuGLCtxCreate cuGraphicsD3D11RegisterResource
cuGraphicsEGLRegisterImage cuGraphicsVDPAURegister* cuGreenCtx* cuKernelSetAttribute
cuLaunchHostFunc_v2 cuMemcpyWithAttributesAsync cuMulticastCreate cuStreamBeginRecaptureToGraph
cuSurfObject* cuSurfRefSetArray cuTexRef*

cudaBindSurfaceToArray cudaEventCreateFromEGLSync cudaExecutionCtx*
cudaGraphicsD3D11RegisterResource
cudaGraphicsEGLRegisterImage cudaGraphicsVDPAURegister* cudaGreenCtxCreate
cudaKernelSetAttributeForDevice cudaLaunchHostFunc_v2 cudaMemcpyArrayToArray
cudaMemcpyFromArrayAsync cudaMemcpyToArrayAsync cudaStreamBeginRecaptureToGraph

cublasAlloc cublasFree cublasGetStatusName cublasGetStatusString cublasLtEmulation*
cublasLtGroupedMatrixLayoutCreate cublasXt* cufftXtFree cufftXtMalloc cusolverDnIRS* cusolverMg*
cusolverSpCreateCsr* cusolverSpDestroyCsr* cusparseCreateBsr cusparseCreateConstBsr
cusparseCreateConstSlicedEll cusparseCreateSlicedEll cusparse*SolveAnalysisInfo cusparseSpGEAM_*
cusparseSpMMOp_*

cudnnBackend* cudnn*Algorithm* cudnn*AttnDescriptor cudnn*FilterDescriptor cudnn*FusedOps*
cudnn*OpTensorDescriptor cudnn*PersistentRNNPlan cudnn*RNNDataDescriptor cudnn*SeqDataDescriptor
cudnn*SpatialTransformerDescriptor cudnn*TensorTransformDescriptor cudnnGetVersion
"""
"""What HIP has not, as HIPIFY's tables have it, and what is named there as it is in CUDA (RCCL)."""


def modelled() -> list[str]:
    """CUDA's functions that do something, by their tables."""
    names: set[str] = set()
    for filename in LIBRARIES:
        file = decode(filename, (APIS / filename).read_text(encoding="utf-8"))
        plain = load("cuda").lookup("cudaDriverGetVersion")
        names.update(file.aliases)
        names.update(name for name, model in file.functions.items() if model != plain)
    return sorted(name for name in names if not name.endswith("*"))


def twin_of(name: str) -> str:
    """What HIP calls a function."""
    beginning = next((one for one in BEGINNINGS if re.match(f"{one}[A-Z]", name)), "")
    return NAMED_OTHERWISE.get(name) or BEGINNINGS[beginning] + name.removeprefix(beginning)


def has_no_twin(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in WITHOUT_TWIN.split())


@pytest.mark.parametrize("name", [name for name in modelled() if not has_no_twin(name)])
def test_every_function_has_its_twin(name: str) -> None:
    hip = decode("hip.toml", (APIS / "hip.toml").read_text(encoding="utf-8"))
    twin, models = twin_of(name), load("cuda")
    assert twin in hip.aliases or twin in hip.functions
    mine, other = models.lookup(name), models.lookup(twin)
    assert mine is not None
    assert other is not None
    assert (bool(mine.acquires), bool(mine.releases)) == (
        bool(other.acquires),
        bool(other.releases),
    )


def test_the_list_of_those_without_a_twin_is_not_too_long() -> None:
    names = modelled()
    hip = decode("hip.toml", (APIS / "hip.toml").read_text(encoding="utf-8"))
    for pattern in WITHOUT_TWIN.split():
        matching = [name for name in names if fnmatchcase(name, pattern)]
        twins = {
            twin_of(name)
            for name in matching
            if any(re.match(f"{one}[A-Z]", name) for one in BEGINNINGS)
        }
        assert matching or pattern == "npp*", pattern
        assert not twins & {*hip.aliases, *hip.functions}, pattern


HEADERS = {
    "cuda_runtime.h": "hip/hip_runtime.h", "cuda_runtime_api.h": "hip/hip_runtime_api.h",
    "cublas_v2.h": "hipblas/hipblas.h", "cufft.h": "hipfft/hipfft.h",
    "curand.h": "hiprand/hiprand.h", "cusparse.h": "hipsparse/hipsparse.h",
    "cusolverDn.h": "hipsolver/hipsolver.h",
}  # fmt: skip
SPELLINGS = {
    r"\bcudaHostAlloc(?!\()": "hipHostMalloc", r"\bcuda(?:HostAlloc|MallocHost)\b": "hipHostMalloc",
    r"\bcudaFreeHost\b": "hipHostFree", r"\bcudaDeviceProp\b": "hipDeviceProp_t",
    r"\bcuda(?=[A-Z])": "hip", r"\bcu(?=(?:blas|fft|rand|sparse|solver)[A-Z])": "hip",
    r"\bCU(?=(?:BLAS|FFT|RAND|SPARSE|SOLVER)_)": "HIP",
}  # fmt: skip


def hipified(text: str) -> str:
    """CUDA C++ as AMD's hipify tools write it."""
    for header, other in HEADERS.items():
        text = text.replace(f"<{header}>", f"<{other}>")
    for spelling, other in SPELLINGS.items():
        text = re.sub(spelling, other, text)
    return text


def programs() -> list[tuple[str, str]]:
    """Of each rule the first program with a bug and its twin: their names and texts."""
    found: list[tuple[str, str]] = []
    for bad in sorted(FIXTURES.glob("GPU[1-5]*/bad_*.cu")):
        good = bad.with_name(bad.name.replace("bad_", "good_"))
        texts = [path.read_text(encoding="utf-8") for path in (bad, good) if path.exists()]
        rule = bad.parent.name
        if len(texts) < 2 or any(name.startswith(rule) for name, _ in found):
            continue
        if all("options:" not in text and "#include <cu" in text for text in texts):
            found += [(f"{rule}/bad", texts[0]), (f"{rule}/good", texts[1])]
    return found


def told(folder: Path) -> set[tuple[str, str, int]]:
    """What is found in which program, by which rule, on which line."""
    command = [sys.executable, "-m", "cudalint", "--isolated", "--no-cache", "--jobs", "1"]
    done = subprocess.run(
        [*command, "--output-format", "json", str(folder)], capture_output=True, check=False
    )
    return {
        (str(Path(one["filename"]).parent.relative_to(folder)), one["code"], one["location"]["row"])
        for one in json.loads(done.stdout)["findings"]
    }


@pytest.mark.slow
def test_a_hipified_program_lints_as_its_original_does(tmp_path: Path) -> None:
    for name, text in programs():
        for form, written in (("cu", text), ("hip", hipified(text))):
            place = tmp_path / form / name / f"program.{form}"
            place.parent.mkdir(parents=True)
            place.write_text(written, encoding="utf-8")
    cuda, hip = told(tmp_path / "cu"), told(tmp_path / "hip")
    assert hip == cuda
    assert {code[:4] for _, code, _ in cuda} >= {"GPU1", "GPU2", "GPU3", "GPU4", "GPU5"}


def test_files_of_hip_are_always_read(tmp_path: Path) -> None:
    (tmp_path / "leak.hip").write_text(
        "#include <hip/hip_runtime.h>\n"
        "void f(size_t n) { float *p; if (hipMalloc(&p, n) != hipSuccess) return; }\n",
        encoding="utf-8",
    )
    (tmp_path / "plain.hip").write_text("int f() { return 1; }\n", encoding="utf-8")
    assert told(tmp_path) == {(".", "GPU101", 2)}
