"""Names of the items of a State or a Graph in records, which do not hold the State or Graph."""

from typing import final


@final
class Names:
    """Names of the items of a State or a Graph. They outlive it as long as a record does.

    Parameters
    ----------
    original : Names, optional
        Those of the State of which this is a copy, whose items have the same paths.

    Attributes
    ----------
    paths : dict
        Paths of items, also of those that were forgotten.
    compared : set of handle
        Entries whose values are compared (`equal=`), also those that were forgotten.
    """

    __slots__ = ("__weakref__", "compared", "paths")

    def __init__(self, original: "Names | None" = None) -> None:
        self.paths: dict[object, str] = {} if original is None else original.paths
        self.compared: set[object] = set() if original is None else original.compared

    def path(self, item: object) -> str:
        """Return the path of an item, or the text of something without a handle."""
        return self.paths.get(item) or str(item)
