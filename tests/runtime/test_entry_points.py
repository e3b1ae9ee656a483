"""Functions that the ledger answers without writing them."""

from __future__ import annotations

from pathlib import Path

from cudalint.runtime.entry_points import generate

HEADER = """
typedef int cudaError_t;
struct cudaDeviceProp {};
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
#define __CUDART_API_PTSZ(name) name
#define cudaSignal __CUDART_API_PTSZ(cudaSignal_v2)
extern "C" cudaError_t cudaSignal(int what);
extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp* what, int device);
extern "C" cudaError_t cudaOther(int device);
"""


def test_what_a_header_renames_is_written_once(tmp_path: Path) -> None:
    (tmp_path / "cuda_runtime_api.h").write_text(HEADER)
    (tmp_path / "cuda.h").write_text("")
    written = frozenset({"cudaGetDeviceProperties", "cudaSignal"})
    text = generate(tmp_path, written)
    assert "cudaOther" in text
    assert "cudaGetDeviceProperties" not in text
    assert "GENERATED(cudaSignal_v2" not in text
    everything = generate(tmp_path, frozenset())
    assert "cudaGetDeviceProperties_v2" in everything
    assert "GENERATED(cudaSignal_v2" in everything
