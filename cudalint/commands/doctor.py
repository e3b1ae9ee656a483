"""The ``doctor`` command: out of memory, explained."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from cudalint.commands.runtime import RuntimeMode, choose_device
from cudalint.doctor.causes import Cause, causes
from cudalint.doctor.record import Case, Machine, RecordError, decode, encode
from cudalint.doctor.rescue import rescue
from cudalint.doctor.text import render, unknown
from cudalint.plan import make_plan
from cudalint.project.config import Configuration, ConfigurationError
from cudalint.reports.style import ColorChoice, Style, escaped, use_color

CLEAN, FOUND, FAILED = 0, 1, 2
_MOST = 1024**3
_MOST_TEXT = 64 * 1024**2


@dataclass(frozen=True)
class DoctorOptions:
    """What to look at, and where to."""

    runtime_mode: RuntimeMode = "auto"
    limit: float | None = None
    explain: str | None = None
    snapshot: str | None = None
    machine: str | None = None
    record: str | None = None
    without_users: bool = False
    kind: str = "text"
    color: ColorChoice = "auto"


def run_doctor(command: Sequence[str], configuration: Configuration, options: DoctorOptions) -> int:
    """Explain; the exit status: 0 nothing is wrong, 1 a cause was found, 2 nothing could be
    asked."""
    given = [options.explain, options.snapshot, options.machine, *([" "] if command else [])]
    if sum(one is not None for one in given) > 1:
        raise ConfigurationError(
            "doctor: one of a command, --explain, --snapshot and --machine, not several"
        )
    failed = False
    if options.explain is not None:
        case = _explained(options.explain)
    elif options.snapshot is not None:
        case = _snapshot(options.snapshot)
    elif options.machine is not None:
        case = _recorded(options.machine)
    elif command:
        case, failed = _watched(command, configuration, options)
    else:
        from cudalint.doctor.gather import look

        case = Case(machine=look())
    if options.without_users:
        case = _without_users(case)
    if options.record is not None:
        try:
            Path(options.record).write_bytes(encode(case))
        except OSError as error:
            raise ConfigurationError(f"doctor: {options.record}: {error.strerror}") from None
    found = causes(case)
    _show(case, found, options)
    if failed or (case.failure is None and case.machine is not None and case.machine.missing):
        return FAILED
    return FOUND if found else CLEAN


def _explained(name: str) -> Case:
    from cudalint.doctor.errors import understand

    text = _read(name, most=_MOST_TEXT).decode("utf-8", "replace")
    failure = understand(text)
    if failure is None:
        raise ConfigurationError(
            f"doctor: {'standard input' if name == '-' else name} tells of no out of memory that"
            " is known: paste the error with the lines around it"
        )
    return Case(failure=failure)


def _snapshot(name: str) -> Case:
    from cudalint.doctor.pickles import PROTOCOL, PickleError
    from cudalint.doctor.snapshot import read_snapshot

    try:
        return Case(failure=read_snapshot(_read(name, begins=PROTOCOL)))
    except PickleError as error:
        raise ConfigurationError(f"doctor: {name}: {error}") from None


def _recorded(name: str) -> Case:
    try:
        return decode(_read(name))
    except RecordError as error:
        raise ConfigurationError(f"doctor: {name}: {error}") from None


def _watched(
    command: Sequence[str], configuration: Configuration, options: DoctorOptions
) -> tuple[Case, bool]:
    from cudalint.apis.devices import devices
    from cudalint.commands.run import _located
    from cudalint.doctor.command import watch
    from cudalint.doctor.gather import look
    from cudalint.doctor.host import read_host
    from cudalint.runtime.toolkit import ToolkitError
    from cudalint.runtime.trace import Mode

    plan = make_plan(configuration)
    device = choose_device(options.runtime_mode, plan, _say)
    simulated = device.mode is Mode.SIMULATE
    machine = Machine(host=read_host()) if simulated else look()
    product: int | None = None
    if simulated:
        whole = devices()[device.target].memory or 0
        product = whole if whole > device.memory else None
    else:
        sliced = [gpu.total for gpu in machine.gpus if gpu.mig]
        product = max(sliced) if sliced else None
    try:
        seen = watch(
            _located(command), device, machine, product=product, seconds=options.limit, say=_say
        )
    except ToolkitError as error:
        raise ConfigurationError(f"doctor: {error}") from None
    except OSError as error:
        raise ConfigurationError(f"doctor: {command[0]}: {error.strerror or error}") from None
    result = seen.result
    print(result.stdout, end="", file=sys.stderr if options.kind == "json" else sys.stdout)
    print(result.stderr, end="", file=sys.stderr)
    sys.stdout.flush()
    _say(f"{command[0]}: {result.ending}")
    case = Case(machine=machine, failure=seen.failure, command=tuple(command))
    if seen.failure is not None:
        return case, False
    if not seen.seen:
        _say(f"no call of CUDA was seen: {result.problem or 'it uses none'}")
        return case, True
    _say(f"no call ran out of memory; at most {seen.peak:,} bytes of the device were held")
    return Case(command=tuple(command)), False


def _without_users(case: Case) -> Case:
    """Without the names of users and of their programs."""
    machine = case.machine
    if machine is None:
        return case
    gpus = tuple(
        msgspec.structs.replace(
            gpu,
            holders=tuple(msgspec.structs.replace(one, user="", name="") for one in gpu.holders),
        )
        for gpu in machine.gpus
    )
    return msgspec.structs.replace(case, machine=msgspec.structs.replace(machine, gpus=gpus))


def _read(name: str, most: int = _MOST, begins: bytes = b"") -> bytes:
    """A file, or its end where it is very large; what does not begin as it must is not read on."""
    try:
        with contextlib.ExitStack() as stack:
            file = sys.stdin.buffer if name == "-" else stack.enter_context(Path(name).open("rb"))
            start = file.read(len(begins))
            if start != begins:
                return start
            if not begins and file.seekable():
                file.seek(max(file.seek(0, os.SEEK_END) - most, 0))
            return start + file.read(most)
    except OSError as error:
        raise ConfigurationError(f"doctor: {name}: {error.strerror or error}") from None


def _show(case: Case, found: Sequence[Cause], options: DoctorOptions) -> None:
    if options.kind == "json":
        data: dict[str, Any] = {
            "schema_version": 1,
            "machine": case.machine,
            "failure": case.failure,
            "would_make_room": () if case.failure is None else rescue(case.failure),
            "unknown": () if case.failure is None else unknown(case.failure),
            "causes": [
                {
                    "name": one.name,
                    "title": one.title,
                    "weight": round(one.weight),
                    "likelihood": one.likelihood,
                    "evidence": one.evidence,
                    "next": one.next,
                }
                for one in found
            ],
        }
        print(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())
        return
    style = Style(use_color(sys.stdout, options.color))
    for line in render(case, found):
        heading = line and not line.startswith(" ")
        print(style.paint(escaped(line), "bold") if heading else style.message(line))


def _say(text: str) -> None:
    print(f"cudalint: {escaped(text)}", file=sys.stderr)
