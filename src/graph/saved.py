"""Values of the variables of a Graph in files, by name."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from stagecache.errors import short_repr
from stagecache.files.envelope import pack, unpack, write_atomically
from stagecache.files.renaming import Renaming
from stagecache.files.report import DifferenceKind, LayoutDifference, LoadReport, mismatch
from stagecache.files.values import Blobs, bad_file, decode, encode, form_of
from stagecache.graph.checkpoint import Checkpoint
from stagecache.graph.handles import Variable

KIND: Final = "Graph"
Variables = Mapping[str, Variable[Any]]
"""The variables of a graph, by name."""


def save_variables(graph: str, variables: Variables, path: Path) -> None:
    """Write the values of all variables of a graph of that name; `Graph.save` says more."""
    blobs: Blobs = []
    values = {name: encode(variable(), name, blobs) for name, variable in variables.items()}
    write_atomically(path, pack(KIND, {"name": graph, "variables": values}, blobs))


def load_variables(
    graph: str,
    here: Variables,
    checkpoint: Callable[[], Checkpoint],
    path: Path,
    *,
    strict: bool,
    renamed: Mapping[str, str] | None,
) -> LoadReport:
    """Set the variables to saved values, if all of them fit or `strict` is False.

    If that is cut short, a checkpoint of the graph takes all of them back.
    """
    where = str(path)
    content, blobs = unpack(path.read_bytes(), KIND, where)
    encoded: Any = content.get("variables") if isinstance(content, dict) else None
    if not isinstance(encoded, dict):
        raise bad_file(f"{where}: does not describe a Graph", "variables", short_repr(content))
    saved = {name: decode(value, name, blobs) for name, value in encoded.items()}
    naming = Renaming(renamed, saved, where)
    saved = naming.moved(saved)
    differences = [
        LayoutDifference(name, DifferenceKind.MISSING, form_of(value))
        for name, value in saved.items()
        if name not in here
    ]
    differences += [
        LayoutDifference(name, DifferenceKind.NEW, here=form_of(variable()))
        for name, variable in here.items()
        if name not in saved
    ]
    fitting = {}
    for name, value in saved.items():
        if name in here and (now := here[name]()) is not None and form_of(now) != form_of(value):
            change = LayoutDifference(name, DifferenceKind.CHANGED, form_of(value), form_of(now))
            differences.append(change)
        elif name in here:
            fitting[name] = value
    new_names = {old: naming(old) for old in encoded if naming(old) != old}
    report = LoadReport(graph, tuple(fitting), tuple(differences), new_names)
    if strict and differences:
        raise mismatch(report, where)
    with checkpoint():
        for name, value in fitting.items():
            here[name].set(value)
    return report
