"""What the selected targets offer: compute capabilities, and sizes as people write them."""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from pathlib import Path

import msgspec

from cudalint.findings.rule import Limits


class Common(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What every device offers."""

    static_shared: int
    specific_instructions: tuple[str, ...]
    """Of PTX: code with them is built for architecture-specific targets alone."""
    default_shared: int
    threads_per_block: int
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    source: str


class Device(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the devices of one compute capability offer; bytes."""

    largest_shared: int
    """Per block, static and dynamic together, after opting in."""
    shared_per_sm: int
    source: str
    specific_static_shared: int = 0
    """Static shared memory per block for the architecture-specific target (``sm_90a``), if that may
    have more than others."""
    architecture: str = ""
    devices: tuple[str, ...] = ()
    """Examples, the one with the most memory first."""
    memory: int | None = None
    """Of that one."""


UNITS = {
    "": 1, "B": 1,
    "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4,
    "KIB": 1024, "MIB": 1024**2, "GIB": 1024**3, "TIB": 1024**4,
    "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4,
}  # fmt: skip
"""Bytes of a unit, in upper case. A single letter is binary, as in Docker's and Slurm's options."""

_SIZE = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")
_TARGET = re.compile(r"(?:sm_?|compute_?)?(\d+)(?:\.(\d))?([af]?)", re.IGNORECASE)


@functools.cache
def _table() -> tuple[Common, dict[str, Device]]:
    content = tomllib.loads(Path(__file__).with_name("devices.toml").read_text(encoding="utf-8"))
    common = msgspec.convert(content.pop("common"), Common)
    return common, msgspec.convert(content, dict[str, Device])


def common() -> Common:
    """What every device offers."""
    return _table()[0]


def devices() -> dict[str, Device]:
    """What each known compute capability offers, by its name (``sm_86``), oldest first."""
    return _table()[1]


def parse_target(text: str) -> str:
    """The name of a compute capability, however it is written: ``sm_86``, ``8.6``, ``86``,
    ``compute_86``, ``sm_90a``. ``native`` is no target by itself, see ``native_devices``."""
    match = _TARGET.fullmatch(text.strip())
    name = f"sm_{match[1]}{match[2] or ''}" if match else ""
    if name not in devices():
        near = difflib.get_close_matches(name or text.strip().lower(), [*devices(), "native"], n=1)
        hint = f"did you mean `{near[0]}`? " if near else ""
        known = ", ".join(target.removeprefix("sm_") for target in devices())
        raise ValueError(f"`{text}` is no known target; {hint}native, or sm_ and one of {known}")
    return name


def is_specific(text: str) -> bool:
    """Whether a target is architecture-specific: ``sm_90a``."""
    return text.strip().lower().endswith("a")


def _specific_static(name: str) -> int:
    return devices()[name].specific_static_shared


def parse_bytes(text: str | int) -> int:
    """A number of bytes, however it is written: ``16GiB``, ``256MiB``, ``80GB``, ``1.5 GiB``, a
    plain number."""
    match = _SIZE.fullmatch(str(text))
    examples = "write 16GiB, 256MiB, 80GB or a number of bytes"
    if match is None:
        raise ValueError(f"`{text}` is no size; {examples}")
    number, unit = match[1].replace("_", ""), match[2]
    if unit.upper() not in UNITS:
        near = difflib.get_close_matches(unit.upper(), UNITS, n=1, cutoff=0.5)
        hint = f"did you mean `{match[1]}{_spelling(near[0])}`?" if near and near[0] else examples
        raise ValueError(f"`{text}`: there is no unit `{unit}`; {hint}")
    value = (
        round(float(number) * UNITS[unit.upper()])
        if "." in number
        else (int(number) * UNITS[unit.upper()])
    )
    if value <= 0:
        raise ValueError(f"`{text}` is no size: it has to be more than 0")
    return value


def _spelling(unit: str) -> str:
    return unit.replace("IB", "iB")


def native_devices() -> tuple[tuple[str, str, int], ...]:
    """Compute capability, name and bytes of memory of each GPU of this machine, by cuda-python.
    ``ValueError`` says why there is none."""
    try:
        from cuda.bindings import driver
    except ImportError:
        raise ValueError(
            "native: cuda-python is not installed; pip install 'cudalint[runtime]', or name a"
            " target such as sm_90"
        ) from None

    def call(function: str, *arguments: object) -> object:
        try:
            status, *results = getattr(driver, function)(*arguments)
        except RuntimeError:  # its message tells how libraries are searched for
            raise ValueError("native: no GPU here; name a target") from None
        if int(status) != 0:
            raise ValueError(f"native: {function} failed with {status.name}; name a target")
        return results[0] if results else None

    attributes = driver.CUdevice_attribute
    call("cuInit", 0)
    found = []
    for ordinal in range(int(str(call("cuDeviceGetCount")))):
        device = call("cuDeviceGet", ordinal)
        major, minor = (
            call("cuDeviceGetAttribute", attribute, device)
            for attribute in (
                attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        name = call("cuDeviceGetName", 128, device)
        text = name.decode() if isinstance(name, bytes) else str(name)
        memory = int(str(call("cuDeviceTotalMem", device)))
        found.append((f"sm_{major}{minor}", text.strip("\0 "), memory))
    if not found:
        raise ValueError("native: no GPU here; name a target such as sm_90")
    return tuple(found)


def limits_for(
    targets: tuple[str, ...] = (),
    device_memory: str | int | None = None,
    max_transfer: str | int | None = None,
    large_allocation: str | int | None = None,
) -> Limits:
    """The limits of the targets: of each, the most generous, so that what exceeds it fails on all.
    No targets means every device that is known. ``ValueError`` says what is wrong."""
    names: list[str] = []
    memories: list[int] = []
    for target in targets:
        if target.strip().lower() == "native":
            for name, _, memory in native_devices():
                names.append(parse_target(name))
                memories.append(memory)
            continue
        name = parse_target(target)
        names.append(name)
        memories.append(devices()[name].memory or _largest_memory())
    chosen = names or list(devices())
    specific = [parse_target(target) for target in targets if is_specific(target)]
    static = max([common().static_shared, *map(_specific_static, specific)])
    possible = [] if names else map(_specific_static, chosen)
    largest = max(chosen, key=lambda name: devices()[name].largest_shared)
    given = device_memory is not None
    defaults = Limits()
    return Limits(
        targets=tuple(dict.fromkeys(names)),
        static_shared=static,
        specific_static_shared=max([static, *possible]),
        default_shared=common().default_shared,
        largest_shared=devices()[largest].largest_shared,
        largest_shared_target=largest,
        threads_per_block=common().threads_per_block,
        block=common().block,
        grid=common().grid,
        device_memory=(
            parse_bytes(device_memory)
            if device_memory is not None
            else max(memories, default=_largest_memory())
        ),
        device_memory_text=str(device_memory) if given else "",
        max_transfer=(
            parse_bytes(max_transfer) if max_transfer is not None else defaults.max_transfer
        ),
        max_transfer_text=str(max_transfer) if max_transfer is not None else "",
        large_allocation=(
            parse_bytes(large_allocation)
            if large_allocation is not None
            else defaults.large_allocation
        ),
    )


def _largest_memory() -> int:
    return max(device.memory or 0 for device in devices().values())
