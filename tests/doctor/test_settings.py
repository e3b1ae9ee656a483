from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.doctor.settings import KNOWN, judge


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        (
            "PYTORCH_CUDA_ALLOC_CONF",
            "expandable_segment:True",
            "did you mean `expandable_segments`",
        ),
        ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:10", "at least 20"),
        ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb", "no value"),
        ("PYTORCH_ALLOC_CONF", "expandable_segments:true", "neither True nor False"),
        ("PYTORCH_ALLOC_CONF", "garbage_collection_threshold:80", "no fraction"),
        ("PYTORCH_ALLOC_CONF", "backend:cudaMallocAsync,max_split_size_mb:128", "ignores"),
        ("PYTORCH_ALLOC_CONF", "garbage_collection_threshold:1.0", "no fraction"),
        ("PYTORCH_ALLOC_CONF", "backend:async", "unknown"),
        ("CUPY_GPU_MEMORY_LIMIT", "4GiB", "neither a number of bytes"),
        ("CUPY_GPU_MEMORY_LIMIT", "120%", "no share"),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "flase", "neither true nor false"),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", "90%", "no fraction"),
        ("CUDA_MODULE_LOADING", "LAZZY", "none of"),
        ("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "8G", "DEVICE=SIZE"),
        ("CUDA_VISIBLE_DEVICE", "0", "did you mean CUDA_VISIBLE_DEVICES"),
        ("PYTORCH_CUDA_ALOC_CONF", "x", "did you mean PYTORCH_CUDA_ALLOC_CONF"),
    ],
)
def test_what_is_wrong(name: str, value: str, says: str) -> None:
    found = judge({name: value})
    assert any(says in one.problem for one in found), found


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", "little fragmentation"),
        ("PYTORCH_CUDA_ALLOC_CONF", "roundup_power2_divisions:[256:1,512:2,>:4]", "rounded up"),
        ("PYTORCH_ALLOC_CONF", "max_split_size_mb:128, garbage_collection_threshold:0.8", "80%"),
        ("CUPY_GPU_MEMORY_LIMIT", "50%", "50% of the device"),
        ("CUPY_GPU_MEMORY_LIMIT", "1073741824", "1.00 GiB"),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "false", "as it needs it"),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", ".50", "50%"),
        ("CUDA_MODULE_LOADING", "EAGER", "hundreds of MiB"),
        ("CUDA_LAUNCH_BLOCKING", "1", "slow"),
        ("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=8G,1=4G", "8.00 GiB of device 0"),
    ],
)
def test_what_it_means(name: str, value: str, says: str) -> None:
    found = judge({name: value})
    assert not [one for one in found if one.problem]
    assert any(says in one.meaning for one in found), found


def test_the_old_and_the_new_name_together() -> None:
    found = judge({"PYTORCH_CUDA_ALLOC_CONF": "", "PYTORCH_ALLOC_CONF": ""})
    assert "only one counts" in found[-1].problem


def test_other_variables_are_not_recorded() -> None:
    secret = {"AWS_SECRET": "s3cret", "CUDA_HOME": "/usr/local/cuda", "TF_SECRET": "s3cret",
              "CUDA_VISIBLE_DEVCES": "s3cret", "PATH": "/bin"}  # fmt: skip
    assert "s3cret" not in repr(judge(secret))


@given(st.dictionaries(st.sampled_from(sorted(KNOWN)), st.text(max_size=60)))
def test_any_value(environment: dict[str, str]) -> None:
    judge(environment)
