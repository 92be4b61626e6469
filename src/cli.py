"""The `stagecache` command: one function for each subcommand, which only hands over.

Those that show and explain a model are in `cli_investigate`.

A subcommand imports what it needs when it runs, so that none pays for another.
"""

import sys
from errno import EPIPE
from io import TextIOWrapper
from typing import Final

import click

from stagecache.cli_investigate import COMMANDS
from stagecache.errors import StagecacheError


class Commands(click.Group):
    """A group of commands that reports errors, of stagecache or of the output, by their message."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was asked for; what the output cannot encode is written as "?"."""
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        try:
            return super().invoke(ctx)
        except StagecacheError as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            if error.errno == EPIPE:  # who reads has enough, which click takes as it is
                raise
            raise click.ClickException(f"the output: {error.strerror}") from error


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""Start with: stagecache demo

    The exit status is 0 if there is an answer, 1 for an error and for a check that fails, and 2
    for a command that is written wrongly.
    """,
)
@click.version_option(package_name="stagecache", message="%(prog)s %(version)s")
def main() -> None:
    """Keep computed values of a model for as long as nothing they depend on changes."""


@main.command(
    epilog="""\b
Examples:
  stagecache demo
  stagecache demo --write rate 1.5
  stagecache demo --write gravity 1.62
"""
)
@click.option(
    "--write",
    type=(str, click.FloatRange(-1e6, 1e6)),
    default=("angle", 0.3),
    show_default=True,
    metavar="NAME VALUE",
    help="What to write: length, mass, gravity, angle or rate, and its new value in SI units.",
)
def demo(write: tuple[str, float]) -> None:
    """Show what is computed, kept and computed again in a small model.

    The model is a pendulum and its anchor, two Subsystems of a System. The torque of the anchor and
    the kinetic energy are read twice, one variable is written, the State is realized to
    Acceleration stage by stage, and both are read again. What was computed each time is known from
    the versions of the entries.
    """
    from rich.console import Console  # noqa: PLC0415

    from stagecache.demo import show  # noqa: PLC0415

    show(Console(highlight=False), *write)


CHECKS: Final = ("coherence", "precision", "strict", "pickle", "threads")


@main.command(
    epilog="""\b
Checks:
  coherence  Each read gives what a new computation gives, after random writes.
  precision  No prerequisite is declared that is never read.
  strict     Each computation reads only what it declares.
  pickle     The System and its States are the same in another process.
  threads    Several threads that read one State get what one gets.

\b
Examples:
  stagecache check stagecache.demo.pendulum --examples 10
  stagecache check stagecache.demo.pendulum:system --check strict --seed 1
"""
)
@click.argument("model")
@click.option(
    "--check",
    "checks",
    type=click.Choice(CHECKS),
    multiple=True,
    help="Run this check, and others so named; without it, all.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="How many random programs each check runs.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Run the same programs as the last time with this seed.  [default: another each time]",
)
@click.pass_context
def check(
    context: click.Context, model: str, checks: tuple[str, ...], examples: int, seed: int | None
) -> None:
    """Search a model for faults in what it declares.

    MODEL is module:name or path/to/file.py:name, and names a System, or what can be called without
    arguments and returns one. The name may be left out if there is only one that says so: def
    system() -> System.

    The exit status is 0 if all checks pass, and 1 if one fails. It needs Hypothesis: pip install
    'stagecache[testing]'.
    """
    from random import randrange  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415

    from stagecache.cli_check import check_model  # noqa: PLC0415

    passed = check_model(
        model,
        checks or CHECKS,
        examples=examples,
        seed=randrange(2**32) if seed is None else seed,
        out=Console(highlight=False),
        err=Console(stderr=True),
    )
    context.exit(0 if passed else 1)


for command in COMMANDS:
    main.add_command(command)
