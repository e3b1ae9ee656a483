"""Sizes, lists and lines in messages."""

from __future__ import annotations

import pytest
from rule_facts import FILE, at, resource, site

from cudalint.analysis.facts import readable
from cudalint_rules._wording import (
    format_against,
    format_bytes,
    format_kibibytes,
    listing,
    places,
    plural,
    quoted,
    rows,
)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (512, "512 bytes"),
        (1000, "1000 bytes"),
        (1024, "1 KiB"),
        (49152, "48 KiB"),
        (49156, "49156 bytes"),
        (50_000, "50 kB"),
        (232_448, "227 KiB"),
        (4 << 20, "4 MiB"),
        (3 << 19, "1.5 MiB"),
        (256 << 20, "256 MiB"),
        (4 << 30, "4 GiB"),
        (800_000_000, "800 MB"),
        (4_000_000_000, "4 GB"),
        (288 * 1000**3, "288 GB"),
        (1 << 44, "16 TiB"),
        (1_234_567_890, "1.15 GiB"),
        (1_600_000_000, "1.6 GB"),
        (480_000, "480 kB"),
        (1_920_000, "1.92 MB"),
        (100 << 20, "100 MiB"),
        (-2_147_483_648, "-2147483648 bytes"),
    ],
)
def test_format_bytes(size: int, text: str) -> None:
    assert format_bytes(size) == text


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


def test_shared_memory_is_said_in_kibibytes() -> None:
    assert format_kibibytes(64_000) == "62.5 KiB"
    assert format_kibibytes(227 * 1024) == "227 KiB"
    assert format_kibibytes(4 << 20) == "4 MiB"
    assert format_kibibytes(50_001) == "50001 bytes"


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
