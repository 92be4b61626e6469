"""Print the table of mutants: python -m tests.testing.mutants [NAME ...].

With names of mutants, what is printed is their failures, as their authors would see them.
"""

import click
from rich.console import Console

from tests.testing.mutants.catalogue import MODELS, MUTANTS
from tests.testing.mutants.table import show, show_failures


@click.command()
@click.argument("names", nargs=-1)
@click.option("--seed", default=0, show_default=True, help="With which the mutants are checked.")
@click.option("--seeds", default=20, show_default=True, help="How many, for each sound model.")
@click.pass_context
def main(context: click.Context, names: tuple[str, ...], seed: int, seeds: int) -> None:
    """Print which mutants are caught, by what; and whether sound models pass."""
    console = Console()
    if names:
        show_failures(console, [mutant for mutant in MUTANTS if mutant.name in names], seed)
    elif not show(console, MUTANTS, MODELS, seed, range(seeds)):
        context.exit(1)


if __name__ == "__main__":
    main()
