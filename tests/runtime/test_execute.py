"""Programs that misbehave: a trace and a reason, and nothing left running."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from cudalint.runtime.account import account
from cudalint.runtime.build import BuildError, BuildOptions, build
from cudalint.runtime.devices import Simulated
from cudalint.runtime.execute import Run, RunResult, execute
from cudalint.runtime.processes import ProcessLimits
from tests.runtime.conftest import Lab, account_of, trace_of

LEAK = "void *p; cudaMalloc(&p, 64);"


def running(marker: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if marker.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def run(lab: Lab, body: str, seconds: float = 20, **limits: int) -> RunResult:
    marker = f"CUDALINT_TEST_MARKER_{os.urandom(8).hex()}"
    result = lab.run(
        "int main() {" + LEAK + body + "}",
        limits=ProcessLimits(seconds=seconds, memory=1024**3, **limits),
        environment={"MARKER": marker},
    )
    assert running(marker) == []
    if result.trace is not None:
        assert len(account(result.trace.events).leaks) == 1
    return result


@pytest.mark.parametrize(
    ("body", "ending"),
    [
        ("abort();", "killed by SIGABRT"),
        ("*(volatile int *)8 = 1;", "killed by SIGSEGV"),
        ("kill(getpid(), 9);", "killed by SIGKILL"),
        ("_exit(3);", "exit status 3"),
        ("return 300;", "exit status 44"),
    ],
)
def test_ends(lab: Lab, body: str, ending: str) -> None:
    result = lab.run(
        "#include <signal.h>\nint main() {" + LEAK + body + "}",
        limits=ProcessLimits(seconds=20),
    )
    assert result.ending == ending
    assert result.problem == ""
    assert trace_of(result).complete == (ending == "exit status 44")
    assert len(account_of(result).leaks) == 1


def test_hang(lab: Lab) -> None:
    start = time.monotonic()
    result = run(lab, "for (;;) pause();", seconds=1.5)
    assert result.timed_out
    assert result.ending.startswith("stopped after 1.")
    assert time.monotonic() - start < 60


def test_a_signal_while_it_is_started(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its handler leaves when the program runs already, but was not handed to us yet."""

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            raise SystemExit(143)

    program = lab.build("int main() { for (;;) pause(); }")
    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    marker = f"CUDALINT_TEST_MARKER_{os.urandom(8).hex()}"
    with pytest.raises(SystemExit):
        lab.run(program, environment={"MARKER": marker})
    assert running(marker) == []


def test_children_are_ended(lab: Lab) -> None:
    result = run(
        lab,
        """
        for (int i = 0; i < 3; i++)
            if (!fork()) {
                setsid();
                if (!fork()) for (;;) pause();
                for (;;) pause();
            }
        usleep(300000);
        return 0;
        """,
    )
    assert result.exit_status == 0
    assert result.survivors >= 3


def test_cuda_does_not_survive_a_fork(lab: Lab) -> None:
    result = lab.run(
        "#include <sys/wait.h>\nint main() {"
        + LEAK
        + """
            if (!fork()) {
                void *q;
                _exit(cudaMalloc(&q, 8) == cudaErrorInitializationError ? 7 : 0);
            }
            int status;
            wait(&status);
            return WEXITSTATUS(status);
        }""",
    )
    assert result.exit_status == 7
    assert len(account_of(result).leaks) == 1
    (child,) = result.children
    assert account(child.events).leaks == ()


def test_exit_in_a_thread(lab: Lab) -> None:
    executable = lab.build(
        """
        #include <thread>
        int main() {
            std::thread t([] {
                void *p;
                cudaMalloc(&p, 64);
                exit(5);
            });
            t.join();
        }
        """
    )
    result = lab.run(executable)
    assert result.exit_status == 5
    (leak,) = account_of(result).leaks
    assert leak.thread > 0 or trace_of(result).complete


def test_megabytes_of_output(lab: Lab) -> None:
    result = run(
        lab,
        """
        static char line[4096];
        memset(line, 'x', sizeof line);
        for (int i = 0; i < 5000; i++) { write(1, line, sizeof line); write(2, line, 16); }
        return 0;
        """,
        output=100_000,
    )
    assert result.exit_status == 0
    assert (len(result.stdout), result.output_cut) == (100_000, True)


def test_memory_is_limited(lab: Lab) -> None:
    result = run(
        lab,
        """
        size_t n = 0;
        for (; n < 4096; n++) {
            void *q = malloc(1 << 20);
            if (!q) return 9;
            memset(q, 1, 1 << 20);
        }
        return 0;
        """,
    )
    assert result.exit_status == 9


def test_a_temporary_folder_of_its_own(lab: Lab) -> None:
    result = run(
        lab,
        """
        FILE *f = fopen("left-behind.txt", "w");
        fprintf(f, "x");
        fclose(f);
        char name[4096];
        printf("%s", getcwd(name, sizeof name));
        return 0;
        """,
    )
    assert "cudalint-run-" in result.stdout
    assert not Path(result.stdout).exists()


def test_not_built_against_the_ledger() -> None:
    result = execute(Run(["/bin/true"], Simulated()))
    assert (result.exit_status, result.trace) == (0, None)
    assert "never loaded the ledger" in result.problem
    with pytest.raises(OSError, match="no-such-program"):
        execute(Run(["/no-such-program"], Simulated()))


def test_does_not_compile(tmp_path: Path, compiler: Path) -> None:
    source = tmp_path / "broken.cpp"
    source.write_text("#include <cuda_runtime_api.h>\nint main() { return undeclared_thing; }\n")
    with pytest.raises(BuildError, match="undeclared_thing") as caught:
        build(source, tmp_path / "build", BuildOptions())
    assert "broken.cpp:2" in caught.value.reason
    (tmp_path / "nothing").mkdir()
    with pytest.raises(BuildError, match="no source"):
        build(tmp_path / "nothing", tmp_path / "build", BuildOptions())


def test_another_program_of_the_same_process(lab: Lab) -> None:
    result = run(lab, 'execl("/bin/sh", "sh", "-c", "exit 4", (char *)0); return 1;')
    assert result.exit_status == 4
    assert result.trace is not None
