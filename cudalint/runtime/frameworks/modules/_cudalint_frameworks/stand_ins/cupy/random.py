"""``cupy.random``: NumPy's generators."""

from __future__ import annotations

from typing import Any

import numpy
from _cudalint_frameworks.errors import not_simulated

from cupy import _device
from cupy._arrays import apply, bytes_of, filled

_SIMULATED = (
    "rand", "randn", "random", "random_sample", "ranf", "sample", "uniform", "normal",
    "standard_normal", "randint", "random_integers", "permutation", "shuffle", "choice", "seed",
    "exponential", "poisson", "binomial", "beta", "gamma", "laplace", "lognormal", "integers",
    "standard_exponential", "standard_gamma", "chisquare", "geometric", "gumbel", "logistic",
    "multinomial", "multivariate_normal", "pareto", "power", "rayleigh", "triangular", "vonmises",
    "wald", "weibull", "zipf", "f", "dirichlet", "hypergeometric", "negative_binomial",
)  # fmt: skip
_BY_SIDES = ("rand", "randn")
_HALF = 0.5


class RandomState:
    """A generator."""

    def __init__(self, seed: Any = None, method: Any = None) -> None:
        self._own = numpy.random.RandomState(None if seed is None else int(seed) % 2**32)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(self._own, "randint" if name == "integers" else name, None)
        if name not in _SIMULATED or function is None:
            not_simulated(f"cupy.random.{name}")
        return lambda *given, **named: _drawn(name, function, given, named)


def _drawn(name: str, function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    kind = named.pop("dtype", None)
    size = given if name in _BY_SIDES else named.get("size")
    if size is None and name in ("random", "random_sample", "standard_normal") and given:
        size = given[0]
    sides = () if size is None else (size,) if numpy.ndim(size) == 0 else tuple(size)
    wanted = numpy.dtype(float if kind is None else kind)
    if bytes_of(sides, wanted) > _device.HOLLOW:
        return filled(sides, wanted, _HALF if wanted.kind == "f" else given[0])
    if name in ("randint", "integers"):
        return apply(f"random.{name}", function, given, named | ({"dtype": kind} if kind else {}))

    def draw(*arguments: Any, **others: Any) -> Any:
        if name == "shuffle":
            return function(*arguments, **others)
        found = numpy.asarray(function(*arguments, **others))
        return found if kind is None else found.astype(kind)

    if name == "seed":
        return function(*given)
    return apply(f"random.{name}", draw, given, named)


Generator = RandomState
_state = RandomState()


def default_rng(seed: Any = None) -> RandomState:
    """A new generator."""
    return RandomState(seed)


def get_random_state() -> RandomState:
    """The one of the device."""
    return _state


def __getattr__(name: str) -> Any:
    return getattr(_state, name)
