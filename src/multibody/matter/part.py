"""Parts of a matter: bodies and groups of stations, which refer to it."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from stagecache.errors import (
    ConstModelError,
)

if TYPE_CHECKING:
    from stagecache.multibody.matter.matter import MatterSubsystem


class MatterPart(ABC):
    """A const part of a matter: a body, or a group of stations.

    It is pickled by its index, as it and its matter refer to each other.
    """

    __slots__ = ("index", "matter", "name")
    matter: "MatterSubsystem"
    name: str
    index: int

    _collection: ClassVar[str]
    """The attribute of the matter that has all parts of this kind."""

    def __init__(self, matter: "MatterSubsystem", name: str, index: int, **others: Any) -> None:
        self.__setstate__({"matter": matter, "name": name, "index": index, **others})

    @abstractmethod
    def _hint(self, name: str) -> str:
        """Return the hint for an attempt to assign an attribute."""

    def __setattr__(self, name: str, value: object) -> None:
        raise ConstModelError(
            f"{name} of {self}: cannot be assigned",
            f"a {type(self).__name__} that is const",
            "another value for it",
            self._hint(name),
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __copy__(self) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        names = (*MatterPart.__slots__, *self.__slots__)
        return part_of, (type(self), self.matter, self.index), {n: getattr(self, n) for n in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not hasattr(self, "matter"):  # it is new
            for name, value in state.items():
                object.__setattr__(self, name, value)


def part_of(kind: type[MatterPart], matter: "MatterSubsystem", index: int) -> MatterPart:
    """Return the part of an index when it is unpickled: the present one, or else a new one."""
    present: tuple[MatterPart, ...] = matter.__dict__.get(kind._collection, ())
    if index < len(present):
        return present[index]
    arriving: dict[int, MatterPart] = matter.__dict__.setdefault(f"_arriving{kind._collection}", {})
    return arriving.setdefault(index, kind.__new__(kind))
