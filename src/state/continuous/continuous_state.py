"""Continuous variables x, grouped into q, v and z: Drake's view of them.

::

    x   [ 1  2  3  4  5  6  7  8  9 ]      a diagram of two substates
          q  q  v  z  q  v  z  z  z
    q = [1 2 5]   v = [3 6]   z = [4 7 8 9]
"""

from collections.abc import Iterator, Mapping
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from stagecache.checks import whole_number
from stagecache.errors import (
    MissingExtraError,
    PartitionError,
    StageTooLowError,
    UnknownItemError,
    WrongTypeError,
    short_repr,
)
from stagecache.state.continuous.element_views import Elements
from stagecache.state.continuous.places import (
    Place,
    addresses,
    check_sizes,
    part_of,
    place_indices,
    place_size,
    read_only,
    vector_of,
)
from stagecache.state.vectors.conversion import converted

PARTS = ("q", "v", "z")


class AbstractContinuousState:
    """Members that a `ContinuousState` and a `DiagramContinuousState` have in common.

    The read-only properties `vector`, `q`, `v` and `z`, and the writable views that `upd_vector`,
    `upd_q`, `upd_v` and `upd_z` give, show the elements where they are. They are NumPy arrays
    where the elements lie at equal distances in one array, and an `AbstractElementView` elsewhere,
    which behaves like one.

    Two are equal if they are made up of substates of the same sizes, and the same parts of x have
    equal values in the same places.

    Attributes
    ----------
    system_id : object
        Which system it belongs to, for those who care; None at first. Not compared.
    """

    __slots__ = ("_names", "_places", "_vector", "system_id")

    _vector: Elements
    _places: Mapping[str, Place]
    _names: tuple[str, ...]  # of the elements; none: their parts and numbers
    system_id: object

    # ------------------------------------------------------------------ sizes

    @property
    def size(self) -> int:
        """The number of elements of x."""
        return len(self._vector)

    def __len__(self) -> int:
        return len(self._vector)

    @property
    def num_q(self) -> int:
        """The number of generalized positions."""
        return place_size(self._places["q"])

    @property
    def num_v(self) -> int:
        """The number of generalized velocities."""
        return place_size(self._places["v"])

    @property
    def num_z(self) -> int:
        """The number of miscellaneous variables."""
        return place_size(self._places["z"])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._vector.dtype

    # ------------------------------------------------------------------ views

    @property
    def vector(self) -> Elements:
        """All of x, read-only. Shape (size,)."""
        return read_only(self._vector)

    @property
    def q(self) -> Elements:
        """The generalized positions, read-only. Shape (num_q,)."""
        return read_only(self.upd_q())

    @property
    def v(self) -> Elements:
        """The generalized velocities, read-only. Shape (num_v,)."""
        return read_only(self.upd_v())

    @property
    def z(self) -> Elements:
        """The miscellaneous variables, read-only. Shape (num_z,)."""
        return read_only(self.upd_z())

    def upd_vector(self) -> Elements:
        """Write access to all of x."""
        return self._vector

    def upd_q(self) -> Elements:
        """Write access to q."""
        return part_of(self._vector, self._places["q"])

    def upd_v(self) -> Elements:
        """Write access to v."""
        return part_of(self._vector, self._places["v"])

    def upd_z(self) -> Elements:
        """Write access to z."""
        return part_of(self._vector, self._places["z"])

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        """Return an element of x, or a read-only view of a slice.

        Raises
        ------
        UnknownItemError
        """
        if isinstance(key, slice):
            return read_only(self._vector)[key]
        return self._vector[self._index(key)]

    def __setitem__(self, key: SupportsIndex | slice, values: ArrayLike) -> None:
        if isinstance(key, slice):
            one = not isinstance(values, list | tuple) and np.ndim(values) == 0
            shape = () if one else (len(range(*key.indices(len(self)))),)
            self._vector[key] = self._converted(values, shape)
        else:
            self._vector[self._index(key)] = self._converted(values, ())[()]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy_to_vector())

    def _index(self, key: SupportsIndex) -> int:
        index = whole_number(key)
        if index is None or not -len(self) <= index < len(self):
            raise UnknownItemError(
                f"element {short_repr(key)} of {self!r}: does not exist",
                f"an integer from {-len(self)} to {len(self) - 1}" if len(self) else "elements",
                short_repr(key),
                "use an index below its length",
            )
        return index % len(self)

    # ------------------------------------------------------------------ whole values

    def set_from_vector(self, values: ArrayLike) -> None:
        """Replace all of x.

        Raises
        ------
        ShapeError, NotANumberError
            And nothing has changed.
        """
        self._vector[:] = self._converted(values, (len(self),))

    def copy_to_vector(self) -> NDArray[Any]:
        """All of x, in an array of its own. Shape (size,)."""
        return np.array(self._vector)

    def set_from(self, other: "AbstractContinuousState") -> None:
        """Replace q, v and z by those of another one, converted to the type of the elements.

        Raises
        ------
        PartitionError
            The other one is not made up of substates of the same sizes.
        NotANumberError
            Its elements cannot be converted without loss.
        """
        mine, others = self._structure(), require_state(other)._structure()
        if mine != others:
            raise PartitionError(
                f"{self!r}: cannot be set from one that is made up differently",
                f"the sizes {_sizes_text(mine)}",
                f"the sizes {_sizes_text(others)} of {other!r}",
                "give one of the same sizes, substate by substate, or use set_from_vector()",
            )
        x = np.empty(len(self), self.dtype)
        for part in PARTS:
            values = np.asarray(part_of(other._vector, other._places[part]))
            place = place_indices(self._places[part])
            x[place] = self._converted(values, (len(place),))
        self._vector[:] = x

    def _converted(self, values: object, shape: tuple[int, ...]) -> NDArray[Any]:
        return converted(values, self.dtype, shape, repr(self))

    def clone(self, dtype: DTypeLike | None = None) -> "AbstractContinuousState":
        """Return one that owns all its elements, in the same order and parts.

        Parameters
        ----------
        dtype : dtype
            Of its elements; the same as here if it is not given.
        """
        raise NotImplementedError

    def __copy__(self) -> "AbstractContinuousState":
        return self.clone()

    def _structure(self) -> tuple[Any, ...]:
        """The sizes of q, v and z; of a diagram, the structures of its substates."""
        return (self.num_q, self.num_v, self.num_z)

    # ------------------------------------------------------------------ comparing and showing

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbstractContinuousState):
            return NotImplemented
        return (
            self._structure() == other._structure()
            and all(
                np.array_equal(place_indices(self._places[p]), place_indices(other._places[p]))
                for p in PARTS
            )
            and np.array_equal(np.asarray(self._vector), np.asarray(other._vector))
        )

    __hash__ = None  # type: ignore[assignment]  # its elements change

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{part}={_numbers_text(part_of(self._vector, self._places[part]))}" for part in PARTS
        )
        return f"{type(self).__name__}({parts})"

    def to_labeled(self) -> Any:
        """Return x as an `xarray.DataArray` along "x", with a name and a part for each element.

        Raises
        ------
        MissingExtraError
            xarray is not installed.
        """
        try:
            import xarray  # noqa: PLC0415  # optional
        except ImportError:
            raise MissingExtraError(
                "to_labeled(): xarray is not installed",
                "the extra labels",
                "none",
                "pip install 'stagecache[labels]'",
            ) from None
        parts = np.empty(len(self), "U1")
        numbers = np.empty(len(self), np.intp)
        for part in PARTS:
            indices = place_indices(self._places[part])
            parts[indices] = part
            numbers[indices] = np.arange(len(indices))
        names = self._names or [f"{p}{n}" for p, n in zip(parts, numbers, strict=True)]
        coordinates = {"x": list(names), "part": ("x", parts)}
        return xarray.DataArray(self.copy_to_vector(), dims="x", coords=coordinates)


@final
class ContinuousState(AbstractContinuousState):
    """Continuous variables in one vector, in the sequence q, v, z, or selected by `from_views`.

    Parameters
    ----------
    vector : array_like
        All of x, of one dimension and any numeric type, or of objects. An array is viewed, not
        copied. Without it, there are no elements.
    num_q, num_v, num_z : int
        How many there are of each, in this sequence; without these, all are z.

    Raises
    ------
    ShapeError, NotANumberError, PartitionError

    Examples
    --------
    >>> state = ContinuousState([1.0, 2.0, 3.0, 4.0], 2, 1, 1)
    >>> state
    ContinuousState(q=[1. 2.], v=[3.], z=[4.])
    >>> state.upd_q()[:] = 0
    >>> state.vector
    array([0., 0., 3., 4.])
    """

    __slots__ = ()

    def __init__(
        self,
        vector: ArrayLike | None = None,
        num_q: int | None = None,
        num_v: int | None = None,
        num_z: int | None = None,
    ) -> None:
        x = vector_of(() if vector is None else vector, "vector")
        sizes = check_sizes(len(x), num_q, num_v, num_z)
        places: dict[str, Place] = {}
        start = 0
        for part, count in zip(PARTS, sizes, strict=True):
            places[part] = slice(start, start + count)
            start += count
        self._become(x, places)

    def _become(
        self, vector: Elements, places: Mapping[str, Place], names: tuple[str, ...] = ()
    ) -> None:
        self._vector = vector
        self._places = places
        self._names = names
        self.system_id = None

    @classmethod
    def from_views(
        cls, vector: Elements, q: Elements, v: Elements, z: Elements
    ) -> "ContinuousState":
        """Return one whose parts lie anywhere in x.

        Parameters
        ----------
        vector : ndarray
            All of x.
        q, v, z : ndarray
            Views of the same memory, which share it out among them.

        Raises
        ------
        ShapeError, PartitionError
            Not every element of x is in exactly one of the three.
        """
        x = vector_of(vector, "vector")
        where = {address: i for i, address in enumerate(addresses(x))}
        places = {}
        for part, view in zip(PARTS, (q, v, z), strict=True):
            elements = vector_of(view, part)
            found = [where.get(address, -1) for address in addresses(elements)]
            if elements.dtype != x.dtype:
                found = [-1] * len(elements)
            places[part] = np.array(found, np.intp)
        every = np.concatenate([places[part] for part in PARTS])
        if -1 in every or len(every) != len(x) or len(set(every.tolist())) != len(x):
            raise PartitionError(
                "q, v and z: do not share out the elements of the vector",
                f"views of its memory, in which each of its {len(x)} elements is once",
                f"views of {len(q)}, {len(v)} and {len(z)} elements"
                + (", some of other memory" if -1 in every else ""),
                "make them by slicing the vector",
            )
        check_sizes(len(x), len(q), len(v), len(z))
        return cls._of(x, places)

    @classmethod
    def _of(
        cls, vector: Elements, places: Mapping[str, Place], names: tuple[str, ...] = ()
    ) -> "ContinuousState":
        new = cls.__new__(cls)
        new._become(vector, places, names)
        return new

    def clone(self, dtype: DTypeLike | None = None) -> "ContinuousState":
        """Return one that owns its elements, in the same order and parts."""
        x = self.copy_to_vector()
        if dtype is not None:
            x = converted(x, np.dtype(dtype), x.shape, repr(self), whole=True)
        twin = ContinuousState._of(x, self._places, self._names)
        twin.system_id = self.system_id
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        x = self.copy_to_vector()
        return _restored, (x, dict(self._places), self._names, self.system_id)


def _restored(
    vector: NDArray[Any], places: dict[str, Place], names: tuple[str, ...], system_id: object
) -> ContinuousState:
    """Make one that was pickled."""
    new = ContinuousState._of(vector, places, names)
    new.system_id = system_id
    return new


def require_state(state: object) -> AbstractContinuousState:
    """Return a continuous state, or raise if it is not one."""
    if isinstance(state, AbstractContinuousState):
        return state
    raise WrongTypeError(
        f"{short_repr(state)}: is not a continuous state",
        "a ContinuousState or a DiagramContinuousState",
        f"an object of type {type(state).__name__}",
        "wrap the vector in a ContinuousState, or use set_from_vector()",
    )


def _sizes_text(structure: tuple[Any, ...]) -> str:
    return str(structure).replace("(", "[").replace(")", "]")


def _numbers_text(values: Elements) -> str:
    try:
        values = np.asarray(values)
    except StageTooLowError:  # of a State that is not realized far enough
        return f"<{len(values)}, not realized>"
    return np.array2string(values, threshold=12, precision=6)
