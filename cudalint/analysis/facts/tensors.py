"""Tensors: graphs that are kept, gradients that nobody wants, lists that grow on the device."""

from __future__ import annotations

from dataclasses import dataclass

from cudalint.analysis.facts.resources import Site
from cudalint.findings.finding import Step
from cudalint.source import Span


@dataclass(frozen=True)
class GraphRetention:
    """A value is kept across iterations together with its graph."""

    name: str
    """The value as the code writes it: ``loss``, ``loss.clone()``."""
    variable: str
    """The named tensor that it has its graph from, empty where there is none, or several."""
    place: str
    """Where it is kept: ``total``, ``history["loss"]``."""
    how: str
    """added, appended, stored."""
    span: Span
    differentiated: Site | None = None
    """The backward call that shows that it has a gradient; ``text``: on what it is called."""
    direct: bool = False
    """The backward call is on the value itself."""
    derived: bool = False
    """The value is computed from what the backward call is on, or what goes into that."""
    large: bool = False
    """It may be more than one number in size."""
    inside: str = ""
    """The function of the run that computes the gradient of what it returns, in place of a
    backward call here."""
    siblings: tuple[Site, ...] = ()
    """Other values that the same loop keeps, detached; ``text`` names where."""
    loop: Site | None = None
    """The loop; none where the function is called for every step."""
    called_by: str = ""
    """By whom, then: ``the framework``, ``a loop in fit``."""
    through: str = ""
    """The method that keeps it (``AverageMeter.update``)."""
    chosen: bool = False
    """It is an element that a variable chooses (``losses[key]``)."""
    let_go: Site | None = None
    """Where a graph that nobody computes a gradient of is let go of, after the loop; ``text``: by
    what."""
    buffer: bool = False
    """The place is a buffer of a module that is called, whose gradient nobody computes."""
    remembered: bool = False
    """Only the first call stores it; all later ones use it, with the graph of the first."""
    hides: bool = False
    """Without its graph, it or its loop would still be told of: the list grows, or the loop records
    what nobody wants."""
    sure: bool = True
    """It has a graph for certain."""
    on_device: bool = True
    """Something in its file, or in one that calls the function, may go to a device."""
    steps: tuple[Step, ...] = ()

    @property
    def holds_tensor(self) -> bool:
        """It is a dictionary or object, of a part of which the gradient is computed."""
        of = self.differentiated.text if self.differentiated is not None else ""
        return of.startswith((f"{self.name}[", f"{self.name}."))


@dataclass(frozen=True)
class RecordedInference:
    """A model is called again and again, every call is recorded for gradients, and nothing computes
    one."""

    model: str
    span: Span
    evaluated: Site | None
    """Where it is put in evaluation mode; ``None``: only numbers and detached tensors are
    made of what it returns."""
    loop: Site | None
    called_by: str = ""
    """Who calls the function in a loop, where there is none in it."""
    in_sight: bool = True
    """All that is done with the result can be seen."""
    certain: bool = True
    """The model itself is run for sure, and by a function that trains nothing: no method out of
    sight, and no result that only looks as if nobody wanted its gradients."""
    trained_beside: bool = False
    """The loop, or one around it, calls what computes gradients: recording may be off for the call
    alone."""
    steps: tuple[Step, ...] = ()
    on_device: bool = True
    """Something in its file, or in one that calls the function, may go to a device."""


@dataclass(frozen=True)
class DeviceListGrowth:
    """Device tensors collected in a list, or in a tensor, one per iteration."""

    name: str
    place: str
    span: Span
    loop: Site | None
    """``None``: a framework calls the function for every batch."""
    joined: Site
    """Where the list becomes one tensor that is brought to the host; ``text``: how."""
    to_host: str
    """What brings one element to the host: ``.cpu()``, ``.get()``; empty where the caller gets
    them, joined, on the device."""
    apart: bool = False
    """They are not joined first; other ways may take them elsewhere."""
    unsure: bool = False
    """Where it comes from does not say that it is on the device: no model out of training."""
    copied: bool = False
    """It is no list: each iteration copies all of it into a larger tensor."""
    queued: bool = False
    """A list of the module, which a function adds what it is given to; ``joined``: what goes
    through it."""
    light: bool = False
    """No graph hangs on it, or the same loop collects what the data says beside what a model makes
    of it: nothing says that it takes many bytes."""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class RetainedGraph:
    """A backward call that keeps the graph, once in every iteration."""

    name: str
    span: Span
    loop: Site
    carried: Site | None = None
    """A value of an earlier iteration, or from before the loop, that goes into it; ``text``: its
    name."""
    from_before: bool = False
    """``carried`` is computed before the loop."""
    steps: tuple[Step, ...] = ()
    on_device: bool = True
    """Something in its file, or in one that calls the function, may go to a device."""


@dataclass(frozen=True)
class TensorFacts:
    """What was learned of the tensors of one function."""

    retentions: tuple[GraphRetention, ...] = ()
    recorded: tuple[RecordedInference, ...] = ()
    growths: tuple[DeviceListGrowth, ...] = ()
    retained_graphs: tuple[RetainedGraph, ...] = ()
