"""C++ launches and allocations: what is asked before or after them."""

from __future__ import annotations

import re
from collections import Counter

from cudalint.findings.fix import Applicability, Edit, Fix
from cudalint.findings.repair import AddCheck, OptIn
from cudalint.fixes.cpp import CppText
from cudalint.fixes.text import demand

_STATUS = re.compile(r"cuda[A-Z]\w*")
_HIP = re.compile(r"\bhip[A-Z]\w*\s*\(")
_NO_CHECKS = {"if", "while", "return", "switch", "static_cast", "int", "void"}
_ATTRIBUTE = "cudaFuncAttributeMaxDynamicSharedMemorySize"


def opt_in(repair: OptIn, text: CppText) -> Fix:
    """``cudaFuncSetAttribute`` in the line before the launch; HIP's takes other arguments."""
    demand(not _HIP.search(text.text))
    begin, _ = text.bounds(repair.launch)
    number = text.number(begin)
    demand(text.statement_start(number) == number and not text.in_branch(number))
    demand(text.leads(begin))
    written = text.at(repair.launch)
    match = re.match(
        r"(?P<kernel>[\w:]+(?:<[\w:, ]+>)?)\s*<<<(?P<configuration>.*?)>>>", written, re.S
    )
    demand(match)
    assert match is not None
    given = _split(match["configuration"])
    demand(len(given) >= 3)
    shared = " ".join(given[2].split())
    demand(re.fullmatch(r"[\w\s*+()<>:.-]+", shared))
    call = f"cudaFuncSetAttribute({match['kernel']}, {_ATTRIBUTE}, {shared})"
    check = _check(text)
    statement = f"{check}({call})" if check else call
    indentation = text.indentation(begin)
    return Fix(
        f"Allow `{match['kernel']}` its shared memory by `cudaFuncSetAttribute`",
        (text.insert(begin, f"{statement};\n{indentation}"),),
        Applicability.SAFE,
    )


def _split(configuration: str) -> list[str]:
    """The parts of a launch's configuration."""
    parts, depth = [""], 0
    for letter in configuration:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def add_check(repair: AddCheck, text: CppText) -> Fix:
    """The project's own check around a call, or of the last error after a launch."""
    check = _check(text)
    demand(check)
    edits: list[Edit] = []
    for span in repair.calls:
        start, end = text.bounds(span)
        number = text.number(start)
        demand(text.statement_start(number) == number)
        last = text.statement_end(number)
        if not repair.launches:
            demand(not text.text[end : text.tokens[last].start].strip())
            edits += [text.insert(start, f"{check}("), text.insert(end, ")")]
            continue
        demand(not text.in_branch(number) and text.leads(start))
        behind = text.line_end(text.tokens[last].end)
        rest = text.text[text.tokens[last].end : behind].strip()
        demand(not rest or rest.startswith("//"))
        asked = f"\n{text.indentation(start)}{check}(cudaGetLastError());"
        edits.append(text.insert(behind, asked))
    what = "`cudaGetLastError()`" if repair.launches else "the status"
    return Fix(f"Check {what} by `{check}`", tuple(edits), Applicability.UNSAFE)


def _check(text: CppText) -> str | None:
    """What the file most often wraps the status of a CUDA call in, as a statement of its own."""
    tokens, found = text.tokens, Counter[str]()
    for number in range(1, len(tokens) - 2):
        name, opening, call = (one.text for one in tokens[number : number + 3])
        if opening == "(" and name.isidentifier() and _STATUS.fullmatch(call):
            alone = tokens[number - 1].text in (";", "{", "}")
            if alone and name not in _NO_CHECKS and not _STATUS.fullmatch(name):
                found[name] += 1
    return found.most_common(1)[0][0] if found else None
