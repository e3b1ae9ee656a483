"""Put first on a program's path by ``cudalint run``; the site's own module of this name follows."""

import importlib.machinery
import importlib.util
import os
import sys


def _next() -> None:
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    others = [path for path in sys.path if os.path.abspath(path or ".") != here]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


try:
    from _cudalint_frameworks import bootstrap

    bootstrap.begin()
finally:
    _next()
