"""Which destructor a class is said to end by."""

from __future__ import annotations

import pytest

from cudalint import analysis
from cudalint.apis.loader import load
from cudalint.frontends.cuda import read
from cudalint.frontends.cuda.options import ParseOptions

OWNER = """
#include <cuda_runtime.h>
struct Owner {
    void* block = nullptr;
    Owner() { cudaMalloc(&block, 64); }
    virtual ~Owner();
};
struct Derived : Owner {
    ~Derived() override;
};
"""
OWN = "Owner::~Owner() {}\n"
DERIVED = "Derived::~Derived() { block = nullptr; }\n"


@pytest.mark.parametrize(
    ("written", "ends_by"),
    [
        (OWN + DERIVED, "Owner::~Owner"),
        (DERIVED + OWN, "Owner::~Owner"),
        (DERIVED, "Derived::~Derived"),
    ],
)
def test_a_class_ends_by_its_own_destructor_where_it_has_one(written: str, ends_by: str) -> None:
    program = read("owner.cu", OWNER + written, ParseOptions())
    facts = analysis.analyze([program], {"cuda": load("cuda")})
    (owner,) = (one for one in facts.classes if one.record.name == "Owner")
    assert owner.destructor is not None
    assert owner.destructor.text == ends_by
