"""Notebooks to damage, and the ways to damage what only notebooks have."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

_MAGICS = (
    "%matplotlib inline\n", "!pip install cupy\n", "files = !ls\n", "%%time\n", "%%cu\n",
    "%%bash\n", "%timeit f(\n", "?x\n", "x??\n", "%%", "%", "!\\\n", "%%writefile a.py\n",
    "%%capture out\n", "%lprun -f f f(\n1)\n", "x = %time 1\n", "await f()\n", "\f\n",
)  # fmt: skip
_ODD: tuple[Any, ...] = (
    None,
    1,
    -1.5,
    True,
    "text",
    [],
    {},
    [[]],
    {"a": {}},
    "\ud800",
    "\0",
    "é" * 99,
)


def notebook_of(program: bytes) -> bytes:
    """A notebook of a Python program: a cell for each of its paragraphs."""
    text = program.decode("utf-8", "replace")
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": part.splitlines(True),
        }
        for part in re.split(r"\n\n\n+(?=\S)", text)
    ]
    return _bytes({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def code_of(notebook: bytes) -> bytes:
    """The code of a notebook's cells."""
    return "\n\n\n".join(_text(cell) for cell in json.loads(notebook)["cells"]).encode()


def _text(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def _bytes(content: Any) -> bytes:
    return json.dumps(content, indent=1).encode()


def _contents(data: bytes) -> dict[str, Any]:
    content = json.loads(data)
    assert isinstance(content, dict)
    return content


def odd_cells(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Values of another type where the format wants something."""
    content = _contents(data)
    for _number in range(chance.choice((1, 2, 5))):
        places: list[Any] = [content, content.get("metadata")]
        places += content["cells"] if isinstance(content.get("cells"), list) else []
        place = chance.choice([one for one in places if isinstance(one, dict)])
        keys = [*place, "source", "cell_type", "metadata", "cells", "language"]
        place[chance.choice(keys)] = chance.choice(_ODD)
    return _bytes(content)


def magics(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """What IPython adds to Python, anywhere."""
    content = _contents(data)
    for cell in content["cells"]:
        lines = _text(cell).splitlines(True)
        for _number in range(chance.choice((0, 1, 3))):
            lines.insert(chance.choice((0, chance.randint(0, len(lines)))), chance.choice(_MAGICS))
        cell["source"] = lines
    return _bytes(content)


def old_format(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Format 3, or one that is not there yet."""
    content = _contents(data)
    cells: list[dict[str, Any]] = content.pop("cells")
    for cell in cells:
        cell["input"] = cell.pop("source", "")
    content["worksheets"] = [{"cells": cells}] * chance.choice((0, 1, 2))
    content["nbformat"] = chance.choice((3, 2, 99))
    return _bytes(content)


def heavy_outputs(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Outputs that hold pictures, NaN and deep nesting; cells without end."""
    content = _contents(data)
    deep: Any = []
    for _number in range(chance.choice((10, 400))):
        deep = [deep]
    picture = "iVBORw0KGgo" * chance.choice((10, 100_000))
    for cell in content["cells"]:
        cell["outputs"] = [{"data": {"image/png": picture}, "value": float("nan")}, deep]
    content["cells"] *= chance.choice((1, 1, 30))
    return json.dumps(content).encode()  # indented, it would take seconds


def shuffled_cells(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Cells in another order, those of another notebook among them, some cut in two."""
    content = _contents(data)
    cells = [*content["cells"], *_contents(chance.choice(others))["cells"]]
    chance.shuffle(cells)
    for cell in cells:
        if chance.random() < 0.2:
            text = _text(cell)
            cell["source"] = text[chance.randint(0, len(text)) :]
    content["cells"] = cells
    return _bytes(content)


DAMAGES = (odd_cells, magics, old_format, heavy_outputs, shuffled_cells)
