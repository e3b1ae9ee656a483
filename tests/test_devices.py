"""Targets, their limits, and sizes as people write them."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Sequence
from importlib.metadata import files as distribution_files
from pathlib import Path
from typing import Any

import pytest

from cudalint.apis.devices import (
    common,
    devices,
    limits_for,
    native_devices,
    parse_bytes,
    parse_target,
)
from cudalint.findings.rule import Limits


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4096", 4096),
        ("16GiB", 16 * 1024**3),
        ("16gib", 16 * 1024**3),
        ("256 MiB", 256 * 1024**2),
        ("80GB", 80 * 1000**3),
        ("80G", 80 * 1024**3),
        ("1.5GiB", 3 * 1024**3 // 2),
        ("1_000", 1000),
        (" 2TB ", 2 * 1000**4),
        ("512B", 512),
        (123, 123),
    ],
)
def test_sizes(text: str | int, value: int) -> None:
    assert parse_bytes(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("16gigs", "did you mean `16GiB`?"),
        ("3GiBs", "did you mean `3GiB`?"),
        ("lots", "`lots` is no size; write 16GiB"),
        ("", "is no size"),
        ("-1", "is no size"),
        ("0", "more than 0"),
        ("0.0MiB", "more than 0"),
        ("1e9", "there is no unit `e9`|is no size"),
        ("16 GiB 2", "is no size"),
    ],
)
def test_sizes_that_are_none(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message).replace(r"\|", "|")):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sm_86", "sm_86"),
        ("SM_86", "sm_86"),
        ("sm86", "sm_86"),
        ("8.6", "sm_86"),
        ("86", "sm_86"),
        ("compute_86", "sm_86"),
        ("sm_90a", "sm_90"),
        ("100f", "sm_100"),
        ("10.0", "sm_100"),
        ("12.1", "sm_121"),
    ],
)
def test_targets(text: str, name: str) -> None:
    assert parse_target(text) == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sm_85", "did you mean `sm_89`?"),
        ("ampere", "`ampere` is no known target; native, or sm_ and one of 50, 52"),
        ("nativ", "did you mean `native`?"),
        ("", "is no known target"),
        ("sm_999", "is no known target"),
    ],
)
def test_targets_that_are_none(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_target(text)


def test_no_target_means_every_device() -> None:
    limits = limits_for()
    defaults = Limits()
    assert limits.targets == ()
    assert limits.largest_shared == defaults.largest_shared == 227 * 1024
    assert limits.device_memory == defaults.device_memory
    assert limits.device_memory_text == ""
    assert limits.max_transfer == defaults.max_transfer
    assert (limits.block, limits.grid) == (defaults.block, defaults.grid)
    assert limits.static_shared == defaults.static_shared == 48 * 1024


def test_of_several_targets_the_most_generous_counts() -> None:
    limits = limits_for(("8.6", "sm_80", "86"))
    assert limits.targets == ("sm_86", "sm_80")
    assert limits.largest_shared == 163 * 1024
    assert limits.largest_shared_target == "sm_80"
    assert limits.device_memory == 80 * 1024**3
    assert limits_for(("sm_86",)).largest_shared == 99 * 1024


def test_a_target_without_known_devices_takes_the_largest_memory() -> None:
    assert devices()["sm_88"].memory is None
    assert limits_for(("sm_88",)).device_memory == limits_for().device_memory


def test_given_sizes() -> None:
    limits = limits_for(("sm_90",), "3GiB", "1MiB")
    assert limits.device_memory == 3 * 1024**3
    assert limits.device_memory_text == "3GiB"
    assert limits.max_transfer == 1024**2


@pytest.mark.parametrize("arguments", [(("sm_1",),), ((), "many"), ((), None, "many")])
def test_bad_arguments_raise_value_errors(arguments: Any) -> None:
    with pytest.raises(ValueError, match="is no"):
        limits_for(*arguments)


def test_every_figure_has_a_source() -> None:
    assert common().source
    for name, device in devices().items():
        assert re.match(r"(guide|cccl)\b", device.source), name
        assert (device.memory is None) == (not device.devices), name
        assert "product" in device.source or not device.devices, name
        assert device.shared_per_sm >= device.largest_shared >= common().default_shared


def test_figures_agree_with_nvidias_header() -> None:
    text = ""
    for file in distribution_files("nvidia-cuda-cccl") or []:
        if file.name == "arch_traits.h" and "__device" in str(file):
            text = Path(str(file.locate())).read_text()
    if not text:
        pytest.skip("the CCCL wheel has no arch_traits.h here")
    known: dict[str, tuple[int, int]] = {}
    for body in re.split(r"template <>", text)[1:]:
        match = re.search(r"arch_traits<arch_id::sm_(\d+)>\(\) noexcept", body)
        if match is None:
            continue
        name = f"sm_{match[1]}"
        basis = re.search(r"= ::cuda::arch_traits<arch_id::sm_(\d+)>\(\)", body)
        total = re.search(r"max_shared_memory_per_multiprocessor = (\d+) \* 1024", body)
        largest = re.search(r"max_shared_memory_per_block_optin\s*= (\d+) \* 1024", body)
        if basis:
            known[name] = known[f"sm_{basis[1]}"]
        elif total:
            size = int(total[1]) * 1024
            reserved = 1024 if int(match[1]) >= 80 else 0
            known[name] = (size, int(largest[1]) * 1024 if largest else size - reserved)
    assert len(known) > 15
    for name, (per_sm, optin) in known.items():
        assert name in devices(), f"{name} is new"
        assert devices()[name].shared_per_sm == per_sm, name
        assert devices()[name].largest_shared == optin, name


Gpus = Sequence[tuple[int, int, int]]
"""Of each the two numbers of its compute capability, and its bytes of memory."""
Machine = Callable[..., None]


class FakeDriver(types.ModuleType):
    """cuda.bindings.driver of a machine with the given GPUs."""

    class CUdevice_attribute:  # noqa: N801
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76

    class Status(int):
        name = "CUDA_ERROR_NO_DEVICE"

    def __init__(self, gpus: Gpus, status: int = 0) -> None:
        super().__init__("cuda.bindings.driver")
        self.gpus, self.status = gpus, self.Status(status)

    def cuInit(self, flags: int) -> tuple[Status]:  # noqa: N802
        return (self.status,)

    def cuDeviceGetCount(self) -> tuple[Status, int]:  # noqa: N802
        return (self.status, len(self.gpus))

    def cuDeviceGet(self, ordinal: int) -> tuple[Status, int]:  # noqa: N802
        return (self.status, ordinal)

    def cuDeviceGetAttribute(self, attribute: int, device: int) -> tuple[Status, int]:  # noqa: N802
        return (self.status, self.gpus[device][attribute - 75])

    def cuDeviceGetName(self, length: int, device: int) -> tuple[Status, bytes]:  # noqa: N802
        return (self.status, b"A GPU" + b"\0" * 10)

    def cuDeviceTotalMem(self, device: int) -> tuple[Status, int]:  # noqa: N802
        return (self.status, self.gpus[device][2])


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    def install(gpus: Gpus, status: int = 0) -> None:
        driver = FakeDriver(gpus, status)
        bindings = types.ModuleType("cuda.bindings")
        monkeypatch.setattr(bindings, "driver", driver, raising=False)
        monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
        monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
        monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)

    return install


def test_native_takes_what_the_machine_has(machine: Machine) -> None:
    machine([(8, 6, 10 * 1024**3), (9, 0, 20 * 1024**3)])
    assert native_devices()[1] == ("sm_90", "A GPU", 20 * 1024**3)
    limits = limits_for(("native",))
    assert limits.targets == ("sm_86", "sm_90")
    assert limits.device_memory == 20 * 1024**3
    assert limits.largest_shared == 227 * 1024


def test_native_without_a_device(machine: Machine) -> None:
    machine([])
    with pytest.raises(ValueError, match="native: no GPU here; name a target such as sm_90"):
        limits_for(("native",))
    machine([], status=100)
    with pytest.raises(ValueError, match="cuInit failed with CUDA_ERROR_NO_DEVICE"):
        limits_for(("native",))


def test_native_without_cuda_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(ValueError, match=r"cudalint\[runtime\]"):
        limits_for(("native",))


@pytest.mark.gpu
def test_native_on_this_machine() -> None:
    try:
        found = native_devices()
    except ValueError as error:
        pytest.skip(str(error))
    assert limits_for(("native",)).device_memory == max(memory for _, _, memory in found)
