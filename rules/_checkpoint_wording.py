"""What GPU605 says of a load."""

from __future__ import annotations

from cudalint.analysis.facts import CheckpointLoad, is_shown
from cudalint_rules._wording import quoted

NEEDLESS = ("filled", "summed", "rewritten")
"""The device of the file is of no use to these, whatever it is."""
STEPS = {
    "restored": "the weights are copied from it here",
    "filled": "a parameter is written from it here",
    "summed": "weights are computed with here",
    "moved": "it goes elsewhere here",
    "rewritten": "it is written to a file again here",
    "beside": "this load says where to",
}
_USES = {
    "restored": "beside what it fills on line {}",
    "filled": "beside what it fills on line {}",
    "summed": "with all that line {} computes from it",
    "moved": "until line {} moves it",
    "rewritten": "only to be changed and written again on line {}",
    "beside": "unlike what line {} loads",
}
_UNPLACED = "from where line {} copies it"


def message(load: CheckpointLoad) -> str:
    """Where the weights go, what they lie beside, and what to pass."""
    if load.onto:
        return (
            f"{load.api} with `map_location={load.told}`: `{load.name}` stays there beside what it "
            f"fills on line {load.used.span.row} while the function goes on to work with that; "
            'pass `map_location="cpu"`, or delete it then'
        )
    missing = "a `map_location` of `None`" if load.told else "no `map_location`"
    what = f"`{load.name}`" if is_shown(load.name) else "what it loads"
    where = "the GPU that it was saved from" if load.own else "a GPU if it was saved from one"
    use = _USES[load.use] if load.placed or load.use != "restored" else _UNPLACED
    return (
        f"{load.api} with {missing}: {what} goes to {where}, "
        f"{use.format(load.used.span.row)}; pass `map_location={device(load)}`{_needed(load)}"
    )


def device(load: CheckpointLoad) -> str:
    """What to pass as ``map_location``."""
    return load.needed.device if load.needed is not None else '"cpu"'


def _needed(load: CheckpointLoad) -> str:
    if load.needed is None:
        return ""
    taken = load.needed.taken
    return f", where {quoted(taken.text)} (line {taken.span.row}) is used"
