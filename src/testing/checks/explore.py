"""Running programs that Hypothesis draws, until one fails, and making that one short."""

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
    """Perform programs that are drawn.

    Parameters
    ----------
    name : str
        Of the check.
    programs : strategy
    perform : callable
        Runs one, and returns the number of its operations.
    given : frozenset of Item
        The variables for whose values there are strategies of the user.
    settings : hypothesis.settings, optional
        Without a database, a deadline, health checks and shrinking, whatever it says of these.
    seed : int, optional
        The same programs for the same number.
    progress : callable, optional
        Called with the number of programs that were run, after each until one fails.

    Raises
    ------
    Failure
        Of the shortest program that was found.
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
