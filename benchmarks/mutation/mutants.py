"""Changes a program's text at one release: three mutants, on the same rows where possible."""

from __future__ import annotations

import re
from functools import lru_cache

from benchmarks.mutation.cuda_text import CudaText
from benchmarks.mutation.model import (
    EARLY_RETURN,
    KINDS,
    REMOVED,
    SWITCH,
    Mutant,
    Release,
)
from benchmarks.mutation.python_text import PythonText
from cudalint.source import Source

_SUCCESS = (
    ("cudnn", "CUDNN_STATUS_SUCCESS"),
    ("cublas", "CUBLAS_STATUS_SUCCESS"),
    ("cufft", "CUFFT_SUCCESS"),
    ("cusparse", "CUSPARSE_STATUS_SUCCESS"),
    ("cusolver", "CUSOLVER_STATUS_SUCCESS"),
    ("curand", "CURAND_STATUS_SUCCESS"),
    ("nccl", "ncclSuccess"),
    ("nvrtc", "NVRTC_SUCCESS"),
    ("hip", "hipSuccess"),
    ("cuda", "cudaSuccess"),
    ("cu", "CUDA_SUCCESS"),
)
_CUDA_CONDITION = f'getenv("{SWITCH}")'
_C_DECLARATION = "extern char* getenv(const char*); "
"""What C has to be told first; the headers of CUDA tell C++."""
_PYTHON_CONDITION = f'os.environ.get("{SWITCH}")'


class CannotMutate(Exception):  # noqa: N818  (a fact about the text)
    """The release stands where a mutant cannot be written; the message says why."""


def mutants(source: Source, release: Release) -> tuple[list[Mutant], dict[str, str]]:
    """The mutants of a release, and the reasons for those that cannot be."""
    write = _in_python if release.language == "python" else _in_cuda
    found: list[Mutant] = []
    refused: dict[str, str] = {}
    for kind in KINDS:
        if kind in release.exempt:
            refused[kind] = release.exempt[kind]
            continue
        try:
            found.append(write(source, release, kind))
        except CannotMutate as error:
            refused[kind] = str(error)
    return found, refused


@lru_cache(maxsize=8)
def _cuda_text(text: str) -> CudaText:
    return CudaText(text)


@lru_cache(maxsize=8)
def _python_text(text: str) -> PythonText:
    return PythonText(Source("", text))


def _newlines(text: str) -> str:
    return "\n" * text.count("\n")


def _in_cuda(source: Source, release: Release, kind: str) -> Mutant:
    text, span = source.text, release.span
    start = source.line_starts[span.row - 1] + span.column - 1
    end = source.line_starts[span.end_row - 1] + span.end_column - 1
    if re.search(r"^[ \t]*#[ \t]*define\b", source.line(span.row)):
        raise CannotMutate("it stands in the definition of a macro")
    statement = _cuda_text(text).statement(start, end)
    if statement is None:
        raise CannotMutate("its statement is unclear")
    body = text[statement.start : statement.end]
    declared = _C_DECLARATION if release.filename.endswith(".c") else ""
    if kind == EARLY_RETURN:
        if not release.returns:
            raise CannotMutate("no early return can stand there")
        leave = f"{declared}if ({_CUDA_CONDITION}) {release.returns};"
        if statement.whole:
            new = f"{{ {leave} {body} }}"
        elif statement.single:
            raise CannotMutate("it is the body of a control statement, and no plain call")
        else:
            new = f"{leave} {body}"
    elif statement.whole:
        new = (
            f";{_newlines(body)}"
            if kind == REMOVED
            else f"{{ {declared}if ({_CUDA_CONDITION}) {{ {body} }} }}"
        )
    else:
        call, success = text[start:end], _success(release.api)
        change = (
            success + _newlines(call)
            if kind == REMOVED
            else f"({_CUDA_CONDITION} ? {call} : {success})"
        )
        new = text[statement.start : start] + change + text[end : statement.end]
    row = source.position(statement.start)[0]
    return Mutant(kind, text[: statement.start] + new + text[statement.end :], row)


def _success(api: str) -> str:
    for prefix, success in _SUCCESS:
        if api.startswith(prefix):
            return success
    raise CannotMutate(f"its value is used, and what {api} returns is not known")


def _in_python(source: Source, release: Release, kind: str) -> Mutant:
    text, span = source.text, release.span
    try:
        parsed = _python_text(text)
    except SyntaxError:
        raise CannotMutate("the file cannot be parsed") from None
    statement = parsed.statement(span)
    if statement is None:
        raise CannotMutate("its statement is unclear")
    body = text[statement.start : statement.end]
    added = 0
    if kind == EARLY_RETURN:
        if not statement.in_function:
            raise CannotMutate("no early return can stand there")
        if not statement.alone or statement.chained:
            raise CannotMutate("nothing can stand before its statement")
        indent = text[source.line_starts[statement.row - 1] : statement.start]
        new = f"if {_PYTHON_CONDITION}: return\n{indent}{body}"
        added = 1
    elif statement.whole and kind == REMOVED:
        new = "pass" if "\n" not in body else f"(None{_newlines(body)})"
    elif statement.whole and statement.alone:
        new = f"if {_PYTHON_CONDITION}: {body}"
    else:
        start = parsed.offset(span.row, span.column)
        end = parsed.offset(span.end_row, span.end_column)
        if not statement.start <= start < end <= statement.end:
            raise CannotMutate("its statement is unclear")
        call = text[start:end]
        nothing = "(0,)"  # the status that means success, as cuda-python gives it
        change = (
            f"({nothing}{_newlines(call)})"
            if kind == REMOVED
            else f"({call} if {_PYTHON_CONDITION} else {nothing})"
        )
        new = text[statement.start : start] + change + text[end : statement.end]
    changed = text[: statement.start] + new + text[statement.end :]
    if kind != REMOVED:
        place = parsed.import_place()
        if place is not None and place <= statement.start:
            changed = f"{changed[:place]}; import os{changed[place:]}"
        elif place is not None:
            raise CannotMutate("it comes before the imports")
    return Mutant(kind, changed, statement.row, added)


__all__ = ["CannotMutate", "mutants"]
