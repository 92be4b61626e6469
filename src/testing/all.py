"""All checks, one after the other."""

from hypothesis import settings as Settings  # noqa: N812  # a class

from stagecache.system.system import System
from stagecache.testing.coherence import check_coherence
from stagecache.testing.explore import Progress
from stagecache.testing.inventory import Strategies
from stagecache.testing.pickling import check_pickle
from stagecache.testing.precision import check_precision
from stagecache.testing.result import CheckResult
from stagecache.testing.strictness import check_strict
from stagecache.testing.threads import check_threads

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

    The parameters are those of each of them. `progress` begins at 1 again with each check.

    Raises
    ------
    CheckFailedError, UndeclaredPrerequisiteError, MutatedValueError, StaleValueError
        What the first of them raises that fails.
    """
    return tuple(
        check(system, strategies=strategies, settings=settings, seed=seed, progress=progress)
        for check in CHECKS
    )
