"""Scripts that can be run: under the ledger, or watched by hooks in Python's frameworks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cudalint.runtime.devices import Device
from cudalint.runtime.frameworks import programs as frameworks
from cudalint.runtime.python_programs import script_command, script_environment
from cudalint.runtime.sweep import Prepared
from cudalint.runtime.trace import Mode


def prepared_script(
    script: Path,
    sources: Sequence[Path],
    device: Device,
    seconds: float,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    *,
    imports: Sequence[Path] = (),
) -> Prepared:
    """A script, ready to run: ``sources`` lie in the program's own folders, and ``imports`` may
    import a framework. ``ToolkitError`` where the ledger cannot be compiled."""
    # A script that imports a framework is seen by hooks in that, not by the ledger: on a real GPU,
    # and where the framework can be simulated.
    simulated = device.mode is Mode.SIMULATE
    hooked = frameworks.uses_framework(imports or sources, simulated=simulated)
    command = frameworks.script_command if hooked else script_command
    own = frameworks.environment() if hooked else script_environment()
    return Prepared(
        command(script, arguments),
        {**own, **(environment or {})},
        seconds=seconds,
        roots=tuple(dict.fromkeys(path.parent for path in sources)),
        python=True,
        frameworks=hooked,
    )
