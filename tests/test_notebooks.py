"""Notebooks: their cells as one module, and every place mapped back to its cell."""

from __future__ import annotations

import ast
import io
import json
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.cli import main
from cudalint.findings.cells import lines_in_cells
from cudalint.frontends.python.magics import python_of
from cudalint.frontends.python.notebooks import read_notebook
from cudalint.loading import load
from cudalint.project.files import SourceFile
from cudalint.project.reading import UnreadableError
from cudalint.source import Cell, Source

IMPORT = "from cuda.bindings import runtime as cudart"
LEAK = """def reserve(size):
    status, block = cudart.cudaMalloc(size)
    if status != cudart.cudaError_t.cudaSuccess:
        raise MemoryError(size)
    print(block)"""


def code(source: Any, **fields: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": source, **fields}


def markdown(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def notebook(*cells: Any, **fields: Any) -> dict[str, Any]:
    listed = [code(cell) if isinstance(cell, str | list) else cell for cell in cells]
    return {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **fields}


def encoded(content: Any, **options: Any) -> bytes:
    return json.dumps(content, **options).encode("utf-8", "surrogatepass")


def read(*cells: Any, **fields: Any) -> Source:
    return read_notebook("n.ipynb", encoded(notebook(*cells, **fields))).source


def lint(
    folder: Path,
    content: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *arguments: str,
) -> tuple[int, list[str], str]:
    monkeypatch.chdir(folder)
    data = content if isinstance(content, bytes) else encoded(content)
    (folder / "n.ipynb").write_bytes(data)
    status = main(["--isolated", "--no-cache", "--quiet", "--jobs=1", *arguments, "n.ipynb"])
    out, err = capsys.readouterr()
    found = re.findall(r"^(.*?): \w+: .* \[(GPU\d{3})\]$", out, re.MULTILINE)
    return status, [f"{place}: {code}" for place, code in found], err


# Text -------------------------------------------------------------------------------------------


def test_cells_become_one_module() -> None:
    source = read(
        "a = 1", markdown("# no"), ["b = 2\n", "c = 3"], "", code("d = 4", cell_type="raw")
    )
    assert source.text == "a = 1\nb = 2\nc = 3"
    assert source.cells == (Cell(1, 1, 1), Cell(3, 2, 2))
    assert [source.place(row) for row in (1, 2, 3)] == [(1, 1), (3, 1), (3, 2)]
    assert source.place(99) == (3, 2)


def test_format_3() -> None:
    cells = [
        {"cell_type": "code", "language": "python", "input": ["x = 1\n", "y = 2"], "outputs": []},
        {"cell_type": "heading", "source": "Title", "level": 1},
        {"cell_type": "code", "language": "julia", "input": "z = 3"},
    ]
    content = {"worksheets": [{"cells": cells}, {"cells": cells[:1]}], "nbformat": 3}
    source = read_notebook("n.ipynb", encoded(content)).source
    assert source.text == "x = 1\ny = 2\nx = 1\ny = 2"
    assert [cell.number for cell in source.cells] == [1, 4]


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"language": "julia"}},
        {"language_info": {"name": "R"}},
        {"kernelspec": {"name": "xcpp17"}, "language_info": {"name": "c++"}},
    ],
)
def test_other_kernels_are_not_python(metadata: dict[str, Any]) -> None:
    assert read("import cupy", metadata=metadata).text == ""


@pytest.mark.parametrize(
    "metadata",
    [{}, None, 3, {"kernelspec": None}, {"kernelspec": {"language": "Python"}}, {"kernelspec": []}],
)
def test_kernels_that_are(metadata: Any) -> None:
    assert read("import cupy", metadata=metadata).text == "import cupy"


def test_a_cell_may_have_its_own_language() -> None:
    foreign = code("puts 1", metadata={"vscode": {"languageId": "ruby"}})
    own = code("x = 1", metadata={"vscode": {"languageId": "python"}})
    assert read(foreign, own).text == "x = 1"


def test_json_is_read_as_json() -> None:
    text = "name = \"größe\\n\\u0041 \U0001f600\"\tif x else '\\\\'\nprint(name)\x0c"
    for ascii_only in (True, False):
        data = encoded(notebook(text), ensure_ascii=ascii_only)
        assert read_notebook("n.ipynb", data).source.text == text
    for mark in (b"\xef\xbb\xbf", b""):
        assert read_notebook("n.ipynb", mark + encoded(notebook(text))).source.text == text
    utf16 = json.dumps(notebook(text)).encode("utf-16")
    assert read_notebook("n.ipynb", utf16).source.text == text


def test_lone_surrogates_and_nan() -> None:
    data = b'{"cells": [{"cell_type": "code", "source": "x = \'\\ud800\'", "outputs": [NaN]}]}'
    assert read_notebook("n.ipynb", data).source.text == "x = '\ufffd'"


def test_odd_cells_are_passed_over() -> None:
    source = read(code(None), code(3), code(["x = 1\n", None, "y = 2"]), {"cell_type": []}, {})
    assert source.text == "x = 1\ny = 2"


# Magics -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline", "0"),
        ("  %matplotlib inline", "  0"),
        ("!pip install 'cupy\nx = 1", "0\nx = 1"),
        ("!!ls", "0"),
        ("?print", "0"),
        ("print?", "0"),
        ("a.b??  ", "0"),
        ("%cd ..\n%pwd", "0\n0"),
        ("x = %pwd", "x = _"),
        ('x = !ls | grep "it\'s"', "x = _"),
        ("a, b = !ls \\\n  | sort\nc = 1", "a, b = _\n\nc = 1"),
        ("!a \\\n b \\\n c\nd", "0\n\n\nd"),
        ("%time x = f(3)", "0;    x = f(3)"),
        ("%timeit -n 3 -r 2 f(3)", "0;                f(3)"),
        ("%time", "0"),
        ("%time for x in y: pass", "0"),
        ("if x:\n    %debug\n    y()", "if x:\n    0\n    y()"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n%%timeit -n 1\nx = 1", "\n\nx = 1"),
        ("/f 1 2", "0"),
        (",f a b", "0"),
    ],
)
def test_magics_are_blanked(cell: str, python: str) -> None:
    found = python_of(cell)
    assert found is not None
    assert [line.rstrip() for line in found.split("\n")] == python.split("\n")
    assert [len(line) for line in found.split("\n")] == [len(line) for line in cell.split("\n")]


@pytest.mark.parametrize(
    "cell",
    [
        "x = (7\n    % 2)",
        "x = 7 \\\n    % 2",
        'text = """\n%matplotlib\n!ls\nwhat?\n"""',
        "x = [\n    '%d'\n    % 3,\n    a\n    != b,\n]",
        "# really?",
        "print('really?')",
        'f("""\n?""", \'"\')\nx %= 3',
        "if x != y: pass  # !",
    ],
)
def test_python_that_looks_like_magic(cell: str) -> None:
    assert python_of(cell) == cell


@pytest.mark.parametrize("cell", ["%%bash\necho", "\n\n%%writefile a.py\nx", "%%html\n"])
def test_foreign_cells_are_skipped(cell: str) -> None:
    assert python_of(cell) is None


def test_an_indented_cell() -> None:
    source = read("    x = 1\n    y = 2", "z = 3")
    ast.parse(source.text)
    assert source.line(source.cells[0].first_row) == "    x = 1"
    assert source.place(source.cells[0].first_row + 1) == (1, 2)


def test_reports_show_magics_as_written() -> None:
    source = read("import cupy\n%time x = f()", "%%time\ny = 1")
    assert [source.shown_line(row) for row in range(1, 5)] == [
        "import cupy",
        "%time x = f()",
        "%%time",
        "y = 1",
    ]


# Properties -------------------------------------------------------------------------------------

CELL_TEXT = st.text(st.sampled_from("ab =+%!?()[]'\"\\#\n\r\t\x0cé\U0001f600"), max_size=40)
CELLS = st.lists(
    st.tuples(st.sampled_from(["code", "markdown"]), CELL_TEXT, st.booleans()), max_size=8
)


@given(CELLS, st.booleans())
@settings(deadline=None)
def test_every_row_leads_back_to_its_cell(
    cells: list[tuple[str, str, bool]], ascii_only: bool
) -> None:
    made = [
        {"cell_type": kind, "source": text.splitlines(True) if listed else text}
        for kind, text, listed in cells
    ]
    source = read_notebook("n", encoded(notebook(*made), ensure_ascii=ascii_only)).source
    lines = source.text.split("\n")
    rows_of: dict[int, list[int]] = {}
    for cell in source.cells:
        _, text, _ = cells[cell.number - 1]
        original = text.removesuffix("\n").split("\n")
        assert cell.rows == len(original)
        for offset, line in enumerate(original):
            row = cell.first_row + offset
            assert source.place(row) == (cell.number, offset + 1)
            assert source.shown_line(row) == line.removesuffix("\r")
            assert len(lines[row - 1]) == len(line)
            rows_of.setdefault(cell.number, []).append(row)
    counted = [row for rows in rows_of.values() for row in rows]
    assert counted == sorted(set(counted))
    assert not counted or counted[-1] == len(lines)


@given(CELL_TEXT)
def test_blanking_keeps_the_shape(text: str) -> None:
    found = python_of(text)
    if found is not None:
        assert len(found) == len(text)
        assert found.count("\n") == text.count("\n")
        assert python_of(found) is not None


# Whole runs -------------------------------------------------------------------------------------


def test_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = notebook(markdown("# A"), IMPORT, f"%matplotlib\n\n{LEAK}")
    status, lines, _ = lint(tmp_path, content, capsys, monkeypatch)
    assert (status, lines) == (1, ["n.ipynb:cell 3:4:21: GPU101"])
    main(["--isolated", "--no-cache", "--output-format=json", "n.ipynb"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["location"] == {"cell": 3, "row": 4, "column": 21}
    assert finding["end_location"] == {"cell": 3, "row": 4, "column": 44}
    assert {step["location"]["cell"] for step in finding["steps"]} == {3}


def test_frames_show_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = notebook(
        IMPORT,
        "%pwd\nstatus, block = cudart.cudaMalloc(4)\nassert status == 0",
        "%pwd\nprint(block)",
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.ipynb").write_bytes(encoded(content))
    main(["--isolated", "--no-cache", "--output-format=full", "n.ipynb"])
    out = capsys.readouterr().out
    assert "n.ipynb:cell 2:2:17: " in out
    assert "  : cell 2\n2 | status, block = cudart.cudaMalloc(4)\n" in out
    assert "  : cell 3\n2 | print(block)\n" in out


def test_lines_in_messages_are_counted_by_cell() -> None:
    source = Source("n", "", (Cell(2, 1, 10), Cell(5, 11, 10)))
    assert lines_in_cells("released at line 13", source) == "released at line 3 of cell 5"
    assert lines_in_cells("lines 12 and 14 free it", source) == "lines 2 and 4 of cell 5 free it"
    assert lines_in_cells("lines 3 and 14", source) == "lines 3 (cell 2) and 4 (cell 5)"
    assert lines_in_cells("`line 13` of 14 bytes", source) == "`line 13` of 14 bytes"


def test_comments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    silenced = LEAK.replace("cudaMalloc(size)", "cudaMalloc(size)  # cudalint: ignore[GPU101] kept")
    content = notebook(IMPORT, silenced, "x = 1  # noqa: GPU101")
    _, lines, _ = lint(tmp_path, content, capsys, monkeypatch)
    assert lines == ["n.ipynb:cell 3:1:8: GPU001"]
    content = notebook(IMPORT, "# cudalint: file-ignore[GPU101]", LEAK, LEAK.replace("res", "pres"))
    assert lint(tmp_path, content, capsys, monkeypatch)[:2] == (0, [])


@pytest.mark.parametrize(
    "more",
    [
        "await something()\ndisplay(3)\nreturn 3",
        "x = (1,\n",
        'text = """never closed',
        "def f(:\n    pass",
        "print 'two'",
        "}",
        "x = 1 \\",
        "%%bash\nfor x in 'it''s'; do",
        "!echo '\n%time",
    ],
)
def test_a_strange_cell_costs_no_other(
    more: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = notebook(IMPORT, LEAK, more)
    _, lines, err = lint(tmp_path, content, capsys, monkeypatch, "--ignore=GPU002")
    assert (lines, err) == (["n.ipynb:cell 2:2:21: GPU101"], "")
    content = notebook(IMPORT, more, LEAK)
    _, lines, err = lint(tmp_path, content, capsys, monkeypatch, "--ignore=GPU002")
    assert (lines, err) == (["n.ipynb:cell 3:2:21: GPU101"], "")


BROKEN = [
    (b"{", "is not valid JSON"),
    (b'{"cells": [', "is not valid JSON"),
    (encoded(notebook(IMPORT))[:-20], "is not valid JSON"),
    (b"import cupy\n", "is not valid JSON"),
    (b"[1, 2]", "is not a notebook"),
    (b"{}", "is not a notebook"),
    (b'"cells"', "is not a notebook"),
    (b'{"cells": 3}', "is not a notebook"),
    (b'{"cells": [3]}', "is not a notebook"),
    (b'{"cells": ["\0"]}', "is binary"),
    (b'{"cells": [{"source": "\xff"}]}', "is not valid UTF-8"),
    (b'{"a": ' + b"[" * 100_000, "is nested too deeply"),
]


@pytest.mark.parametrize(("data", "reason"), BROKEN)
def test_what_is_no_notebook_is_said_in_one_line(
    data: bytes,
    reason: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "leak.py").write_text(f"{IMPORT}\n{LEAK}\n")
    status, lines, err = lint(tmp_path, data, capsys, monkeypatch, "leak.py")
    assert status == 2
    assert lines == ["leak.py:3:21: GPU101"]
    assert err.startswith(f"cudalint: n.ipynb: {reason}")
    assert err.count("\n") == 1


def test_an_empty_notebook_is_fine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for content in (notebook(), notebook(""), notebook(markdown("cuda")), notebook("x = 1")):
        assert lint(tmp_path, content, capsys, monkeypatch) == (0, [], "")


def test_damaged_bytes_never_raise_anything_else() -> None:
    chance = random.Random(7)
    whole = encoded(notebook(IMPORT, markdown("é"), [f"%time x\n{LEAK}", "\n!ls"]))
    for _ in range(300):
        data = bytearray(whole[: chance.randint(0, len(whole))])
        for _ in range(chance.choice((0, 1, 5))):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            read_notebook("n.ipynb", bytes(data))
        except UnreadableError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("unit", ["x = 1; ", "%", "?", "! ", " ", "=", "'", "(", "a?", "\\"])
def test_a_long_line_takes_no_time(unit: str) -> None:
    cell = unit * (5_000_000 // len(unit))
    data = encoded(notebook(cell, f"%pwd\nx = {cell}", f"'\n{cell}\n?"))
    started = time.process_time()
    read_notebook("n.ipynb", data)
    assert time.process_time() - started < 8


def test_what_mentions_no_library_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("decoded")

    file = SourceFile("n.ipynb", Path("n.ipynb"), "python")
    image = code("plot()", outputs=[{"data": {"image/png": "iVBOR" * 1000 + "cuda"}}])
    assert load(file, encoded(notebook(image)), 10**7) is None
    assert load(file, encoded(notebook("import json")), 10**7) is None
    escaped = encoded(notebook("import cupy")).replace(b"cupy", rb"\u0063\u0075py")
    assert load(file, escaped, 10**7) is not None
    monkeypatch.setattr("cudalint.frontends.python.notebooks.read_notebook", refuse)
    assert load(file, encoded(notebook("import json")), 10**7) is None


def test_only_the_code_counts_for_the_size() -> None:
    file = SourceFile("n.ipynb", Path("n.ipynb"), "python")
    heavy = encoded(notebook(code("import cupy", outputs=["x" * 100_000])))
    loaded = load(file, heavy, 1000)
    assert loaded is not None and loaded.data == b"import cupy"
    with pytest.raises(UnreadableError, match="enormous"):
        load(file, encoded(notebook("import cupy  #" + "x" * 2000)), 1000)


def test_found_in_folders_and_on_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / ".ipynb_checkpoints"
    kept.mkdir()
    data = encoded(notebook(IMPORT, LEAK))
    for folder in (tmp_path, kept):
        (folder / "n.ipynb").write_bytes(data)
    # A module of the same name is another module:
    (tmp_path / "n.py").write_text(f"{IMPORT}\n{LEAK}\n")
    main(["--isolated", "--no-cache", "--quiet", "."])
    found = re.findall(r"^(.*?): \w+: .* \[GPU101\]$", capsys.readouterr().out, re.MULTILINE)
    assert found == ["n.ipynb:cell 2:2:21", "n.py:3:21"]
    for arguments in (["--stdin-filename", "sub/x.ipynb"], []):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        main(["--isolated", "--no-cache", "--quiet", "-", *arguments])
        assert "cell 2:2:21: warning: " in capsys.readouterr().out


def test_cells_of_cuda_are_sources_in_their_rows() -> None:
    cell = "%%cuda -c '-O2'\n__global__ void f() {}\nint main() { f<<<1, 1>>>(); }"
    python = python_of(cell)
    assert python is not None
    assert python.split("\n")[1:] == [*cell.split("\n")[1:-1], f"{cell.split(chr(10))[-1]}''')"]
    assert python.startswith("import ")
    compile(python, "cell", "exec")
    assert python_of("%%cu\nchar* quoted = \"'''\";") is None
    assert python_of("%%cu") is None
