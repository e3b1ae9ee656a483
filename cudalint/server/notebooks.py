"""The notebooks that the editor holds, as one document each: the linter reads their JSON, and what
it finds is shown in their cells."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types

from cudalint.project.files import NOTEBOOK_SUFFIX
from cudalint.server.documents import Document, place_of
from cudalint.server.positions import Encoding

# Of all cells, so that "cell 3" is the third one for whoever reads the notebook.
SYNC = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook=types.NotebookDocumentFilterPattern(pattern=f"**/*{NOTEBOOK_SUFFIX}")
        ),
        types.NotebookDocumentFilterWithNotebook(notebook="jupyter-notebook"),
    ],
    save=True,
)


@dataclass(frozen=True)
class Cell:
    """A cell, whose text is a document of its own."""

    text: Document
    language: str
    """As the editor calls it."""
    is_code: bool


@dataclass(frozen=True)
class Notebook:
    """One version of an open notebook."""

    uri: str
    version: int
    path: Path
    saved: bool
    metadata: Mapping[str, Any]
    cells: tuple[Cell, ...]

    def document(self) -> Document:
        """What is linted."""
        text = json.dumps(
            {
                "cells": [_json(cell) for cell in self.cells],
                "metadata": self.metadata,
                "nbformat": 4,
                "nbformat_minor": 5,
            }
        )
        return Document(
            self.uri,
            self.version,
            text,
            self.path,
            "python",
            self.saved,
            cells=tuple(cell.text for cell in self.cells),
        )

    def changed(
        self,
        version: int,
        change: types.NotebookDocumentChangeEvent,
        metadata: Mapping[str, Any] | None,
        encoding: Encoding,
    ) -> Notebook:
        """The notebook after a change: of its cells, of their kinds, of their texts."""
        cells = list(self.cells)
        told = change.cells or types.NotebookDocumentCellChanges()
        if told.structure is not None:
            array = told.structure.array
            known = {cell.text.uri: cell for cell in self.cells}
            known |= _opened(array.cells or (), told.structure.did_open or (), self.path)
            added = [known[one.document] for one in array.cells or () if one.document in known]
            cells[array.start : array.start + array.delete_count] = added
        kinds = {one.document: _is_code(one) for one in told.data or ()}
        for number, cell in enumerate(cells):
            text = cell.text
            for content in told.text_content or ():
                if content.document.uri == text.uri:
                    text = text.changed(content.document.version, content.changes, encoding)
            is_code = kinds.get(text.uri, cell.is_code)
            cells[number] = Cell(text, cell.language, is_code)
        return dataclasses.replace(
            self,
            version=version,
            metadata=self.metadata if metadata is None else metadata,
            cells=tuple(cells),
        )


def opened(
    notebook: types.NotebookDocument,
    metadata: Mapping[str, Any] | None,
    texts: Sequence[types.TextDocumentItem],
    folder: Path,
) -> Notebook:
    """A notebook that was opened; what has no file of its own belongs to ``folder``."""
    path, saved = place_of(notebook.uri, folder, NOTEBOOK_SUFFIX)
    known = _opened(notebook.cells, texts, path)
    cells = tuple(known[one.document] for one in notebook.cells if one.document in known)
    return Notebook(notebook.uri, notebook.version, path, saved, metadata or {}, cells)


def _opened(
    cells: Iterable[types.NotebookCell], texts: Iterable[types.TextDocumentItem], path: Path
) -> dict[str, Cell]:
    items = {item.uri: item for item in texts}
    found = {}
    for cell in cells:
        item = items.get(cell.document)
        if item is not None:
            text = Document(item.uri, item.version, item.text, path, "python", saved=False)
            found[item.uri] = Cell(text, item.language_id, _is_code(cell))
    return found


def _is_code(cell: types.NotebookCell) -> bool:
    return cell.kind == types.NotebookCellKind.Code


def _json(cell: Cell) -> dict[str, Any]:
    return {
        "cell_type": "code" if cell.is_code else "markdown",
        "metadata": {"vscode": {"languageId": cell.language}},
        "source": cell.text.text,
    }
