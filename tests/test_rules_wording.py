"""Sizes, lists and lines in messages."""

from __future__ import annotations

import pytest

from cudalint.analysis.facts import readable
from cudalint_rules._wording import (
    format_against,
    listing,
    places,
    plural,
    quoted,
    rows,
)
from tests.rule_facts import FILE, at, resource, site


def test_format_against_shows_a_small_difference() -> None:
    assert format_against((1 << 20) + 4, 1 << 20) == ("1048580 bytes", "1048576 bytes")
    assert format_against(4096, 4000) == ("4096 bytes", "4000 bytes")
    assert format_against(4 << 20, 1 << 20) == ("4 MiB", "1 MiB")
    assert format_against(1 << 20, 1 << 20) == ("1 MiB", "1 MiB")


def test_listing() -> None:
    assert listing([]) == ""
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "a"]) == "a and b"
    assert listing("abcd") == "a, b, c and d"
    assert listing("abcdef") == "a, b, c and 3 more"


def test_rows() -> None:
    assert rows([]) == ""
    assert rows([at(12), at(12)]) == "line 12"
    assert rows([at(41), at(40)]) == "lines 40-41"
    assert rows([at(12), at(44), at(30)]) == "lines 12, 30 and 44"


def test_places_names_another_file_only() -> None:
    assert places([site(40), site(41)], FILE) == "lines 40-41"
    assert places([site(7, filename="pool.cu")], FILE) == "pool.cu line 7"
    assert places([site(40), site(7, filename="pool.cu")], FILE) == "line 40 and pool.cu line 7"


def test_plural() -> None:
    assert (plural(1, "part"), plural(3, "part")) == ("1 part", "3 parts")


def test_temporaries_have_no_name() -> None:
    assert quoted("d_out") == "`d_out`"
    assert quoted("%1[...]") == "a temporary"
    assert quoted("", "an array") == "an array"
    assert str(resource("%3")) == "the result of cudaMalloc"


@pytest.mark.parametrize(
    ("api", "name"),
    [
        ("cudaMalloc", "cudaMalloc"),
        ("cuda.bindings.runtime.cudaMalloc", "cudaMalloc"),
        ("cupy.asarray", "cupy.asarray"),
        ("cupy.cuda.runtime.malloc", "runtime.malloc"),
        ("cupy.random.rand", "cupy.random.rand"),
        (".copy_to_host", ".copy_to_host"),
        ("thrust::copy", "thrust::copy"),
        ("Pool.grow", "Pool.grow"),
    ],
)
def test_readable_names(api: str, name: str) -> None:
    assert readable(api) == name
