"""Check of coherence: cached values are those that would be computed anew."""

from hypothesis import settings as Settings  # noqa: N812  # a class

from stagecache.system.core.system import System
from stagecache.testing.checks.explore import Progress, explore
from stagecache.testing.checks.never import Tally
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.report import error_of
from stagecache.testing.diagnosis.shortening import Program
from stagecache.testing.oracle.oracle import Blueprint
from stagecache.testing.programs.inventory import Inventory, Strategies
from stagecache.testing.programs.programs import programs
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
) -> CheckResult:
    """Check by random programs that every value is that of a fresh State.

    A program writes variables, realizes and invalidates stages, copies States, goes back to
    checkpoints, and reads. After each of its steps, all that is realized, and all that was
    read, is compared with a fresh State that is given the same variables. What a write makes
    stale has to be downstream of what was written, and versions have to count writes.

    Parameters
    ----------
    system : System
    strategies : mapping of handle to strategy, optional
        For the values of some variables. Others are drawn by what they are in the default State,
        as `stagecache.testing.programs.inventory` tells.
    settings : hypothesis.settings, optional
        `max_examples`, 100 by default; `derandomize` and `verbosity`. Programs are neither stored
        nor shrunk by Hypothesis, and may take any time.
    seed : int, optional
        The same programs for the same number; without it, others each time.
    progress : callable, optional
        Called with the number of programs so far, after each until one fails.

    Raises
    ------
    IncoherentError
        A value is stale. It names the entry, the prerequisite that it lacks, and has the shortest
        program that shows it.
    ImpreciseError
        An entry was invalidated by what it does not depend on.
    NeverComputedError
        Nothing else was found, but an entry, or a hook, has raised in every program.
    """
    has = Inventory(system, strategies)
    blueprint = Blueprint(system)
    tally = Tally(has.entries, blueprint.build)

    def perform(program: Program) -> int:
        run = Run(blueprint.build())
        watch = Watch(run, blueprint.build())
        count = sum([watch.perform(operation) for operation in program])
        watch.check_all()
        if blueprint.is_known:
            watch.check_pristine(blueprint.build())
        tally.add(program, run)
        return count

    try:
        result = explore(
            "coherence",
            programs(has),
            perform,
            given=has.given,
            settings=settings,
            seed=seed,
            progress=progress,
        )
    except Failure as failure:
        raise error_of(failure) from None
    return tally.result(result)
