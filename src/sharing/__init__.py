"""Shared results: values of entries, found by the values of their prerequisites."""

from stagecache.sharing.results import (
    Origin,
    SharedResults,
    SharedResultsWarning,
    SharedStatistics,
    shared_results,
)

__all__ = [
    "Origin",
    "SharedResults",
    "SharedResultsWarning",
    "SharedStatistics",
    "shared_results",
]
