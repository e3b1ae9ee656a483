"""In which order blocks are visited: what meets must have come first."""

from __future__ import annotations

from cudalint.analysis.engine.schedule import Schedule
from cudalint.analysis.engine.state import State
from cudalint.analysis.shape.flow import Flow
from cudalint.analysis.shape.operations import successors
from cudalint.frontends.python import read

SOURCE = """
def serve(queue, sizes):
    while True:
        job = queue.get()
        if job is None:
            break
        if job.kind == 1:
            start(job)
        elif job.kind == 2:
            if job.broken:
                return None
            stop(job)
        else:
            for size in sizes:
                if size > job.limit:
                    break
                if not size:
                    continue
                resize(job, size)
    finish(queue)
    return queue
"""


def _flow() -> Flow:
    program = read("serve.py", SOURCE)
    return Flow(next(f for f in program.functions if f.name == "serve"))


def _exits(flow: Flow, header: int) -> set[int]:
    """Where a loop is left to; not the header of a loop around it, which is a way back."""
    body = flow.loops[header]
    found = {t for n in body for t in successors(flow.blocks[n]) if t not in body}
    return found - flow.enclosing[header]


def test_all_of_a_loop_ranks_before_what_follows_it() -> None:
    flow = _flow()
    assert len(flow.loops) == 2
    for header, body in flow.loops.items():
        last = max(flow.order[n] for n in body)
        assert all(flow.order[n] > last for n in _exits(flow, header))
    assert any(len(_exits(flow, header)) > 1 for header in flow.loops)


def test_an_iteration_waits_for_the_one_before_and_what_follows_for_all() -> None:
    flow = _flow()
    outer = max(flow.loops, key=lambda header: len(flow.loops[header]))
    inner = next(header for header in flow.loops if header != outer)
    last = max(flow.loops[outer], key=flow.order.__getitem__)
    after = next(iter(_exits(flow, outer)))
    schedule = Schedule(flow)

    def arrive(block: int, **visits: int) -> None:
        state = State()
        state.visits = {{"outer": outer, "inner": inner}[name]: n for name, n in visits.items()}
        schedule.at(block, state)[object()] = state

    arrive(after)
    arrive(outer, outer=1)
    arrive(inner, outer=1, inner=1)
    arrive(inner, outer=1)
    arrive(last)
    arrive(last)
    order = []
    while (turn := schedule.next()) is not None:
        order.append((turn[0], len(turn[1])))
    assert order == [(last, 2), (outer, 1), (inner, 1), (inner, 1), (after, 1)]
