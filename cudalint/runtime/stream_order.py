"""What a run that shows nothing wrong with the order of streams leaves open (GPU206, GPU408)."""

from __future__ import annotations

from cudalint.runtime.events import EventKind
from cudalint.runtime.observation import Observation
from cudalint.runtime.question import Question
from cudalint.runtime.trace import Mode


def unsure_order(question: Question, base: Observation, mode: Mode) -> str:
    """Why what was not seen out of order (GPU206) need not be in order; empty where it is."""
    if mode is Mode.OBSERVE:
        return "the call ran; over a real runtime no order of streams is followed"
    if any(event.order_assumed and event.kind is EventKind.NOTE for event in base.events):
        return "the call ran; not all that kernels and libraries use is known"
    here = [
        number
        for number, event in enumerate(base.events)
        if any(place.index(event.stack) is not None for place in question.places)
    ]
    between = base.events[here[0] : here[-1] + 1] if here else ()
    if any(event.device for event in between):
        return "the call ran; the streams of several devices are taken to be in order"
    for event in between:
        if event.order_assumed:
            return f"the call ran; {event.api} between may have waited, and need not"
    return ""


def unseen_read(question: Question, base: Observation, mode: Mode) -> str:
    """Why no early read (GPU408) was seen: a read is no call, and only that of pinned memory can be
    told."""
    if mode is Mode.OBSERVE:
        return "over a real runtime no read of the host's is seen"
    copies = [
        event
        for event in base.events
        if event.kind is EventKind.COPY
        and any(place.index(event.stack) is not None for place in question.places)
    ]
    if not copies:
        return "the run made no copy that it speaks of"
    if all(event.text == "pageable" for event in copies):
        return "the copy is into pageable memory: most drivers wait there, and no run shows others"
    return "the copy ran; no read of pinned memory came too early, and others cannot be seen"
