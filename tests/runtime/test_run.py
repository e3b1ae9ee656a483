"""``cudalint run``: what it tells of programs without debug information, of jobs, of crashes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.runtime.toolkit import cuda_include, find_compiler, find_nvcc
from tests.runtime.conftest import needs_nvcc
from tests.runtime.test_commands import shared_runtime

PROGRAM = """
#include <cuda_runtime_api.h>
#include <stdexcept>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
namespace art {
void* scratch(size_t n) { void* p = nullptr; cudaMalloc(&p, n); return p; }
void lose(size_t n) { cudaStream_t s; cudaStreamCreate(&s); scratch(n); }
void keep(size_t n) { static void* kept; kept = scratch(n); }
}
int main(int count, char** words) {
    std::string word = count > 1 ? words[1] : "";
    cudaFree(art::scratch(8));
    if (word == "lose") art::lose(4096);
    if (word == "keep") art::keep(512);
    if (word == "abort") abort();
    if (word == "throw") throw std::runtime_error("so it is");
    if (word == "read") { char line[9]; puts(fgets(line, 9, stdin)); }
    if (word == "sleep") { puts("asleep"); fflush(stdout); sleep(60); }
    return word == "status" ? 7 : 0;
}
"""


def build(folder: Path, *options: str) -> Path:
    source = folder / "program.cpp"
    source.write_text(PROGRAM)
    headers = str(cuda_include(find_nvcc()))
    command = [str(find_compiler()), "-O0", *options, "-isystem", headers, str(source)]
    subprocess.run([*command, shared_runtime(), "-o", folder / "program"], check=True)
    return folder / "program"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, compiler: Path) -> Path:
    return build(tmp_path_factory.mktemp("run"), "-g")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, compiler: Path) -> Path:
    """Without debug information."""
    return build(tmp_path_factory.mktemp("bare"))


def run(*words: str | Path, options: tuple[str, ...] = ()) -> int:
    return main(["run", "--runtime=sim", "--isolated", *options, "--", *map(str, words)])


def test_functions_without_debug_information(bare: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(bare, "lose") == 1
    err = capfd.readouterr().err
    assert "at art::lose (program+0x" in err
    assert "at main (program+0x" in err
    assert "-g -lineinfo" in err
    assert "no version information" not in err


def test_addresses_of_a_stripped_program(
    bare: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, bare], check=True)
    assert run(stripped, "lose") == 1
    assert "at stripped+0x" in capfd.readouterr().err


def test_lines_need_no_hint(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(program, "lose") == 1
    err = capfd.readouterr().err
    assert "leaked: 1 stream, from cudaStreamCreate" in err
    assert "program.cpp" in err
    assert "lineinfo" not in err


def test_the_callers_of_a_wrapper_are_the_sites(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(program, "lose", options=("--output-format=json",)) == 1
    (process,) = json.loads(capfd.readouterr().out)["processes"]
    (block,) = (leak for leak in process["leaks"] if leak["family"] == "device")
    assert block["site"].endswith("program.cpp:10 (lose)")
    assert block["stack"][0].endswith("program.cpp:9 (scratch)")


def test_what_is_kept_is_told_and_no_leak(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(program, "keep") == 0
    err = capfd.readouterr().err
    assert "kept to the end (a global leads to it): 512 bytes" in err
    assert "0 leaking sites" in err


@pytest.mark.parametrize(
    ("word", "status", "own", "said"),
    [
        ("", 0, 0, "0 leaking sites"),
        ("status", 0, 7, "exit status 7"),
        ("abort", 2, 134, "leaks not known"),
        ("throw", 0, 134, "nobody catches the exception (std::runtime_error)"),
        ("lose", 1, 0, "leaked"),
    ],
)
def test_statuses(
    program: Path, word: str, status: int, own: int, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(program, word) == status
    assert said in capfd.readouterr().err
    assert run(program, word, options=("--command-status",)) == own


@needs_nvcc
def test_a_static_runtime_is_not_clean(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "program.cu"
    source.write_text("int main() { void* p; return cudaMalloc(&p, 64) == cudaSuccess; }\n")
    nvcc = find_nvcc()
    assert nvcc is not None
    subprocess.run([nvcc.path, source, "-o", tmp_path / "program"], check=True)
    assert run(tmp_path / "program") == 2
    assert "no call of CUDA worked" in capfd.readouterr().err


def test_a_script_whose_calls_all_fail_is_not_clean(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("cuda.bindings.runtime")
    script = tmp_path / "script.py"
    script.write_text("from cuda.bindings import runtime\nprint(runtime.cudaMalloc(64)[0].name)\n")
    assert run(sys.executable, script) == 2
    captured = capfd.readouterr()
    assert "cudaSuccess" not in captured.out
    assert "cuda.bindings" in captured.err


def test_the_command_has_our_streams(program: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cudalint", "run", "--runtime=sim", "--isolated", "--",
         program, "read"],
        input="typed\n", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "typed\n\n")


def test_a_sigterm_ends_the_command(program: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "cudalint", "run", "--runtime=sim", "--isolated", "--",
         program, "sleep"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "asleep\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert not _alive(program)


def _alive(program: Path) -> bool:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [os.fsencode(program), b"sleep"]:
                return True
    return False


def test_a_job_is_summed_up_by_rank_and_device(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = (
        f"RANK=0 LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=2 {program} lose;"
        f" RANK=1 LOCAL_RANK=1 CUDA_VISIBLE_DEVICES=3 {program} lose;"
        f" SLURM_PROCID=2 CUDA_VISIBLE_DEVICES=3 {program}"
    )
    assert run("sh", "-c", script) == 1
    err = capfd.readouterr().err
    assert "rank 0 (process" in err
    assert "device 2: peaks of 4,096 bytes in all, 4,096 bytes leaked (rank 0" in err
    assert "device 3: peaks of 4,104 bytes in all, 4,096 bytes leaked (rank 1" in err
    assert "all 3 processes: 4 leaking sites, 8,192 bytes; 0 misuses" in err
