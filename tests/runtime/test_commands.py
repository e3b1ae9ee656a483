"""``check --runtime`` and ``run``, from the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.runtime.toolkit import ToolkitError, cuda_include, find_compiler, find_nvcc

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
PLANTED = FIXTURES / "GPU102-early-exit-leak" / "bad_three_on_error_paths.cpp"
CUDA = """
#include <cuda_runtime_api.h>
#include <cstdio>
int main(int argc, char** argv) {
    void* p = nullptr;
    if (cudaMalloc(&p, 4096) != cudaSuccess) return 3;
    if (argc > 1) cudaFree(p);
    std::puts("done");
    return 0;
}
"""


def shared_runtime() -> Path:
    """A shared CUDA runtime to link against: the wheel's, or the toolkit's."""
    include = cuda_include(find_nvcc())
    for folder in (include.parent / "lib", include.parent / "lib64"):
        for library in sorted(folder.glob("libcudart.so.*")):
            return library
    pytest.skip("no shared CUDA runtime to link against")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict]:  # type: ignore[type-arg]
    status = main(["check", "--isolated", "--output-format", "json", *arguments])
    return status, json.loads(capsys.readouterr().out)


def test_three_leaks_that_no_normal_run_shows(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, report = checked(capsys, "--runtime=sim", str(PLANTED))
    assert status == 1
    assert [finding["code"] for finding in report["findings"]] == ["GPU102", "GPU102", "GPU106"]
    for finding in report["findings"]:
        runtime = finding["runtime"]
        assert runtime["verdict"] == "confirmed"
        assert runtime["device"].startswith("simulated sm_90")
        (evidence,) = runtime["evidence"]
        assert evidence["fault"]
        assert evidence["run"].endswith("fails")
        assert evidence["witness"] == "ledger"
        assert any("(store)" in frame for frame in evidence["stack"])


def test_without_the_option_nothing_runs(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("linted code was run")

    monkeypatch.setattr("cudalint.runtime.processes.run_command", refuse)
    monkeypatch.setattr("cudalint.runtime.execute.run_command", refuse)
    _, report = checked(capsys, str(PLANTED))
    assert all(finding["runtime"] is None for finding in report["findings"])


def test_only_what_is_confirmed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = project / "twice.cpp"
    source.write_text(
        "#include <cuda_runtime.h>\n"
        "void work(int n) {\n"
        "    void *p = nullptr, *q = nullptr;\n"
        "    if (cudaMalloc(&p, 64) != cudaSuccess) return;\n"
        "    if (n > 3) { if (cudaMalloc(&q, 64) != cudaSuccess) return; }\n"
        "}\n"
        "int main(int argc, char**) { work(argc); work(argc); return 0; }\n"
    )
    status, report = checked(capsys, "--runtime=sim", "--no-harness", str(source))
    verdicts = {f["location"]["row"]: f["runtime"]["verdict"] for f in report["findings"]}
    assert verdicts == {4: "confirmed", 5: "not-reached"}
    status, report = checked(
        capsys, "--runtime=sim", "--no-harness", "--runtime-only-confirmed", str(source)
    )
    assert status == 1
    assert [finding["location"]["row"] for finding in report["findings"]] == [4]
    source.write_text(source.read_text().replace("work(argc);", "work(0);").replace(
        "work(int n) {", "work(int n) { if (n < 9) return;"))  # fmt: skip
    status, report = checked(
        capsys, "--runtime=sim", "--no-harness", "--runtime-only-confirmed", str(source)
    )
    assert (status, report["findings"]) == (0, [])


def test_the_option_before_a_path_is_no_value(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = project / "clean.cpp"
    source.write_text("#include <cuda_runtime.h>\nint main() { return cudaDeviceSynchronize(); }\n")
    assert main(["--isolated", "--runtime", str(source)]) == 0
    assert main(["--isolated", "--runtime=cloud", str(source)]) == 2
    assert "cloud" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--runtime-only-confirmed", "--runtime-budget=3"])
def test_options_that_need_runtime(
    project: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--isolated", option, str(PLANTED)]) == 2
    assert "only with --runtime" in capsys.readouterr().err


# run --------------------------------------------------------------------------------------------


@pytest.fixture
def program(project: Path) -> Path:
    library = shared_runtime()
    source = project / "program.cpp"
    source.write_text(CUDA)
    subprocess.run(
        [find_compiler(), "-g", "-O0", "-isystem", cuda_include(find_nvcc()), source, library,
         "-o", project / "program"],
        check=True,
    )  # fmt: skip
    return project / "program"


def test_run_tells_what_leaks(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--runtime=sim", "--isolated", "--", "./program"]) == 1
    out, err = capfd.readouterr()
    assert out == "done\n"
    assert "leaked: 4,096 bytes of device" in err
    assert "program.cpp:6 (main)" in err


def test_run_is_content(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--runtime=sim", "--isolated", "--", "./program", "--free"]) == 0
    assert "0 leaking sites" in capfd.readouterr().err


def test_run_as_json(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["--runtime=sim", "--isolated", "--output-format=json", "--", "./program"]
    assert main(["run", *arguments]) == 1
    report = json.loads(capfd.readouterr().out)
    assert report["ending"] == "exit status 0"
    (leak,) = report["processes"][0]["leaks"]
    assert (leak["bytes"], leak["count"], leak["api"]) == (4096, 1, "cudaMalloc")


def test_run_sees_what_a_command_starts(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--runtime=sim", "--isolated", "--", "sh", "-c", "./program; true"]) == 1
    assert "leaked: 4,096 bytes" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([], "which command"),
        (["./no-such-program"], "No such file"),
        (["true"], "made no CUDA call"),
        (["false"], "made no CUDA call"),
    ],
)
def test_bad_input_to_run(
    project: Path, command: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--runtime=sim", "--isolated", "--", *command]) == 2
    assert said in capfd.readouterr().err


# Configured targets -----------------------------------------------------------------------------


CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(planets CXX)
enable_testing()
add_library(orbit orbit.cpp)
target_include_directories(orbit SYSTEM PUBLIC "{include}")
target_link_libraries(orbit PUBLIC "{library}")
add_executable(orbit_test orbit_test.cpp)
target_link_libraries(orbit_test orbit)
add_test(NAME orbit COMMAND orbit_test)
"""
CONFIGURATION = """
[[runtime.targets]]
name = "tests"
build = ["cmake -S . -B out -DCMAKE_BUILD_TYPE=Debug", "cmake --build out"]
run = ["ctest", "--test-dir", "out"]
environment = {{ ORBITS = "3" }}
{more}
"""
ORBIT = """
#include <cuda_runtime_api.h>
#include <cstdlib>
bool orbit() {
    void *now = nullptr, *next = nullptr;
    if (!std::getenv("ORBITS")) return false;
    if (cudaMalloc(&now, 640) != cudaSuccess) return false;
    if (cudaMalloc(&next, 640) != cudaSuccess) return false;
    cudaFree(next);
    cudaFree(now);
    return true;
}
"""


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_a_cmake_project_runs_its_own_tests(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {"include": cuda_include(find_nvcc()), "library": shared_runtime()}
    (project / "CMakeLists.txt").write_text(CMAKE.format(**values))
    (project / "orbit.cpp").write_text(ORBIT)
    (project / "orbit_test.cpp").write_text(
        "bool orbit();\nint main() { return orbit() ? 0 : 1; }\n"
    )
    (project / "cudalint.toml").write_text(CONFIGURATION.format(more=""))
    status = main(["--runtime=sim", "--output-format", "json", "orbit.cpp"])
    captured = capsys.readouterr()
    (finding,) = json.loads(captured.out)["findings"]
    assert (status, finding["code"]) == (1, "GPU102"), captured.err
    assert finding["runtime"]["verdict"] == "confirmed", finding["runtime"]
    assert "orbit.cpp:8" in finding["runtime"]["evidence"][0]["fault"]


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
@pytest.mark.parametrize(("kind", "lost"), [("bad", 1), ("good", 0)])
def test_what_a_library_keeps(
    project: Path, kind: str, lost: int, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    unit = FIXTURES / "GPU107-library-leak" / f"{kind}_workspace_kept"
    shutil.copytree(unit, project / "unit")
    monkeypatch.chdir(project / "unit" / "app")
    monkeypatch.setenv("CMAKE_INCLUDE_PATH", str(cuda_include(find_nvcc())))
    monkeypatch.setenv("CMAKE_LIBRARY_PATH", str(shared_runtime().parent))
    assert main(["--runtime=sim", "--output-format", "json", "."]) == lost
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [finding["code"] for finding in found] == ["GPU107"] * lost
    for finding in found:
        assert finding["filename"] == "smooth.cpp"
        assert "libfilter.so" in finding["message"]
        assert finding["runtime"]["verdict"] == "confirmed"


def test_a_build_that_fails(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "orbit.cpp").write_text(ORBIT)
    text = '[[runtime.targets]]\nname = "tests"\nbuild = ["false"]\nrun = "./none"\n'
    (project / "cudalint.toml").write_text(text)
    assert main(["--runtime=sim", "--output-format", "json", "orbit.cpp"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["runtime"]["verdict"] == "not-runnable"
    assert "`false` failed" in finding["runtime"]["reason"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[runtime]\ntime-limits = 3", "did you mean `runtime.time-limit`"),
        ('[[runtime.targets]]\nname = "a"\nrun = "b"\nbuilt = []', "`runtime.targets.build`"),
        ('[[runtime.targets]]\nname = "a"', "run"),
        ('[[runtime.targets]]\nname = "a"\nrun = ""', "an empty command"),
        ('[[runtime.targets]]\nname = "a"\nrun = "x \'y"', "No closing quotation"),
    ],
)
def test_bad_configuration(
    project: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "orbit.cpp").write_text(ORBIT)
    (project / "cudalint.toml").write_text(text)
    assert main(["--runtime=sim", "orbit.cpp"]) == 2
    assert said in capsys.readouterr().err


def test_the_toolkit_is_named_when_it_is_missing(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> Path:
        raise ToolkitError("no C++ compiler: install g++ or clang++, or name one in CXX")

    monkeypatch.setattr("cudalint.runtime.ledger.find_compiler", none)
    monkeypatch.setenv("CUDALINT_CACHE_DIR", str(project / "cache"))
    _, report = checked(capsys, "--runtime=sim", str(PLANTED))
    for finding in report["findings"]:
        assert finding["runtime"]["verdict"] == "not-runnable"
        assert "no C++ compiler" in finding["runtime"]["reason"]
