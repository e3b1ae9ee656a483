"""Which functions are tests, and whose exceptions nobody handles."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from cudalint.analysis import analyze
from cudalint.apis.loader import load
from cudalint.frontends.python import read


def facts_of(text: str, filename: str) -> dict[str, tuple[bool, bool]]:
    """Of each function: whether it is a test, and whether nobody handles what leaves it."""
    program = read(filename, textwrap.dedent(text))
    facts = analyze([program], {"python": load("python"), "cuda": load("cuda")})
    return {one.function: (one.is_test, one.unhandled) for one in facts.functions}


@pytest.mark.parametrize(
    ("caller", "unhandled"),
    [
        ("work(1)\n", True),
        ("def main():\n    work(1)\nmain()\n", True),
        ("def main():\n    middle()\ndef middle():\n    work(1)\nmain()\n", True),
        ("try:\n    work(1)\nfinally:\n    print('the end')\n", True),
        ("try:\n    work(1)\nexcept ValueError:\n    print('the end')\n", True),
        ("import sys\ntry:\n    work(1)\nexcept ValueError:\n    sys.exit('no')\n", True),
        ("", False),
        ("def middle():\n    work(1)\n", False),
        ("def main():\n    middle()\ndef middle():\n    try:\n        work(1)\n"
         "    except ValueError:\n        pass\nmain()\n", False),
        ("for i in range(3):\n    try:\n        work(i)\n    except ValueError:\n        pass\n",
         False),
        ("try:\n    work(1)\nexcept ValueError:\n    work(2)\n", False),
        ("work(1)\nkept = [work]\n", False),
    ],
)  # fmt: skip
def test_what_nobody_handles(caller: str, unhandled: bool) -> None:
    text = "import cupy\ndef work(n):\n    return cupy.zeros(n)\n" + caller
    assert facts_of(text, "sample.py")["work"] == (False, unhandled)


def test_tests_are_known_by_their_names_files_and_classes() -> None:
    text = """
        import unittest
        import cupy

        def helper():
            return cupy.zeros(3)

        def test_zeros():
            helper()

        class Zeros(unittest.TestCase):
            def test_them(self):
                helper()

            def them(self):
                helper()

        def checked():
            return cupy.zeros(3)

        def test_more():
            checked()
    """
    found = facts_of(text, "test_zeros.py")
    assert found["test_zeros"] == (True, True)
    assert found["Zeros.test_them"] == (True, True)
    assert not found["Zeros.them"][0]
    assert found["helper"] == (False, False)  # `them` has callers out of sight
    assert found["checked"] == (False, True)  # only tests call it
    found = facts_of(text, "zeros.py")
    assert not found["test_zeros"][0]
    assert found["Zeros.test_them"][0]


def test_functions_of_headers_that_name_no_cuda_are_parts_of_main_too(tmp_path: Path) -> None:
    (tmp_path / "stop.hpp").write_text(
        "inline void finish() { int *kept = new int(1); *kept = 2; }\n"
        "inline void stop() { finish(); }\n"
    )
    (tmp_path / "main.cu").write_text(
        '#include <cuda_runtime.h>\n#include "stop.hpp"\n'
        "int main() { void *p; cudaMalloc(&p, 4); stop(); cudaFree(p); }\n"
    )
    command = [sys.executable, "-m", "cudalint", "--isolated", "--no-cache", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
