"""The benchmarks measure what they say."""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

import pytest

from benchmarks.corpora import __main__ as corpora
from benchmarks.corpora.facts import Fact, compare, precision, save
from benchmarks.corpora.facts import load as load_facts
from benchmarks.documents import taken
from benchmarks.lacking import __main__ as lacking
from benchmarks.mutation import __main__ as mutation
from benchmarks.mutation.cuda_text import CudaText
from benchmarks.mutation.framework_mutants import framework_mutants
from benchmarks.mutation.model import CONDITIONAL, EARLY_RETURN, KINDS, REMOVED, Release
from benchmarks.mutation.mutants import mutants
from benchmarks.repositories import RepositoryError
from cudalint.apis.loader import load
from cudalint.source import Source

CLEAN = """\
#include <cuda_runtime.h>
#include <vector>

__global__ void scale(float* p, int n);

int brighten(std::vector<float>& image) {
    float* d = nullptr;
    if (cudaMalloc(&d, image.size() * sizeof(float)) != cudaSuccess) return 1;
    scale<<<1, 64>>>(d, int(image.size()));
    cudaFree(d);
    return 0;
}
"""
CLEAN_PYTHON = """\
from cuda.bindings import runtime


def clear(count):
    status, pointer = runtime.cudaMalloc(count)
    if status != runtime.cudaError_t.cudaSuccess:
        return False
    try:
        runtime.cudaMemset(pointer, 0, count)
    finally:
        runtime.cudaFree(pointer)
    return True
"""


def release_of(text: str, call: str, language: str = "cuda", returns: str = "return 1") -> Release:
    start = text.index(call)
    source = Source("a", text)
    return Release(
        filename="a",
        span=source.span(start, start + len(call)),
        api=call.partition("(")[0].rpartition(".")[2],
        handle="p",
        function="f",
        language=language,  # type: ignore[arg-type]
        returns=returns,
        targets=(),
        found_by="path",
    )


def mutated(text: str, call: str, **more: str) -> dict[str, str]:
    """The changed line of each mutant; what is refused is absent."""
    source = Source("a", text)
    release = release_of(text, call, **more)
    found, _ = mutants(source, release)
    for mutant in found:
        rows = mutant.text.count("\n") - text.count("\n")
        assert rows == mutant.added_rows
    lines = {mutant.kind: mutant.text.split("\n") for mutant in found}
    row = release.span.row - 1
    return {
        kind: "\n".join(map(str.strip, changed[row : row + len(changed) - len(source.lines) + 1]))
        for kind, changed in lines.items()
    }


# Mutants ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "statement", "whole"),
    [
        ("  cudaFree(p);", "cudaFree(p);", True),
        ("  CHECK(cudaFree(p));", "CHECK(cudaFree(p));", True),
        ("  if (a < b) CHECK(cudaFree(p), 1); else g();", "CHECK(cudaFree(p), 1);", True),
        ("  else cudaFree(p);", "cudaFree(p);", True),
        ("  case 3: cudaFree(p); break;", "cudaFree(p);", True),
        ("  CHECK(f(1))\n  CHECK(cudaFree(p))\n  return 1;", "CHECK(cudaFree(p))", True),
        ("  CHECK(cudaFree(p))", "CHECK(cudaFree(p))", True),
        ("  done: (void)cudaFree(p);", "(void)cudaFree(p);", True),
        ("  for (auto* p : all) cudaFree(p);", "cudaFree(p);", True),
        ("  cudaError_t e = cudaFree(p);", "cudaError_t e = cudaFree(p);", False),
        ("  cudaError_t e(cudaFree(p));", "cudaError_t e(cudaFree(p));", False),
        ("  e = a ? cudaFree(p) : f({1, 2});", "e = a ? cudaFree(p) : f({1, 2});", False),
        ("  return cudaFree(p);", "return cudaFree(p);", False),
        ("  g([&] { f(); cudaFree(p); });", "cudaFree(p);", True),
        ("  if (x) { f(); } cudaFree(p);", "cudaFree(p);", True),
        ('  do { } while (f(1)); g(cudaFree(p), "; {"); // ;', 'g(cudaFree(p), "; {");', True),
    ],
)  # fmt: skip
def test_statement_of_a_call(line: str, statement: str, whole: bool) -> None:
    text = "void f() {\n  start();\n" + line + "\n}\n"
    start = text.index("cudaFree(p)")
    found = CudaText(text).statement(start, start + len("cudaFree(p)"))
    assert found is not None
    assert text[found.start : found.end] == statement
    assert found.whole is whole


def test_cuda_mutants() -> None:
    assert mutated("void f() {\n  CHECK(cudaFree(p));\n}\n", "cudaFree(p)") == {
        REMOVED: ";",
        EARLY_RETURN: '{ if (getenv("CUDALINT_MUTANT")) return 1; CHECK(cudaFree(p)); }',
        CONDITIONAL: '{ if (getenv("CUDALINT_MUTANT")) { CHECK(cudaFree(p)); } }',
    }
    assert mutated("void f() {\n  if (cudaFree(p) != 0) g();\n}\n", "cudaFree(p)") == {
        REMOVED: "if (cudaSuccess != 0) g();",
        EARLY_RETURN: 'if (getenv("CUDALINT_MUTANT")) return 1; if (cudaFree(p) != 0) g();',
        CONDITIONAL: 'if ((getenv("CUDALINT_MUTANT") ? cudaFree(p) : cudaSuccess) != 0) g();',
    }
    # Nothing can stand before an `else if`, and no macro is changed:
    assert (
        mutated("void f() {\n  if (a) g();\n  else if (cudaFree(p)) g();\n}", "cudaFree(p)") == {}
    )
    assert mutated("#define FREE() cudaFree(p)\nvoid f() { FREE(); }\n", "cudaFree(p)") == {}


def test_python_mutants() -> None:
    text = "import cudart\ndef f(p):\n    check(cudart.cudaFree(p))\n"
    assert mutated(text, "cudart.cudaFree(p)", language="python", returns="return") == {
        REMOVED: "pass",
        EARLY_RETURN: 'if os.environ.get("CUDALINT_MUTANT"): return\ncheck(cudart.cudaFree(p))',
        CONDITIONAL: 'if os.environ.get("CUDALINT_MUTANT"): check(cudart.cudaFree(p))',
    }
    text = "import cudart\n(status,) = cudart.cudaFree(p)\n"
    assert mutated(text, "cudart.cudaFree(p)", language="python", returns="") == {
        REMOVED: "(status,) = ((0,))",
        CONDITIONAL: "(status,) = (cudart.cudaFree(p) "
        'if os.environ.get("CUDALINT_MUTANT") else (0,))',
    }


@pytest.fixture(scope="session")
def header_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared by parallel test processes: precompiled headers are made once."""
    return tmp_path_factory.getbasetemp().parent / "cudalint_fixtures"


# The mutation score -----------------------------------------------------------------------------


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "clean.cu").write_text(CLEAN)
    (folder / "clean.py").write_text(CLEAN_PYTHON)
    other = CLEAN.replace("scale", "blur").replace("brighten", "soften")
    (folder / "leaks.cu").write_text(other.replace("    cudaFree(d);\n", ""))
    return folder


def test_every_mutant_of_plain_programs_is_killed(
    programs: Path, header_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = programs.parent / "page.md"
    page.write_text("Before.\n<!-- mutants -->\nolder\n<!-- end of mutants -->\nAfter.\n")
    arguments = [str(programs), "--fail-under", "100", "--cache-dir", str(header_cache)]
    assert mutation.main([*arguments, "--write", str(page), "--commit", "0123abc"]) == 0
    out = capsys.readouterr().out
    assert "3 programs, 2 of them without findings, 2 releases, 6 mutants" in out
    assert "survivors" not in out
    begin, table, end = page.read_text().split("<!--")
    assert (begin, end) == ("Before.\n", " end of mutants -->\nAfter.\n")
    assert "older" not in table
    assert "| cuda | 1/1 100.0 % | 1/1 100.0 % | 1/1 100.0 % | 3/3 100.0 % |\n" in table
    assert f"Taken on {date.today()}, at 0123abc, of 3 programs, 2 of them without" in table


def test_figures_name_their_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RepositoryError, match="not a git repository"):
        taken()
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    commit = git(tmp_path, "rev-parse", "--short", "HEAD").strip()
    assert taken() == f"{date.today()}, at {commit}"


def test_survivors_are_listed(
    programs: Path, header_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The resource escapes to code that cannot be seen: no rule may speak of it.
    text = CLEAN.replace("    scale<<<", "    extern float* kept; kept = d;\n    scale<<<")
    (programs / "clean.cu").write_text(text)
    score = mutation.measure([programs], cache=header_cache)
    killed, total = score.rate("cuda")
    assert (killed, total) == (0, 3)
    assert score.rate("python") == (3, 3)
    shown = mutation.report(score)
    assert "3 survivors:" in shown
    for kind in KINDS:
        assert f"clean.cu:11: {kind}: cudaFree(d) in brighten, of `d` of line 8" in shown


def test_headers_are_mutated(tmp_path: Path, header_cache: Path) -> None:
    (tmp_path / "buffer.h").write_text(
        "#include <cuda_runtime.h>\n"
        "inline bool reserve(float** p, int n) {\n"
        "    return cudaMalloc((void**)p, n) == cudaSuccess;\n"
        "}\n"
        "inline void give_back(float* p) {\n"
        "    cudaFree(p);\n"
        "}\n"
    )
    (tmp_path / "main.cu").write_text(
        '#include "buffer.h"\n'
        "int main() {\n"
        "    float* p = nullptr;\n"
        "    if (!reserve(&p, 400)) return 1;\n"
        "    give_back(p);\n"
        "    return 0;\n"
        "}\n"
    )
    score = mutation.measure([tmp_path], cache=header_cache, kinds=[REMOVED])
    assert [(one.release.span.row, one.verdict.killed) for one in score.judged] == [(6, True)]
    assert "main.cu:4" in score.judged[0].verdict.why


_KEPT = """
static float* kept;
static void drop(float* p) { cudaFree(p); }
static void clean() { cudaFree(kept); }
int main() {
    float* p = nullptr;
    if (cudaMalloc(&kept, 64) != cudaSuccess) return 1;
    clean();
    if (cudaMalloc(&p, 64) != cudaSuccess) std::exit(1);
    drop(p);
    std::exit(0);
}
"""
_RENEWED = """
static void renew(float** p, int n) {
    cudaFree(*p);
    if (cudaMalloc(p, n) != cudaSuccess) std::exit(1);
}
int main() {
    float* p = nullptr;
    renew(&p, 64);
    renew(&p, 128);
    cudaFree(p);
    return 0;
}
"""


def test_mutants_that_change_nothing_do_not_count(tmp_path: Path, header_cache: Path) -> None:
    for name, text in (("kept.cu", _KEPT), ("renewed.cu", _RENEWED)):
        (tmp_path / name).write_text(f"#include <cuda_runtime.h>\n#include <cstdlib>\n{text}")
    score = mutation.measure([tmp_path], cache=header_cache)
    ended, kept = "the process ends on every path after it", "a global keeps it until"
    for kind in KINDS:
        assert score.refused[kind, ended] == 1
        assert [why for one, why in score.refused if one == kind and why.startswith(kept)]
    counted = {(one.release.span.row, one.kind) for one in score.judged}
    assert counted == {
        *((5, kind) for kind in (REMOVED, CONDITIONAL)),  # where `p` is renewed
        *((12, kind) for kind in KINDS),
    }
    assert score.percent == 100


# The corpora ------------------------------------------------------------------------------------


def fact(line: int, **more: object) -> Fact:
    values = {"file": "a.cu", "code": "GPU101", "function": "f", "message": f"m{line}", **more}
    return Fact(line=line, **values)  # type: ignore[arg-type]


def test_what_changed() -> None:
    recorded = [
        fact(1, verdict="true", why="seen"),
        fact(2, verdict="false"),
        fact(3, function="g", verdict="uncertain"),
    ]
    found = [fact(1, severity="info"), fact(9), fact(4, code="GPU102")]
    result = compare(recorded, found)
    assert [(one.line, one.verdict, one.why) for one in result.kept] == [(1, "true", "seen")]
    assert [one.line for _, one in result.regraded] == [1]
    assert [(old.line, new.line, new.verdict) for old, new in result.moved] == [(2, 9, "false")]
    assert [one.line for one in result.new] == [4]
    assert [one.line for one in result.gone] == [3]
    again = compare(result.merged(), found)
    assert not again.new
    assert not again.moved
    assert [one.present for one in again.gone] == [False]


def test_precision_counts_warnings_and_errors() -> None:
    facts = [fact(line, verdict="true") for line in range(18)]
    facts += [fact(20, verdict="false"), fact(21, verdict="uncertain"), fact(22)]
    facts += [fact(30, verdict="false", severity="info")]
    counted = precision(facts)
    assert (counted.true, counted.false, counted.uncertain, counted.unjudged) == (18, 1, 1, 1)
    assert counted.percent_false == 5.0


def git(folder: Path, *arguments: str) -> str:
    own = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *own, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_repository_is_linted_again(
    tmp_path: Path, header_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "--quiet")
    (origin / "blur.cu").write_text(CLEAN.replace("    cudaFree(d);\n", ""))
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "-m", "first")
    commit = git(origin, "rev-parse", "HEAD")
    # The facts speak of the first commit, whatever came later:
    (origin / "blur.cu").write_text(CLEAN)
    git(origin, "commit", "--quiet", "-am", "second")
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")

    facts = tmp_path / "facts"
    facts.mkdir()
    recorded = facts / "blur.toml"
    recorded.write_text(f'repository = "{origin.as_uri()}"\ncommit = "{commit}"\n')
    common = ["--facts", str(facts), "--cache-dir", str(header_cache)]
    fetched = [*common, "--checkout", str(tmp_path / "checkouts")]

    assert corpora.main(fetched) == 1
    assert "new     blur.cu:8: GPU101 warning:" in capsys.readouterr().out
    assert corpora.main([*fetched, "--update"]) == 1
    loaded = load_facts(recorded)
    assert [(one.line, one.verdict) for one in loaded.findings] == [(8, "unjudged")]

    judged = [fact(8, file="blur.cu", function="brighten", verdict="true", why='d is "lost"')]
    save(recorded, loaded.__class__(
        repository=loaded.repository, commit=commit, findings=tuple(judged)
    ))  # fmt: skip
    assert load_facts(recorded).findings == tuple(judged)
    capsys.readouterr()
    # A checkout that has moved on is left alone; its commit is read from git:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "blur").symlink_to(origin)
    assert corpora.main([*common, "--checkout", str(tmp_path / "here")]) == 0
    assert "blur: 1 true, 0 petty, 0 false, 0 uncertain: 0.0 % false" in capsys.readouterr().out
    assert git(origin, "status", "--porcelain") == ""

    save(recorded, loaded.__class__(
        repository=loaded.repository,
        commit=commit,
        findings=(fact(8, file="blur.cu", function="brighten", verdict="false"),),
    ))  # fmt: skip
    assert corpora.main(fetched) == 1


def test_facts_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.toml").write_text('repository = "r"\ncommit = "c"\ncolour = 1\n')
    assert corpora.main(["--facts", str(tmp_path)]) == 2
    assert "colour" in capsys.readouterr().err


# Framework mutants ------------------------------------------------------------------------------


def framework(text: str) -> dict[str, list[str]]:
    """For each kind: the rows of its mutants that are new, or the reason why there is none."""
    found: dict[str, list[str]] = {}
    rows = text.split("\n")
    for change, mutant, why in framework_mutants(Source("a.py", text), [], load("python")):
        if mutant is None:
            found.setdefault(change.api, []).append(why)
            continue
        changed = mutant.text.split("\n")
        assert len(changed) - len(rows) == mutant.added_rows
        kept, new = [*rows], []
        for row in changed:
            if row in kept:
                kept.remove(row)
            elif row.strip():
                new.append(row)
        found.setdefault(mutant.kind, []).append(" / ".join(map(str.strip, new)))
    return found


TRAINING = """\
import torch

def train(model, optimizer, batches):
    total, rows = 0.0, []
    for batch in batches:
        loss = model(batch).mean()
        loss.backward()
        {}
    return total
"""


@pytest.mark.parametrize(
    ("kind", "line", "changed"),
    [
        ("item", "total += loss.item()", "total += loss"),
        ("item", "total += (loss * 2).item() * 3", "total += (loss * 2) * 3"),
        ("detach", "rows.append(loss.detach().cpu())", "rows.append(loss.cpu())"),
        ("detach", 'rows.append({"loss": loss.detach()})', 'rows.append({"loss": loss})'),
        ("float", "total += float(loss)", "total += loss"),
        ("float", "rows.append(float(loss * 2))", "rows.append((loss * 2))"),
    ],
)
def test_what_keeps_no_graph_is_dropped(kind: str, line: str, changed: str) -> None:
    assert framework(TRAINING.format(line)) == {kind: [changed]}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("print(loss.item())", "its result is only shown, compared or written"),
        ("last = loss.item()", "its result is overwritten by the next one, not kept"),
        ("rows.append(loss.detach().numpy())", "the program stops there"),
        ("rows.append(batch.sum().item())", "where its value comes from cannot be seen"),
        ("rows = [loss.item()]", "its result is overwritten by the next one, not kept"),
        ("rows.append(loss.item()); rows.pop(0)", "the place holds a bounded number of values"),
    ],
)
def test_graphs_that_nobody_keeps_are_left_alone(line: str, why: str) -> None:
    (reasons,) = framework(TRAINING.format(line)).values()
    assert len(reasons) == 1 and reasons[0].startswith(why)


INFERENCE = """\
import torch

def answers(model, batches):
    model.eval()
    with {}:
        for batch in batches:
            print(model(batch))
"""


@pytest.mark.parametrize(
    ("items", "changed"),
    [
        ("torch.no_grad()", "for batch in batches: / print(model(batch))"),
        (
            'torch.inference_mode(), torch.autocast("cuda")',
            'with torch.autocast("cuda"):',
        ),
    ],
)
def test_gradients_are_recorded_again(items: str, changed: str) -> None:
    found = framework(INFERENCE.format(items))
    assert found["no-grad"] == [changed]


def test_a_decorator_is_dropped() -> None:
    text = INFERENCE.format("torch.no_grad()").replace("with torch.no_grad():", "if model:")
    text = text.replace("def answers", "@torch.no_grad()\ndef answers")
    assert framework(text) == {"no-grad": [""]}
    assert framework(text.replace("    model.eval()\n", "")) == {
        "no-grad": ["nothing else says that it is inference: no `eval()` beside it"]
    }
    nested = text.replace("        for", "        with torch.inference_mode():\n         for")
    nested = nested.replace("            print", "             print")
    assert set(framework(nested)["no-grad"]) == {"gradients are switched off there another way too"}


@pytest.mark.parametrize(
    ("load", "changed"),
    [
        ('torch.load(path, map_location="cuda:0")', "model.load_state_dict(torch.load(path))"),
        (
            'torch.load(path, map_location="cuda:0", weights_only=True)',
            "model.load_state_dict(torch.load(path, weights_only=True))",
        ),
    ],
)
def test_map_location_is_dropped(load: str, changed: str) -> None:
    text = f"import torch\n\ndef resume(model, path):\n    model.load_state_dict({load})\n"
    assert framework(text) == {"map-location": [changed]}
    plain = text.replace("model.load_state_dict", "print")
    assert framework(plain)["map-location"][0].startswith("nothing says that it holds weights")


def test_a_flush_moves_into_the_loop() -> None:
    text = (
        "import torch\n\ndef run(model, batches):\n    for batch in batches:\n"
        "        print(model(batch))\n    torch.cuda.empty_cache()\n    return 1\n"
    )
    (change,) = framework_mutants(Source("a.py", text), [], load("python"))
    assert change[1] is not None and change[1].text.split("\n")[3:8] == [
        "    for batch in batches:",
        "        print(model(batch))",
        "        torch.cuda.empty_cache()",
        "",
        "    return 1",
    ]
    few = text.replace("in batches:", "in range(3):")
    assert framework(few) == {"empty-cache": ["the loop runs a fixed few times"]}
    before = text.replace("    for batch", "    torch.cuda.empty_cache()\n    for batch", 1)
    assert "it follows no loop" in framework(before)["empty-cache"]


OWNER = """\
from contextlib import ExitStack, closing
from cuda.bindings import runtime

class Buffer:
    def __init__(self, count):
        status, self.pointer = runtime.cudaMalloc(count)
        if status != runtime.cudaError_t.cudaSuccess:
            raise MemoryError(count)
    def close(self):
        runtime.cudaFree(self.pointer)
    def __enter__(self):
        return self
    def __exit__(self, *exc_info):
        self.close()

def fill(count):
    {}:
        runtime.cudaMemset(buffer.pointer, 0, count)
    return count
"""


@pytest.mark.parametrize("block", ["with Buffer(9) as buffer", "with closing(Buffer(9)) as buffer"])
def test_an_owner_is_not_left_any_more(block: str, tmp_path: Path, header_cache: Path) -> None:
    (tmp_path / "owner.py").write_text(OWNER.format(block))
    score = mutation.measure([tmp_path], kinds=["with"], cache=header_cache)
    assert [(one.kind, one.verdict.killed) for one in score.judged] == [("with", True)]
    assert "owner.py:17" in score.judged[0].verdict.why


def test_finally_becomes_straight_code(tmp_path: Path, header_cache: Path) -> None:
    (tmp_path / "clean.py").write_text(
        CLEAN_PYTHON.replace("count)\n    finally", "read(count))\n    finally")
    )
    score = mutation.measure([tmp_path], kinds=["finally"], cache=header_cache)
    assert [(one.kind, one.verdict.killed) for one in score.judged] == [("finally", True)]
    assert "GPU103" in score.judged[0].verdict.why or "GPU101" in score.judged[0].verdict.why
    assert "finally" in mutation.report(score)


# Without headers ------------------------------------------------------------------------------

_ONLY_WITH_HEADERS = {
    "torch": {(45, "GPU103")},  # that what a macro dispatches may throw
}


@pytest.mark.parametrize("library", sorted(lacking.PROGRAMS))
def test_little_is_lost_where_headers_are_nowhere(library: str) -> None:
    program, missed = lacking.PROGRAMS[library], _ONLY_WITH_HEADERS.get(library, set())
    assert lacking.found(program) == lacking.flaws(program) - missed
    assert lacking.flaws(program) > missed
