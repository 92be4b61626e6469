"""Values of cache entries in files, which are valid again where they would be computed the same.

::

    layout           the same variables, entries, stages and prerequisites
    model            the same attributes and classes of the System and its subsystems
    code             the same functions of the entry and the entries above it, in the same Python
    all agree   ->   the value is stored and marked valid, as soon as its stage is reached
    else        ->   it is computed again when it is read
"""

from collections.abc import MutableSequence, Sequence
from graphlib import TopologicalSorter
from typing import Any

from stagecache.errors import UnsavableValueError, short_repr
from stagecache.files.values import Blobs, bad_file, decode, encode
from stagecache.inspection.node_paths import NodePaths
from stagecache.sharing.code import code_hash, hash_of
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.saved.fingerprints import layout_hash, model_hash


def cache_content(state: State, blobs: Blobs) -> dict[str, Any]:
    """Return the values of valid entries as JSON has them; those that can be saved."""
    contents = state._contents
    paths = NodePaths(contents)
    values = contents.realization.store.values
    entries: dict[str, Any] = {}
    for entry, key in _keys(state).items():
        if key and contents.is_valid(entry):
            path, count = paths.of[entry._node], len(blobs)
            try:
                entries[path] = [key, encode(values[entry._node], path, blobs)]
            except UnsavableValueError:  # it is computed again
                del blobs[count:]
    return {
        "model": model_hash(state.system),
        "stage": str(Stage(contents.realization.machine.stage)),
        "entries": entries,
    }


def restore_cache(
    state: State, stage: Stage, layout: Any, found: Any, blobs: MutableSequence[Any], where: str
) -> tuple[str, ...]:
    """Realize a State up to a stage, with the saved values of entries; return those not taken.

    Parameters
    ----------
    state : State
    stage : Stage
    layout : str or None
        Fingerprint of the layout when it was saved; None if not all variables were taken as they
        were, so that no entry can be.
    found : object
        What the file says of the cache.
    blobs : sequence of bytes
    where : str
        Name of the file, in errors.

    Raises
    ------
    FileFormatError
    Exception
        Any exception of a hook or an entry.
    """
    contents, system = state._contents, state.system
    saved: Any = found.get("entries") if isinstance(found, dict) else None
    is_cache = isinstance(saved, dict) and all(
        isinstance(pair, list) and len(pair) == 2 for pair in saved.values()
    )
    if not is_cache:
        raise bad_file(f"{where}: does not describe a cache", "entries", short_repr(found))
    paths = NodePaths(contents)
    refusal = ""
    if layout is None:
        refusal = "a variable was renamed, or not taken"
    elif layout_hash(contents, paths) != layout:
        refusal = "the layout has changed"
    elif not found.get("model") or model_hash(system) != found.get("model"):
        refusal = "code or attributes of the model have changed, or cannot be compared"
    refused: dict[str, str] = dict.fromkeys(saved, refusal or "it is not in the model")
    fitting: list[tuple[CacheEntry[Any], Any]] = []
    keys = {} if refusal else _keys(state)
    for entry, key in keys.items():
        path = paths.of[entry._node]
        if path in saved:
            saved_key, encoded = saved[path]
            if key == saved_key:
                fitting.append((entry, decode(encoded, path, blobs)))
                del refused[path]
            else:
                refused[path] = "its function has changed, or one above it"
    for reached in range(contents.realization.machine.stage, stage + 1):
        system.realize(state, Stage(reached))
        fitting = restore_values(contents, fitting, min(reached + 1, stage))
    return tuple(f"{path} ({reason})" for path, reason in refused.items())


def restore_values(
    contents: Contents, values: Sequence[tuple[CacheEntry[Any], Any]], stage: int
) -> list[tuple[CacheEntry[Any], Any]]:
    """Store values that are available at a stage, and mark them valid; return the others."""
    for entry, value in values:
        if entry.available_from <= stage:
            contents.set_entry(entry, value)
            contents.mark(entry)
    return [(entry, value) for entry, value in values if entry.available_from > stage]


def model_code(state: State) -> str:
    """Return a fingerprint of all attributes, hooks and computations of a model."""
    paths = NodePaths(state._contents).of
    keys = sorted((paths[entry._node], key) for entry, key in _keys(state).items())
    return hash_of([model_hash(state.system), keys])


def entries_in_order(contents: Contents) -> dict[CacheEntry[Any], list[CacheEntry[Any]]]:
    """Return all entries, each after its prerequisites, with the entries among these."""
    entries = {e._node: e for s in contents.realization.layout.subsystems for e in s.entries}
    above = {
        node: [h._node for h in contents.prerequisites(entry) if h._node in entries]
        for node, entry in entries.items()
    }
    order = TopologicalSorter(above).static_order()
    return {entries[node]: [entries[n] for n in above[node]] for node in order}


def _keys(state: State) -> dict[CacheEntry[Any], str]:
    """Return fingerprints of the functions of all entries, each after its prerequisites.

    The fingerprint of an entry contains the fingerprints of the entries above it; it is "" if one
    of them cannot be compared.
    """
    contents, subsystems = state._contents, state.system.subsystems
    functions = contents.realization.layout.functions
    keys: dict[CacheEntry[Any], str] = {}
    for entry, above in entries_in_order(contents).items():
        owner = type(subsystems[entry.subsystem or 0])
        parts = [code_hash(functions[entry._node], owner), *[keys[other] for other in above]]
        keys[entry] = hash_of(parts) if all(parts) else ""
    return keys
