"""Who goes over what a generator yields, and whether he may stop before its end (Python)."""

from __future__ import annotations

from cudalint.analysis.shape.callgraph import CallGraph, Site
from cudalint.analysis.shape.operations import calls, successors
from cudalint.analysis.shape.symbols import Symbols, identity
from cudalint.program import Branch, Call, Function, Unary


def may_stop_early(symbols: Symbols, generator: Function) -> bool:
    """Whether a loop in sight over a generator may be left by a jump or an exception: nothing
    behind its ``yield`` runs then."""
    sites = symbols.memo(CallGraph).sites(identity(generator))
    return any(_is_left(symbols, site) for site in sites)


def _is_left(symbols: Symbols, site: Site) -> bool:
    flow = symbols.flow(site.caller)
    for header, body in flow.loops.items():
        match flow.blocks[header].terminator:
            case Branch(condition=Unary(operator="more", operand=over)) if over == site.call.target:
                inside = [flow.blocks[number] for number in body if number != header]
                return any(not body >= {*successors(block)} for block in inside) or any(
                    _may_raise(symbols, call) for _, call in calls(inside)
                )
    return False


def _may_raise(symbols: Symbols, call: Call) -> bool:
    model = symbols.models("python").lookup(call.name)
    return call.may_throw is not False and (model is None or model.may_throw is not False)
