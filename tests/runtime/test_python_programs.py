"""Python programs written against ``cuda.bindings``, on the simulated module of that name."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.runtime.devices import Simulated
from cudalint.runtime.events import EventKind
from cudalint.runtime.observation import Observation
from cudalint.runtime.python_programs import read_stacks, script_command, script_environment
from cudalint.runtime.sweep import Budget, Laboratory, Prepared


@pytest.fixture(autouse=True)
def _needs(compiler: Path) -> None:
    """The ledger is compiled."""


def observe(tmp_path: Path, text: str) -> Observation:
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(text))
    prepared = Prepared(script_command(script), script_environment(), python=True, seconds=30)
    return Laboratory(prepared, Simulated(), Budget()).base()


def test_calls_return_tuples_and_are_seen_with_python_lines(tmp_path: Path) -> None:
    seen = observe(
        tmp_path,
        """
        from cuda.bindings import driver, runtime as rt

        def work():
            err, pointer = rt.cudaMalloc(1 << 20)
            assert err == rt.cudaError_t.cudaSuccess and err.name == "cudaSuccess"
            (err,) = rt.cudaMemset(pointer, 0, 1 << 20)
            data = bytearray(16)
            (err,) = rt.cudaMemcpy(data, pointer, 16, rt.cudaMemcpyKind.cudaMemcpyDeviceToHost)
            assert err == 0, err
            assert data == bytes(16)
            assert rt.cudaGetErrorString(err)[1] == b"no error"

        work()
        err, stream = rt.cudaStreamCreateWithFlags(rt.cudaStreamNonBlocking)
        (err,) = rt.cudaStreamDestroy(stream)
        (result,) = driver.cuInit(0)
        assert result == driver.CUresult.CUDA_SUCCESS
        result, device = driver.cuDeviceGet(0)
        result, free, total = driver.cuMemGetInfo()
        assert 0 < free < total
        """,
    )
    assert seen.result.stderr == ""
    (leak,) = seen.account.leaks
    assert (leak.api, leak.bytes) == ("cudaMalloc", 1 << 20)
    assert [(frame.function, frame.line) for frame in leak.stack] == [("work", 5), ("<module>", 14)]
    assert Path(leak.stack[0].filename).name == "program.py"


def test_the_old_names(tmp_path: Path) -> None:
    seen = observe(
        tmp_path,
        """
        from cuda import cuda, cudart
        err, p = cudart.cudaMalloc(64)
        cudart.cudaFree(p)
        cudart.cudaFree(p)
        """,
    )
    assert seen.account.leaks == ()
    (again,) = seen.account.violations
    assert again.violation is not None
    assert (again.violation.label, again.stack[0].line) == ("double free", 5)


def test_what_is_not_simulated_says_so(tmp_path: Path) -> None:
    seen = observe(tmp_path, "from cuda.bindings import runtime\nruntime.cudaEGLFrame()\n")
    assert "cudalint simulates no cuda.bindings.runtime.cudaEGLFrame" in seen.result.stderr


def test_out_of_memory(tmp_path: Path) -> None:
    seen = observe(
        tmp_path,
        """
        from cuda.bindings import runtime
        err, p = runtime.cudaMalloc(1 << 50)
        print(err.name, p)
        """,
    )
    assert seen.result.stdout == "cudaErrorMemoryAllocation 0\n"
    assert any(event.kind is EventKind.CALL and event.status == 2 for event in seen.events)


def test_a_script_is_itself(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("VALUE = 7\n")
    seen = observe(
        tmp_path,
        """
        import sys
        from cuda.bindings import runtime
        from helper import VALUE
        print(__name__, VALUE, len(sys.argv))
        sys.exit(4)
        """,
    )
    assert seen.result.stdout == "__main__ 7 1\n"
    assert seen.result.exit_status == 4
    (stack,) = seen.exits
    assert [(frame.function, frame.line) for frame in stack] == [("<module>", 6)]


def test_records_that_were_cut_off_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "stacks.12").write_text(
        '{"first":1,"last":2,"stack":[["a.py",3,"f"]]}\n[]\n{"first":1}\n{"first":3,"la'
    )
    stacks = read_stacks(tmp_path / "stacks", 12)
    ((first, last, (frame,)),) = stacks.ranges
    assert (first, last, frame.filename, frame.line, frame.function) == (1, 2, "a.py", 3, "f")
    assert read_stacks(tmp_path / "none", 12).ranges == ()


def test_a_leak_on_an_error_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layers.py").write_text(
        textwrap.dedent(
            """\
            from cuda.bindings import runtime as rt

            OK = rt.cudaError_t.cudaSuccess

            def layer(n):
                err, weights = rt.cudaMalloc(4 * n)
                if err != OK:
                    return False
                err, bias = rt.cudaMalloc(n)
                if err != OK:
                    return False
                rt.cudaFree(bias)
                rt.cudaFree(weights)
                return True

            print(layer(100))
            """
        )
    )
    assert main(["--isolated", "--runtime=sim", "--output-format", "json", "layers.py"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["code"], finding["runtime"]["verdict"]) == ("GPU102", "confirmed")
    (evidence,) = finding["runtime"]["evidence"]
    assert evidence["fault"] == "cudaMalloc at layers.py:9"
    assert evidence["stack"] == ["layers.py:6 (layer)", "layers.py:16 (<module>)"]
    assert evidence["bytes"] == 400


def test_a_missing_module_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tool.py").write_text(
        "import no_such_framework\nfrom cuda.bindings import runtime as rt\n"
        "def work():\n    err, p = rt.cudaMalloc(8)\n    return err\nwork()\n"
    )
    main(["--isolated", "--runtime=sim", "--output-format", "json", "tool.py"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["runtime"]["verdict"] == "not-runnable"
    assert "no_such_framework" in finding["runtime"]["reason"]


# Kept to the end --------------------------------------------------------------------------------

HELPER = """
from cuda.bindings import runtime
BLOCKS = []
class Pool:
    instance = None
    def __init__(self):
        self.block = runtime.cudaMalloc(256)[1]
def keep():
    BLOCKS.append({"block": runtime.cudaMalloc(64)[1]})
def shared():
    Pool.instance = Pool.instance or Pool()
"""


@pytest.mark.parametrize(
    ("script", "kept", "lost"),
    [
        ("import helper\nhelper.keep()\nhelper.keep()", [64, 64], []),
        ("import helper\nhelper.shared()\nhelper.shared()", [256], []),
        ("import helper\nhelper.keep()\nhelper.BLOCKS.clear()", [], [64]),
        ("import helper\nhelper.keep()\nraise SystemExit(3)", [64], []),
        ("import helper\nhelper.keep()\nraise ValueError", [64], []),
        ("import helper\npool = helper.Pool()", [], [256]),
        ("from helper import runtime\nerr, block = runtime.cudaMalloc(8)", [], [8]),
        (
            "from helper import runtime\nCACHE = {}\n"
            "def cached(n):\n    CACHE[n] = runtime.cudaMalloc(n)[1]\n"
            "cached(8)\ncached(16)",
            [8, 16],
            [],
        ),
        (
            "from helper import runtime\nblock = None\n"
            "def make(n):\n    global block\n    block = runtime.cudaMalloc(n)[1]\n"
            "make(8)\nmake(16)",
            [16],
            [8],
        ),
    ],
)
def test_what_globals_of_modules_hold_is_kept(
    tmp_path: Path, script: str, kept: list[int], lost: list[int]
) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    seen = observe(tmp_path, script)
    assert [event.bytes for event in seen.account.kept] == kept, seen.result.stderr
    assert [event.bytes for event in seen.account.leaks] == lost
