"""Check of coherence: cached values equal newly computed ones."""

from hypothesis import settings as Settings  # noqa: N812  # a class

from stagecache.system.core.system import System
from stagecache.testing.checks.expense import Expense
from stagecache.testing.checks.explore import Progress, explore
from stagecache.testing.checks.never import Tally
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.report import error_of
from stagecache.testing.diagnosis.shortening import Program
from stagecache.testing.oracle.memory import Memory
from stagecache.testing.oracle.oracle import Blueprint
from stagecache.testing.programs.inventory import Inventory, Strategies
from stagecache.testing.programs.run import Run
from stagecache.testing.result import CheckResult
from stagecache.testing.watch import Watch


def check_coherence(
    system: System,
    *,
    strategies: Strategies | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> CheckResult:
    """Check by random programs that every value equals the one of a fresh State.

    A program writes variables, realizes and invalidates stages, copies States, saves and loads
    them, rolls back to checkpoints, reads, and interrupts computations. After each of its steps,
    all valid entries, and the results of reads, are compared with a fresh State with the same
    variables. Entries that a write makes stale have to be downstream of it, and versions have to
    count writes.

    Parameters
    ----------
    system : System
    strategies : mapping of handle to strategy, optional
        Strategies for the values of some variables. Others follow from the default State, as in
        `stagecache.testing.programs.inventory`.
    settings : hypothesis.settings, optional
        `max_examples`, 100 by default; `derandomize`, `verbosity`, and the `database`, which keeps
        a failing program for the next run. Hypothesis does not shrink programs, and they may take
        any time.
    seed : int, optional
        Seed; the same number gives the same programs, and the database is left alone. By default
        they differ each time.
    progress : callable, optional
        Called after each program, with the number of programs so far, until one fails.
    budget : float, optional
        Time after which no operation begins [s], but of the first program, which reads all entries.
        The result then says `is_out_of_time`.

    Raises
    ------
    IncoherentError
        A value is wrong. The error names the entry and the missing prerequisite, and has the
        shortest program that shows it.
    ImpreciseError
        A write has made an entry stale that does not depend on it.
    NeverComputedError
        Nothing else was found, but an entry or a hook has raised in every program.
    WrongTypeError, UnknownItemError
        The System or the strategies are not valid.
    """
    has = Inventory(system, strategies)
    blueprint = Blueprint(system)
    tally = Tally(has.entries, blueprint.build)
    memory = Memory()
    expense = Expense(has, memory, memory.attach(blueprint.build(), "fresh"), has_scouts=True)

    def perform(program: Program) -> int:
        run = Run(memory.attach(blueprint.build(), "run"))
        watch = Watch(run, memory.attach(blueprint.build(), "fresh"), memory.is_put_off)
        count = sum([watch.perform(operation) for operation in program])
        watch.check_all()
        if blueprint.is_known:
            watch.check_pristine(memory.attach(blueprint.build(), "fresh"))
        tally.add(program, run)
        return count

    try:
        result = explore("coherence", has, expense, perform, settings, seed, progress, budget)
    except Failure as failure:
        raise error_of(failure) from None
    return tally.result(result)
