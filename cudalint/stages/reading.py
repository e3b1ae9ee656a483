"""Reads code: each file from the cache, or lowered by a worker."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.project.files import FileError
from cudalint.project.spool import Made
from cudalint.selection import ReadFile
from cudalint.stages.run import READING, LoweredFile, Run

if TYPE_CHECKING:
    from cudalint.jobs import Reading
    from cudalint.lowering import Lowering, Preparer


def lowered_files(
    read: Sequence[ReadFile], run: Run, unsaved: tuple[tuple[str, str], ...]
) -> dict[str, LoweredFile]:
    """Each file that could be lowered, and their companions."""
    from cudalint.companions import Companions
    from cudalint.frontends.cuda.conditional import asked_together
    from cudalint.lowering import Preparer, header_folder

    companions = Companions(run.passed_over, run.contents, run.plan)
    together = asked_together(one.source.text for one in read if one.file.language == "cuda")
    with header_folder(run.plan) as headers:
        preparer = Preparer(run.plan, headers, together, unsaved)
        lowered = _lower(read, run, preparer)
        lowered |= _lower(companions.of(lowered), run, preparer)
    run.notes += preparer.notes
    return lowered


def _lower(read: Sequence[ReadFile], run: Run, preparer: Preparer) -> dict[str, LoweredFile]:
    """Each file that could be lowered, from the cache where it is there."""
    from cudalint import jobs
    from cudalint.jobs import Lowered

    lowered: dict[str, LoweredFile] = {}
    pending: list[Lowering] = []
    for one in read:
        lowering = preparer.prepare(one.file, one.data, one.source)
        kept = run.kept(lowering.key, Lowered)
        if kept is not None:
            run.readings[one.file.filename] = kept.reading
            lowered[one.file.filename] = run.spooled(kept)
        elif failure := run.timed_out(lowering.key, run.plan.bounds.seconds):
            run.errors.append(FileError(one.file.filename, f"not read: {failure}"))
        else:
            pending.append(lowering)
            run.read_anew.add(one.file.filename)
    # Large files first, so that no worker is left with the largest at the end:
    pending.sort(key=lambda lowering: -len(lowering.job.text))
    if pending:
        jobs.preload({lowering.job.language for lowering in pending})
    if run.guesses and len(pending) == 1:
        pending = _lower_by_guess(pending[0], lowered, run)
    again = _lower_all(pending, lowered, run)
    for lowering, failure in again:
        what = f"the CUDA sources in its strings were not read: {failure}"
        run.notes.append(FileError(lowering.job.filename, what))
    _lower_all([lowering.without_embedded() for lowering, _ in again], lowered, run)
    return lowered


def _lower_by_guess(
    lowering: Lowering, lowered: dict[str, LoweredFile], run: Run
) -> list[Lowering]:
    """Lower a file after the reading that it had last time, and find out meanwhile which one it
    has. Returns it where that was another one, or something went wrong."""
    from cudalint import jobs

    guess = run.readings.get(lowering.job.filename, ("", ""))
    if not guess[1]:  # found out as quickly as it is read
        return [lowering]
    job = msgspec.structs.replace(lowering.job, reading=guess)
    payloads = [
        jobs.LOWERING + msgspec.msgpack.encode(job),
        jobs.SETTLING + msgspec.msgpack.encode(lowering.job),
    ]
    results: dict[int, bytes | None] = {}
    reading: Reading | None = None
    with contextlib.closing(run.execute(READING, jobs.lower_or_settle, payloads)) as outcomes:
        for number, outcome in outcomes:
            results[number] = outcome.result
            if outcome.result is None:
                break
            if number == 1:
                reading = msgspec.msgpack.decode(outcome.result, type=jobs.Reading)
                if reading != guess:
                    break
    result = results.get(0)
    if result is not None and reading == guess:
        _keep(lowering, result, lowered, run)
        return []
    job = msgspec.structs.replace(lowering.job, reading=reading)
    return [dataclasses.replace(lowering, job=job)]


def _keep(lowering: Lowering, data: bytes, lowered: dict[str, LoweredFile], run: Run) -> None:
    from cudalint.jobs import Lowered

    result = msgspec.msgpack.decode(data, type=Lowered)
    run.readings[lowering.job.filename] = result.reading
    lowered[lowering.job.filename] = run.spooled(result)
    if run.cache:
        run.cache.store(lowering.key, data, lowering.dependencies(result.includes))


def _lower_all(
    pending: Sequence[Lowering], lowered: dict[str, LoweredFile], run: Run
) -> list[tuple[Lowering, str]]:
    """Lower files. Returns the Python files that failed, with the reason, where the CUDA sources in
    their strings may be to blame."""
    from cudalint import jobs

    again: list[tuple[Lowering, str]] = []
    payloads = Made(len(pending), lambda number: msgspec.msgpack.encode(pending[number].job))
    for number, outcome in run.execute(READING, jobs.lower, payloads):
        lowering = pending[number]
        if outcome.result is None and lowering.job.language == "python" and lowering.job.parse:
            again.append((lowering, outcome.failure or ""))
        elif outcome.result is None:
            failure = f"not read: {outcome.failure}"
            run.errors.append(FileError(lowering.job.filename, failure))
            if outcome.timed_out:
                run.remember(lowering.key, run.plan.bounds.seconds, lowering.dependencies([]))
        else:
            _keep(lowering, outcome.result, lowered, run)
    return again
