"""Check of threads: several of them can read a State at the same time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from threading import Barrier, Thread
from typing import Final

from attrs import frozen
from hypothesis import settings as Settings  # noqa: N812  # a class

from stagecache.errors import ThreadedReadError
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.testing.checks.expense import Expense
from stagecache.testing.checks.explore import FEWER, FIRST_LOOK, Progress, explore
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.report import program_of
from stagecache.testing.diagnosis.shortening import Program
from stagecache.testing.oracle.comparison import NOTHING, Outcome, outcome_of, same_outcome
from stagecache.testing.oracle.memory import Memory, nothing_remembered
from stagecache.testing.oracle.oracle import Snapshot, Subject, entries_now, expected, fresh_state
from stagecache.testing.programs.inventory import Inventory, Strategies
from stagecache.testing.programs.run import Run
from stagecache.testing.result import CheckResult

THREADS: Final = 4
ATTEMPTS: Final = 20
SWITCHING: Final = 1e-5  # s: threads take turns after this time, a thousandth of the default


def check_threads(
    system: System,
    *,
    strategies: Strategies | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> CheckResult:
    """Check by random programs that threads that read at the same time get right values.

    The parameters are those of `check_coherence`, with 25 examples by default. After each program,
    four threads read all entries of one State, each beginning with another entry; then each of
    four threads does so with a State of its own. All values have to be those that one thread gets,
    and an entry must not be computed twice in one State.

    Raises
    ------
    ThreadedReadError
        A computation uses something that threads share.
    WrongTypeError, UnknownItemError
        The System or the strategies are not valid.
    """
    has = Inventory(system, strategies)
    memory = Memory()
    expense = Expense(has, memory, system)

    def in_threads(program: Program) -> int:
        run = Run(system)
        count = run.perform(program)
        snapshots = [run.history[0][0], *map(Snapshot.of, run.states)]
        for found in differences(system, snapshots, remembers=program is not FIRST_LOOK):
            kind = "twice" if found.is_twice else "threads"
            raise Failure(kind, run, 0, found.subject, found.expected, found.got)
        return count

    try:
        with memory.attached(system, "run"):
            return explore(
                "threads",
                has,
                expense,
                in_threads,
                FEWER if settings is None else settings,
                seed,
                progress,
                budget,
            )
    except Failure as failure:
        raise _error(failure) from None


def read_in_threads(
    states: list[State], subjects: list[Subject], *, remembers: bool = False
) -> list[list[Outcome]]:
    """Return the values that threads get when they read at the same time, each from its State.

    Parameters
    ----------
    states : list of State
    subjects : list of Subject
    remembers : bool
        True if values of expensive entries may be remembered, and not computed.

    Returns
    -------
    list of list of Outcome
        Values by State, in the order of `subjects`. Each thread begins with another subject.
    """
    found: list[list[Outcome]] = [[] for _ in states]
    barrier = Barrier(len(states))

    def read(number: int) -> None:
        first = number * len(subjects) // len(states)
        order = [*range(first, len(subjects)), *range(first)]
        outcomes: dict[int, Outcome] = {}
        barrier.wait()
        for i in order:
            outcomes[i] = outcome_of(lambda: subjects[i].read(states[number]))  # noqa: B023  # called at once
        found[number] = [outcomes[i] for i in range(len(subjects))]

    with nullcontext() if remembers else nothing_remembered():
        threads = [
            Thread(target=copy_context().run, args=(read, number)) for number in range(len(states))
        ]
    with _switching_often():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


@frozen
class Difference:
    """Difference between several threads and one.

    Attributes
    ----------
    subject : Subject
    is_twice : bool
        True if the entry is computed more than once; otherwise its value differs.
    expected, got : Outcome
    """

    subject: Subject
    is_twice: bool = False
    expected: Outcome = NOTHING
    got: Outcome = NOTHING


def differences(
    system: System, snapshots: list[Snapshot], *, remembers: bool = False
) -> Iterator[Difference]:
    """Read a State with the last variables in several threads, and then one State in each.

    Parameters
    ----------
    system : System
    snapshots : list of Snapshot
        The variables of these States, which are realized to Report.
    remembers : bool
        True if values of expensive entries may be remembered, and not computed in the threads.
    """
    several = [snapshot.at(Stage.REPORT) for snapshot in snapshots[-THREADS:]]
    several = [several[i % len(several) - 1] for i in range(THREADS)]  # the last one first
    state = fresh_state(system, several[0]).state
    subjects = entries_now(state, valid=False)
    before = [_version(state, subject) for subject in subjects]
    together = read_in_threads([state] * THREADS, subjects, remembers=remembers)
    for subject, version in zip(subjects, before, strict=True):
        if _version(state, subject) > version + 1:
            yield Difference(subject, is_twice=True)
    each_its_own = [fresh_state(system, each).state for each in several]
    apart = read_in_threads(each_its_own, subjects, remembers=remembers)
    pairs = [*zip([several[0]] * THREADS, together, strict=True), *zip(several, apart, strict=True)]
    for snapshot, outcomes in pairs:
        fresh = fresh_state(system, snapshot)
        for subject, got in zip(subjects, outcomes, strict=True):
            wanted = expected(system, snapshot, fresh, subject)
            if wanted is not None and not same_outcome(wanted, got):
                again = expected(system, snapshot, fresh_state(system, snapshot), subject)
                if again is not None and not same_outcome(again, got):
                    yield Difference(subject, expected=wanted, got=got)


def require_same_in_threads(state: State) -> None:
    """Read a State, and the default one of its System, in threads, a few times.

    Raises
    ------
    AssertionError
        Values differ from those in one thread.
    """
    snapshots = [Snapshot.of(state.system.default_state), Snapshot.of(state)]
    for _ in range(ATTEMPTS):
        found = list(differences(state.system, snapshots))
        assert not found, f"{found[0].got} instead of {found[0].expected}"


def _version(state: State, subject: Subject) -> int:
    assert subject.item is not None
    version: int = subject.item.handle(state).version(state)
    return version


@contextmanager
def _switching_often() -> Iterator[None]:
    """Let threads take turns as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCHING)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def _error(failure: Failure) -> ThreadedReadError:
    run = failure.run
    title = failure.subject.title(run.names, run.states[0])
    lines = [*run.lines, "require_same_in_threads(state)"]
    if failure.kind == "twice":
        return ThreadedReadError(
            f"{title}: is computed by more than one of several threads",
            "one computation, for which the others wait",
            "several",
            "tell the authors of stagecache",
            program_of(run, lines),
            (title,),
        )
    return ThreadedReadError(
        f"{title}: is computed wrongly while other threads compute",
        f"{failure.expected}, as in one thread",
        str(failure.got),
        "let computations use local variables only, no arrays or attributes that all of them share",
        program_of(run, lines),
        (title,),
    )
