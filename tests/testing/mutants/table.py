"""The table of mutants, and of the sound models beside them."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tests.testing.mutants.catalogue import Model, Mutant
from tests.testing.mutants.hunt import CHECKS, Catch, hunt


def show(
    console: Console,
    mutants: Sequence[Mutant],
    models: Sequence[Model],
    seed: int,
    model_seeds: Sequence[int],
) -> bool:
    """Print both tables, and return whether all is as it should be."""
    with console.status("mutants"):
        table, caught = mutant_table(mutants, seed)
    console.print(table)
    console.print(f"{caught} of {len(mutants)} mutants are caught, and the suspects named\n")
    with console.status("sound models"):
        table, passed = model_table(models, model_seeds)
    console.print(table)
    console.print(f"{passed} of {len(models)} sound models pass all checks with each seed")
    return caught == len(mutants) and passed == len(models)


def show_failures(console: Console, mutants: Iterable[Mutant], seed: int) -> None:
    """Print what each check says of each mutant that it is to find."""
    for mutant in mutants:
        for check in mutant.caught_by:
            catch = hunt(mutant.make, check, seed)
            console.rule(f"{mutant.name}, by check_{check}")
            console.print(catch.text if catch else "not caught", markup=False, highlight=False)


def mutant_table(mutants: Iterable[Mutant], seed: int) -> tuple[Table, int]:
    """What finds each mutant, and after how many examples; and how many are found by all."""
    table = _table(f"mutants, seed {seed}", "mutant", "what is wrong", "caught by", "error")
    table.add_column("examples", justify="right")
    count = 0
    for mutant in mutants:
        catches = [hunt(mutant.make, check, seed) for check in mutant.caught_by]
        count += all(catch is not None and not _unnamed(mutant, catch) for catch in catches)
        errors = Text("\n").join(_error(mutant, catch) for catch in catches)
        examples = "\n".join("-" if catch is None else str(catch.examples) for catch in catches)
        table.add_row(mutant.name, mutant.fault, "\n".join(mutant.caught_by), errors, examples)
    return table, count


def model_table(models: Iterable[Model], seeds: Sequence[int], **options: Any) -> tuple[Table, int]:
    """With how many seeds each check passes in each sound model; and how many pass all.

    Options are those of the checks.
    """
    table = _table(f"sound models: with how many of {len(seeds)} seeds a check passes", "model")
    for check in CHECKS:
        table.add_column(check, justify="right")
    count = 0
    for model in models:
        passed = [
            sum(hunt(model.make, check, seed, **options) is None for seed in seeds)
            for check in CHECKS
        ]
        count += all(n == len(seeds) for n in passed)
        shown = [Text(str(n)) if n == len(seeds) else _bad(str(n)) for n in passed]
        table.add_row(model.name, *shown)
    return table, count


def _error(mutant: Mutant, catch: Catch | None) -> Text:
    if catch is None:
        return _bad("NOT CAUGHT")
    error = Text(type(catch.error).__name__)
    unnamed = _unnamed(mutant, catch)
    if unnamed:
        error.append(f", not naming {', '.join(unnamed)}", style="bold red")
    return error


def _unnamed(mutant: Mutant, catch: Catch) -> list[str]:
    return [suspect for suspect in mutant.suspects if not catch.names(suspect)]


def _bad(text: str) -> Text:
    return Text(text, style="bold red")


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, header_style="underline")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
