"""Functions that the ledger answers without writing them."""

from __future__ import annotations

from pathlib import Path

from cudalint.runtime.entry_points import generate

HEADER = """
typedef int cudaError_t;
struct cudaDeviceProp {};
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp* what, int device);
extern "C" cudaError_t cudaOther(int device);
"""


def test_what_a_header_renames_is_written_once(tmp_path: Path) -> None:
    (tmp_path / "cuda_runtime_api.h").write_text(HEADER)
    (tmp_path / "cuda.h").write_text("")
    text = generate(tmp_path, frozenset({"cudaGetDeviceProperties"}))
    assert "cudaOther" in text
    assert "cudaGetDeviceProperties" not in text
    assert "cudaGetDeviceProperties_v2" in generate(tmp_path, frozenset())
