"""The static peak of device memory: temporaries, element types, loops, calls, unknown sizes."""

from __future__ import annotations

import textwrap

import pytest

from cudalint.analysis.facts import Peak
from cudalint.analysis.footprint.arrays import broadcast, multiplied, promote, reduced, with_scalar
from cudalint.analysis.footprint.machine import Machine
from cudalint.analysis.summaries import Linker
from cudalint.apis.loader import load
from cudalint.frontends.python import read

MEBI = 1 << 20
HEADER = "import cupy as cp\nimport numpy as np\nimport torch\n"


def peak_of(body: str, name: str = "main", notable: int = 1) -> Peak:
    text = HEADER + textwrap.dedent(body)
    program = read("program.py", text)
    linker = Linker([program], {"python": load("python")})
    for function, owner in linker.functions():
        if function.name == name:
            found = Machine(function, owner, linker, notable).run().peaks.peak()
            assert found is not None
            return found
    raise AssertionError(name)


def mebibytes(body: str) -> float:
    """Peak of a ``main`` with this body; ``a`` is an array of 4 MiB of float32."""
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    made = "    a = cp.ones((1024, 1024), dtype=cp.float32)\n"
    return round(peak_of(f"def main():\n{made}{lines}\n").bytes / MEBI, 2)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("pass", 4),
        ("b = a + 1", 8),
        ("a = a + 1", 8),  # the old and the new one
        ("a += 1", 4),
        ("b = a * 2 + cp.sin(a)", 16),  # both temporaries and the sum
        ("b = a.sum(axis=0)", 4.0),
        ("b = a[:512]\ndel a\nc = cp.ones_like(b)", 6),  # a view keeps its base
        ("b = a.T\nc = b.reshape(-1)", 4),
        ("b = a > 0", 5),
        ("b = a.astype(cp.float64)", 12),
        ("b = cp.ones((1024, 1024))\nc = a * b", 20),  # float64 by default, and by promotion
        ("b = a * 2.0", 8),  # Python numbers are weak
        ("b = a @ a", 8),
        ("b = cp.empty_like(a)\ncp.multiply(a, a, out=b)", 8),
        ("b = cp.concatenate((a, a, a))", 16),
        ("for _ in range(5):\n    b = a + 1", 12),  # the last one, while the next is made
        ("for _ in range(5):\n    b = a + 1\n    del b", 8),
        ("many = []\nfor _ in range(50):\n    many.append(a + 1)", 204),
        ("many = [a + 1 for _ in range(3)]", 16),
        ("b = a[None, :, :] * a[:4, None, :]", 20),
        ("b = np.ones((1024, 1024))\nc = cp.asarray(b)", 12),
        ("b = cp.asarray(a)", 4),
        ("if a.ndim == 3:\n    b = a * 2", 4),
    ],
)  # fmt: skip
def test_cupy(body: str, expected: float) -> None:
    assert mebibytes(body) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("notable", "expected"), [(4, 12), (5, 4)])
def test_a_long_function_is_followed_where_much_is_alive(notable: int, expected: int) -> None:
    lines = ["def main():", "    a = cp.ones((1024, 1024), dtype=cp.float32)", "    n = 0"]
    lines += ["    n = n + 1"] * 1500 + ["    b = cp.ones((1024, 1024))"]
    found = peak_of("\n".join(lines), notable=notable * MEBI)
    assert found.bytes == expected * MEBI


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = torch.randn(1024, 1024, device='cuda')\ny = x.half()", 6),
        ("x = torch.randn(1024, 1024).cuda()\nx = x.to('cuda')", 4),
        ("x = torch.randn(1024, 1024)\ny = x + 1", 0),  # on the host
        (
            "d = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
            "x = torch.ones(1024, 1024, device=d)",
            4,
        ),
        ("x = torch.arange(1024 * 1024, device='cuda')\ny = x / 3", 12),
        ("x = torch.zeros(1024, 1024, device='cuda')\nx.add_(1)", 4),
        ("x = torch.zeros(1024, 1024, device='cuda')\nv, i = torch.sort(x)", 28),
        ("x = torch.ones(1024, 1024, device='cuda')\nx = torch.relu(torch.exp(x))", 12),
        (
            "x = torch.ones(1024, 1024, device='cuda', requires_grad=True)\n"
            "y = torch.exp(x) * 2\nz = y + 1\ndel y",
            16,  # what the backward pass needs stays
        ),
        (
            "x = torch.ones(1024, 1024, device='cuda', requires_grad=True)\n"
            "(x * 2).sum().backward()\ng = x.grad\nx.grad = None\ny = torch.ones_like(x)",
            12,  # the gradient stays, by another name
        ),
    ],
)  # fmt: skip
def test_torch(body: str, expected: float) -> None:
    lines = textwrap.indent(body, "    ")
    text = f"def main():\n    keep = torch.ones(8, device='cuda')\n{lines}\n"
    assert peak_of(text).bytes / MEBI == pytest.approx(expected, abs=0.02)


def test_a_function_puts_something_else_in_a_global() -> None:
    found = peak_of(
        """
        table = cp.ones((1024, 1024), dtype=cp.float32)

        def drop():
            global table
            table = None

        drop()
        other = cp.ones((1024, 1024), dtype=cp.float32)
        """,
        "<module>",
    )
    assert found.bytes == 4 * MEBI


def test_a_callee_comes_on_top() -> None:
    peak = peak_of(
        """
        def work(x):
            y = x * 2
            return y.sum()

        def main():
            a = cp.ones((1024, 1024), dtype=cp.float32)
            work(a)
        """
    )
    assert peak.bytes == 8 * MEBI + 512  # and the sum
    assert peak.function == "work"
    assert {holder.name for holder in peak.holders} == {"x", "x * 2"}
    assert [step.message for step in peak.steps] == ["`work` is called"]


def test_unknown_sizes_are_said_and_not_guessed() -> None:
    peak = peak_of(
        """
        def main(batch):
            a = cp.ones((1024, 1024), dtype=cp.float32)
            b = cp.ones((batch, 1024), dtype=cp.float32)
        """
    )
    assert peak.bytes == 4 * MEBI
    assert peak.unknown == ("batch",)


def test_what_is_not_used_any_more_is_named() -> None:
    peak = peak_of(
        """
        def main():
            a = cp.ones((1024, 1024), dtype=cp.float32)
            b = a + 1
            c = b * 2
            return c
        """
    )
    assert "`a` is not used any more" in peak.hint


def test_raw_memory_lives_until_it_is_released() -> None:
    peak = peak_of(
        """
        def main():
            first = cp.cuda.runtime.malloc(4 << 20)
            second = cp.cuda.runtime.malloc(2 << 20)
            cp.cuda.runtime.free(first)
            third = cp.cuda.runtime.malloc(3 << 20)
            cp.cuda.runtime.free(second)
            cp.cuda.runtime.free(third)
        """
    )
    assert peak.bytes == 6 * MEBI


def test_promotion() -> None:
    assert promote("int32", "float32", torch=False) == "float64"
    assert promote("int32", "float32", torch=True) == "float32"
    assert promote("int8", "float16", torch=False) == "float16"
    assert promote("uint32", "int32", torch=False) == "int64"
    assert promote("uint64", "int64", torch=False) == "float64"
    assert promote("float16", "bfloat16", torch=True) == "float32"
    assert promote("bool", "uint8", torch=True) == "uint8"
    assert with_scalar("int32", 1.5, torch=False) == "float64"
    assert with_scalar("int32", 1.5, torch=True) == "float32"
    assert with_scalar("float16", 2, torch=False) == "float16"


def test_shapes() -> None:
    assert broadcast([(3, 1), (4,)]) == (3, 4)
    assert broadcast([(None, 4), (1,)]) == (None, 4)
    assert multiplied((2, 3, 4), (4, 5)) == (2, 3, 5)
    assert reduced((2, 3, 4), [-1], keep=True) == (2, 3, 1)


@pytest.mark.parametrize(
    "line",
    ["b = a.swapaxes(0, 2)", "b = cp.swapaxes(a, 5, 0)", "b = a[: 2 - 7][:3]", "b = a[2:][:, 1]"],
)
def test_axes_and_slices_that_do_not_fit_are_no_obstacle(line: str) -> None:
    body = f"""
        def main():
            a = cp.ones((1024, 1024), dtype=cp.float32)
            {line}
            return a, b
        """
    assert peak_of(body).bytes >= 4 * MEBI
