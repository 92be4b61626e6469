"""The kinds of node in a prerequisite graph."""

from enum import IntEnum


class NodeKind(IntEnum):
    """Kind of a node, which decides how it becomes stale."""

    VARIABLE = 0
    """A source: written from outside. An aggregate of variables is one too."""

    STAGE = 1
    """A source that can be closed: while it is, nothing downstream of it is valid."""

    CACHE_ENTRY = 2
    """Derived: computed from its prerequisites."""

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")
