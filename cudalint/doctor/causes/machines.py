"""Causes that a machine shows by itself, before anything fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cudalint.doctor.causes.cause import Cause
from cudalint.doctor.record import Gpu, Holder, Machine, Measured
from cudalint.doctor.sizes import size

_DOCKER_SHARED = 64 * 1024**2
_LITTLE = 64 * 1024**2


def held_by_others(machine: Machine) -> Iterator[Cause]:
    """Other processes hold a large part of a device."""
    for gpu in machine.gpus:
        others, taken = others_of(gpu), taken_by_others(gpu)
        if not others or not gpu.total or taken * 4 < gpu.total:
            continue
        share = taken / gpu.total
        yield Cause(
            "another-process",
            f"other processes hold {size(taken)} of GPU {gpu.index}'s {size(gpu.total)}",
            min(60 + 35 * share, 95),
            tuple(holder_text(one) for one in others),
            (
                f"`nvidia-smi -i {gpu.index} --query-compute-apps=pid,name,used_memory"
                " --format=csv`",
                *([f"`ps -o pid,user,etime,args -p {others[0].pid}`"] if others[0].name else []),
                *_another_device(machine, gpu),
            ),
        )


def orphaned(machine: Machine) -> Iterator[Cause]:
    """Memory that nobody is there for."""
    for gpu in machine.gpus:
        dead = [one for one in gpu.holders if one.alive is False]
        if dead:
            held = sum(one.bytes or 0 for one in dead)
            yield Cause(
                "dead-process", f"GPU {gpu.index} counts {size(held)} for processes that are gone",
                96, tuple(holder_text(one) for one in dead),
                (f"`sudo fuser -v /dev/nvidia{gpu.index}` shows who still has it open",
                 "end their children and debuggers; else reset the device when it is idle"),
            )  # fmt: skip
            continue
        known = [one.bytes for one in gpu.holders if one.bytes is not None]
        unexplained = gpu.used - sum(known)
        unknown = len(known) < len(gpu.holders)
        if gpu.total and not unknown and not gpu.mig and unexplained * 8 > gpu.total:
            yield Cause(
                "unseen-process",
                f"{size(unexplained)} of GPU {gpu.index} is used by nobody that can be seen", 65,
                (f"used {size(gpu.used)}, of which {len(known)} processes here hold"
                 f" {size(sum(known))}",
                 "they live in another container or PID namespace, or are of MPS or graphics"),
                (f"on the host, outside of any container: `nvidia-smi -i {gpu.index}`",
                 f"`sudo fuser -v /dev/nvidia{gpu.index}`"),
            )  # fmt: skip


def hidden_devices(machine: Machine) -> Iterator[Cause]:
    """``CUDA_VISIBLE_DEVICES`` says other than what there is."""
    grant = machine.grant
    if grant.visible is None or not machine.gpus:
        return
    existing = ", ".join(f"{gpu.index} ({gpu.uuid})" for gpu in machine.gpus)
    if grant.wrong:
        wrong = ", ".join(f"`{one}`" for one in grant.wrong)
        yield Cause(
            "visible-devices", f"CUDA_VISIBLE_DEVICES names what does not exist: {wrong}", 93,
            (f"CUDA_VISIBLE_DEVICES={grant.visible}", f"there are: {existing}",
             "CUDA stops reading at the first wrong entry: what follows is hidden as well"),
            ("`nvidia-smi -L`", f"`export CUDA_VISIBLE_DEVICES={machine.gpus[0].index}`"),
        )  # fmt: skip
    elif len(grant.hidden) == len(machine.gpus):
        yield Cause(
            "visible-devices", "CUDA_VISIBLE_DEVICES hides every device", 95,
            (f"CUDA_VISIBLE_DEVICES={grant.visible!r}", f"there are: {existing}"),
            ("`unset CUDA_VISIBLE_DEVICES`, or let the job ask for a GPU (Slurm: --gres=gpu:1)",),
        )  # fmt: skip


def slurm_grant(machine: Machine) -> Iterator[Cause]:
    """Slurm granted other than what is used."""
    grant = machine.grant
    if grant.job and not grant.slurm and machine.gpus:
        yield Cause(
            "slurm-grant", f"Slurm job {grant.job} was granted no GPU", 70,
            ("neither SLURM_JOB_GPUS nor SLURM_STEP_GPUS is set; devices that can be seen all the"
             " same are somebody else's",),
            (f"`scontrol show job {grant.job} | grep -i tres`", "`sbatch --gres=gpu:1 ...`"),
        )  # fmt: skip
    if grant.denied:
        yield Cause(
            "denied-devices", f"{', '.join(grant.denied)} cannot be opened by this process", 75,
            ("the device cgroup (Slurm, the container) or the file's mode forbids it",),
            ("`ls -l /dev/nvidia*`",),
        )  # fmt: skip


def exclusive(machine: Machine) -> Iterator[Cause]:
    """The compute mode lets nobody in."""
    for gpu in machine.gpus:
        reset = f"`sudo nvidia-smi -i {gpu.index} -c DEFAULT`"
        if gpu.compute_mode == "prohibited":
            yield Cause("compute-mode", f"GPU {gpu.index} is in compute mode Prohibited", 95,
                        ("no process may make a context on it",), (reset,))  # fmt: skip
        elif gpu.compute_mode == "exclusive" and (others := others_of(gpu)):
            yield Cause(
                "compute-mode", f"GPU {gpu.index} is for one process, and one has it", 92,
                tuple(map(holder_text, others)), (reset, "or wait for it to end"),
            )  # fmt: skip


def mig_without_instances(machine: Machine) -> Iterator[Cause]:
    """MIG is on, and nothing can be used."""
    for gpu in machine.gpus:
        if gpu.mig and not gpu.slices:
            yield Cause(
                "mig", f"MIG is on on GPU {gpu.index}, and it has no instance", 94,
                ("CUDA sees instances only, and there is none",),
                ("`sudo nvidia-smi mig -cgi 9,9 -C`",
                 f"or `sudo nvidia-smi -i {gpu.index} -mig 0`"),
            )  # fmt: skip


def fragmented_device(machine: Machine) -> Iterator[Cause]:
    """Free memory that no single block can have."""
    for one in machine.measured:
        if one.largest is not None and one.free > _LITTLE and one.largest * 10 < one.free * 9:
            yield Cause(
                "fragmentation",
                f"of {size(one.free)} free on device {one.ordinal}, the largest block that can be"
                f" had is {size(one.largest)}", 82,
                (f"probed by cuMemAlloc in a process of its own: {one.largest:,} bytes were given,"
                 " 2 MiB more were refused",),
                ("split the allocation, or end the processes that hold the device",),
            )  # fmt: skip


def no_context(machine: Machine) -> Iterator[Cause]:
    """A device on which not even a context could be made."""
    for one in machine.measured:
        if not one.error:
            continue
        full = "OUT_OF_MEMORY" in one.error
        broken = "ECC" in one.error
        yield Cause(
            "no-context",
            f"no context can be made on device {one.ordinal} ({one.name or one.uuid}):"
            f" {one.error}", 80 if full else 88,
            ("even a context needs some hundred MiB: the device is full" if full
             else "uncorrectable memory errors: the device must be reset" if broken
             else "the driver refuses it",),
            ("`nvidia-smi`",),
        )  # fmt: skip


def memory_errors(machine: Machine) -> Iterator[Cause]:
    """ECC errors and rows that are to be remapped."""
    for gpu in machine.gpus:
        health = gpu.health
        if not (health.failed or health.pending or health.uncorrected):
            continue
        weight, what = 45.0, "uncorrectable memory errors were counted"
        if health.pending:
            weight, what = 70.0, "a row waits to be remapped: a reset is needed"
        if health.failed:
            weight, what = 86.0, "a row could not be remapped: the card wants to be replaced"
        yield Cause(
            "memory-errors", f"GPU {gpu.index}: {what}", weight,
            (f"uncorrected {health.uncorrected}, corrected {health.corrected}, remapped rows"
             f" {health.remapped}",),
            (f"`nvidia-smi -i {gpu.index} -q -d ECC,ROW_REMAPPER`",),
        )  # fmt: skip


def host_limits(machine: Machine) -> Iterator[Cause]:
    """Limits of the host that CUDA and data loaders run into."""
    host = machine.host
    if host.address_space is not None:
        yield Cause(
            "address-space", f"the address space is limited to {size(host.address_space)}", 75,
            ("CUDA reserves address space for all memory of host and devices together",),
            ("`ulimit -v unlimited`",),
        )  # fmt: skip
    if host.cgroup_limit and host.cgroup_used and host.cgroup_used * 10 > host.cgroup_limit * 9:
        yield Cause(
            "host-memory",
            f"{size(host.cgroup_used)} of the {size(host.cgroup_limit)} of host memory that the"
            " cgroup grants are taken", 60, ("beyond it the kernel kills: page-locked memory"
            " counts, and cannot be swapped",),
            ("`cat /sys/fs/cgroup/memory.max`; ask for more (Slurm: --mem, docker: --memory)",),
        )  # fmt: skip
    if host.shared is not None and (
        host.shared <= _DOCKER_SHARED or (host.shared_used or 0) * 10 > host.shared * 9
    ):
        yield Cause(
            "shared-memory",
            f"/dev/shm has {size(host.shared)}, of which {size(host.shared_used)} are taken", 40,
            ("workers of data loaders and NCCL pass data through it, and die of a bus error",),
            ("`docker run --shm-size=8g ...` or `--ipc=host`", "`df -h /dev/shm; ls -l /dev/shm`"),
        )  # fmt: skip


def wrong_settings(machine: Machine) -> Iterator[Cause]:
    """Settings of allocators that say nothing, or something else than meant."""
    wrong = [one for one in machine.settings if one.problem]
    if wrong:
        yield Cause(
            "settings", f"{wrong[0].name}: {wrong[0].problem}", 58,
            tuple(f"{one.name}{f'={one.value}' if one.value else ''}: {one.problem}"
                  for one in wrong),
            tuple(dict.fromkeys(one.advice for one in wrong if one.advice)),
        )  # fmt: skip


def others_of(gpu: Gpu) -> list[Holder]:
    """Who holds memory of it, but for us."""
    return [one for one in gpu.holders if not one.ours]


def taken_by_others(gpu: Gpu) -> int:
    """What they hold; all that is used, where the driver does not tell of one of them."""
    others = others_of(gpu)
    known = sum(one.bytes or 0 for one in others)
    return max(known, gpu.used) if any(one.bytes is None for one in others) else known


def holder_text(one: Holder) -> str:
    """A process in words: ``pid 4242 (python train.py) of ada holds 10.00 GiB, Slurm job 17``."""
    words = f"pid {one.pid}" + (f" ({one.name})" if one.name else "")
    words += f" of {one.user}" if one.user else ""
    words += (
        f" holds {size(one.bytes)}"
        if one.bytes is not None
        else " has it open (how much it holds, the driver does not tell)"
    )
    words += f", Slurm job {one.job}" if one.job else ""
    words += f", in {one.container}" if one.container else ""
    if one.alive is False:
        words += ", and no longer lives"
    elif one.alive is None:
        words += "; it cannot be seen from here (another container?)"
    return words


def measured_of(machine: Machine, gpu: Gpu) -> Measured | None:
    """What was measured of a device."""
    named = next((one for one in machine.measured if one.uuid and one.uuid == gpu.uuid), None)
    alone = len(machine.gpus) == len(machine.measured) == 1 and not machine.measured[0].uuid
    return machine.measured[0] if alone else named


def _another_device(machine: Machine, full: Gpu) -> list[str]:
    best = max(machine.gpus, key=lambda one: one.free)
    if best.index == full.index or best.free <= full.free:
        return []
    return [f"`export CUDA_VISIBLE_DEVICES={best.index}`: {size(best.free)} are free there"]


MACHINE_CAUSES: tuple[Callable[[Machine], Iterator[Cause]], ...] = (
    held_by_others, orphaned, hidden_devices, slurm_grant, exclusive, mig_without_instances,
    fragmented_device, no_context, memory_errors, host_limits, wrong_settings,
)  # fmt: skip
