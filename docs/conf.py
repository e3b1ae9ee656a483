"""How the site is built: ``sphinx-build -W -b dirhtml docs OUT``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import cudalint

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "cudalint"
copyright = "The cudalint developers"
version = release = cudalint.__version__

extensions = ["myst_parser", "repository_links", "rule_pages"]
exclude_patterns = ["sample_plugin", "_extensions"]

myst_heading_anchors = 3
highlight_language = "none"

html_theme = "furo"
html_title = "cudalint"
html_baseurl = os.environ.get("CUDALINT_DOCUMENTATION", "")
html_copy_source = False
html_show_sourcelink = False
