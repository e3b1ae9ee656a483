"""Links out of the site, to files of the repository, are shown as their paths.

The same pages are read in a clone, where ``[benchmarks](../benchmarks/README.md)`` leads somewhere;
on the site nothing lies there, and the repository's address is its host's to say.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

_OUTWARD = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)\s#]+)(?:#[^)\s]*)?\)")


def without_outward_links(text: str, page: Path, root: Path) -> str:
    """A page's text with the links that leave ``root`` replaced by what they are called."""

    def shown(match: re.Match[str]) -> str:
        target = (page.parent / match[2]).resolve()
        return match[0] if target.is_relative_to(root) else match[1]

    return _OUTWARD.sub(shown, text)


def _on_source_read(app: Sphinx, docname: str, content: list[str]) -> None:
    page = Path(app.env.doc2path(docname)).resolve()
    content[0] = without_outward_links(content[0], page, Path(app.srcdir).resolve())


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call."""
    app.connect("source-read", _on_source_read)
    return {"parallel_read_safe": True}
