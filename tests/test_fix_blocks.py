"""Fixes that put code into a block: loops over parts of a copy, ``with`` around what uses an
object."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from benchmarks.fixes.mending import Mended, faults, mend
from tests.test_fixtures import header_cache

__all__ = ["header_cache"]

_RUNTIME = "from cuda.bindings import runtime as cudart\n"


def mended(path: Path, text: str, cache: Path) -> Mended:
    """A file mended with all fixes, of which nothing is wrong."""
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    one = mend(path, (), cache)
    assert list(faults(one)) == []
    return one


def after(path: Path, text: str, cache: Path) -> str:
    one = mended(path, text, cache)
    return one.fixed.contents.get(path.resolve(), path.read_bytes()).decode()


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (
            "cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);",
            "cudaMemcpy((char *)d + done, (const char *)h + done, part, cudaMemcpyHostToDevice);",
        ),
        (
            "CHECK(cudaMemcpyAsync(d + 1, h, n, cudaMemcpyHostToDevice, s));",
            "CHECK(cudaMemcpyAsync((char *)(d + 1) + done, (const char *)h + done, part, "
            "cudaMemcpyHostToDevice, s));",
        ),
        (
            "CHECK(cuMemcpyHtoD(g, h, n));",
            "CHECK(cuMemcpyHtoD(g + done, (const char *)h + done, part));",
        ),
        ("if (cudaMemcpy(d, h, n, cudaMemcpyHostToDevice)) return;", None),
        ("if (h) cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);", None),
        ("bad = cudaMemcpy(d, h, n, cudaMemcpyHostToDevice) != 0;", None),
    ],
)
def test_a_copy_becomes_a_loop(
    call: str, wanted: str | None, tmp_path: Path, header_cache: Path
) -> None:
    text = f"""\
#include <cuda.h>
#include <cuda_runtime.h>
#define CHECK(x) if ((x) != 0) throw 1
bool bad;
void copy(float *d, const float *h, CUdeviceptr g, cudaStream_t s)
{{
    const size_t n = (size_t)1 << 30;
    {call}
}}
"""
    found = after(tmp_path / "a.cu", text, header_cache)
    if wanted is None:
        assert found == text
        return
    head = (
        "for (size_t done = 0, total = n, chunk = (size_t)256 << 20; done < total; done += chunk) {"
    )
    part = "const size_t part = total - done < chunk ? total - done : chunk;"
    assert [line.strip() for line in found.splitlines()[7:11]] == [head, part, wanted, "}"]


def test_names_of_the_function_are_not_taken(tmp_path: Path, header_cache: Path) -> None:
    text = """
        #include <cuda_runtime.h>
        void copy(float *d, const float *h, int done)
        {
            cudaMemcpy(d, h, (size_t)1 << 30, cudaMemcpyHostToDevice);
        }
    """
    assert "copy_done < copy_total" in after(tmp_path / "a.cu", text, header_cache)


_ARRAY = """
    import cupy
    import numpy as np
    import torch
    from numba import cuda

    def send():
        host = np.ones((40_000, 4_096))
        table = torch.rand(40_000, 4_096)
        {line}
        return device.sum()
"""


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("device = cupy.asarray(host)", "device[start : start + rows] = cupy.asarray(host[start"),
        ("device = cuda.to_device(host)", "device[start : start + rows].copy_to_device(host[star"),
        ("device = table.cuda()", "device[start : start + rows] = table[start : start + rows]"),
        ("device = cupy.asarray(host, dtype=float)", None),
        ("device = cupy.asarray(host).T", None),
        ("device = cupy.asarray(np.ones((40_000, 4_096)))", None),
    ],
)
def test_an_array_is_filled_by_rows(
    line: str, wanted: str | None, tmp_path: Path, header_cache: Path
) -> None:
    found = after(tmp_path / "a.py", _ARRAY.format(line=line), header_cache)
    ast.parse(found)
    assert "GPU401" in {one.code for one in mend(tmp_path / "a.py", (), header_cache).before.active}
    if wanted is None:
        assert line in found
    else:
        assert wanted in found
        assert "rows = max(1, (256 << 20) //" in found


_OWNER = """
    {head}
    {runtime}
    class Page:
        def __init__(self, size):
            status, self.address = cudart.cudaMalloc(size)
            if status:
                raise MemoryError(size)
        {methods}
            cudart.cudaFree(self.address)

    def wipe(size):
        page = Page(size)  # one page
        # All of it.
        cudart.cudaMemset(page.address, 0, size)

        text = '''a
    b'''
        return text
"""
_ENTER = "def __enter__(self):\n            return {}\n        def __exit__(self, *how):"


@pytest.mark.parametrize(
    ("methods", "wanted"),
    [
        ("def close(self):", "    with contextlib.closing(Page(size)) as page:  # one page"),
        (_ENTER.format("self"), "    with Page(size) as page:  # one page"),
        (_ENTER.format("1"), "    page = Page(size)\n    with page:  # one page"),
    ],
)
def test_an_owner_is_opened_in_a_with(
    methods: str, wanted: str, tmp_path: Path, header_cache: Path
) -> None:
    text = _OWNER.format(head="import sys", runtime=_RUNTIME, methods=methods)
    found = after(tmp_path / "a.py", text, header_cache)
    body = (
        "\n        # All of it.\n        cudart.cudaMemset(page.address, 0, size)\n\n"
        "        text = '''a\nb'''\n        return text\n"
    )
    assert found.endswith(f"def wipe(size):\n{wanted}{body}")
    assert ("import contextlib\nimport sys\n" in found) == ("closing" in wanted)


def test_a_hook_of_each_layer_is_left_alone(tmp_path: Path, header_cache: Path) -> None:
    """A ``with`` in the loop would take each off again before the model runs."""
    text = """
        import torch

        def look(model, inputs):
            for layer in model.children():
                layer.register_forward_hook(print)
            model(inputs)
    """
    one = mended(tmp_path / "a.py", text, header_cache)
    assert [finding.code for finding in one.before.active] == ["GPU609"]
    assert one.fixed.contents == {}
