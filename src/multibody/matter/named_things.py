"""Things that are fixed to bodies, and are asked for by their names or indices."""

from typing import Generic, TypeVar, final

from attrs import frozen

from stagecache.checks import whole_number
from stagecache.errors import (
    DuplicateNameError,
    InvalidNameError,
    UnknownMarkerError,
    listed,
    short_repr,
)
from stagecache.multibody.matter.matter import MobilizedBody
from stagecache.views.layout.similar import did_you_mean


@frozen(eq=False)
class AbstractThing:
    """What markers and sensors have in common. It is const, and equal to itself only.

    Attributes
    ----------
    name : str
    index : int
        Of those that it is one of.
    body : MobilizedBody
        To which it is fixed.
    """

    name: str
    index: int
    body: MobilizedBody


T = TypeVar("T", bound=AbstractThing)


@final
class NamedThings(Generic[T]):
    """Some things, numbered as they were added.

    Parameters
    ----------
    kind : str
        What one of them is called in messages: "marker".
    whose : str
        What has them, likewise: "Markers 'foot'".

    Attributes
    ----------
    all : tuple
        By index.
    """

    def __init__(self, kind: str, whose: str) -> None:
        self.kind = kind
        self.whose = whose
        self.all: tuple[T, ...] = ()
        self._by_name: dict[str, int] = {}

    def add(self, thing: T) -> None:
        """Add one, of a name that `new_name` has returned, and of the next index."""
        self._by_name[thing.name] = len(self.all)
        self.all = (*self.all, thing)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def new_name(self, name: object) -> str:
        """The name of one that is to be added: that which is given, or the default for "".

        Raises
        ------
        InvalidNameError, DuplicateNameError
        """
        if not isinstance(name, str):
            raise InvalidNameError(
                f"the name of a {self.kind} of {self.whose}: is no string",
                'a string; "" for the default',
                short_repr(name),
                "give one",
            )
        name = name.strip() or f"{self.kind} {len(self.all)}"
        if name in self._by_name:
            raise DuplicateNameError(
                f"{self.kind} {name!r} of {self.whose}: there is one already",
                f"a name for each {self.kind} of its own",
                f"{name!r} for another one",
                "give it another name",
            )
        return name

    def index_of(self, which: object) -> int:
        """The index of one of them, for itself, its name, or its index. Cost O(1) by name or index.

        Raises
        ------
        UnknownMarkerError
        """
        number = None
        if isinstance(which, str):
            number = self._by_name.get(which)
        elif (number := whole_number(which)) is None:
            number = next((i for i, thing in enumerate(self.all) if thing is which), None)
        if number is not None and 0 <= number < len(self.all):
            return number
        told = (
            f"{which}" if isinstance(which, AbstractThing) else f"{self.kind} {short_repr(which)}"
        )
        hint = did_you_mean(which, self._by_name) if isinstance(which, str) else ""
        if not self.all:
            hint = "add some first"
        raise UnknownMarkerError(
            f"{told}: is none of {self.whose}",
            f"a {self.kind} of it, its name, or an index from 0 to {len(self.all) - 1}"
            if self.all
            else f"one that has a {self.kind}",
            short_repr(which),
            hint or "use one of " + listed(self._by_name),
        )
