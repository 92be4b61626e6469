"""The `stagecache` command: one function for each subcommand, which only hands over.

A subcommand imports what it needs when it runs, so that none pays for another.
"""

import click

from stagecache.errors import StagecacheError


class Commands(click.Group):
    """A group of commands that reports an error of stagecache by its message alone."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except StagecacheError as error:
            raise click.ClickException(str(error)) from error


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: stagecache demo",
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
