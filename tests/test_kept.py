"""What a process has followed before changes no finding, and spares it what did not change."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from benchmarks.server.texts import edits, program
from cudalint import jobs, registry
from cudalint.analysis import analyze
from cudalint.analysis.kept import Kept
from cudalint.apis.loader import load
from cudalint.findings.rule import Limits
from cudalint.frontends.cuda import read
from cudalint.frontends.cuda.options import ParseOptions
from cudalint.program.packing import packed

FIXTURES = Path(__file__).parent.parent / "fixtures"
SHAPES = (
    "GPU101-unpaired-allocation/bad_one_of_six_steps.cu",
    "GPU101-unpaired-allocation/bad_view_in_temporary.cu",
    "GPU102-early-exit-leak/bad_base_is_unique_ptr.cu",
    "GPU102-early-exit-leak/good_trap_clean_up_in_lambda.cu",
    "GPU102-early-exit-leak/good_trap_scope_guard_with_many.cu",
    "GPU205-copyable-owner/good_trap_never_copied.cu",
    "GPU303-missing-shared-opt-in/bad_attribute_too_small.cu",
    "GPU303-missing-shared-opt-in/good_trap_template_wrapper.cu",
)
"""Bases, lambdas, classes, calls by values, and what is said of a kernel for later."""
CALLS = """#include <cuda_runtime.h>

static float *make(int count)
{
    float *made = nullptr;
    return cudaMalloc(&made, count * 4) == cudaSuccess ? made : nullptr;
}
static float *wrapped(int count)
{
    return make(count);
}
int alone(int count)
{
    return count + 1;
}
int main()
{
    float *held = wrapped(64);
    if (alone(1))
        return 1;
    cudaFree(held);
}
int turns(int count)
{
    return count ? turns(count - 1) : 0;
}
"""


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> ParseOptions:
    return ParseOptions(cache_folder=tmp_path_factory.mktemp("headers"))


def job(texts: dict[str, str], options: ParseOptions) -> bytes:
    programs = [msgspec.msgpack.encode(read(name, text, options)) for name, text in texts.items()]
    rules = sorted(registry.all_rules())
    return msgspec.msgpack.encode(jobs.AnalysisJob(packed(programs), rules, Limits(), []))


def small_changes(text: str, chance: random.Random, count: int) -> Iterator[str]:
    """Statements come, go and change, so that most of the texts are programs."""
    for number in range(count):
        lines = text.split("\n")
        whole = [place for place, line in enumerate(lines) if line.endswith(";")]
        place = chance.choice(whole)
        if number % 3 == 0:
            lines[place] = re.sub(r"\d", str(chance.randrange(10)), lines[place])
            lines.insert(chance.randrange(len(lines)), "")
        elif number % 3 == 1:
            del lines[place]
        else:
            lines.insert(place, lines[chance.choice(whole)])
        text = "\n".join(lines)
        yield text


@pytest.mark.parametrize("shape", SHAPES)
def test_findings_do_not_depend_on_what_was_kept(shape: str, options: ParseOptions) -> None:
    chance = random.Random(shape)
    text = (FIXTURES / shape).read_text(encoding="utf-8")
    texts = [text, *small_changes(text, chance, 9), *(one for one, _ in edits(text, chance, 4))]
    for one in (*texts, text):
        order = job({"case.cu": one}, options)
        assert jobs.analyze_again(order) == jobs.analyze(order)


def test_so_it_is_with_files_that_call_one_another(options: ParseOptions) -> None:
    callee = CALLS[: CALLS.index("int alone")].replace("static ", "")
    caller = f"float *wrapped(int);\nint alone(int);\n{CALLS[CALLS.index('int main') :]}"
    for one in (callee, callee.replace("== cuda", "!= cuda"), callee.replace("* 4", "* 8"), ""):
        order = job({"callee.cu": one, "caller.cu": caller}, options)
        assert jobs.analyze_again(order) == jobs.analyze(order)


def followed_anew(kept: Kept, text: str, options: ParseOptions) -> set[str]:
    data = msgspec.msgpack.encode(read("case.cu", text, options))
    analyze(kept.unpacked(packed([data])), {"cuda": load("cuda")}, kept=kept)
    anew = {key.rpartition("@F@")[2].partition("#")[0] for _, key in kept.followed_anew}
    kept.end()
    return anew


def test_only_what_a_change_concerns_is_followed_anew(options: ParseOptions) -> None:
    kept = Kept()
    everything = {"make", "wrapped", "alone", "main", "turns"}
    assert followed_anew(kept, CALLS, options) == everything
    assert not followed_anew(kept, CALLS, options)
    assert followed_anew(kept, CALLS.replace("- 1", "- 2"), options) == {"turns"}
    # Its callers, whose callees do to them what they did before.
    assert followed_anew(kept, CALLS.replace("+ 1", "+ 2"), options) == {"alone", "main"}
    assert followed_anew(kept, CALLS.replace("==", "!="), options) == {"make", "wrapped", "main"}


def test_a_change_of_one_function_of_many_concerns_it_alone(options: ParseOptions) -> None:
    kept, text = Kept(), program(300)
    followed_anew(kept, text, options)
    assert followed_anew(kept, text.replace("turn < 4", "turn < 5", 1), options) == {"filter_0"}


def test_what_was_kept_has_its_price(
    options: ParseOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cudalint.analysis.engine.budget.MOST_WORK", 3_000)
    monkeypatch.setattr("cudalint.analysis.engine.budget.LEAST_WORK", 10)
    text = program(500)
    for one in (text, text, text.replace("turn < 4", "turn < 5", 1), text):
        order = job({"case.cu": one}, options)
        assert jobs.analyze_again(order) == jobs.analyze(order)


def test_where_the_memory_is_full_nothing_kept_counts(
    options: ParseOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = job({"case.cu": program(100)}, options)
    whole = jobs.analyze_again(order)
    monkeypatch.setattr("cudalint.jobs.is_full", lambda: True)
    assert jobs.analyze_again(order) == jobs.analyze(order) != whole
