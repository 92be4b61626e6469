"""Subjects of traces: names of a State in records, which do not hold the State."""

from typing import final


@final
class Subject:
    """A State as records name it. It outlives the State as long as a record does.

    Parameters
    ----------
    original : Subject, optional
        The State of which this is a copy, whose items have the same paths.

    Attributes
    ----------
    paths : dict
        Paths of items, also of those that were forgotten.
    compared : set of CacheEntry
        Entries whose values are compared (`equal=`), also those that were forgotten.
    """

    __slots__ = ("__weakref__", "compared", "paths")

    def __init__(self, original: "Subject | None" = None) -> None:
        self.paths: dict[object, str] = {} if original is None else original.paths
        self.compared: set[object] = set() if original is None else original.compared

    def path(self, item: object) -> str:
        """Return the path of an item, or the text of something without a handle."""
        return self.paths.get(item) or str(item)
