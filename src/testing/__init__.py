"""Property-based tests of models: whether caches hold what would be computed anew.

The plugin of pytest loads this, so a name is looked up when it is first asked for (PEP 562).
Hypothesis comes with the extra `testing`.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from stagecache.checks import require_extra

if TYPE_CHECKING:
    from stagecache.testing.all import Verdict, check_all, run_checks
    from stagecache.testing.checks.coherence import check_coherence
    from stagecache.testing.checks.pickling import check_pickle
    from stagecache.testing.checks.precision import check_precision, over_declared
    from stagecache.testing.checks.strictness import check_strict
    from stagecache.testing.checks.threads import check_threads
    from stagecache.testing.programs.run import Run
    from stagecache.testing.result import CheckResult
    from stagecache.testing.strategies.graph import graphs, structures
    from stagecache.testing.strategies.machine import InvalidationMachine
    from stagecache.testing.strategies.random_systems import systems
    from stagecache.testing.strategies.state import operations, states
else:
    _HOMES = {
        "CheckResult": "result",
        "InvalidationMachine": "strategies.machine",
        "Run": "programs.run",
        "Verdict": "all",
        "check_all": "all",
        "check_coherence": "checks.coherence",
        "check_pickle": "checks.pickling",
        "check_precision": "checks.precision",
        "check_strict": "checks.strictness",
        "check_threads": "checks.threads",
        "graphs": "strategies.graph",
        "operations": "strategies.state",
        "over_declared": "checks.precision",
        "run_checks": "all",
        "states": "strategies.state",
        "structures": "strategies.graph",
        "systems": "strategies.random_systems",
    }

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            this = sys.modules[__name__]
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}", name=name, obj=this
            )
        require_extra("hypothesis", "testing", f"stagecache.testing.{name}")
        return getattr(import_module(f"stagecache.testing.{_HOMES[name]}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "CheckResult",
    "InvalidationMachine",
    "Run",
    "Verdict",
    "check_all",
    "check_coherence",
    "check_pickle",
    "check_precision",
    "check_strict",
    "check_threads",
    "graphs",
    "operations",
    "over_declared",
    "run_checks",
    "states",
    "structures",
    "systems",
]
