"""Which programs are found among files."""

from __future__ import annotations

from pathlib import Path

from cudalint.runtime.targets import has_main, target_for, targets_of


def write(folder: Path, **files: str) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    paths = {}
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        paths[name] = folder / f"{stem}.{suffix}"
        paths[name].write_text(text)
    return paths


def test_has_main() -> None:
    assert has_main("int main() {}")
    assert has_main("#define X\n  int main(int argc, char** argv)\n{")
    assert not has_main("// int main() {}\n/*\nint main() {}\n*/")
    assert not has_main('const char* text = "\\\nint main() {}";')
    assert not has_main("int maintain() {}\nvoid f() { main(); }")


def test_a_folder_with_one_main_is_one_program(tmp_path: Path) -> None:
    files = write(tmp_path, a_cu="int main() {}", b_cu="void b() {}", c_cpp="void c() {}")
    (target,) = targets_of(files.values())
    assert [source.name for source in target.sources] == ["a.cu", "b.cu", "c.cpp"]
    assert target_for([target], files["c_cpp"]) is target


def test_programs_of_one_folder_share_what_they_include(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        one_cu='#include "shared.h"\nint main() {}',
        two_cu="int main() {}",
        shared_h="#pragma once",
        shared_cu="void shared() {}",
    )
    one, two = targets_of(files.values())
    assert [source.name for source in one.sources] == ["one.cu", "shared.cu"]
    assert [source.name for source in two.sources] == ["two.cu"]
    assert target_for([one, two], files["shared_h"]) is one
    assert target_for([one, two], files["two_cu"]) is two


def test_a_library_alone_is_no_program(tmp_path: Path) -> None:
    files = write(tmp_path, a_cu="void a() {}")
    assert targets_of(files.values()) == ()


def test_scripts_and_their_modules(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        tool_py="from helper import work\nif __name__ == '__main__':\n    work()\n",
        helper_py="from cuda.bindings import runtime\ndef work(): ...\n",
        other_py="import json\n",
    )
    (target,) = targets_of(files.values())
    assert target.script == files["tool_py"].resolve()
    assert target_for([target], files["helper_py"]) is target
