"""The status of an entry."""

from stagecache.graph.store import Store
from stagecache.views.nodes import Status


def status_of(store: Store, entry: int) -> Status:
    """Return the status of an entry: valid, stale or not computed."""
    if store.is_valid(entry):
        return Status.VALID
    return Status.STALE if store.was_computed(entry) else Status.NOT_COMPUTED
