"""Execution of random programs until one fails, which is then shortened."""

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, Final

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import settings as Settings  # noqa: N812  # a class
from hypothesis import strategies as st

from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.shortening import Program, Shortener
from stagecache.testing.items import Item
from stagecache.testing.result import CheckResult

Progress = Callable[[int], None]

DEFAULT: Final = Settings(max_examples=100, derandomize=False)


def explore(
    name: str,
    programs: st.SearchStrategy[Program],
    perform: Callable[[Program], int],
    *,
    given: frozenset[Item] = frozenset(),
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> CheckResult:
    """Run random programs, and raise the failure of the first that fails.

    Parameters
    ----------
    name : str
        Name of the check.
    programs : strategy
    perform : callable
        Runs a program, and returns the number of its operations.
    given : frozenset of Item
        Variables with strategies of the user.
    settings : hypothesis.settings, optional
        Settings, of which the database, deadline, health checks and phases are ignored.
    seed : int, optional
        Seed; the same number gives the same programs.
    progress : callable, optional
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
        is_new = not failures  # afterwards, it is made shorter
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

    test = hypothesis.given(program=programs)(example)
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
    with quiet():
        try:
            test()
        except BaseException:
            if not failures:
                raise
        if failures:
            program, failure = min(reversed(failures), key=lambda found: len(found[0]))
            raise Shortener(perform, program, failure, given).shorten() from None
    return CheckResult(name, examples, operations)


@contextmanager
def quiet() -> Any:
    """No warnings of numbers that are too large, or no numbers, which random values lead to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
