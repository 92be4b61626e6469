"""Continuous variables x, grouped into q, v and z: Drake's view of them.

::

    x   [ 1  2  3  4  5  6  7  8  9 ]      a diagram of two substates
          q  q  v  z  q  v  z  z  z
    q = [1 2 5]   v = [3 6]   z = [4 7 8 9]
"""

from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from stagecache.checks import (
    require_extra,
    require_index,
    require_type,
    type_text,
    whole_number,
)
from stagecache.errors import (
    NotANumberError,
    PartitionError,
    ShapeError,
    StageTooLowError,
    UnknownItemError,
    WrongTypeError,
    short_repr,
)
from stagecache.state.continuous.element_views import (
    AbstractElementView,
    Elements,
    Indices,
    JoinedView,
    SelectedView,
)
from stagecache.state.vectors.conversion import FLOAT, array_of, converted

PARTS = ("q", "v", "z")

Place = slice | Indices
"""Place of a part in x: a range without gaps, or the index of each element."""


class AbstractContinuousState:
    """Members that a `ContinuousState` and a `DiagramContinuousState` have in common.

    The read-only properties `vector`, `q`, `v` and `z`, and the writable views that `upd_vector`,
    `upd_q`, `upd_v` and `upd_z` give, show the elements where they are. They are NumPy arrays
    where the elements lie at equal distances in one array; elsewhere an `AbstractElementView`,
    which behaves like one.

    Two are equal if their substates have the same sizes, and the same parts of x have equal values
    in the same places.

    Attributes
    ----------
    system_id : object
        Identity of its system, for the caller's use; None at first. Not compared.
    """

    __slots__ = ("_names", "_places", "_vector", "system_id")

    _vector: Elements
    _places: dict[str, Place]
    _names: tuple[str, ...]  # of the elements; none: their parts and numbers
    system_id: object

    # ------------------------------------------------------------------ sizes

    @property
    def size(self) -> int:
        """Number of elements of x."""
        return len(self._vector)

    def __len__(self) -> int:
        return len(self._vector)

    @property
    def num_q(self) -> int:
        """Number of generalized positions."""
        return place_size(self._places["q"])

    @property
    def num_v(self) -> int:
        """Number of generalized velocities."""
        return place_size(self._places["v"])

    @property
    def num_z(self) -> int:
        """Number of miscellaneous variables."""
        return place_size(self._places["z"])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return self._vector.dtype

    # ------------------------------------------------------------------ views

    @property
    def vector(self) -> Elements:
        """All of x, read-only. Shape (size,)."""
        return read_only(self._vector)

    @property
    def q(self) -> Elements:
        """Generalized positions, read-only. Shape (num_q,)."""
        return read_only(self.upd_q())

    @property
    def v(self) -> Elements:
        """Generalized velocities, read-only. Shape (num_v,)."""
        return read_only(self.upd_v())

    @property
    def z(self) -> Elements:
        """Miscellaneous variables, read-only. Shape (num_z,)."""
        return read_only(self.upd_z())

    def upd_vector(self) -> Elements:
        """Return a writable view of all of x."""
        return self._vector

    def upd_q(self) -> Elements:
        """Return a writable view of q."""
        return part_of(self._vector, self._places["q"])

    def upd_v(self) -> Elements:
        """Return a writable view of v."""
        return part_of(self._vector, self._places["v"])

    def upd_z(self) -> Elements:
        """Return a writable view of z."""
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
        """Write an element, or a slice.

        Raises
        ------
        UnknownItemError, NotANumberError, ShapeError
        """
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
        """Return a copy of x as an array. Shape (size,)."""
        return np.array(self._vector)

    def set_from(self, other: "AbstractContinuousState") -> None:
        """Replace q, v and z by the values of another one, converted to the type of the elements.

        Raises
        ------
        PartitionError
            Its substates have other sizes.
        NotANumberError
            Its elements cannot be converted without loss.
        """
        mine, others = self._structure(), require_state(other)._structure()
        if mine != others:
            raise PartitionError(
                f"{self!r}: cannot be set from one of other sizes",
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
        return converted(values, self.dtype, shape, self)

    def clone(self, dtype: DTypeLike | None = None) -> "AbstractContinuousState":
        """Return a copy that owns all its elements, in the same order and parts.

        Parameters
        ----------
        dtype : dtype
            Type of its elements; by default the same as here.
        """
        raise NotImplementedError

    def __copy__(self) -> "AbstractContinuousState":
        return self.clone()

    def _structure(self) -> tuple[Any, ...]:
        """Return the sizes of q, v and z; of a diagram, the structures of its substates."""
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
        xarray = require_extra("xarray", "labels", "to_labeled()")
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
        copied. The default is an empty vector.
    num_q, num_v, num_z : int
        Number of each, in this sequence; without these, all are z.

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
        self._become(x, places, (), None)

    def _become(
        self,
        vector: Elements,
        places: dict[str, Place],
        names: tuple[str, ...],
        system_id: object,
    ) -> None:
        self._vector = vector
        self._places = places
        self._names = names
        self.system_id = system_id

    @classmethod
    def from_views(
        cls, vector: Elements, q: Elements, v: Elements, z: Elements
    ) -> "ContinuousState":
        """Return a continuous state whose parts lie anywhere in x.

        Parameters
        ----------
        vector : ndarray
            All of x.
        q, v, z : ndarray
            Views of the same memory, which have each element of it once.

        Raises
        ------
        ShapeError, PartitionError
            Not every element of x is in exactly one of the three.
        """
        x = vector_of(vector, "vector")
        where = {address: i for i, address in enumerate(addresses(x))}
        places: dict[str, Place] = {}
        for part, view in zip(PARTS, (q, v, z), strict=True):
            elements = vector_of(view, part)
            found = [where.get(address, -1) for address in addresses(elements)]
            if elements.dtype != x.dtype:
                found = [-1] * len(elements)
            places[part] = np.array(found, np.intp)
        every = np.concatenate([places[part] for part in PARTS])
        if -1 in every or len(every) != len(x) or len(set(every.tolist())) != len(x):
            raise PartitionError(
                "q, v and z: do not have each element of the vector once",
                f"views of its memory that have each of its {len(x)} elements once",
                f"views of {len(q)}, {len(v)} and {len(z)} elements"
                + (", some of other memory" if -1 in every else ""),
                "make them by slicing the vector",
            )
        check_sizes(len(x), len(q), len(v), len(z))
        return cls._of(x, places)

    @classmethod
    def _of(
        cls,
        vector: Elements,
        places: dict[str, Place],
        names: tuple[str, ...] = (),
        system_id: object = None,
    ) -> "ContinuousState":
        new = cls.__new__(cls)
        new._become(vector, places, names, system_id)
        return new

    def clone(self, dtype: DTypeLike | None = None) -> "ContinuousState":
        """Return a copy that owns its elements, in the same order and parts."""
        x = self.copy_to_vector()
        if dtype is not None:
            x = converted(x, np.dtype(dtype), x.shape, self, whole=True)
        return ContinuousState._of(x, self._places, self._names, self.system_id)

    def __reduce__(self) -> tuple[Any, ...]:
        x = self.copy_to_vector()
        of = (x, self._places, self._names, self.system_id)
        return ContinuousState._of, of


@final
class DiagramContinuousState(AbstractContinuousState):
    """Several continuous states in one: their vectors end to end, and their q, v and z grouped.

    It is a view: a write in it is a write in the substates, and the other way round. A substate may
    be a diagram. `clone` returns a diagram of copies of its substates.

    Parameters
    ----------
    substates : iterable of ContinuousState or DiagramContinuousState
        Each at most once.

    Raises
    ------
    WrongTypeError
        One of them is not a continuous state.
    PartitionError
        One of them is listed twice.

    Examples
    --------
    >>> from stagecache import ContinuousState
    >>> a = ContinuousState([1, 2, 3, 4], 2, 1, 1)
    >>> b = ContinuousState([5, 6, 7, 8], 1, 1, 2)
    >>> DiagramContinuousState([a, b, ContinuousState([9])])
    DiagramContinuousState(q=[1 2 5], v=[3 6], z=[4 7 8 9])
    """

    __slots__ = ("_substates",)

    def __init__(self, substates: Iterable[AbstractContinuousState]) -> None:
        if isinstance(substates, AbstractContinuousState):
            raise WrongTypeError(
                f"{substates!r}: not a list of continuous states",
                "an iterable of continuous states",
                "a single one",
                "write DiagramContinuousState([substate])",
            )
        if not isinstance(substates, Iterable):
            require_state(substates)
        self._substates = tuple([require_state(substate) for substate in substates])
        leaves = [id(leaf) for leaf in _leaves(self._substates)]
        if len(set(leaves)) < len(leaves):
            raise PartitionError(
                "the substates: one is listed more than once",
                "each substate once",
                ", ".join(map(repr, self._substates)),
                "clone() it, for elements of its own",
            )
        starts = np.cumsum([0, *(len(substate) for substate in self._substates)])
        vectors = [substate._vector for substate in self._substates] or [np.empty(0)]
        self._vector = vectors[0] if len(vectors) == 1 else JoinedView(vectors)
        self._places = {}
        for part in PARTS:
            pairs = zip(starts[:-1], self._substates, strict=True)
            places = [start + place_indices(s._places[part]) for start, s in pairs]
            self._places[part] = np.concatenate([np.empty(0, np.intp), *places])
        self._names = ()
        self.system_id = None

    @property
    def num_substates(self) -> int:
        """Number of substates."""
        return len(self._substates)

    def substate(self, index: int) -> AbstractContinuousState:
        """Return a substate.

        Raises
        ------
        UnknownItemError
        """
        number = require_index(
            index,
            len(self._substates),
            UnknownItemError,
            f"substate {short_repr(index)}",
            "use an index below num_substates",
            nothing="a diagram with substates",
        )
        return self._substates[number]

    def clone(self, dtype: DTypeLike | None = None) -> "DiagramContinuousState":
        """Return a diagram of clones of the substates."""
        twin = DiagramContinuousState([substate.clone(dtype) for substate in self._substates])
        twin.system_id = self.system_id
        return twin

    def _structure(self) -> tuple[Any, ...]:
        return tuple([substate._structure() for substate in self._substates])

    def __reduce__(self) -> tuple[Any, ...]:
        slots = {"system_id": self.system_id}
        return DiagramContinuousState, (self._substates,), (None, slots)


def _leaves(substates: Iterable[AbstractContinuousState]) -> Iterator[AbstractContinuousState]:
    """Iterate over the substates, and over the substates of diagrams in place of these."""
    for substate in substates:
        if isinstance(substate, DiagramContinuousState):
            yield from _leaves(substate._substates)
        else:
            yield substate


def require_state(state: object) -> AbstractContinuousState:
    """Return a continuous state, or raise if it is not one."""
    return require_type(
        state,
        AbstractContinuousState,
        f"{short_repr(state)}: not a continuous state",
        "a ContinuousState or a DiagramContinuousState",
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


# ---------------------------------------------------------------------- places


def place_size(place: Place) -> int:
    """Return the number of elements of a part."""
    return int(place.stop - place.start) if isinstance(place, slice) else len(place)


def place_indices(place: Place) -> Indices:
    """Return the indices of the elements of a part in x."""
    if isinstance(place, slice):
        return np.arange(place.start, place.stop, dtype=np.intp)
    return place


def part_of(vector: Elements, place: Place) -> Elements:
    """Return a view of a part of x."""
    if isinstance(place, slice):
        return vector[place]
    if isinstance(vector, np.ndarray) and len(place) and len(set(np.diff(place).tolist())) <= 1:
        step = int(place[1] - place[0]) if len(place) > 1 else 1
        stop = int(place[-1]) + (1 if step > 0 else -1)
        return vector[int(place[0]) : None if stop < 0 else stop : step]
    return SelectedView(vector, place)


def read_only(vector: Elements) -> Elements:
    """Return the same view, read-only."""
    if isinstance(vector, AbstractElementView):
        return vector.read_only()
    view = vector[:]
    view.flags.writeable = False
    return view


def vector_of(values: ArrayLike | Elements, what: str) -> Elements:
    """Return values as a vector; an array is not copied.

    Raises
    ------
    ShapeError, NotANumberError
    """
    if isinstance(values, AbstractElementView):
        return values
    array = array_of(values, what)
    if array is not None and array.size == 0 and not isinstance(values, np.ndarray):
        array = array.astype(FLOAT)
    if array is None or array.ndim != 1:
        raise ShapeError(
            f"{what}: not a vector",
            "values in one dimension",
            f"{short_repr(values)}, of "
            + ("lists of different lengths" if array is None else f"shape {array.shape}"),
            "list the elements, or ravel() the array",
        )
    if array.dtype.kind not in "iufcO":
        raise NotANumberError(
            f"{what}: its elements are not numbers",
            "numbers, or objects that behave like numbers",
            f"{short_repr(values)}, of type {array.dtype}",
            "convert it first",
        )
    return array


def check_sizes(
    size: int, num_q: int | None, num_v: int | None, num_z: int | None
) -> tuple[int, int, int]:
    """Return the sizes of q, v and z, which add up to the size of the vector; by default all is z.

    Raises
    ------
    PartitionError
    """
    given = (num_q, num_v, num_z)
    if all(n is None for n in given):
        return (0, 0, size)
    wrong = ""
    numbers = [n for n in map(whole_number, given) if n is not None]
    if len(numbers) < len(given):
        wrong = "three integers, or none of them"
    elif min(numbers) < 0:
        wrong = "no negative number"
    elif sum(numbers) != size:
        wrong = f"numbers that add up to the {size} elements of the vector"
    elif numbers[1] > numbers[0]:
        wrong = "no more v than q"
    elif (numbers[0] == 0) != (numbers[1] == 0):
        wrong = "q and v both, or neither"
    if wrong:
        raise PartitionError(
            "the sizes of q, v and z: do not fit",
            wrong,
            f"num_q={short_repr(num_q)}, num_v={short_repr(num_v)}, num_z={short_repr(num_z)}",
            "correct them, or give the vector alone if all of it is z",
        )
    q, v, z = numbers
    return (q, v, z)


def addresses(view: Elements) -> list[int]:
    """Return the addresses of the elements in memory."""
    if not isinstance(view, np.ndarray):
        raise PartitionError(
            f"{short_repr(view)}: not an array",
            "arrays, which are views of one memory",
            type_text(view),
            "pass NumPy arrays; for others use DiagramContinuousState",
        )
    start: int = view.__array_interface__["data"][0]
    return [start + i * view.strides[0] for i in range(len(view))]
