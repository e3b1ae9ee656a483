"""What it takes to lower a file: its parse options, its cache key, and what else it depends on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from cudalint.jobs import LoweringJob, encode_options
from cudalint.plan import Plan
from cudalint.program import Program
from cudalint.project.cache import digest
from cudalint.project.files import SourceFile
from cudalint.project.paths import absolute
from cudalint.source import Source

_QUOTED_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
HEADER_CACHE = "headers"


@dataclass(frozen=True)
class Lowering:
    """A file that is ready to be lowered."""

    job: LoweringJob
    key: str
    """The cache key: everything that decides the result, except included files."""
    path: Path

    def dependencies(self, program: bytes) -> list[str]:
        """The files whose change changes the result: those included, and the places where a
        header that was not found would be looked for."""
        included = list(msgspec.msgpack.decode(program, type=Program).includes)
        if self.job.language == "python":
            return included
        found = {Path(name).name for name in included}
        folders = [self.path.parent, *map(Path, self.job.parse.get("include_folders", ()))]
        missing = [
            str(folder / name)
            for name in _QUOTED_INCLUDE.findall(self.job.text)
            if Path(name).name not in found
            for folder in folders
        ]
        return included + missing


def prepare(file: SourceFile, data: bytes, source: Source, plan: Plan) -> Lowering:
    """What a worker needs to lower a file."""
    parse = _parse_options(file, source, plan) if file.language == "cuda" else {}
    job = LoweringJob(source.filename, source.text, file.language, parse)
    key = digest(
        "program",
        plan.version,
        file.language,
        source.filename,
        str(Path.cwd()),
        data,
        msgspec.json.encode(parse, order="sorted"),
    )
    return Lowering(job, key, file.path)


def _parse_options(file: SourceFile, source: Source, plan: Plan) -> dict[str, Any]:
    from cudalint.frontends.cuda.options import ParseOptions

    settings = plan.settings
    options = ParseOptions(
        include_folders=tuple(str(absolute(folder)) for folder in settings.include_folders),
        defines=settings.defines,
        standard=settings.standard,
        root=plan.root,
        cache_folder=plan.cache_folder / HEADER_CACHE if plan.cache_folder else None,
    )
    return encode_options(options)
