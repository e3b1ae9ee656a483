"""Asks CUDA's assembler (ptxas) about kernels with too much static shared memory.

The ledger builds programs as PTX alone, and some drivers compile and run what ptxas refuses: a
launch on a GPU then says nothing of the build that a user makes."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cudalint.findings.finding import Finding
from cudalint.findings.verdict import Evidence, Outcome, Verdict
from cudalint.project.compile_commands import CompileFlags
from cudalint.runtime.devices import Device
from cudalint.runtime.processes import ProcessLimits, run_command
from cudalint.runtime.toolkit import find_nvcc
from cudalint.runtime.trace import Mode

CODE = "GPU301"
TOOL = "ptxas"
_REFUSAL = re.compile(r"Entry function '(\w+)' (uses too much shared data \([^)]*\))")
_SECONDS = 120.0


def assembled(
    verdicts: Sequence[Verdict | None],
    findings: Sequence[Finding],
    sources: Sequence[Path],
    device: Device,
    flags: CompileFlags,
) -> list[Verdict | None]:
    """The verdicts, with those confirmed that a GPU's driver let pass and ptxas refuses."""
    open_ = [
        verdict is not None and finding.code == CODE and verdict.outcome is not Outcome.CONFIRMED
        for finding, verdict in zip(findings, verdicts, strict=True)
    ]
    if device.mode is not Mode.OBSERVE or not any(open_):
        return list(verdicts)
    refused = [one for source in sources for one in refusals(source, device.target, flags)]
    found: list[Verdict | None] = []
    for finding, verdict, asked in zip(findings, verdicts, open_, strict=True):
        simple = finding.function.rpartition("::")[2].partition("<")[0]
        texts = [text for name, text in refused if f"{len(simple)}{simple}" in name]
        if asked and simple and texts:
            message = f"{simple} {texts[0]}: it does not compile for {device.target}"
            evidence = Evidence(message, "compiled, not run", witness=TOOL)
            verdict = Verdict(Outcome.CONFIRMED, device.name, (evidence,))
        found.append(verdict)
    return found


def refusals(source: Path, target: str, flags: CompileFlags) -> list[tuple[str, str]]:
    """The kernels of a source that ptxas refuses for their shared memory, and what it says."""
    nvcc = find_nvcc()
    if nvcc is None:
        return []
    with tempfile.TemporaryDirectory(prefix="cudalint-assembler-") as name:
        command = [
            str(nvcc.path), "-cubin", f"-arch=sm_{nvcc.architecture_for(target)}", "-w",
            f"-std={(flags.standard or 'c++17').replace('gnu', 'c')}", f"-I{source.parent}",
            *(f"-D{define}" for define in flags.defines),
            *(f"-I{include}" for include in flags.include_folders),
            "--extended-lambda", "--expt-relaxed-constexpr", "-x", "cu", str(source),
            "-o", str(Path(name) / "kernels.cubin"),
        ]  # fmt: skip
        try:
            done = run_command(
                command,
                folder=Path(name),
                environment={**os.environ, "TMPDIR": name},
                limits=ProcessLimits(seconds=_SECONDS),
            )
        except OSError:
            return []
    return _REFUSAL.findall((done.stdout + done.stderr).decode("utf-8", "replace"))
