"""Links to what lies in the repository, but not on the site, are shown as they are called.

The same pages are read in a clone, where ``[benchmarks](../benchmarks/README.md)`` or a folder
leads somewhere; on the site nothing lies there, and the repository's address is its host's to say.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

_LINK = re.compile(r"\[([^\]]*)\]\((?!\w+:)([^)\s#]+)(?:#[^)\s]*)?\)")


def without_outward_links(text: str, page: Path, root: Path) -> str:
    """A page's text with the links that leave ``root``, or lead to a folder, replaced by what they
    are called."""

    def shown(match: re.Match[str]) -> str:
        target = (page.parent / match[2]).resolve()
        stays = target.is_relative_to(root) and not target.is_dir()
        return match[0] if stays else match[1]

    return _LINK.sub(shown, text)


def _on_source_read(app: Sphinx, docname: str, content: list[str]) -> None:
    page = Path(app.env.doc2path(docname)).resolve()
    content[0] = without_outward_links(content[0], page, Path(app.srcdir).resolve())


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call."""
    app.connect("source-read", _on_source_read)
    return {"parallel_read_safe": True}
