"""The tensor analysis: its lattice, its transfer functions, and evidence through functions."""

from __future__ import annotations

import textwrap
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cudalint.analysis.facts import TensorFacts
from cudalint.analysis.shape.places import is_inside, root_of
from cudalint.analysis.summaries import Linker
from cudalint.analysis.tensors.knowledge import Known
from cudalint.analysis.tensors.lattice import (
    NOTHING,
    Device,
    Gradient,
    Kind,
    Recording,
    State,
    Value,
    computed,
    join_all,
)
from cudalint.analysis.tensors.run import TensorRun
from cudalint.analysis.tensors.view import View
from cudalint.apis.loader import load
from cudalint.frontends.python import read

VALUES = st.builds(
    Value,
    kind=st.sampled_from([Kind(bits) for bits in range(16)]),
    gradient=st.sampled_from([Gradient(bits) for bits in range(8)]),
    device=st.sampled_from([Device(bits) for bits in range(8)]),
    recording=st.sampled_from([Recording(bits) for bits in range(4)]),
    origins=st.frozensets(st.integers(1, 4)),
    tensorlike=st.booleans(),
    large=st.booleans(),
)
STATES = st.builds(
    State,
    values=st.dictionaries(st.sampled_from(["x", "y", "y[0]", "this.z"]), VALUES),
    recording=st.sampled_from([Recording(bits) for bits in range(4)]),
    saved=st.dictionaries(
        st.sampled_from(["%1", "%2"]), st.sampled_from([Recording(bits) for bits in range(4)])
    ),
)


def below(one: Value, other: Value) -> bool:
    """The order of the lattice."""
    return one.join(other) == other


class TestLattice:
    @given(VALUES, VALUES, VALUES)
    def test_join_is_a_join(self, a: Value, b: Value, c: Value) -> None:
        assert a.join(a) == a
        assert a.join(b) == b.join(a)
        assert a.join(b).join(c) == a.join(b.join(c))
        assert a.join(NOTHING) == NOTHING.join(a) == a
        assert below(a, a.join(b))

    @given(STATES, STATES, STATES)
    def test_states_join_as_their_values_do(self, a: State, b: State, c: State) -> None:
        joined = a.join(b)
        assert joined.join(b) is joined, "nothing new must be seen as nothing new"
        assert joined.join(a) is joined
        assert dict(joined.values) == dict(b.join(a).values)
        assert dict(a.join(b).join(c).values) == dict(a.join(b.join(c)).values)

    @given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=3), st.integers(1, 3))
    def test_computing_is_monotone(self, pairs: list[tuple[Value, Value]], mode: int) -> None:
        smaller = [one for one, _ in pairs]
        assume(all(one.gradient for one in smaller))  # else one has no value yet
        larger = [one.join(other) for one, other in pairs]
        low = computed(smaller, Recording(mode))[0]
        high = computed(larger, Recording(mode))[0]
        assert low | high == high
        wider = computed(smaller, Recording.EITHER)[0]
        assert low | wider == wider

    @given(st.lists(STATES, min_size=2, max_size=40))
    @settings(max_examples=50)
    def test_a_chain_of_joins_ends(self, states: list[State]) -> None:
        chain = [states[0]]
        for state in states * 2:
            chain.append(chain[-1].join(state))
        changes = sum(one is not other for one, other in pairwise(chain))
        assert changes <= len(states)

    def test_a_number_is_detached_and_a_model_output_is_not(self) -> None:
        number = Value(Kind.NUMBER, Gradient.DETACHED, Device.HOST)
        output = Value(Kind.TENSOR, Gradient.ATTACHED, Device.DEVICE)
        assert computed([number, output], Recording.ON) == (Gradient.ATTACHED, Device.DEVICE)
        assert computed([number, output], Recording.OFF)[0] == Gradient.DETACHED
        assert join_all([number, output]).may_attach


def test_names_of_places() -> None:
    assert root_of("losses['a'].x") == "losses"
    assert root_of("::model.net") == "::model"
    assert is_inside("x.data", "x")
    assert is_inside("x[0]", "x")
    assert not is_inside("xs", "x")


def run_of(source: str) -> tuple[TensorRun, dict[str, Known]]:
    program = read("sample.py", "import torch\n" + textwrap.dedent(source))
    linker = Linker([program], {"python": load("python")})
    run = TensorRun(linker)
    known = [run.known(function) for function, _ in linker.functions()]
    run.run(known)
    return run, {item.function.name: item for item in known}


def returned(source: str, name: str = "f") -> Value:
    run, known = run_of(source)
    solution = run.solution(known[name])
    assert solution is not None
    return solution.returned


@pytest.mark.parametrize(
    ("expression", "attached"),
    [
        ("y", True),
        ("y.clone()", True),
        ("y.cpu()", True),
        ("y.clone().cpu()", True),
        ("y * 2 + 1", True),
        ("torch.stack([y, y]).mean()", True),
        ("y[0]", True),
        ("(y, 1)[0]", True),
        ("y.detach()", False),
        ("y.data", False),
        ("y.item()", False),
        ("float(y)", False),
        ("int(y)", False),
        ("y.detach().cpu().numpy()", False),
        ("y.tolist()", False),
        ("y.argmax(dim=1)", False),
        ("y > 0", False),
        ("(y == 1).sum()", False),
        ("y.shape[0]", False),
        ("y.size(0)", False),
        ("len(y)", False),
    ],
)
def test_what_detaches(expression: str, attached: bool) -> None:
    value = returned(
        f"""
        def f(x):
            model = torch.nn.Linear(2, 2)
            y = model(x)
            return {expression}
        """
    )
    assert value.may_attach is attached


@pytest.mark.parametrize(
    ("mode", "attached"),
    [
        ("with torch.no_grad():", False),
        ("with torch.inference_mode():", False),
        ("with torch.set_grad_enabled(False):", False),
        ("with torch.set_grad_enabled(True):", True),
        ("with torch.autocast('cuda'):", True),
        ("with torch.no_grad(), torch.autocast('cuda'):", False),
        ("with torch.enable_grad():", True),
        ("if True:", True),
    ],
)
def test_recording_modes(mode: str, attached: bool) -> None:
    value = returned(
        f"""
        def f(x):
            model = torch.nn.Linear(2, 2)
            model.eval()
            {mode}
                y = model(x)
            return y
        """
    )
    assert value.may_attach is attached


def test_recording_is_back_after_the_block() -> None:
    value = returned(
        """
        def f(x):
            model = torch.nn.Linear(2, 2)
            with torch.no_grad():
                pass
            return model(x)
        """
    )
    assert value.gradient == Gradient.ATTACHED


def test_a_caller_that_records_nothing() -> None:
    source = """
        def f(x):
            return torch.nn.Linear(2, 2)(x)

        def g(x):
            with torch.no_grad():
                return f(x)
        """
    run, known = run_of(source)
    solution = run.solution(known["f"])
    assert solution is not None
    assert not solution.returned.may_attach
    run, known = run_of(source + "\n        def h(x):\n            return f(x)\n")
    solution = run.solution(known["f"])
    assert solution is not None
    assert solution.returned.may_attach


def test_evidence_flows_back_into_terms_but_not_into_weights() -> None:
    run, known = run_of(
        """
        def f(model, loader, criterion, beta):
            totals = [0, 0, 0]
            kept_kl = kept_beta = 0
            for x, y in loader:
                recon = criterion(model(x), y)
                kl = criterion(model(y), x)
                loss = recon + beta * kl
                loss.backward()
                kept_kl += kl
                kept_beta += beta
            return kept_kl, kept_beta
        """
    )
    facts = facts_of(run, known["f"])
    assert [kept.name for kept in facts.retentions] == ["kl"]
    assert facts.retentions[0].differentiated is not None
    assert facts.retentions[0].differentiated.text == "loss"


def facts_of(run: TensorRun, known: Known) -> TensorFacts:
    from cudalint.analysis.tensors.growth import growths
    from cudalint.analysis.tensors.inference import recorded
    from cudalint.analysis.tensors.retained import retained_graphs
    from cudalint.analysis.tensors.retention import retentions

    solution = run.solution(known)
    assert solution is not None
    view = View(known, solution, run)
    return TensorFacts(retentions(view), recorded(view), growths(view), retained_graphs(view))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("total += loss", 1),
        ("total = total + loss / 2", 1),
        ("total = loss + total", 1),
        ("kept.append(loss)", 1),
        ("kept += [loss]", 1),
        ("kept.append(loss.clone().cpu())", 1),
        ("total += loss.item()", 0),
        ("total += float(loss)", 0),
        ("kept.append(loss.detach())", 0),
        ("kept = [loss]", 0),
        ("last = loss", 0),
        ("kept.append(loss); kept.clear()", 0),
        ("kept.append(loss); kept = kept[-10:]", 0),
        ("kept.append(loss); del kept[0]", 0),
        ("recent.append(loss)", 0),
    ],
)
def test_what_is_kept(change: str, found: int) -> None:
    run, known = run_of(
        f"""
        from collections import deque

        def f(model, loader, optimizer):
            total, kept, recent = 0.0, [], deque(maxlen=5)
            for x in loader:
                loss = model(x).mean()
                loss.backward()
                optimizer.step()
                {change}
            return float(total)
        """
    )
    assert len(facts_of(run, known["f"]).retentions) == found


def test_what_the_message_tells() -> None:
    run, known = run_of(
        """
        import torch

        def f(model, loader, scaler):
            moved, seen, curve, total = torch.zeros(1), 0, 0.0, 0.0
            for x in loader:
                loss = model(x).mean()
                scaler.scale(loss).backward()
                moved = moved + torch.rand(1)
                seen += x.size(0)
                curve += loss.item()
                total += loss
            return total
        """
    )
    [kept] = facts_of(run, known["f"]).retentions
    assert [site.text for site in kept.siblings] == ["curve"]
    assert kept.differentiated is not None
    assert kept.differentiated.text == "loss"


@pytest.mark.parametrize(
    ("step", "carried"),
    [
        ("out, h = net(x, h); loss = out.sum()", "h"),
        ("both = net(x, h); h = both[1]; loss = criterion(both[0], x)", "h"),
        ("loss = criterion(net(x) + start, x)", "start"),
        ("loss = criterion(net(x), x)", None),
    ],
)
def test_what_is_carried_over(step: str, carried: str | None) -> None:
    run, known = run_of(
        f"""
        def f(net, criterion, optimizer, loader, h):
            made = net(h)
            start = made
            for x in loader:
                {step}
                loss.backward(retain_graph=True)
                optimizer.step()
        """
    )
    [retained] = facts_of(run, known["f"]).retained_graphs
    assert (retained.carried and retained.carried.text) == carried


@pytest.mark.parametrize(("learns", "beside"), [("loss.backward()", True), ("print(loss)", False)])
def test_a_loop_that_trains_too_is_not_put_under_no_grad(learns: str, beside: bool) -> None:
    run, known = run_of(
        f"""
        class Rollouts:
            def __init__(self):
                self.policy = torch.nn.Linear(8, 2)

            def run(self, scenes, steps):
                self.policy.eval()
                for step in range(steps):
                    for scene in scenes:
                        print(self.policy(scene).argmax(1).tolist())
                    self.update(scenes)

            def update(self, scenes):
                for scene in scenes:
                    loss = self.policy(scene).mean()
                    {learns}
        """
    )
    (one,) = facts_of(run, known["Rollouts.run"]).recorded
    assert one.trained_beside == beside


@pytest.mark.parametrize(
    ("kept", "chosen"),
    [
        ("losses[key]", True),
        ("losses[key].mean()", True),
        ("losses[model.key]", True),
        ("losses[keys[0]]", True),
        ('losses["all"]', False),
        ("losses[0]", False),
        ("losses[-1]", False),
    ],
)
def test_an_element_that_a_variable_chooses(kept: str, chosen: bool) -> None:
    run, known = run_of(
        f"""
        def f(model, loader, key, keys):
            total = 0.0
            for x in loader:
                losses = model(x)
                {kept}.backward()
                total += {kept}
            return total
        """
    )
    [fact] = facts_of(run, known["f"]).retentions
    assert fact.chosen is chosen
