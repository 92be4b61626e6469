"""Nodes and edges of a view, described for people and for programs."""

from enum import StrEnum
from typing import Final, Protocol

from attrs import frozen

KINDS: Final = ("variable", "entry", "stage", "hook")
"""Kinds of nodes. A hook is code of a model that a stage or an event runs."""


class Status(StrEnum):
    """Status of a node: of a variable, an entry, or a stage."""

    NONE = ""
    """Not known: the view is of a model, not of a State."""

    VALUE = "value"
    """A variable, which always has a value."""

    VALID = "valid"
    """An entry whose value would come out the same now."""

    STALE = "stale"
    """An entry that was computed, and something upstream has changed since."""

    NOT_COMPUTED = "not computed"
    """An entry that has never been computed in this State."""

    REALIZED = "realized"
    """A stage that is realized."""

    NOT_REALIZED = "not realized"
    """A stage that is not."""


class EdgeKind(StrEnum):
    """Reason why one node depends on another."""

    PREREQUISITE = "prerequisite"
    """The entry names it."""

    STAGE = "stage"
    """The entry depends on the stage; or a stage, on the one before."""

    INVALIDATES = "invalidates"
    """A write of the variable makes the stage stale; or the next value of the variable."""

    PART = "part"
    """The one is a part of the other, and both are written together: a block of q, and all q."""

    READ = "read"
    """A hook has read it in a run. Nothing is invalidated along this edge."""

    WRITE = "write"
    """A hook has written it in a run. Nothing is invalidated along this edge."""


@frozen
class NodeInfo:
    """Node of a view, as it was when the view was made.

    Attributes
    ----------
    path : str
        Unique path: "pendulum.tip", "springs.force[3]", "q", "pendulum.q",
        "stage Position".
    kind : str
        "variable", "entry", "stage" or "hook".
    variant : str
        Variant of the kind: "q", "u", "z", "discrete", "auto-update", "time", "weights" and so on;
        "cached", "position_error", ... of an entry.
    subsystem : str
        Name of its subsystem; empty for nodes of the whole State.
    stage : str
        For an entry, the stage on which it depends; for a variable, the stage that a write
        invalidates; for a stage, itself. Empty in a `Graph`.
    computed_by : str
        For an entry, the stage whose realization computes it; empty if a read does.
    status : Status
    version : int or None
        Version of the value.
    value : str
        The value in short; empty without one.
    file : str
        File where it is computed or declared; empty if not known.
    line : int
        Line in that file; 0 if not known.
    seconds : float or None
        Time of the last computation, if it was traced.
    hit_rate : float or None
        Fraction of reads that found a valid value, if it was traced.
    waits_for : str
        For an entry that cannot be computed yet, the stage that has to be realized before.
    column : str
        Stage to which it belongs by derivation, which is its column in pictures: q belongs to
        Position, and so does an entry that depends on q, even if it is available from Model.
        Empty in a `Graph`.
    family : str
        For a member of a family, the path of the family: "springs.force"; else empty.
    alike : str
        For a node of one of several subsystems of the same class with the same items, the name
        that these have in common: "room"; else empty.
    """

    path: str
    kind: str
    variant: str = ""
    subsystem: str = ""
    stage: str = ""
    computed_by: str = ""
    status: Status = Status.NONE
    version: int | None = None
    value: str = ""
    file: str = ""
    line: int = 0
    seconds: float | None = None
    hit_rate: float | None = None
    waits_for: str = ""
    column: str = ""
    family: str = ""
    alike: str = ""


@frozen
class Reason:
    """Reason why an entry is not valid, as `explain` tells it.

    Attributes
    ----------
    text : str
        The first sentence of the explanation, without what only a trace knows.
    path : tuple of str
        Paths of nodes from the cause to the entry, both included.
    variable : str
        Path of the variable that has changed; empty if the cause is another one.
    file : str
        File of the write, if it was traced; else empty.
    line : int
        Line of the write in that file; 0 if not known.
    seconds : float or None
        Time of the write since the trace began, if it was traced.
    """

    text: str
    path: tuple[str, ...] = ()
    variable: str = ""
    file: str = ""
    line: int = 0
    seconds: float | None = None


@frozen
class EdgeInfo:
    """An edge, from what is needed to what needs it.

    Attributes
    ----------
    source, target : str
        The paths of its ends: a change of the source makes the target stale.
    kind : EdgeKind
    """

    source: str
    target: str
    kind: EdgeKind = EdgeKind.PREREQUISITE


class AbstractView(Protocol):
    """Protocol of a view: the attributes of a `GraphView` that pictures need."""

    @property
    def title(self) -> str:
        """Title of pictures."""

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages, in order."""

    @property
    def nodes(self) -> tuple[NodeInfo, ...]:
        """All nodes, in the order of the model."""

    @property
    def edges(self) -> tuple[EdgeInfo, ...]:
        """All edges, at most one from a node to another."""


@frozen
class Parts:
    """A view without the means to search it: what is read from elsewhere, and what is collapsed."""

    nodes: tuple[NodeInfo, ...]
    edges: tuple[EdgeInfo, ...]
    title: str = ""
    stages: tuple[str, ...] = ()
