"""Prints the program of CUDA files: ``python -m cudalint.frontends.dump FILE...``."""

from __future__ import annotations

import sys
from pathlib import Path

from cudalint.program.dump import dump


def main(arguments: list[str]) -> int:
    """Lower each file and print it; ``--spans`` adds positions."""
    from cudalint.frontends.cuda import read
    from cudalint.frontends.cuda.options import ParseOptions

    spans = "--spans" in arguments
    for name in arguments:
        if not name.startswith("--"):
            path = Path(name)
            text = path.read_text(encoding="utf-8", errors="replace")
            options = ParseOptions(include_folders=(str(path.parent),), root=path.parent)
            sys.stdout.write(dump(read(name, text, options), spans))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
