"""The command line: commands, options, exit statuses, and what goes where."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cudalint import __version__
from cudalint.cli import main

LEAK = """from cuda.bindings import runtime as cudart


def reserve(size: int) -> bool:
    err, block = cudart.cudaMalloc(size)
    if err != cudart.cudaError_t.cudaSuccess:
        return False
    (err,) = cudart.cudaMemset(block, 0, size)
    return err == cudart.cudaError_t.cudaSuccess
"""
CLEAN = LEAK.replace("    return err ==", "    cudart.cudaFree(block)\n    return err ==")
CPP_LEAK = """#include <cuda_runtime.h>
int main() {
    int* p;
    return cudaMalloc(&p, 4) == cudaSuccess ? 0 : 1;
}
"""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "CUDALINT_TRACEBACK", "CUDALINT_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)


class Outcome:
    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


@pytest.fixture
def cudalint(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> Outcome:
        status = main(arguments)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cudalint", *arguments]
    return subprocess.run(command, capture_output=True, timeout=120, **options)


# Exit statuses ----------------------------------------------------------------------------------


def test_findings_clean_and_nothing(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    found = cudalint("a.py")
    assert found.status == 1
    assert found.out.startswith("a.py:5:18: warning: ")
    assert "\nFound 1 warning in 1 file.\n" in found.out
    assert found.err == ""
    Path("a.py").write_text(CLEAN)
    assert cudalint("check", "a.py").status == 0
    assert cudalint().out == "No CUDA memory misuse found in 1 file.\n"
    Path("a.py").write_text("x = 1\n")
    assert cudalint().out == "No file to analyse mentions CUDA.\n"
    Path("a.py").unlink()
    nothing = cudalint(".")
    assert nothing.status == 0
    assert nothing.err == "cudalint: no CUDA C++ or Python files found\n"


def test_fail_level_and_exit_zero(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    assert cudalint("a.py", "--fail-level", "error").status == 0
    assert cudalint("a.py", "--exit-zero").status == 0
    Path("cudalint.toml").write_text('severity = { GPU101 = "info" }\n')
    assert cudalint("a.py").status == 0
    assert cudalint("a.py", "--fail-level", "info").status == 1


def test_what_cannot_be_linted_is_2_and_the_rest_is_linted(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    Path("b.cu").write_bytes(b"\0\0")
    Path("c.cu").write_bytes(b"")
    found = cudalint("a.py", "b.cu", "c.cu", "nowhere.cu", "--exit-zero")
    assert found.status == 2
    assert "a.py:5:18: warning: " in found.out
    assert found.err.splitlines() == [
        "cudalint: b.cu: is binary (it contains NUL bytes)",
        "cudalint: nowhere.cu: does not exist",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--selct", "GPU1"], "No such option '--selct'"),
        (["--select", "GPU999"], "--select: no rule is called GPU999"),
        (["--config", "preveiw=true"], "unknown key `preveiw`; did you mean `preview`?"),
        (["--config", "nowhere.toml"], "--config nowhere.toml: no such file"),
        (["--device-memory", "much"], "--device-memory: "),
        (["--target", "sm_1"], "--target: "),
        (["--per-file-ignores", "x"], "'x' is not PATTERN:RULE"),
        (["--jobs", "0"], "'-j'"),
        (["--stdin-filename", "a.cu"], "--stdin-filename: only with `-`"),
        (["--output-file", "no/such/folder"], "--output-file no/such/folder: No such file"),
        (["--isolated", "--config", "c.toml"], "--isolated reads no configuration file"),
        (["rule"], "which rule?"),
        (["rule", "GPU11X"], "no rule is called GPU11X; did you mean GPU101?"),
        (["config", "slect"], "there is no key `slect`; did you mean `select`?"),
    ],
)
def test_wrong_usage_is_2_and_one_line(cudalint: Any, arguments: list[str], message: str) -> None:
    Path("c.toml").touch()
    found = cudalint(*arguments)
    assert found.status == 2
    assert message in found.err
    assert found.err.startswith("cudalint: ") and found.err.count("\n") == 1
    assert found.out == ""


def test_an_unknown_key_names_key_file_and_nearest(cudalint: Any) -> None:
    Path("pyproject.toml").write_text("[tool.cudalint]\nfail-levle = 'error'\n")
    found = cudalint(".")
    assert found.status == 2
    file = Path("pyproject.toml").absolute()
    assert found.err == (
        f"cudalint: {file}: unknown key `tool.cudalint.fail-levle`; "
        "did you mean `tool.cudalint.fail-level`?\n"
    )


def test_an_internal_error_is_2_without_a_traceback(
    cudalint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by\x1b zero")

    monkeypatch.setattr("cudalint.commands.check.lint", broken)
    Path("a.py").write_text(LEAK)
    found = cudalint("a.py")
    assert found.status == 2
    assert found.err.startswith(
        "cudalint: internal error: ZeroDivisionError: division by\\x1b zero (CUDALINT_TRACEBACK=1"
    )
    assert found.err.count("\n") == 1
    monkeypatch.setenv("CUDALINT_TRACEBACK", "1")
    assert "Traceback" in cudalint("a.py").err


def signalled(number: signal.Signals, stage: str, body: str) -> subprocess.CompletedProcess[str]:
    """A run that gets a signal once the replaced handler of a stage has made the file `started`;
    none of its processes is left."""
    script = (
        "import os, signal, time, cudalint.jobs as jobs\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it\n"
        f"original = jobs.{stage}\n"
        f"def slow(job):\n{body}    open('started', 'w').close()\n    time.sleep(60)\n"
        f"jobs.{stage} = slow\n"
        "from cudalint.cli import main\n"
        "raise SystemExit(main(['.', '--no-cache', '-j', '1']))\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    deadline = time.monotonic() + 30
    while not Path("started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    if number is signal.SIGINT:
        os.killpg(running.pid, number)
    else:
        running.send_signal(number)
    out, err = running.communicate(timeout=30)
    assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)
    return subprocess.CompletedProcess([], running.returncode, out, err)


INTERRUPTED = (
    "cudalint: interrupted: what was found until then is shown, the rest was not analysed\n"
)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_is_130_and_leaves_no_worker() -> None:
    Path("a.py").write_text(LEAK)
    done = signalled(signal.SIGINT, "lower", "")
    assert (done.returncode, done.stderr) == (130, INTERRUPTED)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_keeps_what_was_found() -> None:
    # The larger file is analysed first.
    Path("a.py").write_text(LEAK + "# cudalint: ignore[GPU201]\n" + "unused = 1\n" * 50)
    Path("b.py").write_text(LEAK)
    body = "    if b'a.py' in job: return original(job)\n"
    done = signalled(signal.SIGINT, "analyze", body)
    assert (done.returncode, done.stderr) == (130, INTERRUPTED)
    assert [line.split(" ")[:2] for line in done.stdout.splitlines()[:-2]] == [
        ["a.py:5:18:", "warning:"]
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_termination_leaves_no_worker() -> None:
    Path("a.py").write_text(LEAK)
    assert signalled(signal.SIGTERM, "lower", "").returncode == 143


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes")
def test_a_closed_pipe_is_quiet_and_the_status_counts() -> None:
    Path("a.py").write_text(LEAK)
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "cudalint", "a.py"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=120)
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 1


# Output -----------------------------------------------------------------------------------------


def test_formats(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    full = cudalint("a.py", "--output-format", "full").out
    assert "\n5 |     err, block = cudart.cudaMalloc(size)\n" in full
    assert cudalint("a.py", "--output-format", "concise").out.count("\n") == 3
    data = json.loads(cudalint("a.py", "--output-format", "json").out)
    assert data["schema_version"] == 1
    assert [finding["code"] for finding in data["findings"]] == ["GPU101"]
    counts = cudalint("a.py", "--statistics").out
    assert counts.startswith("1  GPU101  unpaired-allocation\n")
    assert json.loads(cudalint("a.py", "--statistics", "--output-format", "json").out) == [
        {"code": "GPU101", "name": "unpaired-allocation", "count": 1}
    ]


def test_json_holds_errors_too(cudalint: Any) -> None:
    Path("b.cu").write_bytes(b"\0\0")
    found = cudalint("b.cu", "nowhere.cu", "--output-format", "json")
    assert found.status == 2
    assert json.loads(found.out)["errors"] == [
        {"filename": "b.cu", "message": "is binary (it contains NUL bytes)"},
        {"filename": "nowhere.cu", "message": "does not exist"},
    ]


def test_output_file_and_quiet(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    found = cudalint("a.py", "--output-file", "report.json", "--output-format", "json")
    assert found.status == 1
    assert found.out == "Found 1 warning in 1 file.\n1 finding can be fixed with `--fix`.\n"
    assert json.loads(Path("report.json").read_text())["summary"]["findings"] == 1
    assert cudalint("a.py", "-o", "report.txt", "-q").out == ""
    assert Path("report.txt").read_text().startswith("a.py:5:18: warning: ")
    assert cudalint("a.py", "-q").out.count("\n") == 1


def test_colour(cudalint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text(LEAK)
    assert "\x1b" not in cudalint("a.py").out
    assert "\x1b[1;33mwarning\x1b[0m: " in cudalint("a.py", "--color", "always").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in cudalint("a.py").out
    assert "\x1b" not in cudalint("a.py", "--color", "never").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in cudalint("a.py").out


def test_verbose_goes_to_stderr(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    found = cudalint("a.py", "-v")
    assert "files found: 1" in found.err and "GPU101" in found.err
    assert found.out == cudalint("a.py").out


def test_names_with_newlines_stay_on_one_line(cudalint: Any) -> None:
    Path("a\n\x1b[31m.py").write_text(LEAK)
    found = cudalint(".")
    assert found.out.startswith("a\\n\\x1b[31m.py:5:18: warning: ")
    assert "\x1b" not in found.out


# Input ------------------------------------------------------------------------------------------


def test_standard_input() -> None:
    Path("sub").mkdir()
    Path("sub/cudalint.toml").write_text('ignore = ["GPU101"]\n')
    found = process("-", "--stdin-filename", "b.py", input=LEAK.encode())
    assert found.returncode == 1 and found.stdout.startswith(b"b.py:5:18: warning: ")
    found = process("-", input=LEAK.encode())
    assert found.stdout.startswith(b"<stdin>:5:18: warning: ")
    found = process("-", input=CPP_LEAK.encode())
    assert found.stdout.startswith(b"<stdin>:4:12: ")


def test_configuration_follows_the_name_of_standard_input() -> None:
    Path("sub").mkdir()
    Path("sub/cudalint.toml").write_text('ignore = ["GPU101"]\n')
    found = process("-", "--stdin-filename", "sub/b.py", input=LEAK.encode())
    assert found.returncode == 0, found.stdout


def test_selection_options(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    assert cudalint("a.py", "--ignore", "GPU1,GPU2").status == 0
    assert (
        cudalint("a.py", "--select", "GPU2", "--extend-select", "unpaired-allocation").status == 1
    )
    assert cudalint("a.py", "--per-file-ignores", "*.py:GPU101").status == 0
    assert cudalint("--exclude", "*.py").status == 0


def test_a_path_may_be_called_like_a_command(cudalint: Any) -> None:
    Path("config").mkdir()
    Path("config/a.py").write_text(LEAK)
    assert cudalint("./config").status == 1
    assert cudalint("check", "config").status == 1


# Other commands ---------------------------------------------------------------------------------


def test_rule(cudalint: Any) -> None:
    by_code, by_name = cudalint("rule", "gpu102"), cudalint("rule", "early-exit-leak")
    assert by_code.status == 0
    assert by_code.out == by_name.out
    assert by_code.out.startswith("# early-exit-leak\n\n*GPU102 · ")
    assert "## Why is this bad?" in by_code.out
    data = json.loads(cudalint("rule", "GPU102", "--output-format", "json").out)
    assert data["code"] == "GPU102" and data["summary"]
    every = json.loads(cudalint("rule", "--all", "--output-format", "json").out)
    assert len(every) > 20
    assert "early-exit-leak" in cudalint("rule", "GPU102", "--color", "always").out


def test_config(cudalint: Any) -> None:
    Path("cudalint.toml").write_text('device-memory = "16GiB"\n')
    every = cudalint("config", "--max-transfer", "1GiB")
    origin = Path("cudalint.toml").absolute()
    assert f'device-memory = "16GiB"  # {origin}\n' in every.out
    assert 'max-transfer = "1GiB"  # command line\n' in every.out
    assert 'fail-level = "warning"  # default\n' in every.out
    one = cudalint("config", "device-memory")
    assert (
        one.out
        == f'# The budget of one allocation: ``16GiB``.\ndevice-memory = "16GiB"  # {origin}\n'
    )


def test_config_shows_what_counts_where_nothing_is_set(cudalint: Any) -> None:
    out = cudalint("config", "--isolated", "-j", "3").out
    assert "# max-transfer: 256 MiB  # default\n" in out
    assert "# target: every device there is  # default\n" in out
    assert "jobs = 3  # command line\n" in out
    assert "not set" not in out


def test_rules_of_a_prefix(cudalint: Any) -> None:
    pages = cudalint("rule", "GPU40").out
    assert re.findall(r"^\*(GPU\d+) ·", pages, re.MULTILINE) == [
        f"GPU{number}" for number in range(401, 409)
    ]
    assert cudalint("rule", "GPU9").err == "cudalint: no rule is called GPU9\n"


def test_settings_that_cannot_be_meant_are_told(cudalint: Any) -> None:
    Path("a.py").write_text(CLEAN)
    config = Path("cudalint.toml")
    config.write_text("device-memory = 40\n")
    assert cudalint("a.py").err == (
        f"cudalint: {config.absolute()}: `device-memory`: 40 bytes cannot be meant; did you mean "
        "`40GiB`?\n"
    )
    assert cudalint("a.py", "--isolated", "--standard", "c++99").err == (
        "cudalint: --standard: `c++99` is no standard, such as c++17 or c11\n"
    )
    config.write_text('include-folders = ["nope"]\n[per-file-ignores]\n"none/**" = ["GPU1"]\n')
    found = cudalint("a.py", "-v")
    assert (found.status, found.err.splitlines()[0]) == (
        0,
        f"cudalint: warning: {config.absolute()}: `include-folders`: there is no folder `nope`",
    )
    idle = "cudalint: note: `per-file-ignores`: no file matches `none/**`\n"
    assert idle in found.err
    # Of a part of the project nobody knows; of all of it, it is told unasked.
    assert idle in cudalint(".").err and idle not in cudalint("a.py").err
    assert cudalint("a.py", "--quiet").err == ""


def test_clean(cudalint: Any) -> None:
    Path("a.py").write_text(LEAK)
    cudalint("a.py")
    assert Path(".cudalint_cache/.gitignore").exists()
    assert cudalint("clean").out == "Removed .cudalint_cache\n"
    assert not Path(".cudalint_cache").exists()
    assert cudalint("clean").status == 0
    Path("precious").mkdir()
    refused = cudalint("clean", "--cache-dir", "precious")
    assert refused.status == 2 and Path("precious").exists()


def test_the_cache_folder_can_be_chosen(cudalint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text(LEAK)
    cudalint("a.py", "--cache-dir", "kept")
    monkeypatch.setenv("CUDALINT_CACHE_DIR", "env")
    cudalint("a.py")
    assert Path("kept").is_dir() and Path("env").is_dir()
    assert not Path(".cudalint_cache").exists()


def test_help_and_version(cudalint: Any) -> None:
    assert cudalint("--version").out == f"cudalint {__version__}\n"
    assert "rule" in cudalint("--help").out
    assert "--select" in cudalint("check", "--help").out
    assert "--select" in cudalint("--select", "GPU1", "--help").out


def test_version_imports_nothing_heavy() -> None:
    script = (
        "import sys; from cudalint.cli import main; main(['--version'])\n"
        "heavy = {'rich', 'msgspec', 'libcst', 'clang', 'pathspec', 'cudalint.linter',\n"
        "         'multiprocessing', 'tomllib'} & set(sys.modules)\n"
        "raise SystemExit(f'imported: {heavy}' if heavy else 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
