"""GPU608: caches that keep device tensors and never let go (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, TensorCache
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity, Step


class CachedTensors(FunctionRule):
    """A cache keeps device tensors, or the objects that own them, without an end.

    ## What it does

    Reports `functools.lru_cache` and `cache` on a method of a module or of a class that makes
    device tensors, over tensor arguments, and without a bound over what decides the size of the
    tensor; and a dictionary of a module or an object that a function remembers device tensors in,
    where the key has no end of values and nothing ever takes an entry out. Also an entry of such a
    table or list whose tensors are replaced by their copies on the device, one entry at a time.

    ## Why is this bad?

    What a cache holds is never freed. On a method, the cache of the class holds every instance that
    it was called on, with all its weights. Tensors are hashed by identity: a cache over them never
    finds anything and keeps every tensor that it was given. A dictionary by file, shape or sample
    grows with every new one until the device is full, long after the program started.

    ## Example

    ```python
    class Attention(nn.Module):
        @lru_cache(maxsize=None)
        def mask(self, length):
            return torch.ones(length, length, device="cuda").triu(1).bool()
    ```

    ## Use instead

    ```python
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.masks = OrderedDict()

        def mask(self, length):
            if length not in self.masks:
                self.masks[length] = torch.ones(length, length, device="cuda").triu(1).bool()
                if len(self.masks) > 4:
                    self.masks.popitem(last=False)
            return self.masks[length]
    ```

    Or keep the largest one and slice it, or keep the cached copies on the host (`.cpu()`).

    ## Known problems

    Whether a key takes few values is told by its name and type (`device`, `dtype`, flags,
    constants), and a dictionary is only told of where its key is seen to come from extents of
    arrays or from a loop. A cache that is only called for a handful of shapes is reported too; one
    without a bound on a function is an `info`.

    ## References

    - Python,
      [functools.lru_cache](https://docs.python.org/3/library/functools.html#functools.lru_cache)
    - Python FAQ,
      [How do I cache method calls?](https://docs.python.org/3/faq/programming.html#how-do-i-cache-method-calls)
    """

    code, name = "GPU608", "cached-tensors"
    preview = True

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the caches."""
        for cache in facts.lifetimes.caches if facts.lifetimes else ():
            yield self.finding(
                _message(cache, facts.function),
                filename=facts.filename,
                span=cache.span,
                function=facts.function,
                subject=cache.name,
                severity=_severity(cache),
                confidence=_confidence(cache),
                advised=True,
            )
        for moved in facts.lifetimes.moved_entries if facts.lifetimes else ():
            yield self.finding(
                f"`{moved.moved}` is replaced by its copy on the device in an entry of "
                f"`{moved.holder}`, which keeps every entry that was ever moved; move it in a "
                f"copy of `{moved.entry}`",
                filename=facts.filename,
                span=moved.span,
                function=facts.function,
                subject=moved.holder,
                steps=(Step(moved.taken.filename, moved.taken.span, "the entry, not a copy"),),
                confidence=Confidence.MEDIUM,
                advised=True,
            )


def _severity(cache: TensorCache) -> Severity | None:
    return Severity.INFO if cache.unsure or cache.given or cache.kind == "results" else None


def _confidence(cache: TensorCache) -> Confidence | None:
    if cache.unsure:
        return Confidence.LOW
    return Confidence.MEDIUM if cache.given or cache.kind in ("results", "instance") else None


def _message(cache: TensorCache, function: str) -> str:
    short = function.rpartition(".")[2]
    match cache.kind:
        case "method":
            return (
                f"`{cache.name}` on the method `{short}` keeps every object that it is called on "
                "and each result, with all device tensors in them; keep the results in the object, "
                "with a bound"
            )
        case "tensors":
            return (
                f"`{cache.name}` over the tensors that `{short}` takes: tensors are compared by "
                "identity, so that it seldom finds one and keeps them all; remove it"
            )
        case "results":
            return (
                f"`{cache.name}` without a bound keeps a device tensor for every value of "
                f"`{cache.key}` that `{short}` was ever called with; set `maxsize`, or key it by "
                "what takes few values"
            )
        case _:
            return (
                f"`{cache.name}` keeps a device tensor for every `{cache.key}`, and nothing takes "
                "one out: it grows until the device is full; bound it, or keep the copies on "
                "the host"
            )
