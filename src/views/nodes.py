"""What a view of a graph consists of: nodes and edges, described for people and for programs."""

from enum import StrEnum
from typing import Final, Protocol

from attrs import frozen

KINDS: Final = ("variable", "entry", "stage")
"""Of nodes."""


class Status(StrEnum):
    """Whether the value of a node is there."""

    NONE = ""
    """Nobody asked a State: the view is of a model, not of a State."""

    VALUE = "value"
    """A variable, which always has one."""

    REALIZED = "realized"
    """A computed value that is up to date."""

    STALE = "stale"
    """An entry that can be computed, and is not up to date."""

    WAITING = "waiting"
    """An entry that waits for a stage; or a stage that is not reached."""


class EdgeKind(StrEnum):
    """Why one node depends on another."""

    PREREQUISITE = "prerequisite"
    """The entry names it."""

    STAGE = "stage"
    """The entry depends on the stage; or a stage, on the one before."""

    INVALIDATES = "invalidates"
    """A write of the variable makes the stage stale; or the next value of the variable."""

    PART = "part"
    """The one is a part of the other, and both are written together: a block of q, and all q."""


@frozen
class NodeInfo:
    """A node, as it was when the view was made.

    Attributes
    ----------
    path : str
        What it is found by, and unique: "pendulum.tip", "springs.force[3]", "q", "pendulum.q",
        "stage Position".
    kind : str
        "variable", "entry" or "stage".
    variant : str
        What kind of these: "q", "u", "z", "discrete", "auto-update", "time", "weights" and so on;
        "cached", "position_error", ... of an entry.
    subsystem : str
        The name of the one that has it; empty for what the whole State has.
    stage : str
        Of an entry, the stage on which it depends; of a variable, the one that a write invalidates;
        of a stage, itself. Empty in a `Graph`.
    computed_by : str
        Of an entry, the stage whose realization computes it; empty if a read does.
    status : Status
    version : int or None
        Of its value.
    value : str
        The value in short; empty if there is none.
    file : str
        Where it is computed or declared, as far as that is known; empty otherwise.
    line : int
        In that file; 0 if it is not known.
    seconds : float or None
        How long the last computation took, if it was traced.
    hit_rate : float or None
        How often a read found a value, if it was traced.
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
    """What pictures are made of, and what a `GraphView` has."""

    @property
    def title(self) -> str:
        """What pictures call it."""

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
