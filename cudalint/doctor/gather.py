"""Looks at this machine: NVML, a child process that measures, the host, the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from cudalint.doctor.grants import read_grant
from cudalint.doctor.host import children_of, read_host, surroundings
from cudalint.doctor.measure import Failed
from cudalint.doctor.missing import of_failure, of_nvml
from cudalint.doctor.nvml import NvmlError, opened
from cudalint.doctor.record import Gpu, Machine, Measured, Missing
from cudalint.doctor.settings import judge

_SECONDS = 60.0


def look(environment: Mapping[str, str] | None = None, root: Path = Path("/")) -> Machine:
    """This machine, now."""
    environment = os.environ if environment is None else environment
    driver = cuda = ""
    gpus: tuple[Gpu, ...] = ()
    missing: list[Missing] = []
    around = surroundings(root)
    try:
        with opened() as nvml:
            driver, cuda = nvml.driver()
            gpus = nvml.gpus(frozenset(children_of(os.getpid(), root)))
    except NvmlError as error:
        missing.append(of_nvml(error, around, root))
    devices, failed = measure(environment)
    if failed and (lacking := of_failure(failed, around, environment, root, bool(gpus))):
        missing.append(lacking)
    return Machine(
        driver=driver,
        cuda=cuda,
        gpus=gpus,
        measured=devices,
        host=read_host(root),
        grant=read_grant(environment, gpus, root),
        settings=judge(environment),
        missing=tuple(dict.fromkeys(missing)),
        container=around,
    )


def measure(environment: Mapping[str, str]) -> tuple[tuple[Measured, ...], str]:
    """What the child measured; and why nothing, where that is so."""
    # -P: a folder `cuda` where the user happens to be must not stand before the bindings.
    command = [sys.executable, "-P", "-m", "cudalint.doctor.measure"]
    try:
        done = subprocess.run(
            command, env=dict(environment), capture_output=True, timeout=_SECONDS, check=False
        )
        output, ending = done.stdout, _ending(done.returncode, done.stderr)
    except subprocess.TimeoutExpired as error:
        output, ending = error.stdout or b"", f"it did not answer within {_SECONDS:.0f} s"
    except OSError as error:
        return (), str(error)
    found: list[Measured] = []
    for line in output.splitlines():
        try:
            found.append(msgspec.json.decode(line, type=Measured))
        except msgspec.ValidationError:
            return (), msgspec.json.decode(line, type=Failed).failed
        except msgspec.DecodeError:  # What a crash cut off.
            continue
    return tuple(found), "" if found else ending or "cuDeviceGetCount: 0 devices"


def _ending(status: int, errors: bytes) -> str:
    if status == 0:
        return ""
    last = (errors.decode("utf-8", "replace").strip().splitlines() or [""])[-1]
    return f"the process that measures ended with status {status}: {last}".rstrip(": ")
