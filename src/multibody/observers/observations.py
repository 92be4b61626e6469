r"""Observations of markers or sensors, with their order and weights.

Markers and sensors are called things here; they have names and indices. Observations come in
frames: arrays of a fixed order, which may leave some things out, and have others to ignore::

    observation   0      1      2      3            an observation with a NaN is missing in a frame
    thing         hip    -      knee   heel

A thing counts in a frame if its observation is not missing, its weight w is not 0, and its body can
move::

    goal = 1/2 sum w |r|^2 / sum w

After Simbody's `Markers` and `OrientationSensors`, which have all of this in common.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Generic, TypeVar, final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from stagecache.checks import (
    did_you_mean,
    require_index,
    require_new_name,
    require_number,
    require_text,
    whole_number,
)
from stagecache.errors import (
    NoObservationError,
    ObservationError,
    ShapeError,
    UnknownMarkerError,
    listed,
    short_repr,
)
from stagecache.multibody.checks import checked_array
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.tree.layout import Indices
from stagecache.state.vectors.conversion import ANY


@frozen(eq=False)
class AbstractThing:
    """A thing that is fixed to a body: a marker or a sensor. It is const, equal to itself only.

    Attributes
    ----------
    name : str
    index : int
        Things of one observer are numbered as they were added.
    body : MobilizedBody
    """

    name: str
    index: int
    body: MobilizedBody


T = TypeVar("T", bound=AbstractThing)


@final
class Frame:
    """The things that count in one frame. It is const.

    Attributes
    ----------
    things : ndarray of int, (k,)
        Their indices, in ascending order.
    targets : ndarray of shape (k, ...)
        Their observations.
    factors : ndarray of shape (k, 1)
        sqrt(w / sum w).
    """

    __slots__ = ("factors", "targets", "things")

    def __init__(self, things: Indices, targets: Array, weights: Array) -> None:
        self.things = things
        self.targets = targets
        self.factors: Array = np.sqrt(weights / weights.sum())[:, None]


@final
class Observations(Generic[T]):
    """Some things, numbered as they were added, and their observations and weights.

    Parameters
    ----------
    kind : str
        The name of one of them in errors: "marker".
    whose : str
        The name of their owner in errors: "Markers 'foot'".
    shape : tuple of int
        The shape of one observation.
    check : callable
        Called with observations (n, ...), and a function that returns the name of one of them for
        errors; raises where values are neither valid nor missing.

    Attributes
    ----------
    things : tuple
        By index.
    """

    def __init__(
        self,
        kind: str,
        whose: str,
        shape: tuple[int, ...],
        check: Callable[[Array, Callable[[int], str]], None],
    ) -> None:
        self.kind = kind
        self.whose = whose
        self.shape = shape
        self.things: tuple[T, ...] = ()
        self._by_name: dict[str, int] = {}
        self._check = check
        self._weights: list[float] = []
        self._order: tuple[int | None, ...] | None = None
        self._values: Array | None = None
        self._frame: Frame | None = None
        self._pairs: tuple[Indices, Indices, Array] | None = None

    # ------------------------------------------------------------------ things

    def new_name(self, name: object) -> str:
        """Return the name of a thing to add: the given one, or the default for "".

        Raises
        ------
        InvalidNameError, DuplicateNameError
        """
        hint = 'give one, or "" for the default'
        text = require_text(name, f"the name of a {self.kind} of {self.whose}", hint).strip()
        text = text or f"{self.kind} {len(self.things)}"
        return require_new_name(
            text, self._by_name, self.kind, f"give it another name, for {self.whose}"
        )

    def add(self, thing: T, weight: float) -> None:
        """Add a thing with the next index. The order, and all observations, are forgotten."""
        self._by_name[thing.name] = len(self.things)
        self.things = (*self.things, thing)
        self._weights.append(weight)
        self._order = self._values = None
        self._changed()

    def index_of(self, which: object) -> int:
        """Return the index of a thing, for itself, its name, or its index.

        Cost O(1) by name or index.

        Raises
        ------
        UnknownMarkerError
        """
        number = None
        if isinstance(which, str):
            number = self._by_name.get(which)
        elif (number := whole_number(which)) is None:
            number = next((i for i, thing in enumerate(self.things) if thing is which), None)
        if number is not None and 0 <= number < len(self.things):
            return number
        what = (
            f"{which}" if isinstance(which, AbstractThing) else f"{self.kind} {short_repr(which)}"
        )
        hint = did_you_mean(which, self._by_name) if isinstance(which, str) else ""
        if not self.things:
            hint = "add some first"
        raise UnknownMarkerError(
            f"{what}: not in {self.whose}",
            f"a {self.kind} of it, its name, or an index from 0 to {len(self.things) - 1}"
            if self.things
            else f"one that has a {self.kind}",
            short_repr(which),
            hint or "use one of " + listed(self._by_name),
        )

    def checked_weight(self, weight: object, what: str) -> float:
        """Return a weight as a float, 0 or more."""
        return require_number(weight, f"the weight of {what}", "give 0 to leave it out", least=0.0)

    def weight(self, thing: int) -> float:
        """Return the weight of a thing."""
        return self._weights[thing]

    def set_weight(self, thing: int, weight: float) -> None:
        """Change the weight of a thing."""
        self._weights[thing] = weight
        self._changed()

    # ------------------------------------------------------------------ their order

    @property
    def order(self) -> tuple[int | None, ...]:
        """The index of the thing of each observation, or None."""
        if self._order is None:
            self._order = tuple(range(len(self.things)))
        return self._order

    def define_order(self, order: Iterable[object] | None, *, ignore: bool) -> None:
        """Define the things of the observations; see `AbstractObserver`."""
        if order is None:
            found: list[int | None] = list(range(len(self.things)))
        else:
            items = _listed(order, self.whose)
            found = [self._index_in_order(item, ignore=ignore) for item in items]
        for observation, thing in enumerate(found):
            if thing is not None and thing in found[:observation]:
                name = self.things[thing].name
                raise ObservationError(
                    f"the observations of {self.whose}: {self.kind} {name!r} is named twice",
                    f"one observation for each {self.kind}",
                    f"observations {found.index(thing)} and {observation}",
                    "give None for an observation that is to be ignored",
                )
        self._order = tuple(found)
        self._values = None
        self._changed()

    def _index_in_order(self, item: object, *, ignore: bool) -> int | None:
        if item is None or (isinstance(item, str) and not item):
            return None
        if ignore and isinstance(item, str) and item not in self._by_name:
            return None
        try:
            return self.index_of(item)
        except UnknownMarkerError as error:
            hint = (
                f"{error.hint}; or None for an observation that is to be ignored, and "
                "ignore_unknown=True for all with unknown names"
            )
            raise UnknownMarkerError(error.what, error.expected, error.got, hint) from None

    def observation_of(self, thing: int) -> int | None:
        """Return the index of the observation of a thing, or None."""
        return self.order.index(thing) if thing in self.order else None

    def checked_observation(self, which: object) -> int:
        """Return the index of an observation."""
        return require_index(
            which,
            len(self.order),
            UnknownMarkerError,
            f"observation {short_repr(which)} of {self.whose}",
            f"add each {self.kind} first, then call define_observation_order()",
            nothing="one that has observations",
        )

    # ------------------------------------------------------------------ their values

    @property
    def values(self) -> Array:
        """All observations, (n, ...), read-only; NaN where they are missing."""
        if self._values is None:
            self._values = np.full((len(self.order), *self.shape), np.nan)
            self._values.flags.writeable = False
        return self._values

    def move_one(self, observation: int, value: ArrayLike) -> None:
        """Change one observation."""
        label = self.label(observation)
        one = checked_array(value, self.shape, label, may_be_nan=True)
        self._check(one[None], lambda _: label)
        values = self.values.copy()
        values[observation] = one
        values.flags.writeable = False
        self._values = values
        self._frame = None

    def move_all(self, values: ArrayLike) -> None:
        """Take the observations of another frame."""
        what, count = f"the observations of {self.whose}", len(self.order)
        found = checked_array(values, (ANY, *self.shape), what, may_be_nan=True)
        if len(found) != count:
            raise ShapeError(
                f"{what}: not as many as defined",
                f"shape {(count, *self.shape)}, by the order of observations",
                f"shape {found.shape}",
                "call define_observation_order(), with None for those that are to be ignored",
            )
        self._check(found, self.label)
        self._values = found
        self._frame = None

    def label(self, observation: int) -> str:
        """Return the name of an observation in errors."""
        thing = self.order[observation]
        of = "" if thing is None else f" ({self.kind} {self.things[thing].name!r})"
        return f"observation {observation}{of} of {self.whose}"

    # ------------------------------------------------------------------ frames

    @property
    def frame(self) -> Frame | None:
        """The things that count now; None without any. Cost 10 us after a change, then 0."""
        if self._frame is None:
            self._frame = self._frame_of(*self._counting())
        return self._frame

    @property
    def all_observed(self) -> Frame | None:
        """The things that are observed now, even if they do not count; None without any."""
        pairs = sorted(
            (thing, place) for place, thing in enumerate(self.order) if thing is not None
        )
        things, places = np.array(pairs, np.intp).reshape(-1, 2).T
        return self._frame_of(things, places, np.ones(len(pairs)))

    def _frame_of(self, things: Indices, places: Indices, weights: Array) -> Frame | None:
        """Return the frame of those things whose observations are not missing."""
        targets = self.values[places]
        is_missing = np.isnan(targets).any(axis=tuple(range(1, targets.ndim)))
        if is_missing.any():
            there = np.flatnonzero(~is_missing)
            things, targets, weights = things[there], targets[there], weights[there]
        return Frame(things, targets, weights) if len(things) else None

    def require_some(self) -> None:
        """Refuse to go on where no thing counts.

        Raises
        ------
        NoObservationError
        """
        if self.frame is not None:
            return
        things, places, _ = self._counting()
        if len(things):
            why = f"all {len(places)} observations are missing: they are NaN, or were never given"
            hint = "call move_all_observations(), or leave out what is not observed by weight 0"
        elif not self.things:
            why, hint = f"it has no {self.kind}", "add some"
        else:
            why = f"each {self.kind} has weight 0, no observation, or is fixed to the ground"
            hint = "change weights, or the order of observations"
        raise NoObservationError(
            f"{self.whose}: nothing is observed", f"one {self.kind} or more that is", why, hint
        )

    def _counting(self) -> tuple[Indices, Indices, Array]:
        """Return, by thing that may count: its index, its observation, its relative weight."""
        if self._pairs is None:
            pairs = sorted(
                (thing, observation)
                for observation, thing in enumerate(self.order)
                if thing is not None
                and self._weights[thing] > 0.0
                and self.things[thing].body.index
            )
            both = np.array(pairs, np.intp).reshape(-1, 2)
            weights = np.array([self._weights[thing] for thing, _ in pairs])
            weights /= weights.max(initial=0.0) or 1.0  # so that their sum is finite
            self._pairs = both[:, 0], both[:, 1], weights
        return self._pairs

    def _changed(self) -> None:
        self._frame = self._pairs = None


def _listed(order: object, whose: str) -> list[object]:
    """Return the items of an order; refuse strings, and collections without an order."""
    if isinstance(order, Iterable) and not isinstance(order, str | Set | Mapping):
        return list(order)
    raise ObservationError(
        f"the order of observations of {whose}: not a sequence",
        "a sequence of names, things or indices; None for the default",
        short_repr(order),
        "give a list",
    )
