"""Fixes: each bad fixture's hold what `docs/fixes.md` promises, and how they are written."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import documents
from benchmarks.common import previewed
from benchmarks.fixes import reading
from benchmarks.fixes.mending import Mended, faults, mend
from benchmarks.fixes.page import PAGE, what_is_fixed, with_table
from cudalint.findings.finding import Finding
from cudalint.findings.fix import Applicability, Fix
from cudalint.findings.repair import ReleaseOnExits
from cudalint.fixes import cpp_release, resolve
from cudalint.fixes.cpp import CppText
from cudalint.project.reading import Language
from cudalint.registry import all_rules
from cudalint.source import Source
from tests.test_fixtures import FIXTURES, header_cache, options_of, units

__all__ = ["header_cache"]

FIXED = {code for code, rule in all_rules().items() if what_is_fixed(rule)}
BAD = [
    unit
    for unit in units()
    if unit.name.startswith("bad_") and unit.parent.name.partition("-")[0] in FIXED
]


@pytest.mark.parametrize("unit", BAD, ids=lambda unit: f"{unit.parent.name}/{unit.name}")
def test_fixes_of_a_fixture(
    unit: Path, header_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a fix mends is gone, nothing else comes about, and the second time there is nothing."""
    monkeypatch.chdir(FIXTURES)
    assert list(faults(mend(unit, options_of(unit), header_cache))) == []


def test_each_rule_with_a_fix_has_a_fixture_with_one(
    header_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FIXTURES)
    left = set(FIXED)
    for unit in BAD:
        if unit.parent.name.partition("-")[0] in left:
            made = mend(unit, options_of(unit), header_cache).fixed.made
            left -= {finding.code for finding in made}
    assert left == set()


def test_the_page_is_current() -> None:
    page = PAGE.read_text("utf-8")
    assert page == with_table(page), "python -m benchmarks.fixes.page"


# How they are written ---------------------------------------------------------------------------

_HEAD = "#include <cuda_runtime.h>\n#include <cstdio>\n"


def mended(path: Path, text: str | bytes, cache: Path, *, unsafe: bool = True) -> Mended:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return mend(path, ("--extend-select", previewed()), cache, unsafe=unsafe)


def after(path: Path, text: str | bytes, cache: Path, *, unsafe: bool = True) -> bytes:
    """The bytes of a file once it is mended."""
    fixed = mended(path, text, cache, unsafe=unsafe).fixed
    return fixed.contents.get(path.resolve(), path.read_bytes())


def function(body: str) -> str:
    lines = textwrap.dedent(body).strip("\n")
    return f"{_HEAD}int f(int n)\n{{\n{textwrap.indent(lines, '    ')}\n}}\n"


_START = """
    float *p = nullptr, *q = nullptr;
    if (cudaMalloc(&p, n) != cudaSuccess) return 1;
"""
_END = """
    cudaFree(q);
    cudaFree(p);
    return 0;
"""


@pytest.mark.parametrize(
    ("exit_", "wanted"),
    [
        (
            "if (cudaMalloc(&q, n) != cudaSuccess) return 2;",
            "if (cudaMalloc(&q, n) != cudaSuccess) { cudaFree(p); return 2; }",
        ),
        (
            'if (cudaMalloc(&q, n) != cudaSuccess) { std::puts("full"); return 2; }',
            'if (cudaMalloc(&q, n) != cudaSuccess) { std::puts("full"); cudaFree(p); return 2; }',
        ),
        (
            "if (cudaMalloc(&q, n) != cudaSuccess)  // it is full\n    return 2;  // so it is",
            "if (cudaMalloc(&q, n) != cudaSuccess) {  // it is full\n"
            "    cudaFree(p);\n    return 2;  // so it is\n}",
        ),
        (
            "if (cudaMalloc(&q, n) == cudaSuccess)\n    cudaMemset(q, 0, n);\nelse\n    return 2;",
            "if (cudaMalloc(&q, n) == cudaSuccess)\n    cudaMemset(q, 0, n);\nelse {\n"
            "    cudaFree(p);\n    return 2;\n}",
        ),
        (
            "if (cudaMalloc(&q, n) != cudaSuccess)\n    return 2;\nelse\n    cudaMemset(q, 0, n);",
            "if (cudaMalloc(&q, n) != cudaSuccess) {\n    cudaFree(p);\n    return 2;\n"
            "} else\n    cudaMemset(q, 0, n);",
        ),
        (
            "if (cudaMalloc(&q, n) != cudaSuccess) return cudaGetLastError();",
            "if (cudaMalloc(&q, n) != cudaSuccess) {\n    const auto result = cudaGetLastError();\n"
            "    cudaFree(p);\n    return result;\n}",
        ),
    ],
)
def test_a_release_before_a_return(
    exit_: str, wanted: str, tmp_path: Path, header_cache: Path
) -> None:
    parts = (_START, textwrap.indent(exit_, "    "), _END)
    text = function("\n".join(part.strip("\n") for part in parts))
    found = after(tmp_path / "a.cu", text, header_cache).decode()
    assert found == text.replace(textwrap.indent(exit_, "    "), textwrap.indent(wanted, "    "))


def test_what_a_macro_hides_is_not_edited(tmp_path: Path, header_cache: Path) -> None:
    macro = "#define TRY(call) do { if ((call) != cudaSuccess) return 2; } while (0)\n"
    start = _START.replace(
        "if (cudaMalloc(&p, n) != cudaSuccess) return 1;", "TRY(cudaMalloc(&p, n));"
    )
    text = macro + function(start + "    TRY(cudaMalloc(&q, n));" + _END)
    one = mended(tmp_path / "a.cu", text, header_cache, unsafe=False)
    assert one.before.active and not one.fixed.made
    found = after(tmp_path / "a.cu", text, header_cache).decode()
    assert found.startswith(macro)
    assert "std::unique_ptr<void, decltype(&cudaFree)> p_owner(p, &cudaFree);" in found
    as_c = text.replace("nullptr", "NULL").replace("cstdio", "stdio.h")
    assert not mended(tmp_path / "a.c", as_c, header_cache).fixed.made


def test_paths_that_do_not_hold_it_get_no_release(tmp_path: Path, header_cache: Path) -> None:
    text = function(
        """
        float *p, *q;
        int done = 1;
        if (cudaMalloc(&p, n) != cudaSuccess) goto out;
        if (cudaMalloc(&q, n) != cudaSuccess) goto out;
        done = 0;
        cudaFree(q);
        cudaFree(p);
        out:
        return done;
        """
    )
    one = mended(tmp_path / "a.cu", text, header_cache)
    assert [finding.code for finding in one.before.active] == ["GPU102"]
    assert one.fixed.contents == {}


def test_what_is_compiled_sometimes_is_released_nowhere_else(
    tmp_path: Path, header_cache: Path
) -> None:
    exit_ = "if (cudaMemset(q, 0, n) != cudaSuccess) return 2;"
    text = function(
        f"""
        float *q = nullptr;
        cudaMalloc(&q, n);
        {exit_}
        cudaFree(q);
        return 0;
        """
    )
    acquires = "    cudaMalloc(&q, n);\n"
    sometimes = text.replace(acquires, f"#ifndef PLAIN\n{acquires}#endif\n")
    assert b"cudaFree(q); return 2;" in after(tmp_path / "a.cu", text, header_cache)
    one = mended(tmp_path / "a.cu", sometimes, header_cache)
    assert [finding.code for finding in one.before.active if finding.code == "GPU102"]
    assert one.fixed.contents == {}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_tabs_and_encoding_are_kept(
    newline: str, mark: bytes, tmp_path: Path, header_cache: Path
) -> None:
    lines = [
        "#include <cuda_runtime.h>",
        "// Größe",
        "bool f(int n) {",
        "\tint *p, *q;",
        "\tif (cudaMalloc(&p, n) != cudaSuccess) return false;",
        "\tif (cudaMalloc(&q, n) != cudaSuccess)",
        "\t\treturn false;",
        "\tcudaFree(q);",
        "\tcudaFree(p);",
        "\treturn true;",
        "}",
    ]
    wanted = [*lines[:5], f"{lines[5]} {{", "\t\tcudaFree(p);", lines[6], "\t}", *lines[7:]]
    encodings = ["utf-8"] if mark else ["utf-8", "latin-1"]
    for encoding in encodings:
        text, expected = (mark + newline.join(one).encode(encoding) for one in (lines, wanted))
        assert after(tmp_path / "a.cu", text, header_cache) == expected


_PYTHON = """from cuda.bindings import runtime as cudart


def load(path, size):
    err, block = cudart.cudaMalloc(size)
    if err != cudart.cudaError_t.cudaSuccess:
        raise MemoryError(size)
{body}
"""


_THROWS = "#define CHECK(x) do { if ((x) != 0) throw std::runtime_error(#x); } while (0)\n"


def test_a_handle_gets_an_owner_of_its_type(tmp_path: Path, header_cache: Path) -> None:
    body = """
        cudaStream_t stream, other = nullptr;
        CHECK(cudaStreamCreate(&stream)); CHECK(cudaStreamCreate(&other));
        CHECK(cudaStreamSynchronize(stream));
        if (cudaStreamDestroy(stream) != cudaSuccess) printf("no");
        cudaStreamDestroy(other);
        printf("%d", n);
        return 0;
    """
    text = f"#include <memory>\n#include <stdexcept>\n{_THROWS}{function(body)}"
    found = after(tmp_path / "a.cu", text, header_cache).decode()
    owner = "std::unique_ptr<std::remove_pointer_t<cudaStream_t>, decltype(&cudaStreamDestroy)>"
    for name in ("stream", "other"):
        made = f"    CHECK(cudaStreamCreate(&{name}));\n    {owner}\n        {name}_owner({name}, "
        assert made in found
    assert "if (cudaStreamDestroy(stream_owner.release()) != cudaSuccess)" in found
    assert "    other_owner.reset();\n" in found


def test_a_number_and_what_is_acquired_twice_get_no_owner(
    tmp_path: Path, header_cache: Path
) -> None:
    texture = """
        cudaTextureObject_t seen;
        CHECK(cudaCreateTextureObject(&seen, nullptr, nullptr, nullptr));
        CHECK(cudaDeviceSynchronize());
        cudaDestroyTextureObject(seen);
        return 0;
    """
    twice = """
        float *p;
        CHECK(cudaMalloc(&p, n));
        CHECK(cudaMemset(p, 0, n));
        cudaFree(p);
        CHECK(cudaMalloc(&p, n));
        CHECK(cudaMemset(p, 0, n));
        cudaFree(p);
        return 0;
    """
    for body in (texture, twice):
        text = f"#include <stdexcept>\n{_THROWS}{function(body)}"
        one = mended(tmp_path / "a.cu", text, header_cache)
        assert one.before.active
        assert "unique_ptr" not in "".join(map(str, one.fixed.contents.values()))


def test_a_closing_brace_tells_how_far_a_body_is_indented(
    tmp_path: Path, header_cache: Path
) -> None:
    text = f"{_HEAD}void f(int n,\n       int m) {{\n  cudaEvent_t e;\n  cudaEventCreate(&e);\n}}\n"
    found = after(tmp_path / "a.cu", text, header_cache).decode()
    assert found == text.replace("(&e);\n", "(&e);\n  cudaEventDestroy(e);\n")


_CLASS = """#include <cuda_runtime.h>
#define CHECK(x) do { if ((x) != cudaSuccess) fail(#x); } while (0)
void fail(const char *what);
class Layer {
public:
    explicit Layer(int n) { CHECK(cudaMalloc(&w_, n)); CHECK(cudaMalloc(&b_, n)); }
    Layer(const Layer &) = delete;
    ~Layer()
    {
        CHECK(cudaFree(w_));  // weights
    }
private:
    float *w_ = nullptr, *b_ = nullptr;
};
"""


def test_a_member_is_released_as_its_sibling_is(tmp_path: Path, header_cache: Path) -> None:
    found = after(tmp_path / "a.cu", _CLASS, header_cache).decode()
    line = "        CHECK(cudaFree(w_));  // weights\n"
    assert found == _CLASS.replace(line, f"{line}        CHECK(cudaFree(b_));\n")
    # What stands in a condition is not for others; the destructor's end is.
    guarded = line.replace("CHECK", "if (w_) CHECK")
    text = _CLASS.replace(line, guarded)
    found = after(tmp_path / "a.cu", text, header_cache).decode()
    assert found == text.replace(guarded, f"{guarded}        cudaFree(b_);\n")
    # It may be released in a way that is not seen.
    hidden = _CLASS.replace(line, f"{line}        drop(b_);\n")
    assert not mended(tmp_path / "a.cu", hidden, header_cache).fixed.made


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (
            'cudaFree(p);\nif (n > 2) {\n    cudaFree(p);\n    printf("x");\n}',
            'cudaFree(p);\nif (n > 2) {\n    printf("x");\n}',
        ),
        (
            "if (n > 2) {\n    cudaFree(p);\n}\ncudaFree(p);",
            "if (n > 2) {\n    cudaFree(p);\n    p = nullptr;\n}\ncudaFree(p);",
        ),
    ],
)
def test_what_is_released_twice(body: str, wanted: str, tmp_path: Path, header_cache: Path) -> None:
    start = "float *p;\nif (cudaMalloc(&p, n) != cudaSuccess) return 1;\n"
    text, expected = (function(f"{start}{one}\nreturn 0;") for one in (body, wanted))
    assert after(tmp_path / "a.cu", text, header_cache).decode() == expected


def test_what_is_lost_to_another_value_is_released_first(
    tmp_path: Path, header_cache: Path
) -> None:
    body = """
        float *p = nullptr;
        if (cudaMalloc(&p, n) != cudaSuccess) return 1;
        cudaMemset(p, 0, n);
        if (cudaMalloc(&p, 2 * n) != cudaSuccess) return 1;
        cudaFree(p);
        return 0;
    """
    text = function(body)
    found = mended(tmp_path / "a.cu", text, header_cache)
    assert "GPU104" in {finding.code for finding in found.before.active}
    again = "    if (cudaMalloc(&p, 2 * n)"
    expected = text.replace(again, f"    cudaFree(p);\n{again}")
    assert after(tmp_path / "a.cu", text, header_cache).decode() == expected


def test_what_a_macro_acquires_anew_is_not_released_around_it(
    tmp_path: Path, header_cache: Path
) -> None:
    macro = "#define TIMED(call) cudaEventCreate(&begun); cudaEventRecord(begun); call\n"
    body = """
        cudaEvent_t begun;
        TIMED(cudaMemset(p, 0, n));
        TIMED(cudaMemset(p, 1, n));
        return cudaEventQuery(begun);
    """
    text = macro + function(body).replace("f(int n", "f(float* p, int n")
    found = mended(tmp_path / "a.cu", text, header_cache)
    assert "GPU104" in {finding.code for finding in found.before.active}
    assert not any(finding.code == "GPU104" for finding in found.fixed.made)


def test_python_gets_a_finally(tmp_path: Path, header_cache: Path) -> None:
    body = '''
    # read it
    text = """
  as it is
"""
    fill(path, block, text)  # may raise

    (err,) = cudart.cudaFree(block)
    assert err == cudart.cudaError_t.cudaSuccess
    return text'''
    wanted = '''
    try:
        # read it
        text = """
  as it is
"""
        fill(path, block, text)  # may raise
    finally:
        (err,) = cudart.cudaFree(block)
        assert err == cudart.cudaError_t.cudaSuccess
    return text'''
    found = after(tmp_path / "a.py", _PYTHON.replace("{body}", body), header_cache).decode()
    assert found == _PYTHON.replace("{body}", wanted)


@pytest.mark.parametrize(
    ("exit_", "wanted"),
    [
        ("if size > 9: return 1", "if size > 9:\n        {release}\n        return 1"),
        ("if size > 9:\n        return 1", "if size > 9:\n        {release}\n        return 1"),
        (
            "if size > 9:\n        x = 1; return x",
            "if size > 9:\n        x = 1; {release}; return x",
        ),
        (
            "if size > 9:\n        return cudart.cudaMemset(block, 0, 9)",
            "if size > 9:\n        result = cudart.cudaMemset(block, 0, 9)\n        {release}\n"
            "        return result",
        ),
    ],
)
def test_a_release_before_a_return_of_python(
    exit_: str, wanted: str, tmp_path: Path, header_cache: Path
) -> None:
    release = "cudart.cudaFree(block)"
    wanted = wanted.replace("{release}", release)
    rest = f"\n    {release}\n    return size"
    text, expected = (_PYTHON.replace("{body}", f"    {one}{rest}") for one in (exit_, wanted))
    assert after(tmp_path / "a.py", text, header_cache).decode() == expected


def test_a_keyword_is_added_as_the_others_are_written(tmp_path: Path, header_cache: Path) -> None:
    text = """import torch

model = torch.nn.Linear(4096, 4096).cuda()
torch.save(model.state_dict(), "a.pt")
model.load_state_dict(
    torch.load(
        "a.pt",
        weights_only=True,
    )
)
print(model(torch.ones(8, 4096).cuda()).sum())
"""
    added = '        weights_only=True,\n        map_location="cpu",\n'
    wanted = text.replace("        weights_only=True,\n", added)
    assert after(tmp_path / "a.py", text, header_cache).decode() == wanted


_COLLECTS = """import torch


def predict(model, loader, first):
    model.cuda().eval()
    kept = []
    with torch.inference_mode():
        for batch in loader:
            scores = model(batch.cuda())
            if first:
                kept.append(scores)
            else:
                kept.append(scores + 1)
    return torch.cat(kept){}.cpu().numpy()
"""


@pytest.mark.parametrize("joined", ["", ".detach()"])
def test_all_that_a_list_collects_goes_to_the_host(
    joined: str, tmp_path: Path, header_cache: Path
) -> None:
    text = _COLLECTS.replace("{}", joined)
    found = after(tmp_path / "a.py", text, header_cache).decode()
    wanted = text.replace("append(scores)", f"append(scores{joined}.cpu())")
    assert found == wanted.replace("append(scores + 1)", f"append((scores + 1){joined}.cpu())")


@pytest.mark.parametrize(
    ("display", "kept"),
    [('{"loss": loss}', '{"loss": loss.detach()}'), ('{"loss": loss, "n": 1}', "found")],
)
def test_a_dictionary_has_no_graph_to_be_without(
    display: str, kept: str, tmp_path: Path, header_cache: Path
) -> None:
    text = f"""import torch

model = torch.nn.Linear(9, 9).cuda()
history = []
for batch in torch.ones(99, 9).cuda():
    loss = model(batch).sum()
    loss.backward()
    found = {display}
    history.append(found)
print(history)
"""
    one = mended(tmp_path / "a.py", text, header_cache)
    assert "GPU601" in {finding.code for finding in one.before.active}
    found = after(tmp_path / "a.py", text, header_cache).decode()
    assert found == text.replace("append(found)", f"append({kept})")


def test_what_was_read_of_public_fixes_is_told_as_it_is() -> None:
    findings = reading.load()
    assert len({one.place for one in findings}) == len(findings) > 100
    assert all(one.why and (one.accepted is None) == (not one.fix) for one in findings)
    assert documents.markdown(reading.tables(findings)) in PAGE.read_text("utf-8")


def test_a_notebook_keeps_all_but_the_line(tmp_path: Path, header_cache: Path) -> None:
    code = _PYTHON.replace(
        "{body}", "    if size > 9:\n        return 1\n    cudart.cudaFree(block)"
    )
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Größe\n"]},
        {
            "cell_type": "code",
            "execution_count": 3,
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["9\n"]}],
            "source": code.splitlines(keepends=True),
        },
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    text = json.dumps(book, indent=1, ensure_ascii=False) + "\n"
    found = after(tmp_path / "a.ipynb", text, header_cache).decode()
    line = '    "        cudart.cudaFree(block)\\n",\n'
    returned = '    "        return 1\\n",\n'
    assert found == text.replace(returned, line + returned)
    # One that no writer of notebooks has written is left alone, and that is told.
    one = mended(tmp_path / "b.ipynb", text.replace("[\n", "[ \n", 1), header_cache)
    assert one.fixed.contents == {}
    assert "the layout of the notebook could not be kept" in one.fixed.refused[0].message


def test_no_text_breaks_the_makers(header_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a rule asks for is tried on texts that are cut anywhere, or have lost some letters."""
    asked: list[tuple[object, Source, Language]] = []
    ask = resolve.with_fixes

    def noted(
        findings: Iterable[Finding], files: Mapping[str, tuple[Source, Language]]
    ) -> Iterator[Finding]:
        kept = list(findings)
        asked.extend((one.repair, *files[one.filename]) for one in kept if one.repair is not None)
        return ask(kept, files)

    monkeypatch.chdir(FIXTURES)
    monkeypatch.setattr(resolve, "with_fixes", noted)
    for unit in BAD[::9]:
        mend(unit, options_of(unit), header_cache, unsafe=False)
    assert len(asked) > 50
    for number, (repair, source, language) in enumerate(asked):
        for step in (3, 5, 7, 11):
            cut = len(source.text) * (number % step) // step
            for text in (source.text[:cut], source.text[:cut] + source.text[cut + step :]):
                resolve.fix_of(repair, Source(source.filename, text), language)


def test_a_fix_that_brings_about_another_finding_is_taken_back(
    tmp_path: Path, header_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def released_twice(repair: ReleaseOnExits, text: CppText) -> Fix:
        made = cpp_release.release_before_exits(repair, text)
        return replace(made, edits=tuple(replace(one, text=one.text * 2) for one in made.edits))

    monkeypatch.setitem(resolve._CPP, ReleaseOnExits, (released_twice,))
    text = function("float* p;\nif (cudaMalloc(&p, n) != cudaSuccess) return 1;\nreturn 0;")
    one = mended(tmp_path / "a.cu", text, header_cache)
    assert one.fixed.contents == {}
    assert [refusal.message for refusal in one.fixed.refused] == [
        "GPU101 is not fixed: GPU201 would come of it"
    ]
    # The table of fixes tells of a fix that is offered and not made.
    assert next(fault.split(":")[0] for fault in faults(one)) == "offered and taken back"


def test_unsafe_fixes_are_made_only_when_asked_for(
    header_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FIXTURES)
    unit = FIXTURES / "GPU102-early-exit-leak" / "bad_macro_returns.cu"
    safely = mend(unit, (), header_cache, unsafe=False)
    assert safely.fixed.made == ()
    made = mend(unit, (), header_cache).fixed.made
    kinds = {finding.fix.applicability for finding in made if finding.fix is not None}
    assert kinds == {Applicability.UNSAFE}


def test_what_nests_too_deep_for_a_fix_is_linted(tmp_path: Path, header_cache: Path) -> None:
    evaluated = """\
        import torch

        def evaluate(model, loader):
            model.eval()
            for images in loader:
                total = model(images.cuda()).sum().item()
            return total

        """
    path = tmp_path / "deep.py"
    path.write_text(textwrap.dedent(evaluated), encoding="utf-8")
    assert mend(path, (), header_cache).fixed.contents
    path.write_text(f"{textwrap.dedent(evaluated)}flag = {'not ' * 7000}True\n", encoding="utf-8")
    assert not mend(path, (), header_cache).fixed.contents
