"""Results of a study: one of each member, in the order of the members.

They do not depend on the Executor, the number of workers, or the order in which members end. Only
times do, which are kept beside them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from math import nan
from typing import Any, Final, NoReturn, SupportsIndex, final

from attrs import frozen

from stagecache.checks import require_bool
from stagecache.display.html import heading, output, table
from stagecache.errors import StudyError, UnknownItemError, short_repr
from stagecache.sharing.results import Totals
from stagecache.study.ensemble.labelled import dataframe_of, dataset_of

OK: Final = "ok"
FAILED: Final = "failed"
MISSING: Final = "missing"

MOST_SHOWN: Final = 50
"""Members that a notebook shows."""


@final
@frozen(eq=False)
class MemberResult:
    """Result of one member.

    Attributes
    ----------
    index : int
    parameters : dict of str to object
        Values in which members differ, by path.
    status : str
        "ok", "failed", or "missing" if it has not run.
    values : dict of str to object
        Results by name; empty unless it is "ok".
    error, message, traceback : str
        Class, text and traceback of the exception that made it fail.
    seconds : float
        Time of all attempts [s].
    attempts : int
    """

    index: int
    parameters: Mapping[str, Any]
    status: str
    values: Mapping[str, Any]
    error: str = ""
    message: str = ""
    traceback: str = ""
    seconds: float = 0.0
    attempts: int = 0

    def __repr__(self) -> str:
        said = f", {short_repr(dict(self.parameters))}, {self.status}"
        if self.status == FAILED:
            said += f", {self.error}: {short_repr(self.message)}"
        elif self.values:
            said += f", {short_repr(dict(self.values))}"
        return f"MemberResult({self.index}{said})"


@final
@frozen
class StudyStatistics:
    """Numbers of members, and times.

    Attributes
    ----------
    num_members, num_ok, num_failed, num_missing : int
    seconds : float
        Time of all members together, on all workers [s].
    elapsed : float
        Time of the call of `run_study` [s]; NaN if the results were loaded.
    members_a_second : float
        Number of members that ran in the call of `run_study`, divided by its time [1/s]; NaN if the
        results were loaded.
    shared_found, shared_computed : int
        Values of shared entries that members have found and computed, on all workers, in this call.
    seconds_saved : float
        Time that it once took to compute the values that were found [s].
    """

    num_members: int
    num_ok: int
    num_failed: int
    num_missing: int
    seconds: float
    elapsed: float
    members_a_second: float
    shared_found: int
    shared_computed: int
    seconds_saved: float


@final
@frozen(eq=False)
class Ensemble:
    """The facts that all results of a study share.

    Attributes
    ----------
    system : str
        Name of the System.
    number : int
        Number of members.
    names : tuple of str
        Paths in which members differ.
    units : dict of str to str
        Declared units of these variables.
    levels : dict of str to tuple
        Values by path, if the members are all their combinations; else empty.
    """

    system: str
    number: int
    names: tuple[str, ...]
    units: Mapping[str, str]
    levels: Mapping[str, tuple[Any, ...]]


class AbstractStore(ABC):
    """Storage of results, in memory or in a folder."""

    @abstractmethod
    def result(self, index: int) -> MemberResult | None:
        """Return the result of a member; None if it has not run."""

    @abstractmethod
    def results(self) -> Iterator[MemberResult]:
        """Return an iterator over all results, in any order."""

    @abstractmethod
    def statuses(self) -> Mapping[int, tuple[str, float]]:
        """Return status and seconds by index, of members that have run."""


@final
class StudyResults:
    """Results of `run_study` or `load_study`, by the index of the member.

    Its `repr` tells how many members have failed; `failures` lists them.

    Examples
    --------
    >>> from stagecache import State, Subsystem, System, parameter, run_study
    >>> class Square(Subsystem):
    ...     side = parameter(1.0, unit="m")
    >>> square = Square()
    >>> def area(state: State) -> float:
    ...     return square.side(state) ** 2
    >>> results = run_study(System(square), {"square.side": [1.0, 2.0, 3.0]}, area)
    >>> results
    StudyResults(of 'system': 3 members, 3 ok)
    >>> results[2].parameters, results[2].values
    ({'square.side': 3.0}, {'result': 9.0})
    """

    def __init__(
        self,
        ensemble: Ensemble,
        store: AbstractStore,
        elapsed: float = nan,
        num_run: int = 0,
        totals: Totals = (0, 0, 0.0),
    ) -> None:
        self._ensemble = ensemble
        self._store = store
        self._elapsed = elapsed
        self._num_run = num_run
        self._totals = totals

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of the variables in which members differ."""
        return self._ensemble.names

    @property
    def units(self) -> dict[str, str]:
        """Declared units of these variables, by path."""
        return dict(self._ensemble.units)

    def __len__(self) -> int:
        return self._ensemble.number

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[MemberResult]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: SupportsIndex) -> MemberResult:
        """Return the result of a member; negative indices count from the end.

        Raises
        ------
        UnknownItemError
        FileFormatError, OSError
            It is in a folder, and cannot be read.
        """
        try:
            which = range(len(self))[index]
        except (IndexError, TypeError):
            raise UnknownItemError(
                f"member {short_repr(index)}: has no result in {self!r}",
                f"an index from 0 to {len(self) - 1}" if len(self) else "a study with members",
                short_repr(index),
                "len(results) is the number of members",
            ) from None
        return self._store.result(which) or MemberResult(which, {}, MISSING, {})

    @property
    def failures(self) -> tuple[MemberResult, ...]:
        """Members that have failed, with their parameters and tracebacks. Cost O(failures)."""
        statuses = self._store.statuses()
        return tuple(self[i] for i in sorted(statuses) if statuses[i][0] == FAILED)

    @property
    def missing(self) -> tuple[int, ...]:
        """Indices of members that have not run; some if a study was interrupted."""
        known = self._store.statuses()
        return tuple(index for index in range(len(self)) if index not in known)

    @property
    def statistics(self) -> StudyStatistics:
        """Numbers of members, and times."""
        found = self._store.statuses()
        num_ok = sum(status == OK for status, _ in found.values())
        rate = self._num_run / self._elapsed if self._elapsed > 0 else nan
        return StudyStatistics(
            len(self),
            num_ok,
            len(found) - num_ok,
            len(self) - len(found),
            sum(seconds for _, seconds in found.values()),
            self._elapsed,
            rate,
            *self._totals,
        )

    def raise_first(self) -> None:
        """Raise an error for the first member that has failed, if there is one.

        Raises
        ------
        StudyError
            With the traceback of the member as a note.
        """
        for failure in self.failures:
            self._raise(failure)

    def _raise(self, failure: MemberResult) -> NoReturn:
        error = StudyError(
            f"member {failure.index} of {self!r} has failed",
            "a result of each member",
            f"{failure.error}: {failure.message}",
            f"look at its traceback below; its parameters are {short_repr(failure.parameters)}",
        )
        error.add_note(failure.traceback)
        raise error

    # ------------------------------------------------------------------ other forms

    def to_xarray(self, *, grid: bool = False) -> Any:
        """Return an `xarray.Dataset` along "member", with the parameters as coordinates.

        It has the results by name, and "status". Arrays have dimensions of their own. A trajectory
        becomes a variable along "time" for each of its columns. A column that has the name of a
        parameter or of another result is called "trajectory.<path>", after the result. If a member
        has failed, its numbers are NaN (integers and truth values become floats then), and its
        texts are empty.

        Parameters
        ----------
        grid : bool
            True for a dimension of each path of `full_factorial`, instead of "member".

        Raises
        ------
        StudyError
            A result has several shapes, or is a trajectory in some members only, or trajectories
            have different times or columns, or floats would round integers; or `grid` for members
            that are not the combinations of numbers or texts.
        DuplicateNameError
            Two things would have the same name.
        MissingExtraError
            xarray is not installed.
        NotANumberError
        FileFormatError, OSError
        """
        require_bool(grid, "to_xarray(grid=...)")
        return dataset_of(self._ensemble, self._store.results(), grid=grid)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`: a row for each member, with parameters, results and status.

        Arrays have a column for each number, as "place[2]". Trajectories are left out.

        Raises
        ------
        StudyError
            A result has several shapes, or is a trajectory in some members only, or floats would
            round integers.
        DuplicateNameError
            Two columns would have the same name.
        MissingExtraError
            pandas is not installed.
        FileFormatError, OSError
        """
        return dataframe_of(self._ensemble, self._store.results())

    def __repr__(self) -> str:
        found = [status for status, _ in self._store.statuses().values()]
        counts = {OK: found.count(OK), FAILED: found.count(FAILED)}
        counts[MISSING] = len(self) - len(found)
        said = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        members = f"{len(self)} member{'' if len(self) == 1 else 's'}"
        return f"StudyResults(of {self._ensemble.system!r}: {members}{said and ', '}{said})"

    def _repr_html_(self) -> str:
        shown = [self[index] for index in range(min(len(self), MOST_SHOWN))]
        results = list(dict.fromkeys(name for result in shown for name in result.values))
        heads = [
            f"{name} [{self.units[name]}]" if name in self.units else name for name in self.names
        ]
        rows = [
            (
                str(result.index),
                *[short_repr(result.parameters.get(name, "")) for name in self.names],
                result.status,
                *[
                    short_repr(result.values[name]) if name in result.values else ""
                    for name in results
                ],
            )
            for result in shown
        ]
        columns = ("member", *heads, "status", *results)
        about = repr(self).removeprefix("StudyResults(").removesuffix(")")
        parts = [heading("StudyResults", about)]
        if rows:
            more = len(self) - len(shown)
            parts.append(table(columns, rows, texts=len(columns), more=more, what="members"))
        return output(*parts)


@final
class Memory(AbstractStore):
    """Results in memory."""

    def __init__(self) -> None:
        self._results: dict[int, MemberResult] = {}

    def take(self, result: MemberResult) -> None:
        """Keep a result."""
        self._results[result.index] = result

    def wait(self) -> None:
        """Do nothing: results are kept at once."""

    def close(self) -> None:
        """Do nothing."""

    def result(self, index: int) -> MemberResult | None:
        """Return the result of a member; None if it has not run."""
        return self._results.get(index)

    def results(self) -> Iterator[MemberResult]:
        """Return an iterator over all results."""
        return iter(self._results.values())

    def statuses(self) -> Mapping[int, tuple[str, float]]:
        """Return status and seconds by index."""
        return {index: (found.status, found.seconds) for index, found in self._results.items()}
