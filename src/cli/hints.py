"""Hints of errors as a person at a shell needs them: commands, not Python.

The library hints calls, as ``state.impact(...)``. A command of a model says how to run the same.
"""

import re
from typing import Final

import click

from stagecache.errors import StagecacheError

COMMANDS: Final = (
    (r"state\.(impact|explain)\(\.\.\.\)", r"stagecache \1 {model} {item}"),
    (
        r"call state\.graph\.downstream_of\(\.\.\.\)",
        "stagecache graph {model} --downstream-of {item}",
    ),
    (r"\.\.\.(; state\.graph has all)?$", "...; stagecache graph {model} lists all"),
    (r"call system\.realize\(state, Stage\.(\w+)\) first.*", r"--stage \1"),
    (r"; to write some, change what upd_\.\.\.\(\) returns", ""),
)
"""Calls in hints of the library, and commands in place of them."""


class ModelCommand(click.Command):
    """A command with the argument MODEL, whose errors hint commands."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except StagecacheError as error:
            item = error.what.partition(":")[0]
            names = {"model": ctx.params["model"], "item": f"'{item}'" if " " in item else item}
            for call, command in COMMANDS:
                found = re.search(call, error.hint)
                if found:
                    shown = found.expand(command).format(**names)
                    error.hint = error.hint.replace(found[0], shown)
            raise click.ClickException(str(error)) from error
