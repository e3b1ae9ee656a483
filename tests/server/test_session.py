"""Sessions of a scripted editor with a server in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from benchmarks.server.client import CAPABILITIES, COMMAND, Editor
from cudalint.project.files import LargeTreeError, sources_below
from cudalint.project.settings import Settings
from tests.server.conftest import CLEAN, LEAK

Start = Callable[..., Editor]
PYTHON_LEAK = """# -*- coding: latin-1 -*-
from cuda.bindings import runtime as cudart

def reserve(size):
    name = "é"; err, block = cudart.cudaMalloc(size)
    (err,) = cudart.cudaMemset(block, 0, size)
    return err == cudart.cudaError_t.cudaSuccess
"""
HOLDER = """#pragma once
#include <cuda_runtime.h>
class Holder {
public:
    Holder();
    ~Holder();
private:
    float* table_ = nullptr;
};
"""
HOLDER_MAKES = '#include "holder.h"\nHolder::Holder() { cudaMalloc(&table_, 4096); }\n'
HOLDER_ENDS = '#include "holder.h"\nHolder::~Holder() { cudaFree(table_); }\n'


def codes(found: list[dict[str, Any]]) -> list[str]:
    return [one["code"] for one in found]


def text_at(text: str, place: dict[str, Any]) -> str:
    line: bytes = text.split("\n")[place["start"]["line"]].encode("utf-16-le")
    units = slice(2 * place["start"]["character"], 2 * place["end"]["character"])
    return line[units].decode("utf-16-le")


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    from benchmarks.server.texts import offset_of

    places = [
        (offset_of(text, one["range"]["start"]), offset_of(text, one["range"]["end"]), one)
        for one in edits
    ]
    for start, end, one in sorted(places, key=lambda place: place[:2], reverse=True):
        text = text[:start] + one["newText"] + text[end:]
    return text


def test_a_finding_comes_with_its_path(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a file.cu", LEAK)
    (found,) = [one for one in editor.shown(uri) if one["code"] == "GPU102"]
    assert found["source"] == "cudalint" and found["severity"] == 3
    assert text_at(LEAK, found["range"]) == "cudaMalloc(&d_in, count * sizeof(float))"
    steps = found["relatedInformation"]
    assert len(steps) >= 3 and all(step["location"]["uri"] == uri for step in steps)
    assert text_at(LEAK, steps[-2]["location"]["range"])
    assert found["data"] and "codeDescription" not in found


def test_diagnostics_follow_the_text(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", LEAK)
    assert "GPU102" in codes(editor.shown(uri))
    editor.change(uri, {"text": CLEAN})
    assert "GPU102" not in codes(editor.shown(uri))
    insertion = {"line": 0, "character": 0}
    editor.change(
        uri, {"text": LEAK}, {"range": {"start": insertion, "end": insertion}, "text": "\n"}
    )
    moved = [one for one in editor.shown(uri) if one["code"] == "GPU102"]
    assert moved[0]["range"]["start"]["line"] == 6
    editor.close(uri)
    editor.until(lambda: editor.diagnostics[uri]["diagnostics"] == [])


def test_only_the_newest_text_is_shown(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", LEAK)
    for number in range(30):
        editor.change(uri, {"text": f"{LEAK if number % 2 else CLEAN}// {number}\n"})
        time.sleep(0.02)
    editor.shown(uri)
    editor.settle(0.5)
    published = [
        message["params"]["version"]
        for message in editor.messages
        if message["method"] == "textDocument/publishDiagnostics"
    ]
    assert published == sorted(published) and published[-1] == editor.versions[uri]
    assert len(published) < 15
    assert "GPU102" in codes(editor.diagnostics[uri]["diagnostics"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_encodings_are_negotiated(launch: Start, tmp_path: Path, encoding: str) -> None:
    capabilities = {**CAPABILITIES, "general": {"positionEncodings": [encoding]}}
    editor = launch(capabilities=capabilities)
    answer = editor.initialize()
    assert answer["capabilities"]["positionEncoding"] == encoding
    text = LEAK.replace("    if (cudaMalloc", "\t/* 🚀é */ if (cudaMalloc")
    uri = editor.open(tmp_path / "a.cu", text)
    (found,) = [one for one in editor.shown(uri) if one["code"] == "GPU102"]
    column = {"utf-8": 18, "utf-16": 15, "utf-32": 14}[encoding]
    assert found["range"]["start"] == {"line": 5, "character": column}
    editor.leave()


def test_carriage_returns_are_no_columns(editor: Editor, tmp_path: Path) -> None:
    text = LEAK.replace("\n", "\r\n")
    uri = editor.open(tmp_path / "a.cu", text)
    (found,) = [one for one in editor.shown(uri) if one["code"] == "GPU102"]
    assert text_at(text, found["range"]) == "cudaMalloc(&d_in, count * sizeof(float))"
    place = {"line": 4, "character": 99}
    editor.change(uri, {"range": {"start": place, "end": place}, "text": " // 🚀"})
    assert codes(editor.shown(uri)) == ["GPU102"]


def test_python_is_linted_too(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.py", PYTHON_LEAK, "python")
    (found,) = [one for one in editor.shown(uri) if one["code"] == "GPU101"]
    assert text_at(PYTHON_LEAK, found["range"]).startswith("cudart.cudaMalloc(")
    uri = editor.open(tmp_path / "b.py", "print('no CUDA')\n", "python")
    assert editor.shown(uri) == []


def test_documents_without_a_file(editor: Editor) -> None:
    uri = editor.open("untitled:Untitled-1", LEAK)
    assert "GPU102" in codes(editor.shown(uri))
    other = editor.open("untitled:Untitled-2", LEAK, "plaintext")
    assert editor.shown(other) == []


def test_open_files_are_linted_together(editor: Editor, tmp_path: Path) -> None:
    caller = (
        "#include <cuda_runtime.h>\nvoid give_back(float* block);\n"
        "void use() { float* block; if (cudaMalloc(&block, 4)) return; give_back(block); }\n"
    )
    keeps = "#include <cuda_runtime.h>\nvoid give_back(float* block) { (void)block; }\n"
    frees = "#include <cuda_runtime.h>\nvoid give_back(float* block) { cudaFree(block); }\n"
    uri = editor.open(tmp_path / "caller.cu", caller)
    other = editor.open(tmp_path / "other.cu", keeps)
    editor.shown(other)
    editor.until(lambda: codes(editor.diagnostics[uri]["diagnostics"]) == ["GPU101"])
    editor.change(other, {"text": frees})
    editor.until(lambda: codes(editor.diagnostics[uri]["diagnostics"]) == [])


def test_what_stands_elsewhere_in_the_project_counts(launch: Start, tmp_path: Path) -> None:
    (tmp_path / "cudalint.toml").write_text("")
    (tmp_path / "holder.h").write_text(HOLDER)
    (tmp_path / "makes.cu").write_text(HOLDER_MAKES)
    (tmp_path / "ends.cu").write_text('#include "holder.h"\nHolder::~Holder() {}\n')
    with launch() as editor:
        uri = editor.open(tmp_path / "makes.cu", HOLDER_MAKES)
        editor.until(
            lambda: "GPU105" in codes(editor.diagnostics.get(uri, {}).get("diagnostics", []))
        )
        (tmp_path / "ends.cu").write_text(HOLDER_ENDS)
        changed = {"uri": (tmp_path / "ends.cu").as_uri(), "type": 2}
        editor.tell("workspace/didChangeWatchedFiles", {"changes": [changed]})
        editor.until(lambda: "GPU105" not in codes(editor.diagnostics[uri]["diagnostics"]))


def test_headers_that_nobody_saved_count(editor: Editor, tmp_path: Path) -> None:
    header = "#include <cuda_runtime.h>\ninline void done(float* block) { (void)block; }\n"
    (tmp_path / "done.h").write_text(header)
    text = (
        '#include "done.h"\n'
        "void use() { float* block; if (cudaMalloc(&block, 4)) return; done(block); }\n"
    )
    uri = editor.open(tmp_path / "a.cu", text)
    assert codes(editor.shown(uri)) == ["GPU101"]
    editor.open(tmp_path / "done.h", header.replace("(void)block", "cudaFree(block)"), "cpp")
    editor.until(lambda: codes(editor.diagnostics[uri]["diagnostics"]) == [])


def test_a_finding_can_be_ignored_here(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", LEAK)
    (found,) = [one for one in editor.shown(uri) if one["code"] == "GPU102"]
    question = {
        "textDocument": {"uri": uri},
        "range": found["range"],
        "context": {"diagnostics": [found]},
    }
    fix, action = editor.ask("textDocument/codeAction", question)
    assert fix["kind"] == "quickfix" and "cudaFree(d_in)" in fix["title"]
    assert action["kind"] == "quickfix" and action["diagnostics"] == [found]
    (change,) = action["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": uri, "version": 1}
    text = applied(LEAK, change["edits"])
    assert "// cudalint: ignore[GPU102]" in text
    editor.change(uri, {"text": text})
    assert editor.shown(uri) == []
    refactorings = {**question, "context": {"diagnostics": [], "only": ["refactor"]}}
    assert editor.ask("textDocument/codeAction", refactorings) == []


def test_hover_shows_the_page(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", LEAK)
    (found,) = [one for one in editor.shown(uri) if one["code"] == "GPU102"]
    here = {"textDocument": {"uri": uri}, "position": found["range"]["start"]}
    page = editor.ask("textDocument/hover", here)
    assert page["contents"]["kind"] == "markdown" and page["range"] == found["range"]
    assert page["contents"]["value"].startswith("# early-exit-leak\n")
    elsewhere = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    assert editor.ask("textDocument/hover", elsewhere) is None


def test_settings_come_from_the_project_and_the_editor(launch: Start, tmp_path: Path) -> None:
    configuration = tmp_path / "cudalint.toml"
    configuration.write_text('documentation = "https://docs.test/cudalint"\n')
    with launch(settings={"severity": {"GPU102": "error"}}) as editor:
        uri = editor.open(tmp_path / "a.cu", LEAK)
        (found,) = editor.shown(uri)
        assert found["severity"] == 1
        assert found["codeDescription"]["href"] == "https://docs.test/cudalint/rules/GPU102/"
        settings = {"settings": {"cudalint": {"ignore": ["GPU102"]}}}
        editor.tell("workspace/didChangeConfiguration", settings)
        editor.until(lambda: editor.diagnostics[uri]["diagnostics"] == [])
        settings["settings"]["cudalint"] = {}
        editor.tell("workspace/didChangeConfiguration", settings)
        editor.until(lambda: codes(editor.diagnostics[uri]["diagnostics"]) == ["GPU102"])


def test_a_broken_configuration_is_told_once(launch: Start, tmp_path: Path) -> None:
    configuration = tmp_path / "cudalint.toml"
    configuration.write_text('ignore = ["GPU102"]\n')
    with launch() as editor:
        uri = editor.open(tmp_path / "a.cu", LEAK)
        assert editor.shown(uri) == []
        configuration.write_text('ignroe = ["GPU102"]\n')
        for number in range(2):
            editor.change(uri, {"text": f"{LEAK}// {number}\n"})
            assert editor.shown(uri) == []
        told = [one["params"] for one in editor.messages if one["method"] == "window/showMessage"]
        assert len(told) == 1 and told[0]["type"] == 1 and "`ignore`" in told[0]["message"]
        configuration.write_text("")
        changed = {"uri": configuration.as_uri(), "type": 2}
        editor.tell("workspace/didChangeWatchedFiles", {"changes": [changed]})
        editor.until(lambda: codes(editor.diagnostics[uri]["diagnostics"]) == ["GPU102"])


def test_clients_that_can_little_are_told_in_words(launch: Start, tmp_path: Path) -> None:
    with launch(capabilities={}) as editor:
        uri = editor.open(tmp_path / "a.cu", LEAK)
        (found,) = editor.shown(uri)
        assert "\n1: line 6: " in found["message"]
        assert not {"relatedInformation", "data", "tags", "codeDescription"} & found.keys()
        here = {
            "textDocument": {"uri": uri},
            "range": found["range"],
            "context": {"diagnostics": []},
        }
        actions = editor.ask("textDocument/codeAction", here)
        assert actions and all(list(one["edit"]["changes"]) == [uri] for one in actions)


def test_unused_suppressions_are_faded(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", CLEAN + "int x;  // cudalint: ignore[GPU101]\n")
    (found,) = editor.shown(uri)
    assert (found["code"], found["tags"]) == ("GPU001", [1])


def test_a_socket_does_as_well(tmp_path: Path) -> None:
    import socket

    command = [*COMMAND, "--tcp", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as wire:
            streams = wire.makefile("rb"), wire.makefile("wb")
            with Editor(tmp_path, streams=streams) as editor:
                uri = editor.open(tmp_path / "a.cu", LEAK)
                assert codes(editor.shown(uri)) == ["GPU102"]
        assert process.wait(20) == 0


def test_without_pygls_the_command_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pygls'] = None\n"
        "from cudalint.cli import main; sys.exit(main(['server']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "pip install 'cudalint[server]'" in done.stderr and "Traceback" not in done.stderr


def test_the_server_leaves_with_its_editor(launch: Start, tmp_path: Path) -> None:
    editor = launch()
    editor.initialize()
    editor.shown(editor.open(tmp_path / "a.cu", LEAK))
    assert editor.leave() == 0
    orphan = launch()
    orphan.initialize()
    assert orphan.process is not None and orphan.process.stdin is not None
    orphan.process.stdin.close()
    assert orphan.process.wait(20) == 1


TAKES = """#include <cuda_runtime.h>
void take(float* block);
void lend(int count)
{
    float* block;
    if (cudaMalloc(&block, count) == cudaSuccess)
        take(block);
}
"""


@pytest.mark.parametrize("others", [498, 499])
def test_a_project_of_more_than_500_sources_is_not_read(
    launch: Start, tmp_path: Path, others: int
) -> None:
    """What other files do counts up to there; beyond, nobody knows, and the log says so."""
    (tmp_path / "cudalint.toml").write_text("")
    (tmp_path / "lends.cu").write_text(TAKES)
    (tmp_path / "takes.cu").write_text("#include <cuda_runtime.h>\nvoid take(float* block) {}\n")
    folder = tmp_path / "others"
    folder.mkdir()
    for number in range(others):
        (folder / f"one_{number}.py").write_text("\n")
    log = tmp_path / "log.txt"
    with log.open("wb") as errors, launch(errors=errors) as editor:
        uri = editor.open(tmp_path / "lends.cu", TAKES)
        assert editor.shown(uri) == []
        if others + 2 <= 500:
            editor.until(lambda: codes(editor.diagnostics[uri]["diagnostics"]) == ["GPU101"])
        else:
            deadline = time.monotonic() + 60
            while "too large" not in log.read_text() and time.monotonic() < deadline:
                time.sleep(0.05)
            editor.settle()
            assert editor.shown(uri) == []
    assert ("too large" in log.read_text()) == (others + 2 > 500)


def test_a_tree_of_very_many_files_is_not_walked_to_its_end(tmp_path: Path) -> None:
    """Whether a project is large is known after a while, wherever its sources are."""
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
        for number in range(4):
            (tmp_path / folder / f"{number}.txt").write_text("")
    (tmp_path / "a" / "a.cu").write_text("")
    walk = partial(sources_below, tmp_path, Settings(), tmp_path)
    assert [one.path.name for one in walk(100)] == ["a.cu"]
    with pytest.raises(LargeTreeError):
        list(walk(8))
