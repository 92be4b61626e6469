"""Execution of random programs until one fails, which is then shortened."""

import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import Any, Final

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import settings as Settings  # noqa: N812  # a class
from hypothesis.errors import NoSuchExample

from stagecache.checks import require_type
from stagecache.sharing.results import shared_results
from stagecache.testing.budget import OutOfTimeError, within, without_limit
from stagecache.testing.checks.expense import Expense
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.shortening import Program, Shortener
from stagecache.testing.programs.inventory import Inventory
from stagecache.testing.programs.operation import AbstractOperation, ReadAll, Realize
from stagecache.testing.programs.programs import programs
from stagecache.testing.result import CheckResult

Progress = Callable[[int], None]

DEFAULT: Final = Settings(max_examples=100, derandomize=False)
FEWER: Final = Settings(DEFAULT, max_examples=25)
"""Default of checks with slow examples."""

FIRST_LOOK: Final[list[AbstractOperation]] = [Realize(), ReadAll()]
"""The first program of each check: no variable is written, and each entry is computed once."""


class _ProgramsChangedError(BaseException):
    """Programs are drawn in another way from here on, which is another test for Hypothesis."""


def explore(
    name: str,
    has: Inventory,
    expense: Expense,
    perform: Callable[[Program], int],
    settings: Settings | None,
    seed: int | None,
    progress: Progress | None,
    budget: float | None,
) -> CheckResult:
    """Run the first look and random programs, and raise the failure of the first that fails.

    Parameters
    ----------
    name : str
        Name of the check.
    has : Inventory
        Items of the System, and strategies for their values.
    expense : Expense
        Costs of its entries, which shape the programs.
    perform : callable
        Runs a program, and returns the number of its operations.
    settings : hypothesis.settings or None
        Settings, of which the deadline, health checks and phases are ignored. The database keeps
        the program that failed, which is the first of the random ones in the next run.
    seed : int or None
        Seed; the same number gives the same programs, so those of the database are not run.
    progress : callable or None
        Called after each program, with the number of programs so far, until one fails.
    budget : float or None
        Time after which no operation begins [s], except those of the first look.

    Raises
    ------
    WrongTypeError
        The settings are not those of Hypothesis.
    Failure
        The failure of the shortest program that was found.
    """
    if settings is not None:
        hint = "write hypothesis.settings(max_examples=...)"
        require_type(settings, Settings, "settings of a check", "hypothesis.settings", hint)
    search = Search(name, has, expense, perform, settings or DEFAULT, seed, progress)
    with quiet(), shared_results() as shared, within(budget):
        is_out_of_time = not search.run()
    return CheckResult(
        name,
        search.examples,
        search.operations,
        shared=shared.statistics.hits,
        is_out_of_time=is_out_of_time,
    )


class Search:
    """The search for a program that fails.

    Parameters
    ----------
    name, has, expense, perform, settings, seed, progress
        Same as for `explore`.

    Attributes
    ----------
    examples, operations : int
        Numbers of programs, and of operations in them.
    """

    def __init__(
        self,
        name: str,
        has: Inventory,
        expense: Expense,
        perform: Callable[[Program], int],
        settings: Settings,
        seed: int | None,
        progress: Progress | None,
    ) -> None:
        self.examples = self.operations = 0
        self._name = name
        self._has = has
        self._expense = expense
        self._perform = perform
        self._settings = settings
        self._seed = seed
        self._progress = progress
        self._failed: tuple[Program, Failure] | None = None

    def run(self) -> bool:
        """Run all programs, and return True; False if the time was over.

        Raises
        ------
        Failure
        """
        most = self._settings.max_examples
        try:
            with suppress(_ProgramsChangedError, Failure), without_limit():
                self._example(FIRST_LOOK)
            self._judge()
            while self.examples < most:
                left = most - self.examples
                planned = self._expense.next_round()
                if self._round(min(left, planned or left)) and not planned:
                    break
        except OutOfTimeError:
            return False
        return True

    def _round(self, most: int) -> bool:
        """Run programs of one kind; return False if others follow."""
        try:
            if self._seed is None:
                self._find(most)
            else:
                self._repeat(most, self._seed + self.examples)
        except _ProgramsChangedError:
            return False
        except BaseException:
            if self._failed is None:
                raise
            self._judge()
            return False
        return True

    def _find(self, most: int) -> None:
        """Run the program that failed the last time, if it is known, and new ones."""

        def condition(program: Program) -> bool:
            self._example(program)  # which raises
            return False

        key = f"stagecache {self._name} {self._has.key}".encode()
        settings = Settings(self._run_settings(most), database=self._settings.database)
        with suppress(NoSuchExample):
            hypothesis.find(
                programs(self._has),
                condition,
                settings=settings,
                database_key=key,
            )

    def _repeat(self, most: int, seed: int) -> None:
        """Run the programs of a seed."""
        test = hypothesis.given(program=programs(self._has))(self._example)
        test = Settings(self._run_settings(most), database=None)(test)
        hypothesis.seed(seed)(test)()

    def _run_settings(self, most: int) -> Settings:
        return Settings(
            self._settings,
            max_examples=most,
            phases=(Phase.reuse, Phase.generate),  # `Shortener` does the rest, and is faster
            deadline=None,
            print_blob=False,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )

    def _example(self, program: Program) -> None:
        """Run a program, and count it."""
        if self._failed is not None:  # Hypothesis runs it again
            raise self._failed[1]
        try:
            self.operations += self._perform(program)
        except Exception as error:
            if isinstance(error, Failure):
                self._failed = program, error
            self._count()
            raise
        self._count()
        if self._expense.has_changed():
            raise _ProgramsChangedError

    def _count(self) -> None:
        self.examples += 1
        if self._progress is not None:
            self._progress(self.examples)

    def _judge(self) -> None:
        """Raise the failure of the shortest program, if one has failed.

        It has to fail as well if nothing is remembered of other values of the variables. If it does
        not, an entry depends on a variable whose writes leave it valid, and remembered values are
        wrong: from here on, all are computed.
        """
        if self._failed is None:
            return
        program, failure = self._failed
        found = Shortener(self._perform, program, failure, self._has.given)
        failure = found.shorten()
        if not self._expense.distrust():
            raise failure from None
        for each in (found.program, program):
            try:
                with without_limit():
                    self._perform(each)
            except Failure as again:
                if each is program:
                    again = Shortener(self._perform, each, again, self._has.given).shorten()
                raise again from None
        self._failed = None


@contextmanager
def quiet() -> Any:
    """Suppress warnings of overflow and NaN, which random values lead to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
