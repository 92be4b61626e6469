"""Check of threads: several of them can read a State at the same time."""

from collections.abc import Iterator
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
from stagecache.testing.items import entries_of, is_computed, upstream_of
from stagecache.testing.oracle.comparison import NOTHING, Outcome, outcome_of, same_outcome
from stagecache.testing.oracle.memory import Memory
from stagecache.testing.oracle.oracle import Snapshot, Subject, entries_now, expected, fresh_state
from stagecache.testing.programs.inventory import Inventory, Strategies
from stagecache.testing.programs.operation import AbstractOperation
from stagecache.testing.programs.run import Run
from stagecache.testing.programs.threads import THREADS, ReadInThreads, outcomes_in_threads
from stagecache.testing.result import CheckResult

ATTEMPTS: Final = 20


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

    The parameters are those of `check_coherence`, with 25 examples by default. Between other
    operations, four threads read all entries of a State, each beginning with another entry. After
    each program, they do so with one State; then each of four threads with a State of its own. All
    values have to be those that one thread gets, and an entry must not be computed twice in one
    State.

    Raises
    ------
    ThreadedReadError
        A computation uses something that threads share.
    WrongTypeError, UnknownItemError
        The System or the strategies are not valid.
    """
    has = Inventory(system, strategies)
    has.reads_in_threads = True
    memory = Memory()
    expense = Expense(has, memory, system)

    def in_threads(program: Program) -> int:
        run = Run(system)
        count = sum([_perform(operation, run) for operation in program])
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


def _perform(operation: AbstractOperation, run: Run) -> int:
    """Perform an operation, if it is possible, and compare what threads read with what one reads.

    Raises
    ------
    Failure
    """
    if not isinstance(operation, ReadInThreads):
        return run.perform([operation])
    system, number = run.system, operation.number(run)
    state = run.states[number]
    before = entries_now(state, valid=True)
    count = run.perform([operation])
    snapshot = Snapshot.of(state)
    fresh = fresh_state(system, snapshot)
    for read in run.reads:
        wanted = expected(system, snapshot, fresh, read.subject)
        if read.subject in before or wanted is None or same_outcome(wanted, read.outcome):
            continue
        alone = _alone(state, read.subject, before)
        if not same_outcome(alone, read.outcome):
            raise Failure("threads", run, number, read.subject, alone, read.outcome)
    return count


def _alone(state: State, subject: Subject, before: list[Subject]) -> Outcome:
    """Return what one thread gets, if it computes all that is not from before."""
    assert subject.item is not None
    above = upstream_of(state, subject.item.handle(state))
    computed = {id(entry): item for item, entry in entries_of(state) if is_computed(state, entry)}
    for each in reversed(above):
        if id(each) in computed and Subject(computed[id(each)]) not in before:
            each.invalidate(state)
    return outcome_of(lambda: subject.read(state))


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
    together = outcomes_in_threads([state] * THREADS, subjects, remembers=remembers)
    for subject, version in zip(subjects, before, strict=True):
        if _version(state, subject) > version + 1:
            yield Difference(subject, is_twice=True)
    each_its_own = [fresh_state(system, each).state for each in several]
    apart = outcomes_in_threads(each_its_own, subjects, remembers=remembers)
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
