"""The rules about how long device memory is held, on facts and on short programs."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from cudalint.analysis import analyze
from cudalint.analysis.facts import (
    CheckpointLoad,
    FunctionFacts,
    Hook,
    IdleHold,
    Lifetimes,
    Retry,
    TensorCache,
)
from cudalint.apis.loader import load
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.rule import Limits, Rule
from cudalint.frontends.python import read
from cudalint_rules.cached_tensors import CachedTensors
from cudalint_rules.checkpoint_on_device import CheckpointOnDevice
from cudalint_rules.held_while_idle import HeldWhileIdle
from cudalint_rules.retry_inside_except import RetryInsideExcept
from cudalint_rules.unremoved_hook import UnremovedHook
from tests.rule_facts import at, function, site

GIB = 1024**3


def having(**facts: Any) -> FunctionFacts:
    return function(language="python", lifetimes=Lifetimes(**facts))


def only(rule: type[Rule], facts: FunctionFacts, **limits: Any) -> Finding:
    (found,) = rule(Limits(**limits)).check(facts)
    return found


def of(text: str) -> Lifetimes:
    """The lifetimes of all functions of a program."""
    program = read("sample.py", textwrap.dedent(text))
    facts = analyze([program], {"python": load("python"), "cuda": load("cuda")})
    parts = [one.lifetimes for one in facts.functions if one.lifetimes is not None]
    return Lifetimes(
        retries=tuple(x for part in parts for x in part.retries),
        checkpoints=tuple(x for part in parts for x in part.checkpoints),
        idle=tuple(x for part in parts for x in part.idle),
        caches=tuple(x for part in parts for x in part.caches),
        hooks=tuple(x for part in parts for x in part.hooks),
    )


# Messages ---------------------------------------------------------------------------------------


def test_a_retry_names_the_call_the_exception_and_the_way_out() -> None:
    retry = Retry("model", at(20), at(18), "torch.cuda.OutOfMemoryError", same=True)
    found = only(RetryInsideExcept, having(retries=(retry,)))
    assert "`model` is called again inside `except torch.cuda.OutOfMemoryError` (line 18)" in (
        found.message
    )
    assert "set a flag" in found.message
    assert found.span == at(20)


def test_a_checkpoint_of_unknown_origin_is_only_a_guess() -> None:
    checkpoint = CheckpointLoad("torch.load", at(5), "%1", None, site(9, ""))
    found = only(CheckpointOnDevice, having(checkpoints=(checkpoint,)))
    assert found.confidence is Confidence.LOW
    assert found.severity is Severity.INFO
    assert "`%1`" not in found.message
    assert "no `map_location`" in found.message
    assert "if it was saved from one" in found.message
    assert "on line 9" in found.message


def test_a_checkpoint_that_was_written_from_a_device_is_a_warning() -> None:
    checkpoint = CheckpointLoad("torch.load", at(5), "state", "None", site(9, ""), own=True)
    found = only(CheckpointOnDevice, having(checkpoints=(checkpoint,)))
    assert found.severity is Severity.WARNING
    assert found.confidence is Confidence.HIGH
    assert "the GPU that it was saved from" in found.message


def test_a_checkpoint_on_the_device_is_told_where_it_is_kept() -> None:
    load = CheckpointLoad("torch.load", at(5), "state", "device", site(9, ""), onto=True)
    found = only(CheckpointOnDevice, having(checkpoints=(load,)))
    assert found.confidence is Confidence.LOW
    assert found.severity is Severity.WARNING
    assert "`map_location=device`: `state` stays there beside what it fills on line 9" in (
        found.message
    )


def hold(**more: Any) -> IdleHold:
    facts = {"bytes": 2 * GIB, "wait": site(12, "time.sleep"), "seconds": 600.0, **more}
    return IdleHold("work", "torch.zeros", at(8), **facts)


def test_memory_held_through_a_sleep() -> None:
    found = only(HeldWhileIdle, having(idle=(hold(),)))
    assert "`work` keeps 2 GiB on the device" in found.message
    assert "for 10 minutes (line 12)" in found.message
    assert found.severity is Severity.WARNING


def test_memory_that_is_used_again_is_a_hint() -> None:
    assert only(HeldWhileIdle, having(idle=(hold(used_later=True),))).severity is Severity.INFO


@pytest.mark.parametrize(
    ("more", "limits"),
    [
        ({"seconds": 2.0}, {}),
        ({"bytes": GIB - 1}, {}),
        ({}, {"large_allocation": 4 * GIB}),
    ],
)
def test_short_waits_and_small_allocations_are_fine(
    more: dict[str, Any], limits: dict[str, Any]
) -> None:
    assert not list(HeldWhileIdle(Limits(**limits)).check(having(idle=(hold(**more),))))


@pytest.mark.parametrize("kind", ["method", "tensors", "results", "global", "instance"])
def test_every_kind_of_cache_says_what_to_do(kind: str) -> None:
    cache = TensorCache(kind, "lru_cache", at(4), "length")
    found = only(CachedTensors, having(caches=(cache,)))
    assert ";" in found.message and "`lru_cache`" in found.message


def test_a_skipped_removal_is_a_hint_unless_it_yields() -> None:
    hook = Hook(".register_forward_hook", "net", at(3), "handle", site(5, ""), site(6, ""))
    assert only(UnremovedHook, having(hooks=(hook,))).severity is Severity.INFO
    yields = Hook(
        ".register_forward_hook", "net", at(3), "handle", site(5, ""), site(6, ""), yields=True
    )
    assert only(UnremovedHook, having(hooks=(yields,))).severity is Severity.WARNING


# Analyses ---------------------------------------------------------------------------------------

OOM = """
import torch
def run(model, x, tile):
    try:
        return model(x)
    except {kind}:
        {body}
    return None
"""


@pytest.mark.parametrize(
    ("kind", "body", "found"),
    [
        ("torch.OutOfMemoryError", "return model(x[:8])", True),
        ("(ValueError, torch.cuda.OutOfMemoryError)", "return model(x[:8])", True),
        ("RuntimeError", "return model(x[:8])", False),
        ("ValueError", "return model(x[:8])", False),
        ("RuntimeError as e", "return model(x[:8]) if 'out of memory' in str(e) else None", True),
        ("Exception as e", "if 'CUDA out of memory' in str(e): return model(x[:8])", True),
        ("RuntimeError as e", "if 'cudnn' in str(e): return model(x[:8])", False),
        ("torch.OutOfMemoryError as e", "print(e); torch.cuda.empty_cache()", False),
        ("torch.OutOfMemoryError", "return model(x.cpu())", False),
        ("torch.OutOfMemoryError", "raise", False),
        ("torch.OutOfMemoryError", "return tile(x)", True),
        ("torch.OutOfMemoryError", "tile(x)", False),
        ("torch.OutOfMemoryError as e", "return tile(e)", False),
        ("torch.OutOfMemoryError", "return None", False),
    ],
)
def test_handlers(kind: str, body: str, found: bool) -> None:
    assert bool(of(OOM.format(kind=kind, body=body)).retries) is found


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("torch.load(path)", True),
        ("torch.load(path, weights_only=True)", True),
        ("torch.load(path, map_location=None)", True),
        ("torch.load(path, None)", True),
        ("torch.load(path, None if cuda else 'cpu')", True),
        ("torch.load(path, 'cpu')", False),
        ("torch.load(path, map_location=place)", False),
        ("torch.load(path, **options)", False),
        ("torch.jit.load(path)", True),
        ("numpy.load(path)", False),
    ],
)
def test_loads(call: str, found: bool) -> None:
    text = f"""
    import numpy, torch
    def restore(model, path, place, cuda, options):
        model.load_state_dict({call})
    """
    loads = of(text).checkpoints
    assert bool(loads) is found


@pytest.mark.parametrize(
    ("lines", "own"),
    [
        ("model.load_state_dict(torch.load('last_checkpoint.pt'))", False),
        ("model.cuda()\n    model.load_state_dict(torch.load('last_checkpoint.pt'))", False),
        ("saved = torch.load(path)\n    model.load_state_dict(saved['state_dict'])", False),
        ("model.load_state_dict(torch.load(path))\n"
         "    torch.save(model.cuda().state_dict(), path)", True),
        ("saved = torch.load(path)\n    model.load_state_dict(saved['a'])\n"
         "    torch.save({'a': model.cuda().state_dict()}, path)", True),
        ("model.load_state_dict(torch.load(path))\n    torch.save(scores.cuda(), 'scores')", False),
    ],
)  # fmt: skip
def test_what_shows_that_a_device_wrote_a_file(lines: str, own: bool) -> None:
    text = f"import torch\ndef f(model, path, scores):\n    {lines}\n"
    (load,) = of(text).checkpoints
    assert load.own is own


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("x.dtype", False),
        ("(x.device, x.dtype)", False),
        ("x.shape", True),
        ("path", False),
        ("size", True),
        ("'scale'", False),
    ],
)
def test_keys_of_dictionaries(key: str, found: bool) -> None:
    text = f"""
    import torch
    KEPT = {{}}
    def kept(x, path, size):
        if {key} not in KEPT:
            KEPT[{key}] = torch.ones(x.shape[0], device="cuda")
        return KEPT[{key}]
    def all_kept(x, path):
        return [kept(x, path, size) for size in x]
    """
    assert bool(of(text).caches) is found


def test_the_name_of_a_key_lowers_the_confidence() -> None:
    text = """
    import torch
    KEPT = {}
    def kept(size, device):
        if device not in KEPT:
            KEPT[device] = torch.ones(size, device="cuda")
        return KEPT[device]
    def all_kept(devices):
        return [kept(64, device) for device in devices]
    """
    (cache,) = of(text).caches
    assert cache.unsure


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["m.register_forward_hook(f)", "m(x)"], True),
        (["m.register_forward_hook(f)"], False),
        (["h = m.register_forward_hook(f)", "m(x)"], True),
        (["h = m.register_forward_hook(f)", "m(x)", "return h"], False),
        (["h = m.register_forward_hook(f)", "keep.append(h)", "m(x)"], False),
        (["with m.register_forward_hook(f):", "    m(x)"], False),
        (
            ["h = m.register_forward_hook(f)", "try:", "    m(x)", "finally:", "    h.remove()"],
            False,
        ),
        (["h = m.register_forward_hook(f)", "m(x)", "h.remove()"], True),
        (["m = Net()", "m.register_forward_hook(f)", "m(x)"], False),
        (["y = m(x)", "y.register_hook(f)", "y.sum().backward()"], False),
    ],
)
def test_hooks(lines: list[str], found: bool) -> None:
    body = "\n".join(f"    {line}" for line in lines)
    text = f"import torch\nfrom nets import Net\ndef probe(m, x, f, keep):\n{body}\n"
    assert bool(of(text).hooks) is found
