"""The host: its memory and limits, and what /proc tells of a process. Linux; elsewhere nothing is
known."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from cudalint.doctor.record import Holder, Host

_ENDLESS = 1 << 60
"""A cgroup of version 1 says "no limit" by a number of this size."""
_CONTAINER = (
    (re.compile(r"kubepods[^\s]*?(?:pod)?([0-9a-f]{8}[-_][0-9a-f_-]{27})"), "kubernetes pod "),
    (re.compile(r"(?:docker[-/]|/docker/)([0-9a-f]{12})[0-9a-f]*"), "docker "),
    (re.compile(r"libpod-([0-9a-f]{12})[0-9a-f]*"), "podman "),
    (re.compile(r"cri-containerd-([0-9a-f]{12})[0-9a-f]*"), "containerd "),
    (re.compile(r"/lxc/([\w.-]+)"), "lxc "),
)
_JOB = re.compile(r"/job_(\d+)")


def read_host(root: Path = Path("/")) -> Host:
    """The host's memory and the limits of this process."""
    memory = _meminfo(root / "proc/meminfo")
    limit, used = _cgroup(root)
    shared: int | None = None
    shared_used: int | None = None
    with contextlib.suppress(OSError):
        usage = shutil.disk_usage(root / "dev/shm")
        shared, shared_used = usage.total, usage.used
    locked, space, data = _limits()
    return Host(
        total=memory.get("MemTotal"),
        available=memory.get("MemAvailable"),
        locked=locked,
        address_space=space,
        data=data,
        cgroup_limit=limit,
        cgroup_used=used,
        shared=shared,
        shared_used=shared_used,
    )


def _limits() -> tuple[int | None, int | None, int | None]:
    try:
        import resource
    except ImportError:  # Windows
        return None, None, None

    def soft(which: int) -> int | None:
        value = resource.getrlimit(which)[0]
        return None if value == resource.RLIM_INFINITY else value

    return soft(resource.RLIMIT_MEMLOCK), soft(resource.RLIMIT_AS), soft(resource.RLIMIT_DATA)


def _meminfo(path: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in _text(path).splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            found[name] = int(words[0]) * 1024
    return found


def _cgroup(root: Path) -> tuple[int | None, int | None]:
    """The tightest limit above this process, and what is used under it."""
    base = root / "sys/fs/cgroup"
    tightest: int | None = None
    used: int | None = None
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        top, names = (
            (base / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes"))
            if controllers
            else (base, ("memory.max", "memory.current"))
        )
        folder = top / path.lstrip("/")
        # In a container the path is often that of the outside: what is there is at the top.
        for place in (folder, *folder.parents):
            value = _text(place / names[0]).strip()
            if value.isdigit() and int(value) < min(_ENDLESS, tightest or _ENDLESS):
                tightest = int(value)
                current = _text(place / names[1]).strip()
                used = int(current) if current.isdigit() else None
            if place == top:
                break
    return tightest, used


def process(pid: int, size: int | None, root: Path = Path("/"), ours: Iterable[int] = ()) -> Holder:
    """What /proc tells of a process that holds device memory."""
    folder = root / "proc" / str(pid)
    if not (root / "proc").is_dir():
        return Holder(pid, bytes=size)
    if not folder.is_dir():
        # The driver counts it: it has not given everything back, or lives in another namespace.
        inside = _nested(root)
        return Holder(pid, bytes=size, alive=None if inside else False)
    groups = _text(folder / "cgroup")
    job = _environment(folder).get("SLURM_JOB_ID", "")
    if not job and (found := _JOB.search(groups)):
        job = found[1]
    state = re.search(r"^State:\s+(\w)", _text(folder / "status"), re.MULTILINE)
    return Holder(
        pid=pid,
        name=_name(folder),
        user=_user(folder),
        bytes=size,
        alive=state is None or state[1] not in "ZX",
        job=job,
        container=container_of(groups),
        ours=pid in set(ours),
    )


def openers(index: int, root: Path = Path("/"), ours: Iterable[int] = ()) -> tuple[Holder, ...]:
    """The processes here that have a device open: how many bytes, only the driver knows. It helps
    where the driver tells of processes by the numbers of another PID namespace, or of none."""
    node = f"/dev/nvidia{index}"
    found = []
    for folder in sorted((root / "proc").glob("[0-9]*")):
        with contextlib.suppress(OSError):
            if any(_target(link) == node for link in (folder / "fd").iterdir()):
                found.append(process(int(folder.name), None, root, ours))
    return tuple(found)


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def container_of(groups: str) -> str:
    """The container that a /proc/PID/cgroup tells of."""
    for pattern, prefix in _CONTAINER:
        if found := pattern.search(groups):
            return prefix + found[1]
    return ""


def surroundings(root: Path = Path("/")) -> str:
    """What this process runs in: empty on plain Linux."""
    if "microsoft" in _text(root / "proc/sys/kernel/osrelease").lower():
        return "WSL"
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    return container_of(_text(root / "proc/self/cgroup"))


def children_of(pid: int, root: Path = Path("/")) -> set[int]:
    """A process and what it started."""
    parents: dict[int, int] = {}
    with contextlib.suppress(OSError):
        for folder in (root / "proc").iterdir():
            if folder.name.isdigit():
                found = re.search(r"^PPid:\s+(\d+)", _text(folder / "status"), re.MULTILINE)
                if found:
                    parents[int(folder.name)] = int(found[1])
    family = {pid}
    while grown := {child for child, parent in parents.items() if parent in family} - family:
        family |= grown
    return family


def _nested(root: Path) -> bool:
    """Whether not all processes can be seen, as in a PID namespace of its own: only the first one
    has the kernel's own threads."""
    return _text(root / "proc/2/comm").strip() != "kthreadd" or bool(surroundings(root))


def _name(folder: Path) -> str:
    words = [word for word in _text(folder / "cmdline").split("\0") if word]
    if not words:
        return _text(folder / "comm").strip()
    name = Path(words[0]).name
    # `python train.py`: the script is what people know. Other arguments may hold secrets.
    script = next((word for word in words[1:3] if word.endswith(".py")), "")
    return f"{name} {Path(script).name}" if script else name


def _user(folder: Path) -> str:
    try:
        number = folder.stat().st_uid
    except OSError:
        return ""
    try:
        import pwd

        return pwd.getpwuid(number).pw_name
    except (ImportError, KeyError):
        return str(number)


def _environment(folder: Path) -> dict[str, str]:
    return dict(
        part.partition("=")[::2] for part in _text(folder / "environ").split("\0") if "=" in part
    )


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
