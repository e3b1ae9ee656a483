"""Sources that mention no CUDA, and are read beside those that do."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.linter import lint
from cudalint.plan import make_plan
from cudalint.project.config import load
from cudalint.project.files import discover
from cudalint.reports.report import Report

SOLVER = """#include "solver.h"
#include <cuda_runtime.h>

int solve(const float* host, int n) {
    float* device = nullptr;
    if (cudaMalloc(&device, n * sizeof(float)) != cudaSuccess) return 1;
    return cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess;
}
"""
HEADER = "int solve(const float* host, int n);\n"
MAIN = '#include "solver.h"\nint main() {{ float rows[9999]; {} }}\n'
ONCE = MAIN.format("return solve(rows, 9999);")
PROJECT = {"solver.cu": SOLVER, "solver.h": HEADER}

CLASS = """#include "solver.h"
#include <cuda_runtime.h>

Solver::Solver(int n) : n(n) {}

void Solver::solve(const float* host) {
    float* device = nullptr;
    if (cudaMalloc(&device, n * sizeof(float)) != cudaSuccess) return;
    cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice);
}
"""
CLASS_HEADER = "struct Solver { int n; explicit Solver(int n); void solve(const float* host); };\n"


def run(
    folder: Path, files: dict[str, str], *named: str, jobs: int = 1, cache: bool = False
) -> Report:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    paths = [folder / name for name in named] or [folder]
    overrides = {"cache": cache, "cache-dir": str(folder / ".cache"), "jobs": jobs}
    plan = make_plan(load(paths, isolated=True, overrides=overrides))
    found = discover(paths, plan.settings, plan.root)
    return lint(found.files, plan, supervised=jobs > 1)


def told(report: Report) -> list[str]:
    assert report.errors == () and report.notes == ()
    return [f"{Path(one.filename).name} {one.code} {one.severity.value}" for one in report.active]


LOST = "solver.cu GPU101 warning"
PETTY = "solver.cu GPU101 info"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, LOST),
        ({"main.cpp": ONCE}, PETTY),
        ({"main.c": "int solve(const float*, int);\nint main() { return solve(0, 99999); }"}, LOST),
        ({"main.cpp": MAIN.format("for (int i = 0; i < 9; ++i) solve(rows, i);")}, LOST),
        ({"main.cpp": MAIN.format("solve(rows, 9); solve(rows, 10);")}, LOST),
        ({"a.cpp": ONCE, "b.cpp": ONCE}, LOST),
        ({"main.cpp": ONCE, "server.cpp": ONCE.replace("main", "serve")}, LOST),
        ({"main.cpp": ONCE, "other.cpp": "int main() { int solve = 9; return solve; }"}, PETTY),
        ({"app/main.cpp": ONCE.replace('"', '"../', 1)}, PETTY),
    ],
)
def test_a_main_without_cuda(tmp_path: Path, more: dict[str, str], expected: str) -> None:
    assert told(run(tmp_path, PROJECT | more)) == [expected]


def test_a_main_in_c_declares_what_it_calls(tmp_path: Path) -> None:
    main = "int solve(const float*, int);\nint main(void) { return solve(0, 99999); }\n"
    solver = SOLVER.replace("int solve", 'extern "C" int solve').replace('#include "solver.h"', "")
    assert told(run(tmp_path, {"solver.cu": solver, "main.c": main})) == [PETTY]


@pytest.mark.parametrize(("calls", "expected"), [("", PETTY), ("run(); ", LOST)])
def test_a_main_that_calls_it_through_others(tmp_path: Path, calls: str, expected: str) -> None:
    more = {
        "engine.h": "int start();\n",
        "engine.cpp": '#include "engine.h"\n#include "solver.h"\nint start(){return solve(0, 1);}',
        "app.h": "int run();\n",
        "app.cpp": '#include "app.h"\n#include "engine.h"\nint run() { return start(); }\n',
        "main.cpp": f'#include "app.h"\nint main() {{ {calls}return run(); }}\n',
    }
    assert told(run(tmp_path, PROJECT | more)) == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Solver solver(99); solver.solve(0);", PETTY),
        ("Solver solver(99); for (int i = 0; i < 3; ++i) solver.solve(0);", LOST),
    ],
)
def test_a_main_that_calls_a_method(tmp_path: Path, body: str, expected: str) -> None:
    files = {"solver.cu": CLASS, "solver.h": CLASS_HEADER, "main.cpp": MAIN.format(body)}
    assert told(run(tmp_path, files)) == [expected]


def test_programs_beside_each_other_each_have_a_main(tmp_path: Path) -> None:
    files = {
        f"{folder}/{name}": text
        for folder in ("a", "b", "c")
        for name, text in {**PROJECT, "main.cpp": ONCE}.items()
    }
    report = run(tmp_path, files, jobs=2)
    assert told(report) == [PETTY] * 3 and report.files == 3


def test_what_many_call_is_a_librarys(tmp_path: Path) -> None:
    users = '#include "solver.h"\nstatic int f() { return solve(0, 9); }\n'
    many = {f"user_{number}.cpp": users for number in range(16)}
    report = run(tmp_path, PROJECT | {"main.cpp": ONCE} | many)
    assert told(report) == [LOST]
    assert report.read_anew == 1


def test_what_the_cache_holds_is_of_this_main(tmp_path: Path) -> None:
    for main, expected in ((ONCE, PETTY), (ONCE, PETTY), (MAIN.format(""), LOST), (ONCE, PETTY)):
        report = run(tmp_path, PROJECT | {"main.cpp": main}, cache=True)
        assert told(report) == [expected]
    assert (report.read_anew, report.analysed_anew) == (0, 0)


def test_nothing_is_told_of_them(tmp_path: Path) -> None:
    broken = ONCE + "#include <no/such/header.h>\nint f( {\n"
    report = run(tmp_path, PROJECT | {"main.cpp": broken})
    assert (told(report), report.files) == ([PETTY], 1)


def test_where_one_file_is_named_its_callers_are_found(tmp_path: Path) -> None:
    files = PROJECT | {"main.cpp": ONCE}
    report = run(tmp_path, files, "solver.cu")
    assert (told(report), report.files) == ([PETTY], 1)
    again = {"again.cpp": ONCE.replace("main", "again")}
    assert told(run(tmp_path, files | again, "solver.cu")) == [LOST]


def test_where_one_file_is_named_and_many_may_call_it(tmp_path: Path) -> None:
    many = {f"other_{number}.cpp": '#include "solver.h"\n' for number in range(16)}
    assert told(run(tmp_path, PROJECT | {"main.cpp": ONCE} | many, "solver.cu")) == [LOST]
