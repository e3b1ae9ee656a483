"""Notebooks in an editor: cells as it holds them, findings where they stand in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from benchmarks.server.client import Editor

Start = Callable[..., Editor]
IMPORTS = "import torch\nfrom cuda.bindings import runtime as cudart\n"
KEEPS = (
    "losses = []\nfor x in torch.ones(5, 2):\n    loss = model(x.cuda()).sum()\n"
    "    loss.backward()\n    losses.append(loss)"
)
SETS = "model = torch.nn.Linear(2, 2).cuda()"
LEAKS = (
    "# é🚀\nname = '🚀'; err, block = cudart.cudaMalloc(64)\n"
    "(err,) = cudart.cudaMemset(block, 0, 64)"
)
Cells = Sequence[tuple[str, str]]


class Book:
    """A notebook as an editor holds it: the languages and texts of its cells, by address."""

    def __init__(self, editor: Editor, path: Path | str, cells: Cells) -> None:
        self.editor = editor
        self.uri = path.as_uri() if isinstance(path, Path) else path
        self.version = 1
        self.made = 0
        self.cells: list[str] = []
        items = [self._item(*cell) for cell in cells]
        self.cells = [item["uri"] for item in items]
        editor.tell(
            "notebookDocument/didOpen",
            {
                "notebookDocument": {
                    "uri": self.uri,
                    "notebookType": "jupyter-notebook",
                    "version": 1,
                    "metadata": {"kernelspec": {"language": "python"}},
                    "cells": [self._cell(item) for item in items],
                },
                "cellTextDocuments": items,
            },
        )

    def _item(self, language: str, text: str) -> dict[str, Any]:
        self.made += 1
        uri = f"vscode-notebook-cell:{self.uri.partition(':')[2]}#C{self.made}"
        self.editor.versions[uri] = 1
        return {"uri": uri, "languageId": language, "version": 1, "text": text}

    def _cell(self, item: dict[str, Any]) -> dict[str, Any]:
        return {"kind": 1 if item["languageId"] == "markdown" else 2, "document": item["uri"]}

    def change(self, **cells: Any) -> None:
        """Change cells, in the words of the protocol."""
        self.version += 1
        identifier = {"uri": self.uri, "version": self.version}
        self.editor.tell(
            "notebookDocument/didChange",
            {"notebookDocument": identifier, "change": {"cells": cells}},
        )

    def splice(self, start: int, count: int, *new: tuple[str, str]) -> None:
        """Take some cells out, and put others in."""
        items = [self._item(*cell) for cell in new]
        gone = self.cells[start : start + count]
        self.cells[start : start + count] = [item["uri"] for item in items]
        array = {
            "start": start,
            "deleteCount": count,
            "cells": [self._cell(item) for item in items],
        }
        closed = [{"uri": uri} for uri in gone]
        self.change(structure={"array": array, "didOpen": items, "didClose": closed})

    def type(self, number: int, *changes: dict[str, Any]) -> None:
        """Change the text of a cell."""
        uri = self.cells[number]
        self.editor.versions[uri] += 1
        document = {"uri": uri, "version": self.editor.versions[uri]}
        self.change(textContent=[{"document": document, "changes": list(changes)}])

    def told(self) -> list[list[tuple[str, int]]]:
        """By cell: the codes, and the rows from 0."""
        return [
            [(one["code"], one["range"]["start"]["line"]) for one in self.editor.shown(uri)]
            for uri in self.cells
        ]

    def close(self) -> None:
        self.editor.tell("notebookDocument/didClose", {
            "notebookDocument": {"uri": self.uri},
            "cellTextDocuments": [{"uri": uri} for uri in self.cells],
        })  # fmt: skip
        self.editor.settle(0.3)


def test_all_cells_are_asked_for(launch: Start) -> None:
    editor = launch()
    told = editor.initialize()["capabilities"]["notebookDocumentSync"]
    assert {"notebook": "jupyter-notebook"} in told["notebookSelector"]
    assert told["save"]
    assert editor.leave() == 0


def test_a_finding_stands_in_its_cell(editor: Editor, tmp_path: Path) -> None:
    cells = [("markdown", "# About"), ("python", IMPORTS), ("python", SETS), ("python", KEEPS)]
    book = Book(editor, tmp_path / "a.ipynb", cells)
    assert book.told() == [[], [], [], [("GPU601", 4)]]
    (found,) = editor.shown(book.cells[3])
    assert "line 2 of cell 4" in found["message"]
    related = [one["location"]["uri"] for one in found["relatedInformation"]]
    assert related and set(related) <= set(book.cells)
    book.close()
    assert editor.diagnostics[book.cells[3]]["diagnostics"] == []


def test_findings_follow_the_cells(editor: Editor, tmp_path: Path) -> None:
    """Typed in, put in before, moved away, taken out, turned into prose."""
    cells = [("python", IMPORTS + SETS), ("python", KEEPS)]
    book = Book(editor, tmp_path / "a.ipynb", cells)
    assert book.told() == [[], [("GPU601", 4)]]
    place = {"line": 4, "character": len("    losses.append(loss")}
    book.type(1, {"range": {"start": place, "end": place}, "text": ".item()"})
    assert book.told() == [[], []]
    book.type(1, {"text": "\n\n" + KEEPS})
    assert book.told() == [[], [("GPU601", 6)]]
    book.splice(1, 0, ("markdown", "Now"), ("python", "%time\nrounds = 3"))
    assert book.told() == [[], [], [], [("GPU601", 6)]]
    last = book.cells[3]
    book.change(data=[{"kind": 1, "document": last}])
    editor.until(lambda: editor.diagnostics[last]["diagnostics"] == [])
    book.change(data=[{"kind": 2, "document": last}])
    editor.until(lambda: editor.diagnostics[last]["diagnostics"] != [])
    book.splice(3, 1)
    editor.until(lambda: editor.diagnostics[last]["diagnostics"] == [])
    assert book.told() == [[], [], []]
    book.close()


def test_fixes_and_comments_go_into_the_cell(editor: Editor, tmp_path: Path) -> None:
    book = Book(editor, tmp_path / "a.ipynb", [("python", IMPORTS + SETS), ("python", KEEPS)])
    assert book.told()[1] == [("GPU601", 4)]
    uri = book.cells[1]
    (found,) = editor.shown(uri)
    asked = {
        "textDocument": {"uri": uri},
        "range": found["range"],
        "context": {"diagnostics": [found]},
    }
    fix, ignore = editor.ask("textDocument/codeAction", asked)
    for action, text in ((fix, ".detach()"), (ignore, "  # cudalint: ignore[GPU601]")):
        (change,) = action["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 1}
        assert [(one["newText"], one["range"]["start"]["line"]) for one in change["edits"]] == [
            (text, 4)
        ]
    hover = editor.ask(
        "textDocument/hover",
        {"textDocument": {"uri": uri}, "position": found["range"]["start"]},
    )
    assert "GPU601" in hover["contents"]["value"]
    book.close()


def test_places_in_cells_count_utf_16(editor: Editor, tmp_path: Path) -> None:
    book = Book(editor, tmp_path / "a.ipynb", [("python", IMPORTS), ("python", LEAKS)])
    assert book.told() == [[], [("GPU101", 1), ("GPU506", 1)]]
    found, _ = editor.shown(book.cells[1])
    line = LEAKS.split("\n")[1].encode("utf-16-le")
    start, end = (2 * found["range"][side]["character"] for side in ("start", "end"))
    assert line[start:end].decode("utf-16-le").startswith("cudart.cudaMalloc(64)")
    book.close()


def test_other_kernels_and_notebooks_without_a_file(editor: Editor) -> None:
    cells = [("python", IMPORTS + SETS), ("julia", KEEPS), ("python", KEEPS)]
    book = Book(editor, "untitled:Untitled-1.ipynb", cells)
    assert book.told() == [[], [], [("GPU601", 4)]]
    book.close()


def test_what_an_editor_says_of_a_notebook_is_what_the_command_line_says(
    editor: Editor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from cudalint.cli import main

    code = [IMPORTS, "%matplotlib inline\n" + SETS, LEAKS, KEEPS]
    book = Book(editor, tmp_path / "a.ipynb", [("python", text) for text in code])
    shown = {
        (one["code"], number, one["range"]["start"]["line"] + 1, one["message"])
        for number, uri in enumerate(book.cells, start=1)
        for one in editor.shown(uri)
    }
    cells = [{"cell_type": "code", "metadata": {}, "source": text} for text in code]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}))
    main([str(tmp_path / "a.ipynb"), "--isolated", "--no-cache", "--output", "json"])
    listed = json.loads(capsys.readouterr().out)["findings"]
    assert shown == {
        (one["code"], one["location"]["cell"], one["location"]["row"], one["message"])
        for one in listed
    }
    assert {code for code, *_ in shown} == {"GPU101", "GPU506", "GPU601"}
    book.close()


def test_odd_changes_are_passed_over(editor: Editor, tmp_path: Path) -> None:
    book = Book(editor, tmp_path / "a.ipynb", [("python", IMPORTS + SETS), ("python", KEEPS)])
    array = {"start": 9, "deleteCount": 7, "cells": [{"kind": 2, "document": "nowhere:1"}]}
    book.change(structure={"array": array})
    lost = {"document": {"uri": "nowhere:2", "version": 4}, "changes": [{"text": "x"}]}
    book.change(textContent=[lost])
    other = {"uri": "file:///never.ipynb", "version": 2}
    editor.tell("notebookDocument/didChange", {"notebookDocument": other, "change": {}})
    assert book.told() == [[], [("GPU601", 4)]]
    book.close()
