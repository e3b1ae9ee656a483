"""The machinery around the analysis: bad input, crashes, caches, settings, stable order."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cudalint import jobs
from cudalint.grouping.parts import context_of
from cudalint.jobs import AnalysisJob, LoweringJob
from cudalint.linter import linked, lint
from cudalint.plan import Plan, make_plan
from cudalint.program.packing import unpacked
from cudalint.project.config import ConfigurationError, load
from cudalint.project.files import SourceFile, discover
from cudalint.reports import json
from cudalint.reports.report import Report
from cudalint.stages.run import Run

LEAK = """#include <cuda_runtime.h>

bool upload(const float* host, int n) {
    float* device = nullptr;
    if (cudaMalloc(&device, n * sizeof(float)) != cudaSuccess) return false;
    return cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess;
}
"""
CLEAN = LEAK.replace("    return cudaMemcpy(", "    bool done = cudaMemcpy(").replace(
    "}\n", "    cudaFree(device);\n    return done;\n}\n"
)
PYTHON_LEAK = """from cuda.bindings import runtime as cudart


def reserve(size: int) -> bool:
    err, block = cudart.cudaMalloc(size)
    if err != cudart.cudaError_t.cudaSuccess:
        return False
    (err,) = cudart.cudaMemset(block, 0, size)
    return err == cudart.cudaError_t.cudaSuccess
"""


@pytest.fixture(autouse=True)
def in_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """An empty working directory; precompiled headers are made once for all tests."""
    monkeypatch.chdir(tmp_path)
    headers = tmp_path_factory.getbasetemp().parent / "cudalint_headers"
    monkeypatch.setattr("cudalint.lowering.HEADER_CACHE", str(headers))


def write(**files: str | bytes) -> None:
    for name, content in files.items():
        stem, _, suffix = name.rpartition("_")
        data = content.encode() if isinstance(content, str) else content
        Path(f"{stem}.{suffix}").write_bytes(data)


def plan_for(*paths: str, **settings: Any) -> Plan:
    overrides = {key.replace("_", "-"): value for key, value in settings.items()}
    return make_plan(load([Path(path) for path in paths or (".",)], overrides=overrides))


def run(*paths: str, supervised: bool = True, **settings: Any) -> Report:
    plan = plan_for(*paths, **settings)
    found = discover([Path(path) for path in paths or (".",)], plan.settings, plan.root)
    return lint(found.files, plan, supervised=supervised)


def places(report: Report) -> list[str]:
    return [f"{one.filename}:{one.span.row} {one.code}" for one in report.active]


def errors(report: Report) -> list[str]:
    return [str(error) for error in report.errors]


# Input ------------------------------------------------------------------------------------------


def test_both_languages() -> None:
    write(a_cu=LEAK, b_cu=CLEAN, c_py=PYTHON_LEAK, d_py="print('nothing')\n", e_cpp="int x;\n")
    report = run()
    assert places(report) == ["a.cu:5 GPU101", "c.py:5 GPU101"]
    assert report.files == 3
    assert errors(report) == []


def test_bad_input_is_named_and_the_rest_is_linted() -> None:
    write(
        a_cu=LEAK,
        empty_cu="",
        binary_cu=b"cudaMalloc\0\1\2",
        huge_cu="int x;\n" * 400,
        hidden_py=b"import cupy\nx = '\xff'\n",
        data_py="x = 1\n" * 400,
        blob_py=b"\0\1\2",
        __init___py="",
    )
    report = run(max_file_size="2KiB")
    assert places(report) == ["a.cu:5 GPU101"]
    assert errors(report) == [
        "binary.cu: is binary (it contains NUL bytes)",
        "hidden.py: is not valid UTF-8 (line 2)",
        "huge.cu: is enormous (2800 bytes; `max-file-size` is 2 KiB)",
    ]


def test_explicit_files_are_named_too() -> None:
    write(empty_py="", __init___py="", binary_py=b"\0\1", plain_py="x = 1\n")
    report = run("empty.py", "__init__.py", "binary.py", "plain.py")
    assert errors(report) == ["binary.py: is binary (it contains NUL bytes)"]
    assert report.files == 0
    assert [(fate.filename, fate.reason) for fate in report.fates if not fate.linted] == [
        ("__init__.py", "is empty"),
        ("binary.py", "is binary (it contains NUL bytes)"),
        ("empty.py", "is empty"),
        ("plain.py", "does not mention CUDA"),
    ]


def test_unreadable_files_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a_cu=LEAK, b_cu=CLEAN)
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "b.cu":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    report = run(cache=False)
    assert errors(report) == ["b.cu: cannot be read: Permission denied"]
    assert places(report) == ["a.cu:5 GPU101"]


def test_encodings_are_read_and_noted() -> None:
    write(a_cu=LEAK.encode("utf-16"), b_cu=b"// \xfc\n" + LEAK.encode(), c_cu="\ufeff" + LEAK)
    report = run()
    assert places(report) == ["a.cu:5 GPU101", "b.cu:6 GPU101", "c.cu:5 GPU101"]
    assert [str(note) for note in report.notes] == [
        "a.cu: read as UTF-16",
        "b.cu: is not UTF-8: read as Latin-1",
    ]


def test_contents_stand_for_the_disk() -> None:
    write(a_cu=CLEAN)
    plan = plan_for()
    found = discover([Path("a.cu")], plan.settings, plan.root)
    contents = {found.files[0].path: LEAK.encode()}
    assert places(lint(found.files, plan, contents=contents)) == ["a.cu:5 GPU101"]


# Workers ----------------------------------------------------------------------------------------

forks = pytest.mark.skipif(sys.platform != "linux", reason="replaces what forked workers do")


def spin(job: bytes = b"") -> bytes:
    while True:
        pass


@pytest.fixture
def sabotaged(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files named after a mishap suffer it while they are read."""
    lower = jobs.lower

    def mishap(job: bytes) -> bytes:
        name = msgspec.msgpack.decode(job, type=LoweringJob).filename
        if name.startswith("crash"):
            os.kill(os.getpid(), signal.SIGSEGV)
        if name.startswith("hang"):
            spin()
        if name.startswith("bug"):
            raise ValueError("oops")
        return lower(job)

    monkeypatch.setattr(jobs, "lower", mishap)
    yield


@forks
@pytest.mark.usefixtures("sabotaged")
def test_crashes_hangs_and_bugs_cost_their_file_only() -> None:
    write(a_cu=LEAK, crash_cu=LEAK, hang_cu=LEAK, bug_cu=LEAK, z_py=PYTHON_LEAK)
    report = run(time_limit=4, cache=False)
    assert places(report) == ["a.cu:5 GPU101", "z.py:5 GPU101"]
    assert errors(report) == [
        "bug.cu: not read: internal error: ValueError: oops",
        "crash.cu: not read: the worker crashed (SIGSEGV)",
        "hang.cu: not read: it took longer than 4 s of CPU time (`--time-limit`)",
    ]


@forks
def test_an_analysis_that_fails_costs_its_file_only(monkeypatch: pytest.MonkeyPatch) -> None:
    header = "#pragma once\nstruct Pool { float* data; };\n"
    body = '#include "pool.h"\nvoid use(Pool* pool);\n' + LEAK
    unused = "// cudalint: ignore[GPU101] of a file that was not analysed\n"
    write(pool_h=header, a_cu=body, b_cu=body, crash_cu=body + unused)
    analyze = jobs.analyze

    def mishap(job: bytes) -> bytes:
        for program in unpacked(msgspec.msgpack.decode(job, type=AnalysisJob).programs):
            if program.filename == "crash.cu":
                os.kill(os.getpid(), signal.SIGABRT)
        return analyze(job)

    monkeypatch.setattr(jobs, "analyze", mishap)
    report = run(cache=False)
    assert errors(report) == ["crash.cu: not analysed: the worker crashed (SIGABRT)"]
    assert places(report) == ["a.cu:7 GPU101", "b.cu:7 GPU101"]


@forks
def test_alone_no_file_says_what_its_classes_never_release(monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        pool_h="#pragma once\nstruct Pool { float* data; };\n",
        a_cu='#include <cuda_runtime.h>\n#include "pool.h"\n'
        "int fill(Pool* pool) { return cudaMalloc(&pool->data, 64); }\n",
        b_cu='#include <cuda_runtime.h>\n#include "pool.h"\n'
        "void drop(Pool* pool) { cudaFree(pool->data); }\n",
    )
    assert places(run(cache=False)) == []
    analyze = jobs.analyze

    def mishap(job: bytes) -> bytes:
        if len(msgspec.msgpack.decode(job, type=AnalysisJob).programs.programs) > 1:
            os.kill(os.getpid(), signal.SIGABRT)
        return analyze(job)

    monkeypatch.setattr(jobs, "analyze", mishap)
    report = run(cache=False)
    assert places(report) == []
    assert [str(note) for note in report.notes] == [
        "a.cu: analysed without what belongs to it, 1 more: the worker crashed (SIGABRT)"
    ]


RESTING = {
    "pool_h": "#pragma once\nstruct Pool { float* data; };\nextern float* d_table;\n",
    "a_cu": """#include <cuda_runtime.h>
#include "pool.h"
void fill(Pool* pool) { cudaMalloc(&pool->data, 64); }
float* d_table;
__global__ void wide(float* out) { extern __shared__ float all[]; out[0] = all[threadIdx.x]; }
bool renew(int n) { return cudaMalloc(&d_table, n) == cudaSuccess; }
int main() {
    Pool pool;
    fill(&pool);
    for (int i = 0; i < 3; ++i) if (!renew(i)) return 1;
    wide<<<1, 32, 65536>>>(d_table);
}
""",
}
POOL, TABLE, KERNEL = "a.cu:3 GPU105", "a.cu:6 GPU104", "a.cu:11 GPU303"
RESTS = {POOL, TABLE, KERNEL}


def accused(report: Report) -> set[str]:
    return RESTS.intersection(places(report))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("void drop(Pool* pool) { cudaFree(pool->data); }", {TABLE, KERNEL}),
        ("void drop() { cudaFree(d_table); }", {POOL, KERNEL}),
        ("void allow() { cudaFuncSetAttribute(wide, LARGEST, 65536); }", {POOL, TABLE}),
        ("void drop(Pools* pools) { cudaFree(d_tables); }", RESTS),  # other words
    ],
)
def test_a_file_that_was_not_read_leaves_doubt_of_what_it_names(text: str, left: set[str]) -> None:
    write(**RESTING, large_cu=f"#include <cuda_runtime.h>\n{text}\n" + " \n" * 1000)
    report = run(max_file_size="1KiB", supervised=False, extend_select=["GPU104"])
    (error,) = errors(report)
    assert error.startswith("large.cu: is enormous")
    assert accused(report) == left
    shown = run(max_file_size="1KiB", supervised=False, preview=True)
    assert accused(shown) == RESTS
    doubted = {one.rests_on: one for one in shown.active if one.confidence.value == "low"}
    assert len(doubted) == len(RESTS - left)
    for name, one in doubted.items():
        step = one.steps[-1]
        assert (step.filename, step.span.row) == ("large.cu", 2)
        assert step.message == f"this file was not read, and names `{name}`"
        what = f"names `{name}`: findings that this may prove wrong have low confidence"
        assert f"large.cu: {what}" in map(str, report.notes)


def test_no_comment_is_unused_where_a_finding_is_in_doubt() -> None:
    body = RESTING["a_cu"].replace("64); }", "64); }  // cudalint: ignore[GPU105]")
    write(pool_h=RESTING["pool_h"], a_cu=body, large_cu="cudaFree(pool.data) // Pool\n" * 100)
    shown = run(max_file_size="1KiB", supervised=False, extend_select=["GPU104"])
    found = {one.code for one in shown.active}
    assert "GPU104" in found and not found & {"GPU001", "GPU105"}
    Path("large.cu").unlink()
    write(a_cu=body.replace("64); }  //", "64); cudaFree(pool->data); }  //"))
    assert "GPU001" in {one.code for one in run(supervised=False).active}


@forks
@pytest.mark.usefixtures("sabotaged")
def test_so_does_one_that_took_too_long() -> None:
    write(**RESTING, hang_cu="#include <cuda_runtime.h>\nvoid drop() { cudaFree(d_table); }\n")
    assert accused(run(time_limit=4, cache=False)) == {POOL, KERNEL}


@forks
@pytest.mark.parametrize(("stage", "verb"), [("lower", "read"), ("analyze", "analysed")])
def test_a_time_out_is_remembered_for_its_limit(
    stage: str, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(a_cu=LEAK)
    with monkeypatch.context() as patch:
        patch.setattr(jobs, stage, spin)
        assert errors(run(time_limit=1)) == [
            f"a.cu: not {verb}: it took longer than 1 s of CPU time (`--time-limit`)"
        ]
    what = "it took longer than 1 s of CPU time (`--time-limit`), when it was last tried"
    remembered = f"a.cu: not {verb}: {what}"
    assert errors(run(time_limit=1)) == [remembered]
    assert errors(run(time_limit=0.5)) == [remembered]
    # More time, no cache or another text: another try.
    assert places(run(time_limit=30, cache=False)) == ["a.cu:5 GPU101"]
    assert places(run(time_limit=30)) == ["a.cu:5 GPU101"]
    write(a_cu=CLEAN)
    assert errors(run(time_limit=29)) == []


def test_output_does_not_depend_on_workers_cache_or_order() -> None:
    for name in "abcdefgh":
        Path(f"{name}.cu").write_text(LEAK.replace("upload", f"upload_{name}"))
        Path(f"{name}.py").write_text(PYTHON_LEAK)
    outputs = {
        json.render(run(jobs=1, cache=False)),
        json.render(run(jobs=4)),
        json.render(run(jobs=3)),
        json.render(run(jobs=1, supervised=False)),
    }
    plan = plan_for()
    files = discover([Path()], plan.settings, plan.root).files
    outputs.add(json.render(lint(list(reversed(files)), plan)))
    assert len(outputs) == 1


# Cache ------------------------------------------------------------------------------------------


@pytest.fixture
def work_done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were lowered and the analyses that were made (not in workers)."""
    done: list[str] = []
    lower, analyze = jobs.lower, jobs.analyze

    def lowered(job: bytes) -> bytes:
        done.append(msgspec.msgpack.decode(job, type=LoweringJob).filename)
        return lower(job)

    def analysed(job: bytes) -> bytes:
        done.append(
            f"analysis of {len(msgspec.msgpack.decode(job, type=AnalysisJob).programs.programs)}"
        )
        return analyze(job)

    monkeypatch.setattr(jobs, "lower", lowered)
    monkeypatch.setattr(jobs, "analyze", analysed)
    return done


def test_unchanged_files_are_neither_read_nor_analysed_again(work_done: list[str]) -> None:
    write(a_cu=LEAK, b_cu=LEAK.replace("upload", "other"))
    first = run(supervised=False)
    assert sorted(work_done) == ["a.cu", "analysis of 1", "analysis of 1", "b.cu"]
    work_done.clear()
    assert json.render(run(supervised=False)) == json.render(first)
    assert work_done == []
    write(b_cu=CLEAN)
    assert places(run(supervised=False)) == ["a.cu:5 GPU101"]
    assert work_done == ["b.cu", "analysis of 1"]


def test_a_changed_header_counts(work_done: list[str]) -> None:
    header = "#pragma once\ninline void drop(float* p) { %s }\n"
    body = LEAK.replace("#include <cuda_runtime.h>", '#include <cuda_runtime.h>\n#include "drop.h"')
    body = body.replace("    return cudaMemcpy", "    drop(device);\n    return cudaMemcpy")
    write(drop_h=header % "", a_cu=body)
    assert "a.cu" in run(supervised=False).sources
    work_done.clear()
    write(drop_h=header % "cudaFree(p);")
    run(supervised=False)
    assert "a.cu" in work_done


def test_a_header_that_appears_counts(work_done: list[str]) -> None:
    write(a_cu='#include "late.h"\n' + LEAK)
    run(supervised=False)
    work_done.clear()
    run(supervised=False)
    assert work_done == []
    write(late_h="#pragma once\n")
    run(supervised=False)
    assert "a.cu" in work_done


@pytest.mark.parametrize(
    ("included", "walked"),
    [("", False), ('#include "late.h"\n', True), ("#include <late.h>\n", True)],
)
def test_a_project_is_walked_only_for_own_headers(
    included: str, walked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What shares no header with others may lie in a large project: nothing else is looked at."""
    walks: list[Path] = []

    def walking(folder: Path, *_: object) -> Iterator[SourceFile]:
        walks.append(folder)
        yield from ()

    monkeypatch.setattr("cudalint.neighbours.sources_below", walking)
    write(a_cu=included + LEAK)
    assert "GPU101" in {one.code for one in run("a.cu", supervised=False).active}
    assert bool(walks) == walked


def test_a_header_may_call_what_acquires() -> None:
    """The caller of a method stands in no source of its own."""
    write(
        pool_h="""#pragma once
struct Pool {
    float* data = nullptr;
    void open() { make(); }
    void make();
    ~Pool();
};
""",
        pool_cu="""#include <cuda_runtime.h>
#include "pool.h"
void Pool::make() { if (cudaMalloc(&data, 64) != cudaSuccess) data = nullptr; }
Pool::~Pool() { cudaFree(data); }
""",
    )
    report = run(supervised=False)
    assert errors(report) == []


def test_settings_that_matter_to_the_analysis_count(work_done: list[str]) -> None:
    write(a_cu=LEAK)
    run(supervised=False)
    work_done.clear()
    run(supervised=False, device_memory="1MiB")
    assert work_done == ["analysis of 1"]
    work_done.clear()
    run(supervised=False, defines=["N=3"])
    assert work_done[0] == "a.cu"


def test_a_damaged_cache_is_no_harm(work_done: list[str]) -> None:
    write(a_cu=LEAK)
    first = run(supervised=False)
    for entry in Path(".cudalint_cache").rglob("*.msgpack"):
        entry.write_bytes(entry.read_bytes()[:-7] + b"garbage")
    assert json.render(run(supervised=False)) == json.render(first)


def test_no_cache_writes_nothing() -> None:
    write(a_cu=LEAK)
    run(cache=False)
    assert not Path(".cudalint_cache").exists()


# Settings ---------------------------------------------------------------------------------------


def test_selection() -> None:
    write(a_cu=LEAK)
    assert places(run(select=["GPU2"])) == []
    assert places(run(ignore=["unpaired-allocation"])) == []
    assert places(run(select=["gpu101"])) == ["a.cu:5 GPU101"]


def test_warnings_of_tests_are_info() -> None:
    Path("tests").mkdir()
    for name in ("tests/a.cu", "b_test.cu", "c.cu"):
        Path(name).write_text(LEAK)

    def severities(**settings: Any) -> dict[str, str]:
        return {one.filename: one.severity.value for one in run(**settings).active}

    assert severities() == {"tests/a.cu": "info", "b_test.cu": "info", "c.cu": "warning"}
    assert set(severities(test_files=[]).values()) == {"warning"}
    assert severities(test_files=["c.cu"])["c.cu"] == "info"
    assert set(severities(severity={"GPU101": "warning"}).values()) == {"warning"}


def test_per_file_ignores_and_severities() -> None:
    write(a_cu=LEAK, b_cu=LEAK.replace("upload", "other"))
    report = run(per_file_ignores={"b.*": ["GPU1"]}, severity={"GPU1": "info", "GPU101": "error"})
    assert [(one.filename, one.severity.value) for one in report.active] == [("a.cu", "error")]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"select": ["GPU11X"]}, "--select: no rule is called GPU11X; did you mean GPU101?"),
        ({"ignore": ["early-exit-laek"]}, "--ignore: no rule is called early-exit-laek; did"),
        ({"per_file_ignores": {"a": ["X"]}}, "--per-file-ignores: no rule is called X"),
        ({"severity": {"GPU1O1": "info"}}, "--severity: no rule is called GPU1O1; did you mean"),
        ({"target": ["sm_861"]}, "--target: "),
        ({"device_memory": "16 potatoes"}, "--device-memory: "),
        ({"max_transfer": "-1"}, "--max-transfer: "),
        ({"models": ["nowhere.toml"]}, "--models: "),
        ({"compile_commands": "nowhere"}, "--compile-commands: "),
        ({"jobs": 0}, "command line: `jobs`: expected `int` >= 1"),
    ],
)  # fmt: skip
def test_unknown_values_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        plan_for(**settings)
    assert str(caught.value).startswith(message)


def test_an_unknown_rule_in_a_file_names_the_file() -> None:
    Path("cudalint.toml").write_text('select = ["GPU11X"]\n')
    with pytest.raises(ConfigurationError) as caught:
        plan_for()
    expected = f"{Path('cudalint.toml').absolute()}: `select`: no rule is called GPU11X"
    assert str(caught.value).startswith(expected)


# Suppressions -----------------------------------------------------------------------------------


def test_suppressed_and_unused() -> None:
    write(
        a_cu=LEAK.replace("false;\n", "false;  // cudalint: ignore[GPU101] kept\n", 1),
        b_cu=CLEAN.replace("false;\n", "false;  // cudalint: ignore[GPU101] kept\n", 1),
    )
    report = run()
    assert places(report) == ["b.cu:5 GPU001"]
    (hidden,) = [one for one in report.findings if one.suppressed]
    assert hidden.suppressed == "cudalint: ignore[GPU101]"
    assert places(run(ignore=["GPU101"])) == []
    assert places(run(ignore=["GPU001"])) == []


def test_a_suppression_of_the_unused_suppression() -> None:
    text = "false;  // cudalint: ignore[GPU102] // cudalint: ignore[GPU001]\n"
    write(b_cu=CLEAN.replace("false;\n", text, 1))
    assert places(run()) == []


# Fingerprints -----------------------------------------------------------------------------------


def test_fingerprints_survive_moved_lines_and_folders() -> None:
    Path("cudalint.toml").touch()
    write(a_cu=LEAK + LEAK.replace("upload", "other"))
    before = [one.fingerprint for one in run().active]
    assert len(set(before)) == 2 and all(len(one) == 32 for one in before)
    write(a_cu="\n\n// moved\n" + LEAK + "\n" + LEAK.replace("upload", "other"))
    assert [one.fingerprint for one in run().active] == before
    Path("sub").mkdir()
    os.chdir("sub")
    assert [one.fingerprint for one in run("../a.cu").active] == before


def test_equal_findings_have_different_fingerprints() -> None:
    opened = "    { float* device; if (cudaMalloc(&device, 4) != cudaSuccess) return false; }\n"
    write(a_cu=LEAK.replace("    return cudaMemcpy", opened + "    return cudaMemcpy"))
    found = run(select=["GPU101"]).active
    assert len({one.fingerprint for one in found}) == len(found) == 2


def test_parts_of_one_defect_have_one_fingerprint() -> None:
    other = "    float* other;\n    if (cudaMalloc(&other, 4) != cudaSuccess) return false;\n"
    write(a_cu=LEAK.replace("    return cudaMemcpy", other + "    return cudaMemcpy"))
    found = run(select=["GPU101"]).active
    assert len(found) == 2 and len({one.fingerprint for one in found}) == 1


# Files without CUDA that say what a function does -------------------------------------------------

SETTINGS = """#include "settings.h"
#include <stdexcept>

int parse(const char* text) {
    if (!text) throw std::invalid_argument("nothing");
    return text[0];
}
"""
USER = """#include "settings.h"
#include <cuda_runtime.h>

int read(const char* text) {
    float* device = nullptr;
    if (cudaMalloc(&device, 4) != cudaSuccess) return 1;
    const int size = parse(text);
    cudaFree(device);
    return size;
}
"""


def test_what_throws_in_a_file_without_cuda() -> None:
    write(settings_h="int parse(const char* text);\n", user_cu=USER)
    assert places(run()) == []
    other = "#include <no/such/header.h>\nint parse(int n) { if (n) throw n; return n; }\n"
    Path("elsewhere").mkdir()
    Path("elsewhere/other.cpp").write_text(other)
    assert places(run()) == []
    write(settings_cpp=SETTINGS + "#include <no/such/header.h>\n")
    report = run()
    assert places(report) == ["user.cu:6 GPU103"]
    assert (report.files, errors(report), report.notes) == (1, [], ())


def test_headers_without_cuda_are_told_of_where_they_are_included() -> None:
    body = USER.replace('#include "settings.h"', '#include "settings.h"\n#pragma once')
    write(settings_h="int parse(const char* text) { if (!text) throw 1; return text[0]; }\n")
    write(a_cu=body, b_cu='#include "settings.h"\n')
    assert places(run()) == ["a.cu:7 GPU103"]


def test_a_broken_file_without_cuda_costs_nothing() -> None:
    write(settings_h="int parse(const char* text);\n", user_cu=USER, settings_cpp=b"throw \0 \xff")
    report = run()
    assert (places(report), errors(report), report.notes) == ([], [], ())


# What is not followed to its end ----------------------------------------------------------------


def test_a_function_with_too_many_paths_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = "  // cudalint: ignore[GPU101] nothing can be said of it\n"
    write(pool_h=LEAK, a_cu='#include "pool.h"\n' + LEAK.replace("upload", "other"))
    write(b_cu=CLEAN.replace("false;\n", f"false;{quiet}", 1), c_cu="int sum(int n) {return n;}")
    assert [one for one in run().active if one.code == "GPU002"] == []
    monkeypatch.setattr("cudalint.analysis.interpreter.worklist.MOST_STEPS", 1)
    report = run(supervised=False, cache=False)
    assert [(one.filename, one.message) for one in report.active] == [
        (name, f"not all paths of `{function}` were followed: there are too many (1 function read)")
        for name, function in (("a.cu", "other"), ("b.cu", "upload"), ("pool.h", "upload"))
    ]


def test_one_path_goes_on_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    choices = "".join(f"  if (choice({n})) sizes[{n}] = {n};\n" for n in range(4))
    source = (
        "#include <cuda_runtime.h>\nbool choice(int n);\nint* make(int* sizes) {\n"
        f"{choices}  int* data = nullptr;\n"
        "  if (cudaMalloc(&data, 64) != cudaSuccess) return nullptr;\n"
        "  if (choice(9) && cudaMalloc(&data, 64) != cudaSuccess) return nullptr;\n"
        "  return data;\n}\n"
    )
    write(a_cu=source)
    assert [one.code for one in run(extend_select=["GPU104"]).active] == ["GPU104"]
    monkeypatch.setattr("cudalint.analysis.interpreter.worklist.MOST_WORK", 3000)
    report = run(supervised=False, cache=False, extend_select=["GPU104"])
    assert {one.code for one in report.active} == {"GPU002", "GPU104"}


@pytest.mark.parametrize("release", ["cudaFree(data)", "drop(data)", "keep(data)"])
def test_what_paths_that_were_cut_may_release_is_not_never_released(
    release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices = "".join(f"  if (choice({n})) sizes[{n}] = {n};\n" for n in range(8))
    source = (
        "#include <cuda_runtime.h>\nbool choice(int n);\nvoid keep(int* data);\n"
        "static void drop(int* data) { cudaFree(data); }\n"
        "int use(int* sizes) {\n  int* data = nullptr;\n"
        "  if (cudaMalloc(&data, 64) != cudaSuccess) return 1;\n"
        f"  if (choice(9)) return 2;\n{choices}"
        "  for (int n = 0; n < sizes[9]; n++) if (choice(n)) sizes[n] = n;\n"
        f"  {release};\n  return 0;\n}}\n"
    )
    write(a_cu=source)
    expected = [] if release.startswith("keep") else ["GPU102"]
    assert [one.code for one in run(preview=True).active] == expected
    monkeypatch.setattr("cudalint.analysis.interpreter.worklist.MOST_WORK", 300)
    report = run(supervised=False, cache=False, preview=True)
    assert [one.code for one in report.active] == ["GPU002"]


def test_a_number_of_blocks_is_not_zero_because_one_path_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choices = "".join(f"  if (choice({n})) rows[{n}] = {n};\n" for n in range(6))
    source = (
        "#include <cuda_runtime.h>\nbool choice(int n);\nbool more();\n"
        "__global__ void mark(int* rows) { rows[blockIdx.x] = 1; }\n"
        "void count(int* found) {\n  int rows = 0;\n"
        "  if (choice(7)) while (more()) rows++;\n  found[0] = rows;\n}\n"
        f"void run(int* rows, int* found) {{\n{choices}  int* data = nullptr;\n"
        "  if (cudaMalloc(&data, 64) != cudaSuccess) return;\n"
        "  if (choice(9)) rows[9] = 9;\n  count(found);\n"
        "  mark<<<found[0], 32>>>(rows);\n  mark<<<1, 2048>>>(rows);\n"
        "  cudaFree(data);\n}\n"
    )
    write(a_cu=source)
    assert [one.span.row for one in run().active if one.code == "GPU304"] == [22]
    monkeypatch.setattr("cudalint.analysis.interpreter.worklist.MOST_WORK", 6000)
    report = run(supervised=False, cache=False)
    assert [one.span.row for one in report.active if one.code == "GPU304"] == [22]
    assert "GPU002" in {one.code for one in report.active}


def test_little_is_followed_of_many_functions_that_cost_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choices = "".join(f"  if (choice({n})) sizes[{n}] = {n};\n" for n in range(6))
    source = "#include <cuda_runtime.h>\nbool choice(int n);\n" + "".join(
        f"void fill_{number}(int* sizes) {{\n{choices}  int* data = nullptr;\n"
        "  if (cudaMalloc(&data, 64) == cudaSuccess) cudaFree(data);\n}\n"
        for number in range(3)
    )
    write(a_cu=source)
    assert run().active == ()
    monkeypatch.setattr("cudalint.analysis.engine.budget.MOST_WORK", 26_000)
    monkeypatch.setattr("cudalint.analysis.engine.budget.LEAST_WORK", 500)
    (cut,) = run(supervised=False, cache=False).active
    assert cut.code == "GPU002"
    assert "`fill_2`" in cut.message
    assert "`fill_0`" not in cut.message


def test_where_the_memory_is_full_it_is_said_what_was_not_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(a_cu=LEAK + LEAK.replace("upload", "other"))
    monkeypatch.setattr("cudalint.jobs.is_full", lambda: True)
    report = run(supervised=False, cache=False)
    (cut,) = [one for one in report.active if one.code == "GPU002"]
    assert cut.message == (
        "not all paths of `upload` and `other` were followed: a worker's memory was full "
        "(2 functions read)"
    )


def test_many_alternatives_of_a_callee_are_not_all_followed() -> None:
    checks = "".join(f"  if (sizes[{n}] != 0 && sizes[{n}] != count) throw 1;\n" for n in range(14))
    source = (
        f"#include <cuda_runtime.h>\nfloat* reserve(const int* sizes, int count) {{\n{checks}"
        "  float* block = nullptr;\n"
        "  return cudaMalloc(&block, count) == cudaSuccess ? block : nullptr;\n}\n"
        "void use(const int* sizes, int count) {\n"
        "  float* block = reserve(sizes, count);\n"
        "  if (block != nullptr) cudaMemset(block, 0, count);\n}\n"
    )
    write(a_cu=source)
    assert places(run()) == ["a.cu:21 GPU101"]


def test_context_counts_but_nothing_is_told_of_it() -> None:
    declared = "#include <cuda_runtime.h>\nvoid give_back(float* block);\n"
    uses = "void use() { float* block; if (cudaMalloc(&block, 4)) return; give_back(block); }\n"
    write(
        caller_cu=declared + uses,
        keeps_cu=declared + "void give_back(float* block) { (void)block; }\n" + LEAK,
        apart_cu=LEAK.replace("upload", "other"),
    )
    plan = plan_for()
    files = {file.filename: file for file in discover([Path()], plan.settings, plan.root).files}
    links = linked(list(files.values()), plan)
    assert context_of(["caller.cu"], links, 10) == ("keeps.cu",)
    assert context_of(["apart.cu"], links, 10) == ()
    alone = lint([files["caller.cu"]], plan)
    assert alone.active == ()
    (found,) = lint([files["caller.cu"]], plan, context=list(files.values())).active
    assert (found.code, found.filename) == ("GPU101", "caller.cu")


def test_of_large_groups_what_is_needed_most_is_context() -> None:
    source = "#include <cuda_runtime.h>\nvoid step_{n}(float* block) {{ {call}cudaFree(block); }}\n"
    for number in range(6):
        call = f"step_{number + 1}(block); " if number < 5 else ""
        declared = f"void step_{number + 1}(float*);\n"
        Path(f"s{number}.cu").write_text(declared + source.format(n=number, call=call))
    plan = plan_for()
    files = discover([Path()], plan.settings, plan.root).files
    links = linked(list(files), plan)
    assert len(context_of(["s2.cu"], links, 10)) == 5
    assert context_of(["s2.cu"], links, 2) == ("s1.cu", "s3.cu")
    assert context_of(["s2.cu"], links, 1) == ("s3.cu",)


def test_what_progress_raises_ends_the_run() -> None:
    class EnoughError(Exception):
        pass

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "reading code":
            raise EnoughError

    write(a_cu=LEAK)
    plan = plan_for()
    files = discover([Path()], plan.settings, plan.root).files
    with pytest.raises(EnoughError):
        lint(files, plan, progress=progress)


# Earlier runs -----------------------------------------------------------------------------------

UNDECLARED = """#include <cuda_runtime.h>
#include "missing.h"

Engine::~Engine() { cudaFree(data_); }

void fill(Context &context, int count) {
    float *device = nullptr;
    if (cudaMalloc(&device, count) != cudaSuccess) return;
    if (context.get<float>(count) == BROKEN) return;
    cudaFree(device);
}
"""


def test_what_a_file_was_read_after_before_is_a_guess_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan, readings = plan_for(jobs=2, cache=False), dict[str, jobs.Reading]()
    lowered: list[bool] = []
    execute = Run.execute

    def counted(self: Any, stage: str, handler: Any, payloads: Any, *rest: Any) -> Any:
        lowered.append(bool(payloads) and handler is jobs.lower)
        return execute(self, stage, handler, payloads, *rest)

    monkeypatch.setattr(Run, "execute", counted)
    texts = [
        (UNDECLARED, True),
        (UNDECLARED.replace("count)", "count + 1)"), False),
        (UNDECLARED.replace("BROKEN", "Shape::Round").replace("Context", "World"), True),
        (UNDECLARED.replace("missing", "other"), True),
        (LEAK, True),
        (LEAK.replace("n *", "2 * n *"), True),  # it lacks nothing: there is nothing to guess
    ]
    for text, anew in texts:
        write(a_cu=text)
        files = discover([Path()], plan.settings, plan.root).files
        lowered.clear()
        found = lint(files, plan, readings=readings)
        assert (True in lowered) == anew
        assert json.render(found) == json.render(run(jobs=2, cache=False))
        assert "a.cu:5 GPU101" in places(found) or "a.cu:8 GPU102" in places(found)
