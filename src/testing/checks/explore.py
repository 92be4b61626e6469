"""Execution of random programs until one fails, which is then shortened."""

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, Final

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import settings as Settings  # noqa: N812  # a class

from stagecache.sharing.results import shared_results
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.shortening import Program, Shortener
from stagecache.testing.programs.inventory import Inventory
from stagecache.testing.programs.programs import programs
from stagecache.testing.result import CheckResult

Progress = Callable[[int], None]

DEFAULT: Final = Settings(max_examples=100, derandomize=False)
FEWER: Final = Settings(DEFAULT, max_examples=25)
"""Default of checks with slow examples."""


def explore(
    name: str,
    has: Inventory,
    perform: Callable[[Program], int],
    settings: Settings | None,
    seed: int | None,
    progress: Progress | None,
) -> CheckResult:
    """Run random programs, and raise the failure of the first that fails.

    Parameters
    ----------
    name : str
        Name of the check.
    has : Inventory
        Items of the System, and strategies for their values.
    perform : callable
        Runs a program, and returns the number of its operations.
    settings : hypothesis.settings or None
        Settings, of which the database, deadline, health checks and phases are ignored.
    seed : int or None
        Seed; the same number gives the same programs.
    progress : callable or None
        Called after each program, with the number of programs so far, until one fails.

    Raises
    ------
    Failure
        The failure of the shortest program that was found.
    """
    examples = operations = 0
    failures: list[tuple[Program, Failure]] = []

    def example(program: Program) -> None:
        nonlocal examples, operations
        is_new = not failures  # later runs shorten it
        try:
            operations += perform(program)
        except Failure as failure:
            failures.append((program, failure))
            raise
        finally:
            if is_new:
                examples += 1
                if progress is not None:
                    progress(examples)

    test = hypothesis.given(program=programs(has))(example)
    test = Settings(
        settings or DEFAULT,
        phases=(Phase.generate,),  # `Shortener` does the rest, and is faster
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )(test)
    if seed is not None:
        test = hypothesis.seed(seed)(test)
    with quiet(), shared_results() as shared:
        try:
            test()
        except BaseException:
            if not failures:
                raise
        if failures:
            program, failure = min(reversed(failures), key=lambda found: len(found[0]))
            raise Shortener(perform, program, failure, has.given).shorten() from None
    return CheckResult(name, examples, operations, shared=shared.statistics.hits)


@contextmanager
def quiet() -> Any:
    """Suppress warnings of overflow and NaN, which random values lead to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
