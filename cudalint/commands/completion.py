"""Shell completion: the scripts, and what rules are called. Imports click and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SHELLS = ("bash", "zsh", "fish")
IMPLIED = "cudalint.implied"
"""In a context's ``meta``: nobody wrote the command's name."""


def script(group: click.Command, shell: str) -> str:
    """What a shell has to read so that it completes ``cudalint``."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    completion = kind(group, {}, "cudalint", "_CUDALINT_COMPLETE")
    # Not `source()`: it asks this machine's bash for its version; the script may be for another.
    return completion.source_template % completion.source_vars()


def rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes and names of rules; behind a comma the next of a list."""
    from click.shell_completion import CompletionItem

    before, comma, last = incomplete.rpartition(",")
    found = []
    for code, name, summary in _known():
        for candidate in (code, name):
            if candidate.lower().startswith(last.lower()) and (last or candidate == code):
                help = summary if candidate == name else name
                found.append(CompletionItem(f"{before}{comma}{candidate}", help=help))
    return found


def _known() -> list[tuple[str, str, str]]:
    from cudalint import registry

    try:
        known = registry.all_rules().values()
    except registry.RegistryError:
        return []
    return [(one.code, one.name, one.documentation().partition("\n")[0]) for one in known]


def paths(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, and as the first word of the command line commands too."""
    from click.shell_completion import CompletionItem

    found = [CompletionItem(incomplete, type="file")]
    parent = context.parent
    if parent is None or IMPLIED not in parent.meta or context.params.get("paths"):
        return found
    assert isinstance(parent.command, click.Group)
    return found + [
        CompletionItem(name, help=command.get_short_help_str())
        for name, command in parent.command.commands.items()
        if name.startswith(incomplete)
    ]
