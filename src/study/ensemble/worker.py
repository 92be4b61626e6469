"""Work of a study: a member is a copy of a State with its values, and a function of that State.

::

    driver   Work  ->  payload, bytes                 token = SHA-256 of the payload
    worker   run_task(token, None, batch)      ->     None: the worker does not have the payload
             run_task(token, payload, batch)   ->     outcomes; the worker keeps the Work

A task carries the token alone, so that the System travels to a worker once, and members and results
travel as values. Any `concurrent.futures.Executor` can run it.
"""

import pickle
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Final, final

from attrs import define, frozen
from numpy.random import SeedSequence

from stagecache.errors import NotPicklableError, short_repr
from stagecache.sharing.results import Totals
from stagecache.state.state import State
from stagecache.state.values.values import duplicate
from stagecache.study.ensemble.computed import computed_values, restore_computed
from stagecache.study.ensemble.member import Member
from stagecache.study.ensemble.settings import Settings
from stagecache.study.ensemble.values import to_bytes, values_of
from stagecache.study.ensemble.writes import Writes

MOST_KEPT: Final = 4

KEPT: Final[dict[str, "Runner"]] = {}
"""Work by token: the last few that this process was sent.

Module-level state, since tasks of an Executor share nothing else: an Executor calls a function, and
has no place for an object that outlives a task. Tokens are hashes of content, so an old Work is
never wrong, and a worker that has lost one is sent it again.
"""

KEEPING: Final = Lock()

Values = Mapping[str, Any]
Batch = Sequence[tuple[int, Values]]
"""Members by index, with their values."""


@final
@frozen(eq=False)
class Outcome:
    """The end of one member.

    Attributes
    ----------
    index : int
    seconds : float
        Time of all attempts.
    attempts : int
    values : dict of str to object, or None
        None if it has failed.
    error, message, traceback : str
        Class, text and traceback of the exception of the last attempt; "" without one.
    """

    index: int
    seconds: float
    attempts: int
    values: Values | None
    error: str = ""
    message: str = ""
    traceback: str = ""


@final
@frozen(eq=False)
class Work:
    """All that members share.

    Attributes
    ----------
    state : State
        The State that members are copied from.
    study : callable
    takes_member : bool
        True if the function takes a State and a Member.
    seed : int
    retries : int
    paths : tuple of str
        Paths in which members differ.
    settings : Settings
    """

    state: State
    study: Callable[..., Any]
    takes_member: bool
    seed: int
    retries: int
    paths: tuple[str, ...]
    settings: Settings

    def to_payload(self) -> bytes:
        """Return the bytes that travel to workers, with the values of valid entries.

        Raises
        ------
        NotPicklableError
            The System, the State or the function cannot be pickled.
        """
        fields = (self.takes_member, self.seed, self.retries, self.paths, self.settings)
        for name, value in (("system and state", self.state), ("study", self.study)):
            try:
                pickle.dumps(value, protocol=5)
            except Exception as error:  # whatever an object does that cannot be pickled
                raise NotPicklableError(
                    f"run_study({name}): cannot travel to other processes",
                    "something that can be pickled",
                    f"{type(error).__name__}: {error}",
                    "define functions and classes at the level of a module, and no lambda; or run "
                    "the study in this process, without workers=... and executor=...",
                ) from error
        computed = computed_values(self.state)
        return pickle.dumps((computed, self.state, self.study, *fields), protocol=5)

    @classmethod
    def of_payload(cls, payload: bytes) -> "Work":
        """Return the work that another process has sent."""
        try:
            computed, state, *others = pickle.loads(payload)
            restore_computed(state, computed)
            return cls(state, *others)
        except Exception as error:  # whatever an import or an object raises
            raise NotPicklableError(
                "run_study(): a worker cannot make the System and the function of the study",
                "modules that workers can import",
                f"{type(error).__name__}: {error}",
                "define classes and functions in a module, not in the main program or a notebook; "
                "and install it where the workers run",
            ) from error


@final
@define(eq=False)
class Runner:
    """A worker's view of the work: it runs members.

    Attributes
    ----------
    work : Work
    writes : Writes
    told : tuple
        Totals of shared results that the driver knows.
    """

    work: Work
    writes: Writes
    told: Totals = (0, 0, 0.0)

    @classmethod
    def of(cls, work: Work) -> "Runner":
        """Return the runner of a work."""
        return cls(work, Writes(work.state))

    def run(self, batch: Batch) -> list[Outcome]:
        """Run members, one after the other. Exceptions become outcomes."""
        with self.work.settings.installed():
            return [self._outcome(index, values) for index, values in batch]

    def new_totals(self) -> Totals:
        """Return what shared results have found, computed and saved since the last call."""
        now, told = self.work.settings.shared.statistics.totals, self.told
        self.told = now
        return now[0] - told[0], now[1] - told[1], now[2] - told[2]

    def _outcome(self, index: int, values: Values) -> Outcome:
        start = time.perf_counter()
        texts, attempts = ("", "", ""), 0
        for attempts in range(1, self.work.retries + 2):
            try:
                found = self._values(index, values)
            except (Exception, SystemExit) as error:  # SystemExit would end the worker
                texts = texts_of(error)
            else:
                return Outcome(index, time.perf_counter() - start, attempts, found)
        return Outcome(index, time.perf_counter() - start, attempts, None, *texts)

    def _values(self, index: int, values: Values) -> dict[str, Any]:
        work = self.work
        state = self.writes.apply(_own(values))
        if not work.takes_member:
            return values_of(work.study(state), work.paths)
        seed = SeedSequence(work.seed, spawn_key=(index,))
        return values_of(work.study(state, Member(index, _own(values), seed)), work.paths)


def _own(values: Values) -> dict[str, Any]:
    """Return values of a member that its function may change in place."""
    return {path: duplicate(value) for path, value in values.items()}


def texts_of(error: BaseException) -> tuple[str, str, str]:
    """Return class, text and traceback of an exception, whose `str` may fail."""
    try:
        message = str(error)
    except Exception:  # of any kind
        message = short_repr(error)
    try:
        lines = traceback.format_exception(error)
    except Exception:  # of any kind: formatting calls `str`, too
        lines = traceback.format_tb(error.__traceback__)
    return type(error).__name__, message, "".join(lines)


def run_task(token: str, payload: bytes | None, batch: Batch) -> bytes | None:
    """Run members in a worker; return their outcomes and totals of shared results, as bytes.

    Parameters
    ----------
    token : str
    payload : bytes, optional
    batch : sequence of (int, dict)

    Returns
    -------
    bytes or None
        None if this process has not been sent the payload.
    """
    with KEEPING:
        runner = _kept(token, payload)
    if runner is None:
        return None
    outcomes, system = runner.run(batch), runner.work.state.system
    with KEEPING:
        totals = runner.new_totals()
    try:
        return to_bytes((outcomes, totals), system)
    except Exception:  # a trajectory has a value that cannot be pickled
        travelling = [_that_travels(outcome, system) for outcome in outcomes]
        return to_bytes((travelling, totals), system)


def _that_travels(outcome: Outcome, system: Any) -> Outcome:
    """Return an outcome, or a failure in its place if it cannot be pickled."""
    try:
        to_bytes(outcome, system)
    except Exception as error:  # whatever a value raises that cannot be pickled
        texts = texts_of(error)
        return Outcome(outcome.index, outcome.seconds, outcome.attempts, None, *texts)
    return outcome


def _kept(token: str, payload: bytes | None) -> Runner | None:
    found = KEPT.pop(token, None)
    if found is None and payload is None:
        return None
    if found is None:
        assert payload is not None
        found = Runner.of(Work.of_payload(payload))
    KEPT[token] = found  # the last one that was used is the last one to go
    while len(KEPT) > MOST_KEPT:
        del KEPT[next(iter(KEPT))]
    return found
