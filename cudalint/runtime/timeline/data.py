"""From the events of a run to what its page shows. Pure: nothing is read or written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cudalint.runtime.timeline.addresses import address_map
from cudalint.runtime.timeline.lifetimes import History, Lifetime, history
from cudalint.runtime.timeline.model import (
    SPACES,
    Leaks,
    Recorded,
    Series,
    SpaceSeries,
    Timeline,
)

_SITES = 7
"""Drawn apart; as many as there are colours that every eye tells apart."""
_BUCKETS = 500
"""Of a chart's width, by time and by step; each keeps up to four moments."""
_LEAK_MARKS = 200


def timeline(recorded: Recorded) -> Timeline:
    """Sum up a run."""
    past = history(recorded)
    spaces: list[SpaceSeries] = []
    for key in SPACES:
        if key != "handle":
            space = _space(key, past, leaking=recorded.complete)
            if space is not None:
                spaces.append(space)
    _count(past)
    peak = next((space.peak for space in spaces if space.key == "device"), None)
    return Timeline(
        recorded=recorded,
        steps=len(past.changes) - 1,
        duration=past.end,
        sites=tuple(draft.site(number) for number, draft in enumerate(past.drafts)),
        spaces=tuple(spaces),
        map=address_map(past, recorded.mode, recorded.memory, peak),
    )


def _count(past: History) -> None:
    """Count what is the same for every kind of memory, handles too."""
    for one in past.lifetimes:
        draft = past.drafts[one.site]
        draft.count += 1
        draft.total += one.bytes
        draft.largest = max(draft.largest, one.bytes)
        if one.lost:
            draft.left_count += 1
            draft.left_bytes += one.bytes
        draft.reset_count += one.by_reset


def _space(key: str, past: History, *, leaking: bool) -> SpaceSeries | None:
    lifetimes = past.lifetimes
    members = {number for number, one in enumerate(lifetimes) if one.space == key}
    if not members:
        return None
    steps, totals = _totals(past, members)
    peak = max(range(len(totals)), key=totals.__getitem__)
    chosen = _sample(steps, totals, past)
    drawn = _drawn(past, [lifetimes[number] for number in members])
    kept, at_peak = _follow(past, members, drawn, chosen, steps[peak])
    for site, held in at_peak.items():
        past.drafts[site].at_peak = held
    levels = dict(zip(steps, totals, strict=True))
    left = [lifetimes[number] for number in sorted(members) if lifetimes[number].lost]
    series = [
        Series(site, tuple(values[place] for values in kept)) for place, site in enumerate(drawn)
    ]
    if any(values[-1] for values in kept):
        series.append(Series(-1, tuple(values[-1] for values in kept)))
    return SpaceSeries(
        key=key,
        label=SPACES[key],
        moments=tuple(past.moment(step) for step in chosen),
        total=tuple(sum(values) for values in kept),
        series=tuple(series),
        peak=past.moment(steps[peak]),
        peak_bytes=totals[peak],
        end_bytes=totals[-1],
        leaks=tuple(_leaks(left, past, levels)) if leaking else (),
    )


def _totals(past: History, members: set[int]) -> tuple[list[int], list[int]]:
    """The steps that changed the space, and the bytes that lived after each; notes how much each
    site held at most."""
    steps, totals = [0], [0]
    now = 0
    drafts, lifetimes = past.drafts, past.lifetimes
    for step, changes in enumerate(past.changes):
        changed = False
        for change in changes:
            number = abs(change) - 1
            if number not in members:
                continue
            one = lifetimes[number]
            draft = drafts[one.site]
            moved = one.bytes if change > 0 else -one.bytes
            now += moved
            draft.live += moved
            draft.most = max(draft.most, draft.live)
            changed = True
        if changed:
            steps.append(step)
            totals.append(now)
    return steps, totals


def _sample(steps: Sequence[int], totals: Sequence[int], past: History) -> list[int]:
    """The steps to draw. Each bucket of the chart's width keeps its first, last, lowest and
    highest, so that the line looks the same and no peak is lost (known as M4)."""
    last = len(past.changes) - 1
    if len(steps) <= 2 * _BUCKETS:
        return sorted({*steps, last})
    chosen = {0, last, steps[-1]}
    ends = (past.times[-1] or 1, last)
    for by_time in (True, False):
        buckets: dict[int, tuple[int, int, int, int]] = {}
        for place, step in enumerate(steps):
            where = past.times[step] if by_time else step
            bucket = where * _BUCKETS // (ends[0] if by_time else ends[1])
            known = buckets.get(bucket)
            if known is None:
                buckets[bucket] = (place, place, place, place)
                continue
            first, low, high, _ = known
            low = place if totals[place] < totals[low] else low
            high = place if totals[place] > totals[high] else high
            buckets[bucket] = (first, low, high, place)
        chosen |= {steps[place] for four in buckets.values() for place in four}
    return sorted(chosen)


def _drawn(past: History, members: Iterable[Lifetime]) -> list[int]:
    """The sites drawn apart: those with most bytes left over, then those that held most. What
    leaks is drawn at the bottom, where it is seen to stay."""
    left: dict[int, int] = {}
    for one in members:
        left[one.site] = left.get(one.site, 0) + (one.bytes if one.died is None else 0)
    leaking = sorted((site for site in left if left[site]), key=lambda site: -left[site])
    by_size = sorted(left, key=lambda site: (-past.drafts[site].most, site))
    chosen = leaking[: _SITES - 2]
    chosen += [site for site in by_size if site not in chosen][: _SITES - len(chosen)]
    return sorted(chosen, key=lambda site: (-left[site], -past.drafts[site].most, site))


def _follow(
    past: History, members: set[int], drawn: Sequence[int], chosen: Sequence[int], peak: int
) -> tuple[list[list[int]], dict[int, int]]:
    """The bytes of each drawn site, and of all others together, after each chosen step; and of
    every site at the peak."""
    place = {site: number for number, site in enumerate(drawn)}
    other = len(drawn)
    now = [0] * (other + 1)
    held: dict[int, int] = {}
    at_peak: dict[int, int] = {}
    kept: list[list[int]] = []
    wanted = iter(chosen)
    next_step = next(wanted, None)
    for step, changes in enumerate(past.changes):
        for change in changes:
            number = abs(change) - 1
            if number in members:
                one = past.lifetimes[number]
                moved = one.bytes if change > 0 else -one.bytes
                now[place.get(one.site, other)] += moved
                held[one.site] = held.get(one.site, 0) + moved
        if step == peak:
            at_peak = {site: count for site, count in held.items() if count}
        if step == next_step:
            kept.append(now.copy())
            next_step = next(wanted, None)
    return kept, at_peak


def _leaks(left: Sequence[Lifetime], past: History, levels: dict[int, int]) -> Iterable[Leaks]:
    """The leaks, those of nearly the same moment together."""
    last = max(len(past.changes) - 1, 1)
    groups: dict[int, list[Lifetime]] = {}
    for one in left:
        bucket = one.born if len(left) <= _LEAK_MARKS else one.born * _LEAK_MARKS // last
        groups.setdefault(bucket, []).append(one)
    for group in groups.values():
        sites: dict[int, int] = {}
        for one in group:
            sites[one.site] = sites.get(one.site, 0) + one.bytes
        born = group[0].born
        yield Leaks(
            moment=past.moment(born),
            level=levels[born],
            sites=tuple(sorted(sites, key=lambda site: (-sites[site], site))),
            count=len(group),
            bytes=sum(one.bytes for one in group),
        )
