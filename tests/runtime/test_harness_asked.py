"""What harnesses know of the values that the code compares things with."""

from __future__ import annotations

from pathlib import Path

from cudalint.frontends.cuda.parse import ParseOptions, parse
from cudalint.runtime.harness.asked import Asked, asked_values
from cudalint.runtime.harness.subjects import Unit


def asked(folder: Path, body: str, parameters: str = "int n") -> Asked:
    path = folder / "asked.cu"
    path.write_text(
        "#define SEVEN 7\n"
        "constexpr int eleven = 11;\n"
        "enum Kind { none, sparse = 3 };\n"
        "struct Plan { int type; char side; int sizes[2]; struct { int mode; } options; };\n"
        "int other();\n"
        f"int work({parameters}) {{\n{body}\nreturn 0;\n}}\n",
        "utf-8",
    )
    unit = Unit(parse(str(path), path.read_text("utf-8"), ParseOptions()).unit.cursor)
    return asked_values([unit.around(str(path), 7)])


def test_either_side_of_a_comparison(tmp_path: Path) -> None:
    body = "if (n == 5) return 1; if (6L != (n)) return 2; if ((long)n == 7) return 3;"
    assert asked(tmp_path, body) == {"n": (5, 6, 7)}


def test_constants_by_name(tmp_path: Path) -> None:
    body = "if (n == SEVEN || n == eleven || n == 2 * 4) return 1;"
    assert asked(tmp_path, body) == {"n": (7, 11, 8)}


def test_fields_are_known_by_their_own_name(tmp_path: Path) -> None:
    body = "if (p->type == 2 || 'L' == p->side || p->options.mode == 9) return 1;"
    assert asked(tmp_path, body, "Plan *p") == {"type": (2,), "side": (ord("L"),), "mode": (9,)}


def test_the_cases_of_a_switch_but_not_those_of_another_in_it(tmp_path: Path) -> None:
    body = "switch (int k = n; p->type) { case 7: case 8: { switch (n) { case 4: return 1; } } }"
    assert asked(tmp_path, body, "Plan *p, int n") == {"type": (7, 8), "n": (4,)}


def test_enumerators_are_known_by_their_type(tmp_path: Path) -> None:
    found = asked(tmp_path, "if (kind == sparse) return 1;", "Kind kind")
    assert found["Kind"] == (3,)


def test_what_has_no_name_and_what_is_nonsense(tmp_path: Path) -> None:
    body = (
        "if (n % 2 == 1 || other() == 5 || p->sizes[1] == 6) return 1;"
        "if (n == 0 || n == -1 || n == 1.5 || n < 4) return 2;"
    )
    assert asked(tmp_path, body, "Plan *p, int n") == {}


def test_only_the_first_values_are_tried(tmp_path: Path) -> None:
    body = "".join(f"if (n == {value}) return 1;" for value in (9, 8, 9, 7, 6, 5))
    assert asked(tmp_path, body) == {"n": (9, 8, 7, 6)}
