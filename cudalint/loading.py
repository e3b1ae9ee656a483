"""From a file's bytes to the text that is linted, if it is to be linted at all."""

from __future__ import annotations

from dataclasses import dataclass

from cudalint.project.files import SourceFile
from cudalint.project.reading import LARGEST_SEARCHED, check_content, decode
from cudalint.source import Source

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Loaded:
    """A file's text. ``data`` decides it: the bytes, of a notebook only its code."""

    data: bytes
    source: Source
    note: str = ""


def load(file: SourceFile, data: bytes, largest: int) -> Loaded | None:
    """The text of a file; ``None`` if it does not mention CUDA. Raises ``UnreadableError``."""
    if file.is_notebook:
        return _notebook(file, data, largest)
    return text_of(file, data, largest) if _is_wanted(file, data) else None


def text_of(file: SourceFile, data: bytes, largest: int) -> Loaded:
    """The text of a file that is no notebook, whatever it mentions."""
    check_content(data, largest)
    decoded = decode(data, file.language)
    return Loaded(data, Source(file.filename, decoded.text), decoded.note)


def _is_wanted(file: SourceFile, data: bytes) -> bool:
    """Whether a file is to be linted: CUDA by its name, or because it mentions CUDA."""
    if file.is_cuda:
        return True
    # Explicit garbage is reported rather than passed over:
    if file.explicit and b"\0" in data[:8192]:
        return True
    if file.language == "python":
        from cudalint.frontends.python.prefilter import mentions_cuda
    else:
        from cudalint.frontends.cuda.prefilter import mentions_cuda
    # UTF-16 hides the names from a byte search:
    return mentions_cuda(data.replace(b"\0", b"") if data.startswith(_UTF16) else data)


def _notebook(file: SourceFile, data: bytes, largest: int) -> Loaded | None:
    from cudalint.frontends.python.prefilter import mentions_cuda

    # Most bytes are images: only a notebook that may use CUDA is decoded. JSON may write any
    # letter by its number, and what is no notebook should be said of a file that was named.
    hidden = b"\\u00" in data or data.startswith(_UTF16)
    if not (file.explicit or hidden or mentions_cuda(data)):
        return None
    from cudalint.frontends.python.notebooks import read_notebook

    check_content(data, LARGEST_SEARCHED)
    source = read_notebook(file.filename, data).source
    code = source.text.encode()
    if not mentions_cuda(code):
        return None
    check_content(code, largest)
    return Loaded(code, source)
