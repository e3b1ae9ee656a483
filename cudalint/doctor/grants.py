"""What Slurm, the container and ``CUDA_VISIBLE_DEVICES`` let this process use of what exists."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cudalint.doctor.record import Gpu, Grant

_SLURM = ("SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "GPU_DEVICE_ORDINAL")


def read_grant(
    environment: Mapping[str, str], gpus: Sequence[Gpu], root: Path = Path("/")
) -> Grant:
    """The grant of this process."""
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    wrong, hidden = unusable(visible, gpus)
    nodes = sorted(path for path in _nodes(root) if path.name.removeprefix("nvidia").isdigit())
    return Grant(
        visible=visible,
        job=environment.get("SLURM_JOB_ID", ""),
        slurm=next((environment[name] for name in _SLURM if environment.get(name)), ""),
        wrong=wrong,
        hidden=hidden,
        nodes=tuple(f"/dev/{path.name}" for path in nodes),
        denied=tuple(
            f"/dev/{path.name}" for path in nodes if not os.access(path, os.R_OK | os.W_OK)
        ),
    )


def _nodes(root: Path) -> Iterable[Path]:
    return (root / "dev").glob("nvidia*")


def unusable(visible: str | None, gpus: Sequence[Gpu]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Entries that name no device, and the devices that are hidden. CUDA reads the list up to the
    first wrong entry, and sees nothing of what comes after."""
    if visible is None or not gpus:
        return (), ()
    wrong: list[str] = []
    seen: set[str] = set()
    for entry in (part.strip() for part in visible.split(",")):
        found = _named(entry, gpus)
        if found is None:
            wrong.append(entry)
        elif not wrong:
            seen.add(found)
    if visible.strip() == "":
        wrong = []
    return tuple(wrong), tuple(f"GPU {one.index}" for one in gpus if one.uuid not in seen)


def _named(entry: str, gpus: Sequence[Gpu]) -> str | None:
    """The device that an entry means; ``None`` where there is none. UUIDs may be shortened as long
    as they are unique."""
    if entry.isdigit():
        return next((one.uuid for one in gpus if one.index == int(entry)), None)
    if entry.startswith("MIG-GPU-"):  # As drivers before 470 name them: MIG-GPU-UUID/1/0.
        found = [one for one in gpus if entry[4:].partition("/")[0] == one.uuid]
    elif entry.startswith("MIG-"):
        found = [one for one in gpus for part in one.slices if part.uuid.startswith(entry)]
    elif entry.startswith("GPU-"):
        found = [one for one in gpus if one.uuid.startswith(entry)]
    else:
        found = []
    return found[0].uuid if len(found) == 1 else None
