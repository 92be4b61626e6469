"""What a graph consists of, and how much of it is valid, at one moment."""

from attrs import frozen


@frozen
class GraphStatistics:
    """Counts of one `Graph` at the moment when they were asked for."""

    variables: int
    """Nodes that are written from outside."""

    entries: int
    """Nodes that are computed."""

    valid_entries: int
    """Entries that a read would not compute."""

    edges: int
    """Declared prerequisites."""

    groups: int
    """Sets of nodes that always go out of date together; a write visits groups, not nodes."""

    changes: int
    """Writes and explicit invalidations since the graph was made."""
