"""All checks, one after the other, each with its verdict."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from attrs import frozen
from hypothesis import settings as Settings  # noqa: N812  # a class

from stagecache.checks import as_float, require_each
from stagecache.errors import OutOfRangeError, UnknownChoiceError, short_repr
from stagecache.system.core.system import System
from stagecache.testing.budget import interrupts_put_off
from stagecache.testing.checks.coherence import check_coherence
from stagecache.testing.checks.explore import Progress
from stagecache.testing.checks.pickling import check_pickle
from stagecache.testing.checks.precision import check_precision
from stagecache.testing.checks.strictness import check_strict
from stagecache.testing.checks.threads import check_threads
from stagecache.testing.programs.inventory import Strategies
from stagecache.testing.result import CheckResult

CHECKS: Final[dict[str, Callable[..., CheckResult]]] = {
    "strict": check_strict,
    "coherence": check_coherence,
    "precision": check_precision,
    "pickle": check_pickle,
    "threads": check_threads,
}
"""Checks by name. The first ones find most faults with the fewest computations."""


@frozen
class Verdict:
    """Verdict of a check.

    Attributes
    ----------
    name : str
        "strict", "coherence", ...
    result : CheckResult or None
        The result; None if the check failed.
    error : Exception or None
        The error of the check, or of the model.
    examples : int
        Number of programs.
    seconds : float
        Time that the check took [s].
    """

    name: str
    result: CheckResult | None
    error: Exception | None
    examples: int
    seconds: float

    @property
    def word(self) -> str:
        """`passed`, `failed`, or `unfinished`: no fault was found until the budget ended."""
        if self.result is None:
            return "failed"
        return "unfinished" if self.result.is_out_of_time else "passed"

    def __str__(self) -> str:
        return f"{self.name}: failed" if self.result is None else str(self.result)


def run_checks(
    system: System,
    checks: Sequence[str] = tuple(CHECKS),
    *,
    keep_going: bool = False,
    budget: float | None = None,
    begin: Callable[[str], None] | None = None,
    strategies: Strategies | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Verdict]:
    """Run checks, and yield the verdict of each as soon as it is known.

    The last four parameters are those of `check_coherence`; `progress` begins at 1 again with each
    check.

    Parameters
    ----------
    system : System
    checks : sequence of str
        Names of the checks, in their order.
    keep_going : bool
        True to go on after a failure; otherwise, the first one is the last verdict.
    budget : float, optional
        Time for all checks [s]. Each gets an equal share of what the ones before it have left. Its
        first program, which reads all entries, and the report of a failure may exceed it.
    begin : callable, optional
        Called with the name of a check before it runs.

    Yields
    ------
    Verdict

    Raises
    ------
    UnknownChoiceError
        A check does not exist.
    OutOfRangeError
        The budget is not a positive number.
    KeyboardInterrupt
        Control-C; if a program was being shortened, after the verdict.
    """
    checks = require_each(checks, str, "run_checks(checks=...)", "leave it out for all")
    for name in checks:
        if name not in CHECKS:
            raise UnknownChoiceError(
                "run_checks(checks=...): not a check",
                ", ".join(map(repr, CHECKS)),
                short_repr(name),
                "leave it out for all",
            )
    if budget is not None and not (as_float(budget) or 0) > 0:
        raise OutOfRangeError(
            "run_checks(budget=...): not a time",
            "a positive number of seconds",
            short_repr(budget),
            "leave it out for no limit",
        )
    end = None if budget is None else time.monotonic() + budget
    for place, name in enumerate(checks):
        if begin is not None:
            begin(name)
        share = None
        if end is not None:
            share = max(0.0, end - time.monotonic()) / (len(checks) - place)
        options = {"strategies": strategies, "settings": settings, "seed": seed, "budget": share}
        with interrupts_put_off() as put_off:
            verdict = _verdict(system, name, progress, options)
        yield verdict
        if put_off:
            raise KeyboardInterrupt
        if verdict.error is not None and not keep_going:
            return


def _verdict(
    system: System, name: str, progress: Progress | None, options: dict[str, Any]
) -> Verdict:
    done = 0

    def count(examples: int) -> None:
        nonlocal done
        done = examples
        if progress is not None:
            progress(examples)

    start = time.perf_counter()
    result = error = None
    try:
        result = CHECKS[name](system, progress=count, **options)
    except Exception as raised:  # of the check, or of the model
        error = raised
    return Verdict(name, result, error, done, time.perf_counter() - start)


def check_all(
    system: System,
    *,
    strategies: Strategies | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> tuple[CheckResult, ...]:
    """Run `check_strict`, `check_coherence`, `check_precision`, `check_pickle`, `check_threads`.

    All have these parameters, and share the budget. `run_checks` yields one verdict after the
    other, and can go on after a failure.

    Raises
    ------
    CheckFailedError, UndeclaredPrerequisiteError, MutatedValueError, StaleValueError
        The error of the first check that fails.
    WrongTypeError, UnknownItemError
        The System or the strategies are not valid.
    """
    results = []
    for verdict in run_checks(
        system,
        budget=budget,
        strategies=strategies,
        settings=settings,
        seed=seed,
        progress=progress,
    ):
        if verdict.error is not None:
            raise verdict.error
        assert verdict.result is not None
        results.append(verdict.result)
    return tuple(results)
