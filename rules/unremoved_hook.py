"""GPU609: a hook that nobody removes, or not when an exception passes (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import FunctionFacts, GraphHook, Hook, LeftBehind
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity, Step
from cudalint.findings.repair import OpenInWith

_HANDLE = "torch.utils.hooks.RemovableHandle"


class UnremovedHook(FunctionRule):
    """A hook stays on a module when the call that needed it is over.

    ## What it does

    Reports a module hook whose handle is thrown away by a function that hooks a module which it was
    given and then runs it: every call adds another hook. Reports a `yield` between the hook and its
    removal without `try/finally`; and, as an `info`, a call of the module between them that may
    raise. With medium confidence, as an `info`, a method that removes an object's hooks and leaves
    what they stored in it, and a hook on a tensor's `grad_fn` that holds the object which keeps
    that tensor. With low confidence, such a method at the end of the object or of a `with` block.

    ## Why is this bad?

    The module keeps the function, and the function what it captured: the list that it fills, the
    tensors in it. Each further call adds another hook that runs in every forward pass from then on,
    and keeps another list of activations on the device.

    ## Example

    ```python
    def features(model, image):
        found = []
        model.layer4.register_forward_hook(lambda m, i, output: found.append(output))
        model(image)
        return found[0]
    ```

    ## Use instead

    ```python
    def features(model, image):
        found = []
        handle = model.layer4.register_forward_hook(lambda m, i, output: found.append(output))
        try:
            model(image)
        finally:
            handle.remove()
        return found[0]
    ```

    The handle is a context manager, too: `with layer.register_forward_hook(record): ...`.

    ## Fix

    - Unsafe: the handle, a context manager, is opened by a `with` around what follows: up to the
      removal, which goes, else to the end of the function.

    ## Known problems

    Hooks that a function installs without running the module are meant to stay and not reported;
    nor are those of tensors, which die with the tensor. A handle that is returned, stored in an
    object or handed to a function is somebody else's to remove.

    ## References

    - PyTorch,
      [Module.register_forward_hook](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_hook)
    """

    code, name = "GPU609", "unremoved-hook"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the hooks that stay."""
        if facts.lifetimes is None:
            return
        for hook in facts.lifetimes.hooks:
            yield self._skipped(hook, facts) if hook.skipped else self._discarded(hook, facts)
        for one in facts.lifetimes.graph_hooks:
            yield self._circular(one, facts)
        for left in facts.lifetimes.left_behind:
            yield self._left(left, facts)

    def _circular(self, hook: GraphHook, facts: FunctionFacts) -> Finding:
        return self.finding(
            f"the hook on `{hook.node}` holds `self`, and what keeps that graph in `self` "
            f"({hook.kept.text}) closes a circle that the garbage collector cannot see; hold "
            "`weakref.ref(self)` instead",
            filename=facts.filename,
            span=hook.span,
            function=facts.function,
            subject=hook.node,
            advised=True,
            steps=(Step(hook.kept.filename, hook.kept.span, f"{hook.kept.text} may keep it"),),
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
        )

    def _left(self, left: LeftBehind, facts: FunctionFacts) -> Finding:
        name = f"self.{left.member}"
        return self.finding(
            f"the hooks are removed, and what they stored in `{name}` stays with the object, on "
            f"its device; empty `{name}` too",
            filename=facts.filename,
            span=left.span,
            function=facts.function,
            subject=name,
            advised=True,
            steps=(Step(left.stored.filename, left.stored.span, f"a hook stores in `{name}`"),),
            severity=Severity.INFO,
            confidence=Confidence.LOW if left.ends else Confidence.MEDIUM,
        )

    def _discarded(self, hook: Hook, facts: FunctionFacts) -> Finding:
        lost = f"`{hook.handle}` is never removed" if hook.handle else "its handle is thrown away"
        return self.finding(
            f"the hook on `{hook.module}` stays: {lost}, so that each call of `{facts.function}` "
            "adds another; keep the handle and call its `remove()` in a `finally`",
            filename=facts.filename,
            span=hook.span,
            function=facts.function,
            subject=hook.module,
            repair=OpenInWith(hook.span, _HANDLE),
            advised=True,
        )

    def _skipped(self, hook: Hook, facts: FunctionFacts) -> Finding:
        assert hook.skipped is not None and hook.removal is not None
        row, removal = hook.skipped.span.row, hook.removal.span.row
        what = "an exception in the `with` body" if hook.yields else "an exception"
        return self.finding(
            f"the hook on `{hook.module}` stays when {what} leaves line {row}: its removal on "
            f"line {removal} is skipped; put that in a `finally`",
            filename=facts.filename,
            span=hook.span,
            function=facts.function,
            subject=hook.module,
            steps=(
                Step(facts.filename, hook.skipped.span, "an exception may pass here"),
                Step(facts.filename, hook.removal.span, "and skips the removal"),
            ),
            severity=None if hook.yields else Severity.INFO,
            confidence=None if hook.yields else Confidence.MEDIUM,
            repair=OpenInWith(hook.span, _HANDLE, (hook.removal.span,)),
            advised=True,
        )
