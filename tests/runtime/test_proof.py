"""What a run proves and what it does not: uncaught exceptions, exits, what is kept to the end."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cudalint.findings.finding import Severity
from cudalint.findings.verdict import Outcome, Verdict
from tests.runtime.test_confirm import Case

GUARD = """
#include <stdexcept>
#define CHECK(e) do { if ((e) != cudaSuccess) throw std::runtime_error("cuda"); } while (0)
struct Guard { void* p; ~Guard() { cudaFree(p); } };
"""


@pytest.fixture(autouse=True)
def _needs(compiler: Path) -> None:
    """All of these build programs."""


def verdict(folder: Path, text: str, code: str = "GPU103") -> Verdict:
    case = Case(folder, text)
    steps = {"FAILS": "`cudaMemset` fails"} if "FAILS" in text else {}
    return case.verdict(case.finding(code, **steps))


# Exceptions that nobody catches -----------------------------------------------------------------


def test_destructors_run_although_nobody_catches(tmp_path: Path) -> None:
    text = """
        void work() {
            void* p = nullptr;
            CHECK(cudaMalloc(&p, 64));  // HERE
            Guard guard{p};
            CHECK(cudaMemset(p, 0, 64));  // FAILS
        }
        int main() { work(); return 0; }
        """
    found = verdict(tmp_path, GUARD + textwrap.dedent(text))
    assert found.outcome is Outcome.REFUTED
    assert "calls failing" in found.reason


def test_a_leak_below_an_exception_that_nobody_catches(tmp_path: Path) -> None:
    text = """
        void work() {
            void* p = nullptr;
            CHECK(cudaMalloc(&p, 64));  // HERE
            CHECK(cudaMemset(p, 0, 64));  // FAILS
            cudaFree(p);
        }
        int main() { work(); return 0; }
        """
    found = verdict(tmp_path, GUARD + textwrap.dedent(text))
    assert found.outcome is Outcome.CONFIRMED
    assert "nobody catches the exception (std::runtime_error)" in found.evidence[0].run


@pytest.mark.parametrize(
    ("around", "ending"),
    [
        ("void work() noexcept {", "throw 1;"),
        ("void work() {", "abort();"),
        ("void work() {", "__builtin_trap();"),
        ("void work() {", "_exit(3);"),
        ("void work() {", "quick_exit(3);"),
    ],
)
def test_a_program_that_does_not_survive_proves_nothing(
    tmp_path: Path, around: str, ending: str
) -> None:
    text = f"""
        #include <unistd.h>
        bool lose() {{
            void* p = nullptr;
            if (cudaMalloc(&p, 64) != cudaSuccess) return false;  // HERE
            if (cudaMemset(p, 0, 64) != cudaSuccess) return false;  // FAILS
            return cudaFree(p) == cudaSuccess;
        }}
        {around}
            if (!lose()) {{ {ending} }}
        }}
        int main() {{ work(); return 0; }}
        """
    found = verdict(tmp_path, text, "GPU102")
    assert found.outcome is Outcome.NOT_REACHED, found
    assert "did not come to its end" in found.reason


def test_a_terminate_handler_of_the_program_is_called(tmp_path: Path) -> None:
    text = """
        void work() { if (cudaDeviceSynchronize() == cudaSuccess) throw 1; }
        int main() {
            std::set_terminate([] { puts("mine"); exit(0); });
            void* p = nullptr;
            if (cudaMalloc(&p, 64) != cudaSuccess) return 1;  // HERE
            work();
        }
        """
    case = Case(tmp_path, "#include <exception>\n" + textwrap.dedent(text))
    (base,) = case.confirm().bases.values()
    assert base.result.exit_status == 0
    assert "mine" in base.result.stdout
    assert base.exits


def test_the_program_still_ends_as_it_would(tmp_path: Path) -> None:
    text = 'int main() { cudaFree(nullptr); throw std::runtime_error("so it is"); }'
    (base,) = Case(tmp_path, GUARD + text).confirm().bases.values()
    assert base.result.ending == "killed by SIGABRT"
    assert "std::runtime_error" in base.result.stderr
    assert "so it is" in base.result.stderr
    assert base.uncaught == "std::runtime_error"
    assert base.ended


# exit -------------------------------------------------------------------------------------------


LOST = """
bool lose() {{
    void* p = nullptr;
    if (cudaMalloc(&p, 64) != cudaSuccess) return false;  // HERE
    if (cudaMemset(p, 0, 64) != cudaSuccess) return false;  // FAILS
    return cudaFree(p) == cudaSuccess;
}}
void die() {{ exit(1); }}
int main() {{ if (!lose()) {ending}; return 0; }}
"""


@pytest.mark.parametrize(
    ("ending", "outcome"), [("exit(1)", Outcome.CONFIRMED), ("die()", Outcome.NOT_REACHED)]
)
def test_exit_proves_something_in_main_only(tmp_path: Path, ending: str, outcome: Outcome) -> None:
    found = verdict(tmp_path, LOST.format(ending=ending), "GPU102")
    assert found.outcome is outcome
    assert outcome is Outcome.CONFIRMED or "proves nothing" in found.reason


def test_what_an_object_of_main_holds_at_exit_is_not_lost(tmp_path: Path) -> None:
    text = """
        struct Buffer {
            void* p = nullptr;
            Buffer() { if (cudaMalloc(&p, 64) != cudaSuccess) throw 1; }  // HERE
            ~Buffer() { cudaFree(p); }
        };
        int main() {
            Buffer b;
            if (cudaMemset(b.p, 0, 64) != cudaSuccess) exit(1);  // FAILS
            return 0;
        }
        """
    assert verdict(tmp_path, text).outcome is not Outcome.CONFIRMED


# A run that contradicts -------------------------------------------------------------------------


def test_never_released_is_refuted_by_a_run_that_releases(tmp_path: Path) -> None:
    text = """
        void work() {
            void* p = nullptr;
            if (cudaMalloc(&p, 64) != cudaSuccess) return;  // HERE
            if (cudaMemset(p, 0, 64) != cudaSuccess) return;
            cudaFree(p);
        }
        int main() { work(); return 0; }
        """
    found = verdict(tmp_path, text, "GPU101")
    assert found.outcome is Outcome.REFUTED
    assert found.reason == "the run without faults released all of it"


def test_a_second_release_is_no_release_of_what_has_no_value(tmp_path: Path) -> None:
    text = """
        static void* before;
        void work(void* unset) { cudaFree(unset); }  // HERE
        int main() {
            if (cudaMalloc(&before, 64) != cudaSuccess) return 1;
            cudaFree(before);
            work(before);
            return 0;
        }
        """
    found = verdict(tmp_path, text, "GPU204")
    assert found.outcome is Outcome.NOT_REACHED
    assert found.evidence == ()


# Kept to the end --------------------------------------------------------------------------------


KEPT = """
#include <map>
#include <memory>
#include <vector>
struct Pool {{ virtual ~Pool() {{}} void* p = nullptr; }};
struct Two : Pool {{ int n = 0; }};
{before}
void work() {{
    void* p = nullptr;
    if (cudaMalloc(&p, 4096) != cudaSuccess) return;  // HERE
    {keep};
}}
int main() {{ work(); return 0; }}
"""


@pytest.mark.parametrize(
    ("before", "keep"),
    [
        ("static void* kept;", "kept = p"),
        ("static thread_local void* kept;", "kept = p"),
        ("", "static char* kept = (char*)p + 512; (void)kept"),
        ("static std::vector<void*> kept;", "kept.push_back(p)"),
        ("static auto* kept = new std::map<int, void*>;", "(*kept)[3] = p"),
        ("static Two* kept;", "kept = new Two; kept->p = p"),
        ("static std::unique_ptr<Pool>& kept = *new std::unique_ptr<Pool>;",
         "kept.reset(new Two); kept->p = p"),
        ("static void** kept;",
         "kept = (void**)malloc(1 << 20); kept[9999] = p"),
        ("static void* kept;",
         "cudaMalloc(&kept, 8); cudaMemcpy(kept, &p, 8, cudaMemcpyHostToDevice)"),
        ("static void** kept;", "cudaMallocHost((void**)&kept, 4096); kept[100] = p"),
    ],
)  # fmt: skip
def test_what_a_global_leads_to_is_kept(tmp_path: Path, before: str, keep: str) -> None:
    case = Case(tmp_path, KEPT.format(before=before, keep=keep))
    seen = case.confirm().seen
    kept = next(one for one in seen if one.span.row == case.row("HERE"))
    assert (kept.severity, kept.code) == (Severity.INFO, "GPU101")
    assert kept.runtime is not None
    assert kept.runtime.outcome is Outcome.KEPT
    assert "kept until the end" in kept.message
    assert case.verdict(case.finding("GPU101")).outcome is Outcome.KEPT


@pytest.mark.parametrize(
    ("before", "keep"),
    [
        ("", "void** lost = new void*[3]; lost[1] = p; (void)lost"),
        ("static void* kept;", "kept = p; kept = nullptr"),
        ("static void** kept;", "kept = new void*[3]; kept[1] = p; delete[] kept; kept = nullptr"),
        ("static long kept;", "kept = (long)p ^ 0xff00ff00"),
    ],
)
def test_what_nothing_leads_to_is_lost(tmp_path: Path, before: str, keep: str) -> None:
    case = Case(tmp_path, KEPT.format(before=before, keep=keep))
    assert case.verdict(case.finding("GPU101")).outcome is Outcome.CONFIRMED


def test_a_handle_that_a_global_holds(tmp_path: Path) -> None:
    text = """
        static cudaStream_t kept;
        void work() { if (cudaStreamCreate(&kept) != cudaSuccess) return; }  // HERE
        int main() { work(); work(); return 0; }
        """
    case = Case(tmp_path, text)
    # The second overwrites the first, which is lost.
    (base,) = case.confirm().bases.values()
    assert (len(base.account.kept), len(base.account.leaks)) == (1, 1)


def test_what_a_static_object_releases_is_released(tmp_path: Path) -> None:
    text = """
        struct Owner { void* p = nullptr; ~Owner() { cudaFree(p); } };
        static Owner owner;
        void work() { if (cudaMalloc(&owner.p, 64) != cudaSuccess) return; }  // HERE
        int main() { work(); return 0; }
        """
    case = Case(tmp_path, text)
    assert case.confirm().seen == ()
    assert case.verdict(case.finding("GPU101")).outcome is Outcome.REFUTED


# What does not end the run ----------------------------------------------------------------------


def test_a_free_of_pinned_memory_does_not_end_the_run(tmp_path: Path) -> None:
    text = """
        void work() {
            void *p = nullptr, *q = nullptr;
            if (cudaMallocHost(&p, 64) != cudaSuccess) return;
            free(p);  // FREED
            if (cudaMalloc(&q, 64) != cudaSuccess) return;  // HERE
        }
        int main() { work(); return 0; }
        """
    case = Case(tmp_path, text)
    result = case.confirm(case.finding("GPU101"), case.finding("GPU203", "FREED"))
    outcomes = [one.runtime.outcome for one in result.findings if one.runtime]
    assert outcomes == [Outcome.CONFIRMED, Outcome.CONFIRMED]
    assert result.seen == ()


# Wrappers ---------------------------------------------------------------------------------------


def test_a_leak_through_a_wrapper_is_its_callers(tmp_path: Path) -> None:
    text = """
        void* take(size_t n) { void* p = nullptr; cudaMalloc(&p, n); return p; }
        void released() { cudaFree(take(100)); }
        void lost() { take(200); }  // HERE
        int main() { released(); lost(); return 0; }
        """
    case = Case(tmp_path, text)
    (found,) = case.confirm().seen
    assert found.span.row == case.row("HERE")
    assert found.runtime is not None
    assert "(take)" in found.runtime.evidence[0].stack[0]


# Names ------------------------------------------------------------------------------------------


def test_stacks_are_demangled(tmp_path: Path) -> None:
    text = """
        namespace art { struct Image { Image(unsigned long n); void* p; }; }
        art::Image::Image(unsigned long n) { cudaMalloc(&p, n); }  // HERE
        int main() { art::Image image(10); return image.p == nullptr; }
        """
    case = Case(tmp_path, text)
    found = case.verdict(case.finding("GPU105", function="Image"))
    assert found.outcome is Outcome.CONFIRMED
    assert found.evidence[0].stack[0].endswith("(Image)")


# Calls of the host's own ------------------------------------------------------------------------


HOST = """
#include <new>
#include <vector>
bool work(const char* path) {{
    void* p = nullptr;
    if (cudaMalloc(&p, 256) != cudaSuccess) return false;  // HERE
    {host}
    return cudaFree(p) == cudaSuccess;
}}
int main(int, char** words) {{
    try {{ return work(words[0]) ? 0 : 1; }} catch (const std::bad_alloc&) {{ return 2; }}
}}
"""


@pytest.mark.parametrize(
    ("host", "api"),
    [
        ('FILE* f = fopen(path, "rb"); if (!f) return false; fclose(f);', "fopen"),
        ("void* h = malloc(64); if (!h) return false; free(h);", "malloc"),
        ("std::vector<int> values(100); values[3] = 4;", "operator new"),
        ("int* h = new int[9]; delete[] h;", "operator new"),
        ("int* h = new (std::nothrow) int; if (!h) return false; delete h;", "operator new"),
        (
            'FILE* f = fopen(path, "rb"); char c[9]; size_t n = f ? fread(c, 1, 9, f) : 9;'
            " if (f) fclose(f); if (n < 9) return false;",
            "fread",
        ),
    ],
)
def test_a_way_out_that_a_call_of_the_host_decides(tmp_path: Path, host: str, api: str) -> None:
    found = verdict(tmp_path, HOST.format(host=host), "GPU102")
    assert found.outcome is Outcome.CONFIRMED, found.reason
    assert found.evidence[0].fault.startswith(api)


def test_calls_of_the_host_that_lead_nowhere_say_nothing(tmp_path: Path) -> None:
    host = "void* h = malloc(64); *(volatile int*)h = 1; free(h);"
    found = verdict(tmp_path, HOST.format(host=host), "GPU102")
    assert found.outcome is Outcome.NOT_REACHED
    assert "no call that can be made to fail" in found.reason
