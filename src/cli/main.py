"""The `stagecache` command: one function for each subcommand, which only hands over.

Those that show and explain a model are in `cli_investigate`.

A subcommand imports what it needs when it runs, so that none pays for another.
"""

import sys
from errno import EPIPE
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import click

from stagecache.cli.investigate import COMMANDS
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
  stagecache demo --frames 36 --output pictures
  stagecache demo --no-pictures
"""
)
@click.option(
    "--frames",
    type=click.IntRange(12, 3600),
    default=360,
    show_default=True,
    metavar="N",
    help="In how many frames the crank makes a turn.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, writable=True, path_type=Path),
    default=Path(),
    metavar="FOLDER",
    help="Where to write the files; it is made if it is not there.  [default: the current one]",
)
@click.option("--no-pictures", is_flag=True, help="Write no plot and no animation.")
def demo(*, frames: int, output: Path, no_pictures: bool) -> None:
    """Assemble a four-bar linkage, drive it, and show what that computes.

    An Assembler closes the linkage from a poor start, and tracks a full turn of its crank. What a
    frame computes, what it finds in the cache, and what it leaves alone, is counted by a trace.

    It writes four_bar.html, a page to explore the graph of the model; and with matplotlib a plot,
    four_bar.png, and an animation, four_bar.gif. For these: pip install 'stagecache[viz]'. Files of
    these names are replaced.
    """
    from rich.console import Console  # noqa: PLC0415

    from stagecache.demo import show  # noqa: PLC0415

    show(Console(highlight=False), frames, output, has_pictures=not no_pictures)


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

    from stagecache.cli.check import check_model  # noqa: PLC0415

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
