"""A view as JSON, and back; the format is described by `GraphView.to_json`."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from attrs import asdict

from stagecache.errors import GraphFormatError, short_repr
from stagecache.views.nodes import KINDS, AbstractView, EdgeInfo, EdgeKind, NodeInfo, Parts, Status

FORMAT: Final = "stagecache graph"
VERSION: Final = 2

Readers: TypeAlias = Mapping[str, Callable[[object], Any]]
"""Functions that check and convert values, by the name of the attribute."""

Item = TypeVar("Item", NodeInfo, EdgeInfo)


def json_of(view: AbstractView, indent: int | None = None) -> str:
    """Return a view as JSON."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "title": view.title,
        "stages": list(view.stages),
        "nodes": [asdict(node) for node in view.nodes],
        "edges": [asdict(edge) for edge in view.edges],
    }
    return json.dumps(document, indent=indent, allow_nan=False)


def parts_of_json(text: str) -> Parts:
    """Read the document that `json_of` wrote.

    Raises
    ------
    GraphFormatError
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise refused("not JSON", str(error)) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise refused(f"an object whose format is not {FORMAT!r}", short_repr(text))
    if document.get("version") != VERSION:
        raise refused(
            "another version of the format", f"version {short_repr(document.get('version'))}"
        )
    lists = {name: document.get(name, []) for name in ("nodes", "edges", "stages")}
    for name, items in lists.items():
        if not isinstance(items, list):
            raise refused(f"{name} that are not an array", short_repr(items))
    return Parts(
        tuple(map(node_of, lists["nodes"])),
        tuple(map(edge_of, lists["edges"])),
        str(document.get("title", "")),
        tuple(map(str, lists["stages"])),
    )


def node_of(given: object) -> NodeInfo:
    """Return a node with the given attributes, but without unknown ones.

    Raises
    ------
    GraphFormatError
        One is missing, or is of another type.
    """
    return _item(NodeInfo, NODE, given)


def edge_of(given: object) -> EdgeInfo:
    """Return an edge, likewise."""
    return _item(EdgeInfo, EDGE, given)


def _item(kind: Callable[..., Item], readers: Readers, given: object) -> Item:
    try:
        if isinstance(given, dict):
            known = [name for name in readers if name in given]
            return kind(**{name: readers[name](given[name]) for name in known})
    except (TypeError, ValueError):
        pass
    raise refused("a wrong node or edge", short_repr(given))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _kind(value: object) -> str:
    kind = _text(value)
    if kind not in KINDS:
        raise ValueError(value)
    return kind


def _number(value: Any) -> Any:  # whatever number it is
    if value is not None and not isinstance(value, int | float):
        raise TypeError(value)
    return value


NODE: Final[Readers] = {
    "path": _text,
    "kind": _kind,
    **dict.fromkeys(["variant", "subsystem", "stage", "computed_by"], _text),
    "status": lambda value: Status(_text(value)),
    "version": _number,
    **dict.fromkeys(["value", "file"], _text),
    **dict.fromkeys(["line", "seconds", "hit_rate"], _number),
    **dict.fromkeys(["waits_for", "column", "family", "alike"], _text),
}

EDGE: Final[Readers] = {
    **dict.fromkeys(["source", "target"], _text),
    "kind": lambda value: EdgeKind(_text(value)),
}


def refused(what: str, got: str) -> GraphFormatError:
    """Return the error that says what is wrong."""
    return GraphFormatError(
        f"a graph cannot be read: this is {what}",
        f"what to_json() or to_networkx() makes, in version {VERSION} of its format",
        got,
        "make it again with this version of stagecache",
    )
