"""What would have made room for a request that failed."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.doctor.record import Failure, Site
from cudalint.doctor.sizes import size

_MOST = 10


def rescue(failure: Failure) -> tuple[str, ...]:
    """Each line would have done by itself; empty where that is not known."""
    return tuple(_ways(failure)) if failure.asked and failure.memory == "device" else ()


def _ways(failure: Failure) -> Iterator[str]:
    asked = failure.asked or 0
    if failure.room:
        held = sum(site.bytes for site in failure.room)
        places = "; ".join(site_text(site) for site in failure.room[:_MOST])
        yield f"the release of {size(held)}: {places}"
    served = failure.largest if failure.source == "command" else None
    served = failure.free if served is None else served
    if served and served < asked:
        yield f"a request of at most {size(served)}"
    short = asked - (failure.free or 0)
    if failure.cached and failure.cached >= short:
        yield (
            f"giving back the {size(failure.cached)} that allocators hold without use:"
            " `torch.cuda.empty_cache()`, `free_all_blocks()`, `cudaMemPoolTrimTo(pool, 0)`"
        )
        if failure.framework == "PyTorch" and not failure.call.startswith("cu"):
            yield "segments that grow: `PYTORCH_ALLOC_CONF=expandable_segments:True`"
    if failure.others and failure.others >= short:
        yield f"the end of the other processes, which hold {size(failure.others)}"
    if failure.product and failure.product >= (failure.live or 0) + asked:
        yield f"the whole device, of {size(failure.product)}"


def site_text(site: Site) -> str:
    """``2.00 GiB in 4 allocations from train.py:12 (step)``."""
    times = f" in {site.count} allocations" if site.count > 1 else ""
    by = f" ({site.library})" if site.library and site.library != site.place else ""
    return f"{size(site.bytes)}{times} from {site.place}{by}"
