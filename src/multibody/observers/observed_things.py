"""Things that are fixed to bodies, and their observations: what is known before anything moves.

What is computed with them is in `observer`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Generic, SupportsIndex

from numpy.typing import ArrayLike

from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.errors import ConditionError, UnknownBodyError, short_repr
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.matter import MobilizedBody
from stagecache.multibody.matter.named_things import T
from stagecache.multibody.observers.observations import Observations
from stagecache.state.state import State


class AbstractObservedThings(AssemblyCondition, Generic[T]):
    """A condition on things that are fixed to bodies of one matter, and observed.

    Parameters
    ----------
    name : str
    """

    _kind: ClassVar[str]
    """What one of them is called in messages."""

    _shape: ClassVar[tuple[int, ...]]
    """Of one observation."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._observations: Observations[T] = Observations(
            self._kind, f"{self}", self._shape, self._check_values
        )
        self._matter: Any = None

    @abstractmethod
    def _check_values(self, values: Array, label: Callable[[int], str]) -> None:
        """Refuse observations (n, ...) that are not missing, and stand for nothing."""

    # ------------------------------------------------------------------ observations

    @property
    def num_observations(self) -> int:
        """How many observations a frame has."""
        return len(self._observations.order)

    @property
    def observations(self) -> Array:
        """The observations of this frame, (num_observations, ...), read-only; NaN if missing."""
        return self._observations.values

    def observation(self, index: SupportsIndex) -> Array:
        """One observation of this frame, read-only; NaN if it is missing.

        Raises
        ------
        UnknownMarkerError
        """
        found: Array = self.observations[self._checked_observation(index)]
        return found

    @property
    def observation_order(self) -> tuple[T | None, ...]:
        """By observation, of what it is; None if it is ignored."""
        things, order = self._observations.things, self._observations.order
        return tuple(None if i is None else things[i] for i in order)

    def define_observation_order(
        self,
        order: Iterable[T | str | SupportsIndex | None] | None = None,
        *,
        ignore_unknown: bool = False,
    ) -> None:
        """Say what the numbers of a frame are observations of; all are missing then.

        Call it when all is added. What is not named has no observation. The Assembler, if there is
        one, is uninitialized.

        Parameters
        ----------
        order : sequence, optional
            By observation, a marker or sensor, its name or its index; None or "" if the observation
            is to be ignored. By default, there is an observation for each of them, in their order.
        ignore_unknown : bool
            Whether observations are ignored whose names are not known: a file may have more. By
            default they are refused, as a name may be misspelt.

        Raises
        ------
        UnknownMarkerError, ObservationError
        """
        self._observations.define_order(order, ignore=ignore_unknown)
        self.uninitialize_assembler()

    def move_one_observation(self, index: SupportsIndex, value: ArrayLike) -> None:
        """Change one observation. It is missing if any component is NaN or masked.

        Parameters
        ----------
        index : int
            Of the observation.
        value : array_like
            A position (3,) [m], or a rotation (3, 3), in ground.

        Raises
        ------
        UnknownMarkerError, ShapeError, NotANumberError, OutOfRangeError
        """
        self._observations.move_one(self._checked_observation(index), value)

    def move_all_observations(self, observations: ArrayLike) -> None:
        """Take the observations of another frame. One is missing if any component is NaN or masked.

        The array is copied. Cost some 20 us.

        Parameters
        ----------
        observations : array_like
            Positions (num_observations, 3) [m], or rotations (num_observations, 3, 3), in ground.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
        """
        self._observations.move_all(observations)

    def observation_for(self, which: T | str | SupportsIndex) -> int | None:
        """Which observation a marker or sensor has; None if it has none.

        Of what an observation is, `observation_order` says.

        Parameters
        ----------
        which : Marker, OrientationSensor, str or int
            It, its name, or its index; so below.

        Raises
        ------
        UnknownMarkerError
        """
        return self._observations.observation_of(self._index(which))

    def _checked_observation(self, index: object) -> int:
        return self._observations.checked_observation(index)

    # ------------------------------------------------------------------ weights

    def weight(self, which: T | str | SupportsIndex) -> float:
        """How much a marker or sensor counts. Raises UnknownMarkerError."""
        return self._observations.weight(self._index(which))

    def change_weight(self, which: T | str | SupportsIndex, weight: float) -> None:
        """Let a marker or sensor count more or less.

        The Assembler, if there is one, is uninitialized if the weight was 0, or is now.

        Raises
        ------
        UnknownMarkerError, ShapeError, NotANumberError, OutOfRangeError
        """
        index = self._index(which)
        thing, before = self._observations.things[index], self._observations.weight(index)
        new = self._observations.checked_weight(weight, f"{thing} of {self}")
        if new == before:
            return
        self._observations.set_weight(index, new)
        if new == 0.0 or before == 0.0:
            self.uninitialize_assembler()

    # ------------------------------------------------------------------ use by an Assembler

    def check_system(self, system: Any) -> None:
        """Refuse a System that does not have their bodies.

        Raises
        ------
        ConditionError
        """
        if self._matter is not None:
            self._check_system(self._matter, system)

    def _check_system(self, matter: Any, system: Any) -> None:
        theirs = matter.system if matter.is_adopted else None
        if theirs is not system:
            raise ConditionError(
                f"{self}: is of another System",
                f"bodies of {system!r}",
                f"bodies of {matter.name} of another one, {theirs!r}"
                if theirs
                else f"{matter!r} without one",
                "add bodies of the System that is to be assembled",
            )

    def check_observations(self) -> None:
        """Refuse to work if nothing is observed.

        Raises
        ------
        NoObservationError
        """
        self._observations.require_some()

    # ------------------------------------------------------------------ for subclasses

    def _owner(self, body: object, what: str) -> MobilizedBody:
        """A body to which something is to be fixed."""
        if not isinstance(body, MobilizedBody):
            raise UnknownBodyError(
                f"{what} of {self}: is on no body",
                "a body, as add_body() returns it",
                short_repr(body),
                "pass the body itself; by its name, it is matter.body(name)",
            )
        if self._matter is not None and body.matter is not self._matter:
            raise UnknownBodyError(
                f"{what} of {self}: is on a body of another matter",
                f"a body of {self._matter.name}, as all others",
                f"{body}",
                f"make another {type(self).__name__}() for that matter",
            )
        if self.is_in_assembler:
            self._check_system(body.matter, self.assembler.system)
        return body

    def _add(self, thing: T, weight: float) -> None:
        self._observations.add(thing, weight)
        self._matter = thing.body.matter
        self.uninitialize_condition()
        self.uninitialize_assembler()

    def _index(self, which: object) -> int:
        return self._observations.named.index_of(which)

    def _state_or_internal(self, state: State | None) -> State:
        if state is None:
            internal: State = self.assembler.internal_state
            return internal
        if self._matter is not None:
            self._matter.system._require_own(state)
        return state

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.name!r}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self._observations.things)} of them)"
