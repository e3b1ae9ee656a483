"""CUDA C++ in Python strings: what is read of it, and where it is said to stand."""

from __future__ import annotations

import inspect
import os
import signal
import string
import textwrap
from collections.abc import Callable
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.apis.loader import load
from cudalint.cli import check, configuration_of
from cudalint.frontends.cuda.options import ParseOptions
from cudalint.frontends.python import read
from cudalint.frontends.python.declarations import Declarations
from cudalint.frontends.python.embedded import texts
from cudalint.frontends.python.embedded.literals import literal_text
from cudalint.frontends.python.embedded.paths import FileTexts
from cudalint.frontends.python.embedded.strings import StringReader
from cudalint.frontends.python.embedded.texts import Text
from cudalint.frontends.python.module import Module
from cudalint.frontends.python.names import module_name
from cudalint.frontends.python.parsing import parse
from cudalint.linter import lint
from cudalint.plan import make_plan
from cudalint.program import Launch, Program
from cudalint.project.files import discover
from cudalint.reports.report import Report
from cudalint.source import Source

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape", "ignore:The recursion limit")


def text_of(code: str, filename: str = "script.py") -> Text | None:
    """What the variable ``result`` of a module holds."""
    source = Source(filename, code)
    parsed = parse(source)
    assert parsed.tree is not None and parsed.positions is not None and not parsed.dropped
    name, models = module_name(filename), load("python")
    declarations = Declarations(Module(source, parsed.tree, parsed.positions, name, models))
    binding = declarations.scope.bindings.names["result"][-1]
    assert isinstance(binding.value, cst.BaseExpression)
    return StringReader(declarations, FileTexts(source)).read(binding.value, declarations.scope)


def value_of(code: str) -> str | None:
    text = text_of(code)
    return text.value if text is not None else None


# Positions: every character ----------------------------------------------------------------------

_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\", "\\'": "'", '\\"': '"', "\\x41": "A",
            "\\101": "A", "\\u00e9": "é", "\\N{BULLET}": "•", "\\\n": "", "\\q": "\\q"}  # fmt: skip
_PLAIN = string.ascii_letters + string.digits + " ;*+-<>()[]#é汉😀"


@st.composite
def _literals(draw: st.DrawFn) -> tuple[str, list[tuple[str, int, int]], bool]:
    """A literal, and of each character of its value: the character and the range it stands for.
    The last says whether it is an f-string."""
    raw = draw(st.booleans())
    formatted = draw(st.booleans())
    quotes = draw(st.sampled_from(['"', "'", '"""', "'''"]))
    prefix = ("f" if formatted else "") + ("r" if raw else "")
    written = prefix + quotes
    expected: list[tuple[str, int, int]] = []
    for _ in range(draw(st.integers(0, 8))):
        start = len(written)
        kind = draw(st.sampled_from(["plain", "escape", "line", "brace", "hole", "unknown"]))
        if kind == "escape" and not raw and not (formatted):
            code = draw(st.sampled_from(sorted(_ESCAPES)))
            value = _ESCAPES[code]
            if value == "\\q":
                expected += [("\\", start, start + 1), ("q", start + 1, start + 2)]
            else:
                expected += [(value, start, start + len(code))] if value else []
        elif kind == "line" and len(quotes) == 3:
            code = "\n"
            expected.append(("\n", start, start + 1))
        elif kind == "brace" and formatted:
            code = draw(st.sampled_from(["{{", "}}"]))
            expected.append((code[0], start, start + 2))
        elif kind == "hole" and formatted:
            code = draw(st.sampled_from(["{TILE}", "{ TILE * 2 }", "{TYPE}", "{TILE:04d}"]))
            value = {"{TILE}": "16", "{ TILE * 2 }": "32", "{TYPE}": "float",
                     "{TILE:04d}": "0016"}[code]  # fmt: skip
            expected += [(character, start, start + len(code)) for character in value]
        else:
            code = draw(st.text(_PLAIN, min_size=1, max_size=6))
            expected += [(c, start + i, start + i + 1) for i, c in enumerate(code)]
        written += code
    return written + quotes, expected, formatted


@settings(max_examples=300, deadline=None)
@given(st.lists(_literals(), min_size=1, max_size=5), st.data())
def test_each_character_is_at_its_place(
    pieces: list[tuple[str, list[tuple[str, int, int]], bool]], data: st.DataObject
) -> None:
    code = 'TILE = 16\nTYPE = "float"\nresult = ('
    expected: list[tuple[str, int, int]] = []
    for number, (written, characters, _) in enumerate(pieces):
        if number:
            code += data.draw(st.sampled_from([" + ", "\n    ", " ", " +\n  "]))
        expected += [(c, len(code) + start, len(code) + end) for c, start, end in characters]
        code += written
    code += ")\n"
    text = text_of(code)
    namespace: dict[str, str] = {}
    exec(code, namespace)
    assert text is not None or namespace["result"] == ""
    if text is not None:
        assert text.value == namespace["result"]
        assert list(zip(text.value, text.starts, text.ends, strict=True)) == expected


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from(list(" \t\nab;")), max_size=40))
def test_transformed_text_keeps_the_places(value: str) -> None:
    text = texts.copied(value, 100)
    for transformed, function in (
        (texts.dedented(text), textwrap.dedent),
        (texts.stripped(text, "strip"), str.strip),
        (texts.stripped(text, "lstrip"), str.lstrip),
        (texts.stripped(text, "rstrip"), str.rstrip),
    ):
        assert transformed.value == function(value)
        for character, start, end in zip(
            transformed.value, transformed.starts, transformed.ends, strict=True
        ):
            assert end == start + 1
            assert value[start - 100] == character
    if "\t" not in value:
        assert texts.cleaned(text).value == inspect.cleandoc(value)


@pytest.mark.parametrize(
    "token", ['""', "''''''", 'r"\\n"', "b'\\u0041'", "rb'''a\r\nb'''", '"\\\r\n"', "'a\\0b'"]
)
def test_literal(token: str) -> None:
    expected = eval(token)
    text = literal_text(token, 0)
    assert text is not None
    value = expected.decode("latin-1") if isinstance(expected, bytes) else expected
    assert text.value == value


# Strings that are put together -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ('result = "int a[%d]; %% %s" % (4, "x")', "int a[4]; % x"),
        ('result = "int a[%(n)d];" % {"n": 4}', "int a[4];"),
        ('values = dict(n=4)\nresult = "int a[%(n)03d];" % dict(n=4)', "int a[004];"),
        ('result = "a[{}][{}] {{}}".format(2, 3)', "a[2][3] {}"),
        ('result = "a[{n}] {1} {0}".format("x", "y", n=7)', "a[7] y x"),
        ('result = "a[N]".replace("N", str(8))', "a[8]"),
        ('result = "a[N] N".replace("N", str(n))', "a[cudalint_unknown_0] cudalint_unknown_0"),
        ('result = "a[N] N".replace("N", "8", 1)', "a[8] N"),
        ('from string import Template\nresult = Template("a[$n] ${t}s $$").substitute(n=3, t="i")',
         "a[3] is $"),
        ('from string import Template\nt = Template("a[$n]")\nresult = t.substitute({"n": 3})',
         "a[3]"),
        ('result = "\\n".join(["a;", "b;"])', "a;\nb;"),
        ('A = "x"\nB = A + "y"\nresult = B + A', "xyx"),
        ('s = "a"\ns = s + "b"\nresult = s', "ab"),
        ('s = "a"\nif len(s):\n    s = "b"\nresult = s', None),
        ('def source():\n    return "x;"\nresult = source()', "x;"),
        ('class K:\n    CODE = "y;"\nresult = K.CODE', "y;"),
        ('result = "caf\\u00e9".encode()', "café"),
        ('import textwrap as t\nresult = t.dedent("""\\\n    a\n      b\n    """)', "a\n  b\n"),
        ('result = f"a[{unknown}];"', "a[cudalint_unknown_0];"),
        ('result = f"""void f() {{\n{body}\n}}"""', "void f() {\n\n}"),
        ('result = header + "void f();"', "cudalint_unknown_0void f();"),
        ('result = header + "\\nvoid f();"', "\nvoid f();"),
        ("result = unknown", None),
        ("result = unknown()", None),
        ("result = result", None),
    ],
)  # fmt: skip
def test_value(code: str, value: str | None) -> None:
    assert value_of(code) == value


# Programs ----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def lower(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Program]:
    folder = tmp_path_factory.getbasetemp().parent / "cudalint_headers"

    def lowered(code: str, filename: str = "script.py") -> Program:
        return read(filename, textwrap.dedent(code), ParseOptions(cache_folder=folder))

    return lowered


def launches(program: Program) -> list[Launch]:
    return [
        operation
        for function in program.functions
        for block in function.blocks
        for operation in block.operations
        if isinstance(operation, Launch)
    ]


def test_kernel_is_where_it_is_written(lower: Callable[..., Program]) -> None:
    program = lower(
        """
        import cupy
        code = ('extern "C" __global__ void '
                'scale(float* a) {\\n  __shared__ float t[8]; a[0] = t[0]; }')
        scale = cupy.RawKernel(code, "scale")
        scale((1,), (1,), (a,))
        """
    )
    (embedded,) = program.embedded
    (kernel,) = embedded.kernels
    assert (kernel.span.row, kernel.span.column, kernel.span.end_column) == (4, 10, 15)
    assert (kernel.shared[0].span.row, kernel.shared[0].span.column) == (4, 31)
    assert launches(program)[0].kernel_key == kernel.key


def test_size_of_a_hole_is_unknown(lower: Callable[..., Program]) -> None:
    program = lower(
        '''
        import cupy
        def build(tile, args):
            code = f"""
            #define WIDTH ({tile} + 1)
            extern "C" __global__ void one(float* a) {{
                __shared__ float t[100000 * WIDTH]; __shared__ float u[4];
            }}
            extern "C" __global__ void two({args}) {{ }}
            """
            return cupy.RawModule(code=code)
        '''
    )
    one, two = program.embedded[0].kernels
    assert [array.bytes for array in one.shared] == [None, 16] or one.shared[0].bytes is None
    assert two.parameters[0].starred == "*"


def test_kernel_of_a_name_with_a_hole(lower: Callable[..., Program]) -> None:
    program = lower(
        """
        import cupy
        def build(kind, a):
            code = f'extern "C" __global__ void scale_{kind}(float* a) {{ }}'
            kernel = cupy.RawKernel(code, f"scale_{kind}")
            kernel((1,), (1,), (a,))
        """
    )
    assert launches(program)[0].kernel_key == program.embedded[0].kernels[0].key


def test_file_next_to_the_script(lower: Callable[..., Program], tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text('\nextern "C" __global__ void f(int* a) { }\n')
    for expression in (
        'open("k.cu").read()',
        'Path(__file__).with_name("k.cu").read_text()',
        '(Path(__file__).resolve().parent / "k.cu").read_text()',
        'open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "k.cu")).read()',
        'open(os.path.dirname(__file__) + "/k.cu").read()',
        "text",
    ):
        program = lower(
            f"""
            import os
            from pathlib import Path
            import cupy
            with open(Path(__file__).parent / "k.cu") as file:
                text = file.read()
            kernel = cupy.RawKernel({expression}, "f")
            """,
            str(tmp_path / "script.py"),
        )
        (kernel,) = program.embedded[0].kernels
        assert Path(kernel.filename).name == "k.cu"
        assert (kernel.span.row, kernel.span.column) == (2, 28)
        assert any(name.endswith("k.cu") for name in program.includes)


def test_broken_source_is_told_of(lower: Callable[..., Program]) -> None:
    program = lower(
        '''
        import cupy
        kernel = cupy.RawKernel("""
        extern "C" __global__ void f(int* a) { a[0] = 1; }
        ) ] nonsense (
        """, "f")
        '''
    )
    (embedded,) = program.embedded
    assert [kernel.name for kernel in embedded.kernels] == ["f"]
    assert embedded.dropped and all(4 <= part.span.row <= 6 for part in embedded.dropped)


def test_no_source_no_libclang(lower: Callable[..., Program]) -> None:
    assert lower("import cupy\na = cupy.zeros(3)\n").embedded == ()


# Runs --------------------------------------------------------------------------------------------

SCRIPT = """\
import cupy
kernel = cupy.RawKernel(open("k.cu").read(), "f")
kernel((1,), (2048,), (a,))
"""
KERNEL = 'extern "C" __global__ void f(int* a) { __shared__ int t[%d]; a[0] = t[0]; }\n'


def codes(folder: Path, **arguments: object) -> tuple[list[str], Report]:
    options = ["--isolated", "--cache-dir", str(folder / "cache"), str(folder / "script.py")]
    context = check.make_context("check", options)
    plan = make_plan(configuration_of((str(folder / "script.py"),), dict(context.params)))
    found = discover([folder / "script.py"], plan.settings, plan.root)
    report = lint(found.files, plan, **arguments)  # type: ignore[arg-type]
    return [f"{Path(f.filename).name} {f.code}" for f in report.active], report


def test_cached_until_the_file_read_changes(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    assert codes(tmp_path, supervised=False)[0] == ["script.py GPU304"]
    (tmp_path / "k.cu").write_text(KERNEL % 20_000)
    assert codes(tmp_path, supervised=False)[0] == ["k.cu GPU301", "script.py GPU304"]
    (tmp_path / "k.cu").write_text(KERNEL % 20)
    assert codes(tmp_path, supervised=False)[0] == ["script.py GPU304"]


def test_file_survives_a_source_that_kills_its_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(filename: str, text: str, options: object) -> Program:
        os.kill(os.getpid(), signal.SIGSEGV)
        raise AssertionError

    monkeypatch.setattr("cudalint.frontends.cuda.read", crash)
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "k.cu").write_text(KERNEL % 20)
    found, report = codes(tmp_path)
    assert found == ["script.py GPU304"]
    assert report.errors == ()
    assert any("strings were not read" in note.message for note in report.notes)
