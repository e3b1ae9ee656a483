"""Which languages and libraries each rule speaks, by the fixtures in which it must find something.

``python -m benchmarks.covered --write`` writes ``cudalint/findings/covered.toml``, which
`cudalint rules` shows.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from cudalint.findings.covered import Covered

ROOT = Path(__file__).parent.parent
DATA = ROOT / "cudalint" / "findings" / "covered.toml"
_MARK = re.compile(r"(?://|#)\s*expect:\s*(GPU\d{3}[^/#]*)")
_CODE = re.compile(r"GPU\d{3}")
_IMPORT = re.compile(r"^\s*(?:from|import)\s+(\w+)(?:\.(\w+))?", re.MULTILINE)
_MODULES = {
    "cuda": "cuda-python", "torch": "PyTorch", "cupy": "CuPy", "cupyx": "CuPy", "numba": "Numba",
    "pycuda": "PyCUDA", "jax": "JAX", "triton": "Triton", "cudf": "RAPIDS", "rmm": "RAPIDS",
    "cuml": "RAPIDS", "lightning": "Lightning", "pytorch_lightning": "Lightning",
    "transformers": "Transformers",
}  # fmt: skip
_CALLS = {
    "CUDA runtime": r"\bcuda[A-Z]\w*\s*\(|<<<", "CUDA driver": r"\bcu(?:Mem|Ctx|Stream|Event|"
    r"Launch|Module|Init|Device|Func|Link|Array|Graph)\w*\s*\(", "cuBLAS": r"\bcublas\w+\s*\(",
    "cuDNN": r"\bcudnn\w+\s*\(", "cuFFT": r"\bcufft\w+\s*\(", "cuSPARSE": r"\bcusparse\w+\s*\(",
    "cuSOLVER": r"\bcusolver\w+\s*\(", "cuRAND": r"\bcurand(?!_)\w+\s*\(",
    "NCCL": r"\bnccl[A-Z]\w+\s*\(", "NVRTC": r"\bnvrtc\w+\s*\(", "Thrust": r"\bthrust::",
    "CUB": r"\bcub::", "RMM": r"\brmm(?:::|[A-Z])", "HIP": r"\bhip[A-Z]\w*\s*\(",
}  # fmt: skip
_CPP = (".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hpp")


def covered_by_fixtures() -> dict[str, Covered]:
    """What the bad programs of each rule are written in."""
    languages: dict[str, set[str]] = defaultdict(set)
    libraries: dict[str, set[str]] = defaultdict(set)
    for unit in sorted(unit for rule in (ROOT / "fixtures").iterdir() for unit in _units(rule)):
        texts = dict(_texts(unit))
        own = _CODE.match(unit.parent.name)
        for file, text in texts.items():
            codes = {code for mark in _MARK.findall(text) for code in _CODE.findall(mark)}
            if own and unit.name.startswith("bad_") and len(texts) == 1:
                codes.add(own[0])
            language = "Python" if file.suffix in (".py", ".ipynb") else "C++"
            for code in codes:
                languages[code].add(language)
                libraries[code] |= _libraries(text, language)
    return {
        code: Covered(tuple(sorted(languages[code])), tuple(sorted(libraries[code], key=str.lower)))
        for code in sorted(languages)
    }


def _units(rule: Path) -> Iterator[Path]:
    yield from (entry for entry in rule.iterdir() if entry.name != "__pycache__")


def _texts(unit: Path) -> Iterator[tuple[Path, str]]:
    for path in [unit] if unit.is_file() else sorted(unit.rglob("*")):
        if path.suffix in (*_CPP, ".py"):
            yield path, path.read_text(encoding="utf-8")
        elif path.suffix == ".ipynb":
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            yield path, "\n".join("".join(cell["source"]) for cell in cells)


def _libraries(text: str, language: str) -> set[str]:
    if language == "Python":
        modules = {match[1] for match in _IMPORT.finditer(text)}
        return {_MODULES[module] for module in modules if module in _MODULES}
    return {name for name, pattern in _CALLS.items() if re.search(pattern, text)}


def render(found: dict[str, Covered]) -> str:
    """The data file: one table for each rule."""
    lines = ["# Written by `python -m benchmarks.covered --write`."]
    for code, one in found.items():
        lines += ["", f"[{code}]"]
        for key, values in msgspec.to_builtins(one).items():
            lines.append(f"{key} = {json.dumps(list(values))}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = render(covered_by_fixtures())
    if "--write" in sys.argv[1:]:
        DATA.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
