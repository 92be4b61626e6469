"""Property-based tests of models: whether caches hold what would be computed anew.

The plugin of pytest loads this, so a name is looked up when it is first asked for (PEP 562).
Hypothesis comes with the extra `testing`.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stagecache.testing.all import check_all
    from stagecache.testing.coherence import check_coherence
    from stagecache.testing.graph_strategies import graphs, structures
    from stagecache.testing.machine import InvalidationMachine
    from stagecache.testing.pickling import check_pickle
    from stagecache.testing.precision import check_precision, over_declared
    from stagecache.testing.random_systems import systems
    from stagecache.testing.result import CheckResult
    from stagecache.testing.run import Run
    from stagecache.testing.state_strategies import operations, states
    from stagecache.testing.strictness import check_strict
    from stagecache.testing.threads import check_threads
else:
    _HOMES = {
        "CheckResult": "result",
        "InvalidationMachine": "machine",
        "Run": "run",
        "check_all": "all",
        "check_coherence": "coherence",
        "check_pickle": "pickling",
        "check_precision": "precision",
        "check_strict": "strictness",
        "check_threads": "threads",
        "graphs": "graph_strategies",
        "operations": "state_strategies",
        "over_declared": "precision",
        "states": "state_strategies",
        "structures": "graph_strategies",
        "systems": "random_systems",
    }

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            this = sys.modules[__name__]
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}", name=name, obj=this
            )
        try:
            import_module("hypothesis")
        except ImportError:
            from stagecache.errors import MissingExtraError  # noqa: PLC0415

            raise MissingExtraError(
                f"stagecache.testing.{name}: Hypothesis is not installed",
                "the extra testing",
                "none",
                "pip install 'stagecache[testing]'",
            ) from None
        return getattr(import_module(f"stagecache.testing.{_HOMES[name]}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "CheckResult",
    "InvalidationMachine",
    "Run",
    "check_all",
    "check_coherence",
    "check_pickle",
    "check_precision",
    "check_strict",
    "check_threads",
    "graphs",
    "operations",
    "over_declared",
    "states",
    "structures",
    "systems",
]
