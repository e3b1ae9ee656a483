"""What a path knows, renamed when an iteration produces its symbols again."""

from __future__ import annotations

from cudalint.analysis.engine.state import InputRelease, InputUse, State
from cudalint.analysis.values.values import Input, Location, Symbol
from cudalint.findings.finding import Step
from cudalint.source import Span

STEP = Step("drain.cu", Span(3, 1, 3, 9), "`slot->buffer` is released here")


def test_what_was_released_belongs_to_the_earlier_iteration() -> None:
    slot = Symbol("call:next_slot@2.0")
    before = Symbol("call:next_slot@2.0", older=True)
    entry: Location = ("@", Input(("@", slot, ".image")), ".buffer")
    earlier: Location = ("@", Input(("@", before, ".image")), ".buffer")
    state = State()
    state.visits = {1: 1}
    state.inputs[entry] = InputRelease(entry, ("device",), STEP, "cudaFree")
    state.used[entry] = InputUse(STEP, "cudaMemcpy")
    state.stored = state.lent = frozenset({entry})
    state.refresh(slot)
    assert [(key, release.location) for key, release in state.inputs.items()] == [(earlier,) * 2]
    assert list(state.used) == [earlier]
    assert state.stored == state.lent == {earlier}
