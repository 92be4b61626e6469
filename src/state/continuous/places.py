"""Places of the elements of q, v and z in x."""

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import whole_number
from stagecache.errors import NotANumberError, PartitionError, ShapeError, short_repr
from stagecache.state.continuous.element_views import (
    AbstractElementView,
    Elements,
    Indices,
    JoinedView,
    SelectedView,
)
from stagecache.state.vectors.conversion import FLOAT, array_of

Place = slice | Indices
"""Place of a part: a range without gaps, or the index of each element."""


def place_size(place: Place) -> int:
    """The number of elements of a part."""
    return int(place.stop - place.start) if isinstance(place, slice) else len(place)


def place_indices(place: Place) -> Indices:
    """Return where in x the elements of a part are."""
    if isinstance(place, slice):
        return np.arange(place.start, place.stop, dtype=np.intp)
    return place


def part_of(vector: Elements, place: Place) -> Elements:
    """A view of a part of x."""
    if isinstance(place, slice):
        return vector[place]
    if isinstance(vector, np.ndarray) and len(place) and len(set(np.diff(place).tolist())) <= 1:
        step = int(place[1] - place[0]) if len(place) > 1 else 1
        stop = int(place[-1]) + (1 if step > 0 else -1)
        return vector[int(place[0]) : None if stop < 0 else stop : step]
    return SelectedView(vector, place)


def read_only(vector: Elements) -> Elements:
    """The same view, through which nothing can be written."""
    if isinstance(vector, AbstractElementView):
        return vector.read_only()
    view = vector[:]
    view.flags.writeable = False
    return view


def join(vectors: list[Elements]) -> Elements:
    """One vector of several, end to end."""
    return vectors[0] if len(vectors) == 1 else JoinedView(vectors)


def vector_of(values: ArrayLike | Elements, what: str) -> Elements:
    """The values as a vector; an array is not copied.

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
            f"{what}: is not a vector",
            "values in one dimension",
            f"{short_repr(values)}, of "
            + ("lists of different lengths" if array is None else f"shape {array.shape}"),
            "list the elements, or ravel() the array",
        )
    if array.dtype.kind not in "iufcO":
        raise NotANumberError(
            f"{what}: has no elements to compute with",
            "numbers, or objects that behave like numbers",
            f"{short_repr(values)}, of type {array.dtype}",
            "convert it first",
        )
    return array


def check_sizes(
    size: int, num_q: int | None, num_v: int | None, num_z: int | None
) -> tuple[int, int, int]:
    """The sizes of q, v and z as integers that make up the vector; without any, all is z.

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
    """Return where the elements are in memory."""
    if not isinstance(view, np.ndarray):
        raise PartitionError(
            f"{short_repr(view)}: is not an array",
            "arrays, which are views of one memory",
            f"an object of type {type(view).__name__}",
            "pass NumPy arrays; for others use DiagramContinuousState",
        )
    start: int = view.__array_interface__["data"][0]
    return [start + i * view.strides[0] for i in range(len(view))]
