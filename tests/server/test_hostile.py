"""Whatever an editor, a file or a worker does, the server goes on."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from benchmarks import common
from benchmarks.server.client import Editor
from benchmarks.server.measuring import storm
from benchmarks.server.texts import program
from tests.server.conftest import LEAK

Start = Callable[..., Editor]


def still_works(editor: Editor, path: Path) -> bool:
    found = editor.shown(editor.open(path, LEAK))
    return [one["code"] for one in found] == ["GPU102"]


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[1, 2]",
        b"null",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "1.0", "method": "x"}',
        b'{"jsonrpc": "2.0", "method": "no/such", "params": []}',
        b'{"jsonrpc": "2.0", "id": 9000, "result": null}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 3}}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didOpen"}',
        b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}',
        b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 77}}',
        b'{"jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": {}}',
    ],
)
def test_odd_messages_are_passed_over(editor: Editor, tmp_path: Path, body: bytes) -> None:
    editor.send_bytes(body)
    editor.send_raw(b"Nonsense: yes\r\n")
    assert still_works(editor, tmp_path / "a.cu")
    assert not [one for one in editor.messages if one["method"] == "window/showMessage"]


def test_unknown_documents_are_passed_over(editor: Editor, tmp_path: Path) -> None:
    uri = (tmp_path / "never.cu").as_uri()
    editor.versions[uri] = 1
    editor.change(uri, {"text": "int x;"})
    editor.save(uri)
    editor.close(uri)
    for uri in ("file:///%00.cu", "file://[bad/a.cu", "", "git:/a.cu?{}", "file:///no/such/a.cu"):
        editor.open(uri, LEAK)
        editor.shown(uri)
    place = {"line": 10**9, "character": 10**9}
    question = {"textDocument": {"uri": "x"}, "position": place}
    assert editor.ask("textDocument/hover", question) is None
    with pytest.raises(LookupError):
        editor.ask("textDocument/rename", {"textDocument": {"uri": uri}, "position": place})
    assert still_works(editor, tmp_path / "a.cu")


def test_places_beyond_the_text_are_its_end(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", LEAK)
    beyond = {"line": 10**6, "character": 10**6}
    editor.change(uri, {"range": {"start": beyond, "end": beyond}, "text": "\n// the end"})
    end = {"line": 0, "character": 10**6}
    editor.change(uri, {"range": {"start": end, "end": end}, "text": " // the start"})
    assert [one["code"] for one in editor.shown(uri)] == ["GPU102"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("zeros.cu", "int x;\0\0"),
        ("surrogates.cu", "// \ud800 \udfff\n" + LEAK),
        ("braces.cu", "{" * 50_000),
        ("quotes.cu", LEAK + '"' * 999 + 'R"(' + "/*"),
        ("half.cu", LEAK[: len(LEAK) // 2]),
        ("brackets.py", "import torch\n" + "(" * 50_000),
        ("indentation.py", "import torch\n\tif x:\n  y\n"),
        ("bell.py", "import torch\n\a\f\x1c\x85 = '\u2028'\n"),
    ],
)
def test_any_text_is_answered(editor: Editor, tmp_path: Path, name: str, text: str) -> None:
    uri = editor.open(tmp_path / name, text, "python" if name.endswith("py") else "cuda")
    editor.shown(uri)
    assert still_works(editor, tmp_path / "a.cu")


def test_a_line_of_ten_megabytes(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "long.cu", "int a[] = {" + "1, " * 3_500_000 + "};")
    (found,) = editor.shown(uri, 120)
    assert "is enormous" in found["message"]
    editor.change(uri, {"text": LEAK})
    assert [one["code"] for one in editor.shown(uri)] == ["GPU102"]


def test_files_that_vanish(launch: Start, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    (folder / "cudalint.toml").write_text("")
    (folder / "a.cu").write_text(LEAK)
    with launch(folder=folder) as editor:
        uri = editor.open(folder / "a.cu", LEAK)
        editor.shown(uri)
        for path in (folder / "a.cu", folder / "cudalint.toml"):
            path.unlink()
        editor.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 3}]})
        editor.change(uri, {"text": LEAK + "int x;\n"})
        assert [one["code"] for one in editor.shown(uri)] == ["GPU102"]


def _workers(server: int) -> list[int]:
    """The processes that the fork server of a server has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found.append((int(entry.name), int(fields[1])))
    children = [process for process, parent in found if parent == server]
    return [process for process, parent in found if parent in children]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_worker_that_dies_is_replaced(launch: Start, tmp_path: Path) -> None:
    with launch() as editor:
        assert editor.process is not None
        editor.shown(editor.open(tmp_path / "a.cu", LEAK))
        uri = editor.open(tmp_path / "b.cu", program(3000))
        deadline = time.monotonic() + 30
        killed = 0
        while killed < 1 and time.monotonic() < deadline:
            for worker in _workers(editor.process.pid):
                os.kill(worker, signal.SIGKILL)
                killed += 1
        assert killed
        assert any(one["code"] == "GPU102" for one in editor.shown(uri, 120))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_server(launch: Start, tmp_path: Path, number: int) -> None:
    editor = launch()
    editor.initialize()
    assert editor.process is not None
    editor.open(tmp_path / "b.cu", program(3000))
    deadline = time.monotonic() + 30
    workers: list[int] = []
    while not workers and time.monotonic() < deadline:
        workers = _workers(editor.process.pid)
    editor.process.send_signal(number)
    editor.process.wait(20)
    while any(map(_is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert workers and not any(map(_is_alive, workers))


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_error_of_ours_is_shown_and_passes(launch: Start, tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text(
        "import sys, cudalint.server.session as session\n"
        "lint = session.lint\n"
        "def broken(files, plan, *, contents, **options):\n"
        "    if b'broken' in b''.join(contents.values()): raise ValueError('oops')\n"
        "    return lint(files, plan, contents=contents, **options)\n"
        "session.lint = broken\n"
        "from cudalint.cli import main\n"
        "if __name__ == '__main__': sys.exit(main(['server']))\n"
    )
    with launch(command=[sys.executable, str(script)]) as editor:
        uri = editor.open(tmp_path / "a.cu", LEAK + "// broken\n")
        (found,) = editor.shown(uri)
        assert "internal error: ValueError: oops" in found["message"]
        editor.change(uri, {"text": LEAK})
        assert [one["code"] for one in editor.shown(uri)] == ["GPU102"]


def test_nothing_that_is_linted_is_executed(editor: Editor, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    text = f"import torch\nopen({str(mark)!r}, 'w')\n"
    editor.shown(editor.open(tmp_path / "a.py", text, "python"))
    assert not mark.exists()


def test_prints_do_not_reach_the_editor(launch: Start, tmp_path: Path) -> None:
    noisy = (
        "import sys, os, cudalint.linter\n"
        "judged = cudalint.linter.judged\n"
        "def loud(*arguments):\n"
        "    print('loud', flush=True); os.write(1, b'louder'); return judged(*arguments)\n"
        "cudalint.linter.judged = loud\n"
        "from cudalint.cli import main\n"
        "if __name__ == '__main__': sys.exit(main(['server']))\n"
    )
    script = tmp_path / "noisy.py"
    script.write_text(noisy)
    with launch(command=[sys.executable, str(script)]) as editor:
        assert still_works(editor, tmp_path / "a.cu")
        assert not [one for one in editor.messages if one["method"] == "broken"]


def test_random_edits_end_where_a_fresh_run_does(editor: Editor, tmp_path: Path) -> None:
    plan = common.plan_for([tmp_path], Path(os.environ["CUDALINT_CACHE_DIR"]))
    path = tmp_path / "edited.cu"
    assert storm(editor, path, LEAK + program(60), plan, 200, 25, seed=5) == 8
