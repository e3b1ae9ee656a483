"""``python -m benchmarks.hipified``: HeCBench's programs in CUDA beside the same programs in HIP.

What cudalint finds in ``src/NAME-cuda`` it should find in ``src/NAME-hip``. The table counts the
findings of each rule in both, and names the programs that differ. Such a difference is a gap in the
models or the headers of HIP unless the programs themselves differ: read both before you call it
one. The repository lies in ``--repositories DIR`` as ``DIR/zjin-lcf+HeCBench``.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks import common
from benchmarks.documents import markdown
from benchmarks.linted import each_part, lint
from benchmarks.repositories import RepositoryError, git, is_source, obtain, write_files

_REPOSITORY = "zjin-lcf/HeCBench"
_COMMIT = "f27000a5188f8ac79bd43fc95a1b3f890c18823d"
_PROGRAM = re.compile(r"src/([^/]+)-(cuda|hip)/")
HEAD = ["rule", "CUDA", "HIP", "programs that differ (CUDA, HIP)"]
Forms = tuple[Counter[str], Counter[str]]
"""How many findings each rule has in a program's CUDA form and in its HIP form."""

_REPOSITORIES = Path(".cudalint_cache/repositories")


def pairs(names: Sequence[str]) -> list[str]:
    """The programs that a repository holds in both forms, by the names of its files."""
    forms: dict[str, set[str]] = {}
    for match in filter(None, map(_PROGRAM.match, names)):
        forms.setdefault(match[1], set()).add(match[2])
    return sorted(name for name, both in forms.items() if len(both) == 2)


def found(root: Path, program: str, form: str) -> Counter[str]:
    """How many findings each rule has in one form of a program. The makefiles of the HIP forms take
    headers from the CUDA forms."""
    shared = f"src/{program}-cuda"
    document = lint(
        root, [f"src/{program}-{form}"], 1, ["--no-cache", "--time-limit", "300", "-I", shared]
    )
    return Counter(finding["code"] for finding in each_part(document))


def differing(compared: Mapping[str, Forms]) -> Iterator[list[str]]:
    """Rows of the table: by rule, how many findings in each form, and the programs that differ."""
    for code in sorted({code for forms in compared.values() for form in forms for code in form}):
        apart = [
            f"{program} ({cuda[code]}, {hip[code]})"
            for program, (cuda, hip) in compared.items()
            if cuda[code] != hip[code]
        ]
        totals = [str(sum(forms[form][code] for forms in compared.values())) for form in (0, 1)]
        yield [code, *totals, ", ".join(apart)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Lint both forms of some programs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repositories", type=Path, default=_REPOSITORIES, metavar="DIR")
    parser.add_argument("--every", type=int, default=9, help="each so-manieth program")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)

    place = given.repositories / _REPOSITORY.replace("/", "+")
    obtain(place, f"https://github.com/{_REPOSITORY}", _COMMIT)
    names = git(place, "ls-tree", "-r", "--name-only", _COMMIT).decode(errors="replace")
    programs = pairs(names.splitlines())[:: given.every]
    chosen = {f"src/{program}-{form}" for program in programs for form in ("cuda", "hip")}
    counter = common.Counter("programs", len(programs))

    with tempfile.TemporaryDirectory(prefix="cudalint-hipified-") as folder:
        root = Path(folder)
        write_files(
            place,
            _COMMIT,
            root,
            lambda name: (
                (is_source(name) or name.endswith(".hip"))
                and "/".join(name.split("/")[:2]) in chosen
            ),
        )

        def both(program: str) -> Forms | None:
            try:
                cuda, hip = (found(root, program, form) for form in ("cuda", "hip"))
            except RepositoryError as error:
                print(f"{program}: not compared: {error}", file=sys.stderr)
                return None
            finally:
                counter.step()
            return cuda, hip

        with ThreadPoolExecutor(given.jobs) as pool:
            results = dict(zip(programs, pool.map(both, programs), strict=True))
    compared = {program: forms for program, forms in results.items() if forms is not None}
    print(f"{len(compared)} of {len(programs)} programs of {_REPOSITORY} at {_COMMIT[:10]}\n")
    print(markdown([HEAD, *differing(compared)]))
    return 0 if len(compared) == len(programs) else 1


if __name__ == "__main__":
    sys.exit(main())
