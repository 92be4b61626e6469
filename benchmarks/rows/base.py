"""Rows: what is measured, on which peers, the limits for stagecache; and sections of rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from attrs import field, frozen

from benchmarks.figures import Unit
from benchmarks.limits import AbstractLimit
from benchmarks.peers import Peer
from benchmarks.probes import AbstractProbe

Build = Callable[[Peer], AbstractProbe]

CUT_SHORT: Final = "left out of a quick run"


@frozen
class Row:
    """One row.

    Attributes
    ----------
    name : str
        Unique in the table.
    build : callable
        Builds the probe for a peer.
    unit : Unit
    limits : sequence of AbstractLimit
    without : mapping of str to str
        What is left out, of the peers or of what is beside, and why.
    beside : mapping of str to callable
        What else is measured for comparison, under that name: a function that builds its probe,
        or raises `NotInstalledError`.
    alone : str
        The reason why there is no peer, or "".
    slow : bool
        Whether a quick run leaves the peers out.
    """

    name: str
    build: Build
    unit: Unit = Unit.SECONDS
    limits: Sequence[AbstractLimit] = ()
    without: Mapping[str, str] = field(factory=dict)
    beside: Mapping[str, Callable[[], AbstractProbe]] = field(factory=dict)
    alone: str = ""
    slow: bool = False


Group = tuple[Row, ...]
"""Rows that are measured interleaved with each other, since one's limit refers to another."""


@frozen
class Section:
    """Rows that make a table, under a heading.

    Attributes
    ----------
    heading : str
    groups : sequence of Group
    peers : sequence of str
        The names of those that are measured, each in a column.
    columns : sequence of str
        Which of what is measured beside has a column as well; all else goes into the last one.
    """

    heading: str
    groups: Sequence[Group]
    peers: Sequence[str]
    columns: Sequence[str] = ()
