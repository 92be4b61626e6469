"""Declared units of items, by path: for plots, tables and files. Nothing is converted.

::

    angle = q_variable(0.1, unit="rad")   ->   {"pendulum.angle": "rad"}
"""

from stagecache.inspection.node_paths import NodePaths
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import AbstractHandle


def unit_of(handle: AbstractHandle) -> str:
    """Return the declared unit of an item; "" if it has none.

    A prescribed value and the next value of an auto-update variable have the unit of the variable.
    """
    declarations = getattr(handle._owner, "declarations", {})  # a System has none
    declared = declarations.get(handle._declared_as.removesuffix(".update"))
    if declared is not None and declared.role == "prescribed":
        declared = declarations[declared.of.name]
    return "" if declared is None else declared.unit


def declared_units(contents: Contents, paths: NodePaths) -> dict[str, str]:
    """Return the units of the items of a State by path, of those that have one. Cost O(nodes)."""
    keys = contents.realization.store.keys
    handles = [(path, keys[node]) for node, path in paths.of.items()]
    found = {path: unit_of(key) for path, key in handles if isinstance(key, AbstractHandle)}
    return {path: unit for path, unit in found.items() if unit}
