"""What IPython adds to Python: magics, shell commands and questions, blanked in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PYTHON_CELLS = frozenset(
    ["capture", "debug", "ipytest", "lprun", "memit", "mprun", "prun", "python"]
) | frozenset(["python3", "time", "timeit"])
"""Cell magics whose cells are Python."""
_CUDA_CELLS = frozenset(["cu", "cuda", "cuda_group_run", "nvcc"])
"""Cell magics whose cells are CUDA C++ (nvcc4jupyter)."""
_CUDA_CALL = "import nvcc4jupyter; nvcc4jupyter.cell(r'''"
_CELL_MAGIC = re.compile(r"%%([\w.!]*)")
_ANY = re.compile(r"^[ \t]*[%!?,;/]|\?[ \t\r]*$|=[ \t]*[%!]", re.MULTILINE)
"""Where there is none of these, there is no magic."""
_COMMAND = re.compile(r"[ \t]*(?P<mark>%%?|!!?|\?\??|[,;/])")
_TIMED = re.compile(r"%(?:time|timeit)\b(?:[ \t]+-\w+(?:[ \t]+\d+)?)*[ \t]+(?=\S)")
_COMPOUND = re.compile(r"(?:async|class|def|for|if|try|while|with)\b")
_ASSIGNED = re.compile(r"[ \t]*[A-Za-z_][\w., \t*\[\]'\"]*=[ \t]*(?P<command>[%!][ \t]*[\w~./{$])")
_QUESTION = re.compile(r"[^#'\"]+|[\w.*\[\]'\"]+")
_TOKEN = re.compile(
    r"""
    (?P<newline>\n)
  | (?P<comment>\#[^\n]*)
  | (?P<triple>"{3}(?:[^"\\]++|\\.|"(?!""))*+(?:"{3}|\Z)|'{3}(?:[^'\\]++|\\.|'(?!''))*+(?:'{3}|\Z))
  | (?P<string>"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?)
  | (?P<continued>\\\r?\n)
  | (?P<open>[(\[{])
  | (?P<close>[)\]}])
  | (?P<other>[^\n\#"'\\()\[\]{}]++|.)
    """,
    re.VERBOSE | re.DOTALL,
)


def python_of(code: str) -> str | None:
    """A cell's Python, as long as the cell and in the same rows: what is IPython's own is blanked.
    A cell of CUDA C++ is a string. ``None`` for a cell of another language."""
    start = len(code) - len(code.lstrip())
    if magic := _CELL_MAGIC.match(code, start):
        if magic[1] in _CUDA_CELLS:
            return _cuda_cell(code[start:]) if not start else None
        if magic[1] not in _PYTHON_CELLS:
            return None
        end = code.find("\n", start)
        end = len(code) if end < 0 else end
        code = code[:start] + " " * (end - start) + code[end:]
    if not _ANY.search(code):
        return code
    return "".join(_pieces(code))


def _cuda_cell(code: str) -> str | None:
    """A cell of CUDA C++ as the source that the magic compiles, in the same rows."""
    _, line_end, body = code.partition("\n")
    if not line_end or "'''" in body or body.endswith(("'", "\\")):
        return None
    return f"{_CUDA_CALL}\n{body}''')"


def _pieces(code: str) -> Iterator[str]:
    position = 0
    while position < len(code):
        end = code.find("\n", position)
        end = len(code) if end < 0 else end
        line = code[position:end]
        blanked = _without_magic(line)
        if blanked is None:
            end = _end_of_statement(code, position)
            yield code[position:end]
        else:
            yield blanked
            # A command goes on behind a backslash.
            while code[position:end].rstrip("\r").endswith("\\") and end < len(code):
                position = end + 1
                end = code.find("\n", position)
                end = len(code) if end < 0 else end
                yield "\n" + " " * (end - position)
            if end < len(code):
                yield "\n"
                end += 1
        position = end


def _without_magic(line: str) -> str | None:
    """The line without its magic; ``None`` if it has none."""
    if command := _COMMAND.match(line):
        start = command.start("mark")
        timed = _TIMED.match(line, start)
        if timed and not _COMPOUND.match(line, timed.end()):
            rest = line[timed.end() :]
            return line[:start] + "0;".ljust(timed.end() - start) + (python_of(rest) or "")
        return line[:start] + "0".ljust(len(line) - start)
    if assigned := _ASSIGNED.match(line):
        start = assigned.start("command")
        # Not a number: nobody knows what a command prints.
        return line[:start] + "_".ljust(len(line) - start)
    words = line.strip()
    if words.endswith("?") and _QUESTION.fullmatch(words):
        start = line.index(words)
        return line[:start] + "0".ljust(len(line) - start)
    return None


def _end_of_statement(code: str, position: int) -> int:
    """Behind the end of the logical line: no magic starts inside brackets and strings."""
    depth = 0
    for token in _TOKEN.finditer(code, position):
        kind = token.lastgroup
        if kind == "newline" and not depth:
            return token.end()
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(depth - 1, 0)
    return len(code)
