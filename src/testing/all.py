"""All checks, one after the other."""

from hypothesis import settings as Settings  # noqa: N812  # a class

from stagecache.system.core.system import System
from stagecache.testing.checks.coherence import check_coherence
from stagecache.testing.checks.explore import Progress
from stagecache.testing.checks.pickling import check_pickle
from stagecache.testing.checks.precision import check_precision
from stagecache.testing.checks.strictness import check_strict
from stagecache.testing.checks.threads import check_threads
from stagecache.testing.programs.inventory import Strategies
from stagecache.testing.result import CheckResult

CHECKS = (check_coherence, check_precision, check_strict, check_pickle, check_threads)


def check_all(
    system: System,
    *,
    strategies: Strategies | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> tuple[CheckResult, ...]:
    """Run `check_coherence`, `check_precision`, `check_strict`, `check_pickle`, `check_threads`.

    All have these parameters. `progress` begins at 1 again with each check.

    Raises
    ------
    CheckFailedError, UndeclaredPrerequisiteError, MutatedValueError, StaleValueError
        The error of the first check that fails.
    """
    return tuple(
        check(system, strategies=strategies, settings=settings, seed=seed, progress=progress)
        for check in CHECKS
    )
