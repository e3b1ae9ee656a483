"""How the sources of a target become a program: one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.runtime.build import BuildError, BuildOptions, build
from tests.runtime.conftest import needs_nvcc

MAIN = "int other();\nint main() { return other(); }\n"


@pytest.fixture(autouse=True)
def _needs(compiler: Path) -> None:
    """All of these build programs."""


def written(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.cpp").write_text(text, "utf-8")
    return [folder / f"{name}.cpp" for name in texts]


def test_what_is_broken_is_named_and_all_else_is_compiled(tmp_path: Path) -> None:
    sources = written(tmp_path, main=MAIN, first="int a = none;\n", second="int b = none;\n")
    with pytest.raises(BuildError) as failed:
        build(sources, tmp_path / "build", objects=tmp_path / "objects")
    assert failed.value.broken == tuple(sources[1:])
    assert len(list((tmp_path / "objects").iterdir())) == 1
    with pytest.raises(BuildError) as alone:
        build(sources, tmp_path / "build")
    assert alone.value.broken == (sources[1],)
    with pytest.raises(BuildError) as without:
        build(sources[1:], tmp_path / "build", objects=tmp_path / "objects")
    assert without.value.broken == (sources[1],)


def test_object_files_are_used_again(tmp_path: Path) -> None:
    main, other = written(tmp_path, main=MAIN, other="int other() { return 0; }\n")
    with pytest.raises(BuildError) as failed:
        build([main], tmp_path / "first", objects=tmp_path / "objects")
    assert not failed.value.broken
    assert "other" in failed.value.output
    (kept,) = (tmp_path / "objects").iterdir()
    before = kept.stat().st_mtime_ns
    build([main, other], tmp_path / "second", objects=tmp_path / "objects")
    assert len(list((tmp_path / "objects").iterdir())) == 2
    assert kept.stat().st_mtime_ns == before
    main.write_text(MAIN.replace("return", "return 1 +"), "utf-8")
    build([main, other], tmp_path / "third", objects=tmp_path / "objects")
    assert len(list((tmp_path / "objects").iterdir())) == 3


def test_the_program_of_an_earlier_build_is_no_result(tmp_path: Path) -> None:
    (main,) = written(tmp_path, main="int main() {}\n")
    assert build(main, tmp_path / "build").path.is_file()
    main.write_text("int main() { return none; }\n", "utf-8")
    with pytest.raises(BuildError):
        build(main, tmp_path / "build")
    assert not (tmp_path / "build" / "target").exists()


def test_arguments_reach_the_compiler_and_the_linker(tmp_path: Path) -> None:
    more = written(tmp_path, more="int more() { return VALUE; }\n")[0]
    main = written(tmp_path, main="#include <cmath>\nint more();\nint main() { return more(); }\n")
    options = BuildOptions(
        arguments=("-DVALUE=3", "-lm", str(more), "-Xlinker", "-z", "-Xlinker", "now")
    )
    built = build(main, tmp_path / "build", options)
    assert {"-DVALUE=3", "-lm", str(more)} <= set(built.command)


def test_a_header_that_only_a_build_includes(tmp_path: Path) -> None:
    text = "#ifdef BUILDING\n#include <cufft.h>\n#endif\n" + (
        "int main() { cufftHandle plan; cufftCreate(&plan); return cufftDestroy(plan); }\n"
    )
    (tmp_path / "main.cu").write_text(text, "utf-8")
    assert build(tmp_path / "main.cu", tmp_path / "build").path.is_file()


@needs_nvcc
def test_a_kernel_that_no_source_defines_is_linked_anyway(tmp_path: Path) -> None:
    text = (
        "__global__ void gone(int);\nint main(int n, char **) { if (n > 5) gone<<<1, 1>>>(n); }\n"
    )
    (tmp_path / "main.cu").write_text(text, "utf-8")
    with pytest.raises(BuildError):
        build(tmp_path / "main.cu", tmp_path / "build")
    built = build(tmp_path / "main.cu", tmp_path / "build", BuildOptions(incomplete=True))
    assert built.path.is_file()
