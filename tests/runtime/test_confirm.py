"""Verdicts: what is confirmed, refuted, not reached, not runnable; hostile programs."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.findings.verdict import Outcome, Verdict
from cudalint.runtime.confirm import Confirmed, ConfirmOptions, confirm
from cudalint.runtime.devices import Simulated
from cudalint.runtime.sweep import Budget
from cudalint.runtime.targets import targets_of
from cudalint.runtime.toolkit import find_nvcc
from cudalint.source import Span

needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="no nvcc on this machine")
HEAD = "#include <cuda_runtime_api.h>\n#include <cstdio>\n#include <cstdlib>\n"


class Case:
    """A program, and findings about its marked lines."""

    def __init__(self, folder: Path, text: str, name: str = "program.cpp") -> None:
        self.file = folder / name
        self.text = HEAD + textwrap.dedent(text)
        self.file.write_text(self.text)
        self.folder = folder

    def row(self, mark: str) -> int:
        return next(n for n, line in enumerate(self.text.split("\n"), 1) if mark in line)

    def finding(
        self, code: str, mark: str = "HERE", function: str = "work", **steps: str
    ) -> Finding:
        span = Span(self.row(mark), 1, self.row(mark), 80)
        return Finding(
            code, "name", Severity.WARNING, Confidence.HIGH, "message", str(self.file), span,
            function, "", tuple(
                Step(str(self.file), Span(self.row(mark), 1, self.row(mark), 80), message)
                for mark, message in steps.items()
            ),
        )  # fmt: skip

    def confirm(
        self, *findings: Finding, seconds: float = 20.0, budget: float = 120.0
    ) -> Confirmed:
        options = ConfirmOptions(
            Simulated(), Budget(budget), seconds=seconds, cache=self.folder / "cache"
        )
        return confirm(findings, targets_of([self.file]), options)

    def verdict(self, finding: Finding, **more: float) -> Verdict:
        verdict = self.confirm(finding, **more).findings[0].runtime
        assert verdict is not None
        return verdict


@pytest.fixture(autouse=True)
def _needs(compiler: Path) -> None:
    """All of these build programs."""


LEAK = """
void work() {{
    void* p = nullptr;
    if (cudaMalloc(&p, 1000) != cudaSuccess) return;  // HERE
    {release}
}}
int main() {{ work(); return 0; }}
"""


def test_a_leak_is_confirmed_with_bytes_and_stack(tmp_path: Path) -> None:
    case = Case(tmp_path, LEAK.format(release=""))
    verdict = case.verdict(case.finding("GPU101"))
    assert verdict.outcome is Outcome.CONFIRMED
    (evidence,) = verdict.evidence
    assert (evidence.bytes, evidence.run, evidence.fault) == (1000, "without faults", "")
    assert f"program.cpp:{case.row('HERE')} (work)" in evidence.stack[0]
    assert "simulated sm_90" in verdict.device


def test_what_is_released_is_refuted(tmp_path: Path) -> None:
    case = Case(tmp_path, LEAK.format(release="cudaFree(p);"))
    verdict = case.verdict(case.finding("GPU101"))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.evidence == ()


EARLY = """
bool work() {{
    void *p = nullptr, *q = nullptr;
    if (cudaMalloc(&p, 256) != cudaSuccess) return false;  // HERE
    if (cudaMalloc(&q, 512) != cudaSuccess) {{  // FAILS
        {release}
        return false;
    }}
    cudaFree(q);
    cudaFree(p);
    return true;
}}
int main() {{ return work() ? 0 : 1; }}
"""


def test_only_a_failing_call_shows_an_early_exit(tmp_path: Path) -> None:
    case = Case(tmp_path, EARLY.format(release=""))
    verdict = case.verdict(case.finding("GPU102", FAILS="`cudaMalloc` fails"))
    assert verdict.outcome is Outcome.CONFIRMED
    (evidence,) = verdict.evidence
    assert evidence.fault == f"cudaMalloc at {case.file}:{case.row('FAILS')}"
    assert evidence.bytes == 256


def test_an_early_exit_that_releases_is_refuted(tmp_path: Path) -> None:
    case = Case(tmp_path, EARLY.format(release="cudaFree(p);"))
    verdict = case.verdict(case.finding("GPU102", FAILS="`cudaMalloc` fails"))
    assert verdict.outcome is Outcome.REFUTED
    assert "calls failing" in verdict.reason


def test_an_exception_between(tmp_path: Path) -> None:
    text = """
        static void check(cudaError_t e) { if (e != cudaSuccess) throw 1; }
        void work() {
            void* p = nullptr;
            check(cudaMalloc(&p, 256));  // HERE
            check(cudaMemset(p, 0, 256));  // FAILS
            check(cudaFree(p));
        }
        int main() { try { work(); } catch (int) { return 2; } return 0; }
        """
    case = Case(tmp_path, text)
    verdict = case.verdict(case.finding("GPU103", FAILS="`cudaMemset` fails"))
    assert verdict.outcome is Outcome.CONFIRMED
    assert "cudaMemset" in verdict.evidence[0].fault


def test_exit_below_the_owner_is_no_leak(tmp_path: Path) -> None:
    text = """
        static void check(cudaError_t e) { if (e != cudaSuccess) exit(3); }
        void work() {
            void* p = nullptr;
            check(cudaMalloc(&p, 256));  // HERE
            check(cudaMemset(p, 0, 256));  // FAILS
            check(cudaFree(p));
        }
        int main() { work(); return 0; }
        """
    case = Case(tmp_path, text)
    verdict = case.verdict(case.finding("GPU102", FAILS="`cudaMemset` fails"))
    assert verdict.outcome is Outcome.REFUTED


def test_a_path_that_is_not_taken_is_not_reached(tmp_path: Path) -> None:
    text = """
        void work(int n) {
            void* p = nullptr;
            if (n > 3) cudaMalloc(&p, 256);  // HERE
        }
        int main(int argc, char**) { work(argc); return 0; }
        """
    case = Case(tmp_path, text)
    verdict = case.verdict(case.finding("GPU101"))
    assert verdict.outcome is Outcome.NOT_REACHED
    assert "never made the call" in verdict.reason


@pytest.mark.parametrize(
    ("again", "outcome"), [("cudaFree(p);", Outcome.CONFIRMED), ("", Outcome.NOT_REACHED)]
)
def test_double_free(tmp_path: Path, again: str, outcome: Outcome) -> None:
    text = f"""
        int main() {{
            void* p = nullptr;
            if (cudaMalloc(&p, 64) != cudaSuccess) return 1;
            cudaFree(p);
            {again}  // HERE
            return 0;
        }}
        """
    case = Case(tmp_path, text)
    assert case.verdict(case.finding("GPU201", function="main")).outcome is outcome


def test_a_rule_that_no_run_can_show_has_no_verdict(tmp_path: Path) -> None:
    case = Case(tmp_path, LEAK.format(release=""))
    assert case.confirm(case.finding("GPU503")).findings[0].runtime is None


def test_what_only_a_run_shows(tmp_path: Path) -> None:
    case = Case(tmp_path, LEAK.format(release=""))
    (seen,) = case.confirm().seen
    assert (seen.code, seen.span.row) == ("GPU101", case.row("HERE"))
    assert seen.runtime is not None
    assert seen.runtime.outcome is Outcome.CONFIRMED
    # A static finding at the same place covers it.
    assert case.confirm(case.finding("GPU101")).seen == ()


# Hostile programs -------------------------------------------------------------------------------


def reason_of(tmp_path: Path, text: str, **more: float) -> tuple[Outcome, str]:
    case = Case(tmp_path, text)
    verdict = case.verdict(case.finding("GPU101", function="main"), **more)
    return verdict.outcome, verdict.reason


MAIN = """
#include <unistd.h>
#include <vector>
int main(int argc, char** argv) {{
    {before}
    void* p = nullptr;
    if (cudaMalloc(&p, 64) != cudaSuccess) return 1;  // HERE
    {after}
    return 0;
}}
"""


def test_it_does_not_compile(tmp_path: Path) -> None:
    outcome, reason = reason_of(tmp_path, "int main() { return nowhere; }  // HERE")
    assert outcome is Outcome.NOT_RUNNABLE
    assert "does not build" in reason
    assert "nowhere" in reason


def test_it_crashes(tmp_path: Path) -> None:
    text = MAIN.format(before="", after="*(volatile int*)nullptr = 1;")
    outcome, reason = reason_of(tmp_path, text)
    assert outcome is Outcome.NOT_REACHED
    assert "SIGSEGV" in reason


def test_it_hangs(tmp_path: Path) -> None:
    text = MAIN.format(before="", after="for (;;) pause();")
    outcome, reason = reason_of(tmp_path, text, seconds=2.0)
    assert outcome is Outcome.NOT_REACHED
    assert "time limit" in reason


def test_it_needs_arguments(tmp_path: Path) -> None:
    text = MAIN.format(before="if (argc < 2) return 64;", after="")
    outcome, reason = reason_of(tmp_path, text)
    assert outcome is Outcome.NOT_REACHED
    assert "never made the call" in reason


def test_it_prints_megabytes(tmp_path: Path) -> None:
    loop = 'for (int i = 0; i < 300000; i++) printf("%d lines and counting\\n", i);'
    outcome, _ = reason_of(tmp_path, MAIN.format(before=loop, after=""))
    assert outcome is Outcome.CONFIRMED


def test_it_leaves_a_child_behind(tmp_path: Path) -> None:
    text = MAIN.format(before="if (fork() == 0) { setsid(); sleep(300); }", after="")
    outcome, _ = reason_of(tmp_path, text)
    assert outcome is Outcome.CONFIRMED


def test_the_others_are_unharmed(tmp_path: Path) -> None:
    bad = Case(tmp_path, "int main() { return nowhere; }", "broken.cpp")
    good = Case(tmp_path, LEAK.format(release=""))
    options = ConfirmOptions(Simulated(), jobs=2, cache=tmp_path / "cache")
    result = confirm([good.finding("GPU101")], targets_of([bad.file, good.file]), options)
    assert result.findings[0].runtime is not None
    assert result.findings[0].runtime.outcome is Outcome.CONFIRMED
    assert len(result.failed) == 1


def test_the_budget_is_obeyed(tmp_path: Path) -> None:
    case = Case(tmp_path, LEAK.format(release=""))
    verdict = case.verdict(case.finding("GPU101"), budget=0.0)
    assert verdict.outcome is Outcome.NOT_REACHED
    assert "no time" in verdict.reason


# Values that a kernel should have computed ------------------------------------------------------


KERNEL = """
#include <cuda_runtime.h>
__global__ void count(int* n) {{ *n = 7; }}
bool work() {{
    int *n = nullptr, host = 5;
    if (cudaMalloc(&n, sizeof(int)) != cudaSuccess) return false;  // HERE
    count<<<1, 1>>>(n);
    cudaMemcpy(&host, n, sizeof(int), cudaMemcpyDeviceToHost);
    {ending}
    return true;
}}
int main() {{ return work() ? 0 : 1; }}
"""


@needs_nvcc
def test_a_leak_whatever_kernels_compute(tmp_path: Path) -> None:
    case = Case(tmp_path, KERNEL.format(ending='printf("%d\\n", host);'), "program.cu")
    assert case.verdict(case.finding("GPU101")).outcome is Outcome.CONFIRMED


@needs_nvcc
@pytest.mark.parametrize("condition", ["host == -1", "host == 9", "host > 100"])
def test_a_leak_that_depends_on_what_kernels_compute(tmp_path: Path, condition: str) -> None:
    ending = f"if ({condition}) return false;\n    cudaFree(n);"
    case = Case(tmp_path, KERNEL.format(ending=ending), "program.cu")
    verdict = case.verdict(case.finding("GPU102"))
    assert verdict.outcome is Outcome.NOT_REACHED
    assert "values that a kernel computes" in verdict.reason
