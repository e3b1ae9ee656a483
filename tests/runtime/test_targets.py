"""Which programs are found among files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudalint.cli import main
from cudalint.runtime.targets import has_main, target_for, targets_of


def write(folder: Path, **files: str) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    paths = {}
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        paths[name] = folder / f"{stem}.{suffix}"
        paths[name].write_text(text)
    return paths


def test_has_main() -> None:
    assert has_main("int main() {}")
    assert has_main("#define X\n  int main(int argc, char** argv)\n{")
    assert not has_main("// int main() {}\n/*\nint main() {}\n*/")
    assert not has_main('const char* text = "\\\nint main() {}";')
    assert not has_main("int maintain() {}\nvoid f() { main(); }")


def test_a_folder_with_one_main_is_one_program(tmp_path: Path) -> None:
    files = write(tmp_path, a_cu="int main() {}", b_cu="void b() {}", c_cpp="void c() {}")
    (target,) = targets_of(files.values())
    assert [source.name for source in target.sources] == ["a.cu", "b.cu", "c.cpp"]
    assert target_for([target], files["c_cpp"]) is target


def test_programs_of_one_folder_share_what_they_include(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        one_cu='#include "shared.h"\nint main() {}',
        two_cu="int main() {}",
        shared_h="#pragma once",
        shared_cu="void shared() {}",
    )
    one, two = targets_of(files.values())
    assert [source.name for source in one.sources] == ["one.cu", "shared.cu"]
    assert [source.name for source in two.sources] == ["two.cu"]
    assert target_for([one, two], files["shared_h"]) is one
    assert target_for([one, two], files["two_cu"]) is two


def test_a_library_alone_is_no_program(tmp_path: Path) -> None:
    files = write(tmp_path, a_cu="void a() {}")
    assert targets_of(files.values()) == ()


def test_scripts_and_their_modules(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        tool_py="from helper import work\nif __name__ == '__main__':\n    work()\n",
        helper_py="from cuda.bindings import runtime\ndef work(): ...\n",
        other_py="import json\n",
    )
    (target,) = targets_of(files.values())
    assert target.script == files["tool_py"].resolve()
    assert target_for([target], files["helper_py"]) is target


# The flags of the project's own build -----------------------------------------------------------


HEADER = "#pragma once\nint sim_run(int n);\n"
WORK = """
#include "sim/capi.h"
#include <cuda_runtime.h>
#ifndef SIM_SIZE
#error "built without the project's macros"
#endif
int sim_run(int n) {
    float *a, *b;
    if (cudaMalloc(&a, n * SIM_SIZE) != cudaSuccess) return 1;
    if (cudaMalloc(&b, n * SIM_SIZE) != cudaSuccess) return 1;
    cudaFree(b);
    return cudaFree(a) == cudaSuccess ? 0 : 1;
}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: Path) -> Path:
    """Sources that are built with folders and macros that only a compile database names."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "include/sim/capi.h": HEADER,
        "src/capi.cpp": WORK,
        "app/main.cpp": '#include "sim/capi.h"\nint main() { return sim_run(4) + sim_run(8); }\n',
        "app/other.cpp": "int main() { return 0; }\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    entries = [
        {"file": f"../{name}", "directory": str(tmp_path / "build"),
         "command": f"c++ -I../include -DSIM_SIZE=4 -c ../{name}"}
        for name in ("src/capi.cpp", "app/main.cpp", "app/other.cpp")
    ]  # fmt: skip
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "compile_commands.json").write_text(json.dumps(entries))
    return tmp_path


def test_targets_are_built_as_the_compile_database_says(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["--isolated", "-v", "--runtime=sim", "--output-format=json", "."])
    captured = capsys.readouterr()
    (finding,) = json.loads(captured.out)["findings"]
    assert (status, finding["runtime"]["verdict"]) == (1, "confirmed"), captured.err
    assert "ran 2 programs" in captured.err
    assert "-DSIM_SIZE=4" in captured.err


def test_a_source_beside_it_that_does_not_compile(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "app" / "other.cpp").write_text("#include <no/such.h>\nvoid nothing() {}\n")
    assert main(["--isolated", "--runtime=sim", "--output-format=json", "."]) == 1
    captured = capsys.readouterr()
    found = json.loads(captured.out)["findings"]
    (verdict,) = (one["runtime"]["verdict"] for one in found if one["code"] == "GPU102")
    assert verdict == "confirmed", captured.out + captured.err
    assert "ran 1 program, 2 times in all, on simulated sm_90" in captured.err


def test_that_nothing_was_run_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--isolated", "--runtime=sim", "--no-harness", "src/capi.cpp"]) == 1
    assert "no program was run" in capsys.readouterr().err
