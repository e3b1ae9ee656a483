"""GPU605: tensors loaded to the GPU that they were saved from (Python)."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.analysis.facts import CheckpointLoad, FunctionFacts, is_shown
from cudalint.analysis.rules import FunctionRule
from cudalint.findings.finding import Confidence, Finding, Severity
from cudalint.findings.repair import SetKeyword
from cudalint_rules._checkpoint_wording import NEEDLESS, STEPS, device, message
from cudalint_rules._wording import steps_at


class CheckpointOnDevice(FunctionRule):
    """A checkpoint is loaded without `map_location`, onto the GPU that it was saved from.

    ## What it does

    Reports `torch.load` and `torch.jit.load` without `map_location` (or with `None`) where what the
    file holds goes into a `load_state_dict`, and this file, or one that belongs to it, saves
    weights that nothing moved to the host. Where another file saves them, the module that is filled
    must be on the GPU already. In tests it is an `info`, and so is what only the statement that
    copies it into one module ever sees, in a program of one process.
    Without such evidence it is an `info`. So is a load whose elements are written into parameters
    or summed up with others by their names, that of a whole module which is moved to a device
    chosen elsewhere, that of a table which is only changed and written again, and one that is
    returned where another load of the class does say where to. Confidence is medium where files of
    the run write weights from a device, or this one writes a file of the same name, where the
    program reckons with files from a GPU (`map_location` is the CPU where there is none, or another
    load of the class has one), and where what is loaded is only written into parameters, summed up
    or written again. Else it is low, which `--preview` shows; so it is for a load onto the very
    device of what it fills (`map_location=device`) that a variable keeps while the function goes on
    to work with that.

    ## Why is this bad?

    Tensors go back to the device that they were saved from. The weights are then on the GPU twice,
    the model's and the checkpoint's, with the optimizer's state beside them, for as long as the
    checkpoint is referenced. With several processes all of them load onto GPU 0. On a machine
    without that GPU the load fails.

    ## Example

    ```python
    model = Net().cuda()
    checkpoint = torch.load("latest.pth")
    model.load_state_dict(checkpoint["model"])
    ```

    ## Use instead

    ```python
    model = Net().cuda()
    checkpoint = torch.load("latest.pth", map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    ```

    `load_state_dict` copies the values to where the parameters are; the checkpoint itself can stay
    on the host.

    ## Fix

    - Safe: where `load_state_dict` copies what is loaded, it is loaded with `map_location="cpu"`:
      the values end up where they did.
    - Unsafe: the same where the code goes on to compute with what it loaded: it would do so on the
      host. Where an element of the file takes the place of a tensor that was moved to a device,
      that device is passed.

    ## Known problems

    Where the weights are dropped before anything is computed with them, in a program of one process
    that never asks whether there is a device, moves the module to a GPU in any case or wrote the
    file itself, this is an `info`: their size is not known.

    From which device a file was written is seldom visible where it is read. What a program out of
    sight moved to the host before it saved it is reported all the same.

    ## References

    - PyTorch, [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
    - PyTorch,
      [Saving and loading models across devices](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html#saving-loading-model-across-devices)
    """

    code, name = "GPU605", "checkpoint-on-device"

    def check(self, facts: FunctionFacts) -> Iterator[Finding]:
        """Yield the loads that leave the device to the file."""
        for load in facts.lifetimes.checkpoints if facts.lifetimes else ():
            if load.own or load.onto or not facts.is_test:
                yield self._finding(load, facts)

    def _finding(self, load: CheckpointLoad, facts: FunctionFacts) -> Finding:
        safe = load.use == "restored" and load.needed is None and not load.onto
        certain = (load.own and not load.brief) or load.onto
        return self.finding(
            message(load),
            filename=facts.filename,
            span=load.span,
            function=facts.function,
            subject=load.name if is_shown(load.name) else load.api,
            steps=steps_at((load.used,), STEPS[load.use]),
            severity=None if certain and not facts.is_test else Severity.INFO,
            confidence=_confidence(load),
            repair=SetKeyword(load.span, "map_location", device(load), safe=safe),
            advised=True,
        )


def _confidence(load: CheckpointLoad) -> Confidence:
    if load.own:
        return Confidence.HIGH
    return Confidence.MEDIUM if load.likely or load.use in NEEDLESS else Confidence.LOW
