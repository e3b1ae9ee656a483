"""Runs a command in its own process group, within limits, and leaves nothing running."""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TOKEN = "CUDALINT_RUN"
_SECONDS_TO_END = 5.0
"""What was killed may be long in dying, on a machine that is busy."""


@dataclass(frozen=True)
class ProcessLimits:
    """What a command may use."""

    seconds: float | None = 60.0
    """``None``: as long as it takes."""
    memory: int | None = None
    """Bytes of private memory (``RLIMIT_DATA``) per process: what ``malloc`` gives. Reserved
    address space does not count, of which CUDA needs much."""
    output: int | None = 1024 * 1024
    """Bytes kept of each of the standard streams. ``None``: it reads and writes those of this
    process, as it would without us."""
    file: int | None = 8 * 1024**3
    """Bytes of the largest file that it may write."""
    core: int | None = 0
    """Bytes of a core file."""


@dataclass(frozen=True)
class Completed:
    """How a command ended."""

    pid: int
    exit_status: int | None
    """``None`` where a signal ended it."""
    signal: int | None
    timed_out: bool
    seconds: float
    stdout: bytes
    stderr: bytes
    output_cut: bool
    """Whether it printed more than was kept."""
    survivors: int
    """How many processes it left behind, which were ended."""


def run_command(
    command: Sequence[str | Path],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limits: ProcessLimits,
    stdout: int | None = None,
) -> Completed:
    """Run to the end or to a limit. ``OSError`` where it cannot be started. ``stdout`` is the file
    that it writes to where its output is not kept; by default ours."""
    token = uuid.uuid4().hex
    try:
        return _run(command, folder, {**environment, TOKEN: token}, limits, stdout)
    except BaseException:
        # The handler of a signal may leave while the command runs and we do not know of it yet.
        _await_children()
        _end_descendants(token)
        raise


def _run(
    command: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str],
    limits: ProcessLimits,
    stdout: int | None,
) -> Completed:
    start = time.monotonic()
    captured = limits.output is not None
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL if captured else None,
        stdout=subprocess.PIPE if captured else stdout,
        stderr=subprocess.PIPE if captured else None,
        start_new_session=True,
    )
    timed_out = False
    capture = _Capture(process, limits.output or 0)
    try:
        _restrict(process.pid, limits)
        end = math.inf if limits.seconds is None else start + limits.seconds
        timed_out = not capture.wait(end)
    finally:
        # The group is ended before its leader is reaped: until then its number is not given anew.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        survivors = _end_descendants(environment[TOKEN])
        capture.drain()
    return Completed(
        pid=process.pid,
        exit_status=status if status >= 0 else None,
        signal=-status if status < 0 else None,
        timed_out=timed_out,
        seconds=time.monotonic() - start,
        stdout=bytes(capture.kept[0]),
        stderr=bytes(capture.kept[1]),
        output_cut=capture.cut,
        survivors=survivors,
    )


class _Capture:
    """Reads both streams, keeps the beginning of each, and notices when the process ends."""

    def __init__(self, process: subprocess.Popen[bytes], limit: int) -> None:
        self.kept = (bytearray(), bytearray())
        self.cut = False
        self._process = process
        self._limit = limit
        self._selector = selectors.DefaultSelector()
        for index, stream in enumerate((process.stdout, process.stderr)):
            if stream is None:
                continue
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, index)

    def wait(self, deadline: float) -> bool:
        """Whether the process ended before the deadline."""
        pause = 0.002
        while not self._ended():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if self._selector.get_map():
                if self._read(min(left, pause)):
                    continue
            else:
                time.sleep(min(left, pause))
            pause = min(pause * 1.5, 0.05)
        return True

    def drain(self) -> None:
        """Read what is left; a descendant that survived cannot hold us up."""
        for _ in range(4096):
            if not self._selector.get_map() or not self._read(0):
                break
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def _ended(self) -> bool:
        """Without reaping it: its group must still be known when it is ended."""
        try:
            return (
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                is not None
            )
        except ChildProcessError:
            return True

    def _read(self, seconds: float) -> bool:
        ready = self._selector.select(seconds)
        for key, _ in ready:
            try:
                data = os.read(key.fd, 65536)
            except BlockingIOError:
                continue
            if not data:
                self._selector.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]
                continue
            kept = self.kept[key.data]
            room = self._limit - len(kept)
            kept += data[: max(room, 0)]
            self.cut |= len(data) > room
        return bool(ready)


def _restrict(pid: int, limits: ProcessLimits) -> None:
    """By prlimit, from outside: code between fork and exec is not safe in a threaded parent."""
    import resource

    if not hasattr(resource, "prlimit"):
        return
    wanted: list[tuple[int, int]] = []
    if limits.core is not None:
        wanted.append((resource.RLIMIT_CORE, limits.core))
    if limits.memory is not None:
        wanted.append((resource.RLIMIT_DATA, limits.memory))
    if limits.file is not None:
        wanted.append((resource.RLIMIT_FSIZE, limits.file))
    for which, value in wanted:
        with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
            _, hard = resource.prlimit(pid, which)
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, which, (value, value))


def _end_descendants(token: str) -> int:
    """End processes that left the group (``setsid``), or never became known, but carry the run's
    token."""
    needle = f"{TOKEN}={token}".encode()
    ended: set[int] = set()
    end = time.monotonic() + _SECONDS_TO_END
    while time.monotonic() < end:
        found = [pid for pid in _pids() if _carries(pid, needle)]
        if not found:
            break
        for pid in found:
            ended.add(pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return len(ended)


def _await_children() -> None:
    """Wait until each child of ours has its environment: ``exec`` gives it one shortly after the
    parent goes on, and until then nobody sees whose it is."""
    end = time.monotonic() + _SECONDS_TO_END
    while any(map(_is_starting, _pids())) and time.monotonic() < end:
        time.sleep(0.001)


def _is_starting(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            state, parent = file.read().rpartition(b")")[2].split()[:2]
        if int(parent) != os.getpid() or state == b"Z":
            return False
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return not file.read(1)
    except OSError:
        return False


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:
        return []


def _carries(pid: int, needle: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return needle in file.read().split(b"\0")
    except OSError:
        return False
