"""The reports of shards, merged, are the report of one run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cudalint.cli import main
from cudalint.project.config import ConfigurationError
from cudalint.shards import Shard

FIXTURES = Path(__file__).parents[1] / "fixtures"
UNUSED = "// cudalint: ignore[GPU101]\nint unused;\n"
HEADER = """#pragma once
#include <cuda_runtime.h>
inline bool keep(size_t n) {
    float* d_kept;
    if (cudaMalloc(&d_kept, n) != cudaSuccess) return false;  // cudalint: ignore[GPU101]
    return true;
}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CUDALINT_CACHE_DIR", raising=False)
    chosen = [path for path in sorted(FIXTURES.glob("GPU[15]0*/bad_*")) if path.is_file()]
    for number, path in enumerate(chosen[::6][:16]):
        shutil.copy(path, tmp_path / f"{number}_{path.name}")
    (tmp_path / "keep.cuh").write_text(HEADER)
    (tmp_path / "unused.cuh").write_text(UNUSED)
    for name in ("x.cu", "y.cu", "z.cu"):
        (tmp_path / name).write_text(f'#include "keep.cuh"\nbool {name[0]}() {{ return keep(4); }}')
    (tmp_path / "broken.py").write_bytes(b"import torch\n\xff\0\n")
    source = ["import torch\n", "torch.cuda.empty_cache()\n"]
    cell: dict[str, Any] = {"cell_type": "code", "source": source,
                            "metadata": {}, "outputs": [], "execution_count": None}  # fmt: skip
    (tmp_path / "notes.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cudalint(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def shards_of(cudalint: Any, count: int, *options: str) -> list[str]:
    names = [f"shard-{number}.json" for number in range(1, count + 1)]
    for number, name in enumerate(names, 1):
        status, out, err = cudalint("--shard", f"{number}/{count}", "-o", name, *options)
        assert (status, out) == (0, ""), err
    return names


def test_merged_shards_are_one_run_in_every_format(cudalint: Any) -> None:
    names = shards_of(cudalint, 3)
    assert any(len(json.loads(Path(name).read_bytes())["parts"]) > 2 for name in names)
    for kind in ("full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit",
                 "markdown", "html"):  # fmt: skip
        status, _, whole_said = cudalint("--output", f"{kind}=whole", "-q")
        merged, _, said = cudalint("merge", *names[::-1], "--output", f"{kind}=merged", "-q")
        assert merged == status == 1
        assert said == whole_said
        whole = Path("whole").read_bytes()
        assert len(whole) > 200 and Path("merged").read_bytes() == whole


def test_a_baseline_counts_where_shards_are_merged(cudalint: Any) -> None:
    assert cudalint("--baseline", "b.toml", "--write-baseline")[0] == 0
    names = shards_of(cudalint, 2, "--baseline", "b.toml")
    status, out, _ = cudalint("merge", *names, "--baseline", "b.toml")
    assert status == 0 and "in the baseline" in out
    assert cudalint("merge", *names)[0] == 1


def test_more_shards_than_parts(cudalint: Any, project: Path) -> None:
    for path in project.glob("[0-9]*"):
        path.unlink()
    names = shards_of(cudalint, 9)
    status, out, _ = cudalint("merge", *names, "--output-format", "json")
    assert (status, out) == cudalint("--output-format", "json")[:2]


def test_shards_that_do_not_belong_together_are_refused(cudalint: Any, project: Path) -> None:
    one, two = shards_of(cudalint, 2)
    assert "no report of 2" in cudalint("merge", one)[2]
    assert "both shard 1" in cudalint("merge", one, one)[2]
    assert "is no report of a shard" in cudalint("merge", one, "x.cu")[2]
    assert "is no report of a shard" in cudalint("merge", "absent.json")[2]
    status, out, err = cudalint("merge", one, two, "--select", "GPU101")
    assert (status, out) == (2, "") and "made from other files, other settings" in err
    (project / "x.cu").write_text("#include <cuda_runtime.h>\n")
    status, out, err = cudalint("merge", one, two)
    assert (status, out) == (2, "") and "made from other files" in err
    cudalint("--shard", "2/2", "-o", two)
    assert "different runs" in cudalint("merge", one, two)[2]


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "1/0", "-1/2", "1/2/3"])
def test_what_is_no_shard_is_said(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is no shard, such as 2/8"):
        Shard.parse(text)


@pytest.mark.parametrize(
    "options",
    [["x.cu"], ["-"], ["--fix"], ["--statistics"], ["--output", "sarif"], ["--diff-base", "HEAD"]],
)
def test_what_has_no_meaning_for_a_shard_is_refused(cudalint: Any, options: list[str]) -> None:
    status, out, err = cudalint("--shard", "1/2", *options)
    assert (status, out) == (2, "") and err


def test_each_part_is_in_one_shard() -> None:
    sizes = [5, 1, 9, 9, 2, 7]
    chosen = [Shard(number, 4).chosen(sizes) for number in range(1, 5)]
    assert sorted(one for shard in chosen for one in shard) == list(range(6))
    assert max(sum(sizes[one] for one in shard) for shard in chosen) <= 11
