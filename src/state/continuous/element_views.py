r"""Vectors of elements that lie anywhere: joined end to end, or selected one by one.

They look like one-dimensional NumPy arrays and are views, as slices of an array are: reads and
writes go to the original elements. ::

    first [0 1 2]     second [3 4]
              \         /
       JoinedView [0 1 2 3 4]   -->   SelectedView of items 4 and 1: [4 1]
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self, final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike, DTypeLike, NDArray

from stagecache.errors import ReadOnlyError, UnknownItemError, short_repr
from stagecache.state.vectors.conversion import converted

Indices = NDArray[np.intp]


class AbstractElementView(NDArrayOperatorsMixin, ABC):
    """A one-dimensional view of elements, wherever they lie.

    Arithmetic and NumPy's functions take it like an array, and return arrays. A slice of it is a
    view as well; an array of indices or of booleans selects a copy.
    """

    __slots__ = ("_writeable",)

    def __init__(self, *, writeable: bool = True) -> None:
        self._writeable = writeable

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""

    @abstractmethod
    def _gather(self, indices: Indices) -> NDArray[Any]: ...

    @abstractmethod
    def _scatter(self, indices: Indices, values: NDArray[Any]) -> None: ...

    @property
    def shape(self) -> tuple[int]:
        """Number of elements, in a tuple."""
        return (len(self),)

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self)

    @property
    def ndim(self) -> int:
        """1."""
        return 1

    @property
    def writeable(self) -> bool:
        """True if elements can be written through this view."""
        return self._writeable

    def read_only(self) -> Self:
        """Return the same view, read-only."""
        twin = copy.copy(self)
        twin._writeable = False
        return twin

    def __getitem__(self, key: Any) -> Any:
        """Return an element, or several.

        Raises
        ------
        UnknownItemError
        """
        chosen = self._chosen(key)
        if isinstance(key, slice):
            return SelectedView(self, chosen, writeable=self._writeable)
        found = self._gather(np.ravel(chosen))
        return found[0] if np.ndim(chosen) == 0 else found.reshape(np.shape(chosen))

    def __setitem__(self, key: Any, values: ArrayLike) -> None:
        """Write an element, or several.

        Raises
        ------
        UnknownItemError, ReadOnlyError, ShapeError, NotANumberError
        """
        self._require_writable()
        chosen = self._chosen(key)
        given = converted(values, self.dtype, None, self)
        try:
            array = np.broadcast_to(given, np.shape(chosen))
        except ValueError:
            array = converted(values, self.dtype, np.shape(chosen), self)  # raises
        self._scatter(np.ravel(chosen), np.ravel(array))

    def _chosen(self, key: Any) -> Any:
        """Return the indices that a key stands for."""
        if isinstance(key, int | np.integer) and 0 <= key < len(self):
            return np.intp(key)  # the usual one, at no cost that grows with the size
        try:
            return np.arange(len(self), dtype=np.intp)[key]
        except IndexError:
            raise UnknownItemError(
                f"{self!r}: has no element {short_repr(key)}",
                f"an index from 0 to {len(self) - 1}, a slice, or an array of indices",
                short_repr(key),
                "count from 0",
            ) from None

    def _require_writable(self) -> None:
        """Raise `ReadOnlyError` before anything is written, if an element is read-only."""
        if not self._writeable:
            raise _not_writable(len(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def copy(self) -> NDArray[Any]:
        """Return a copy of the elements as an array."""
        return self._gather(np.arange(len(self), dtype=np.intp))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("the elements of this view lie apart: an array of them is a copy")
        return self.copy() if dtype is None else self.copy().astype(dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = [np.asarray(i) if isinstance(i, AbstractElementView) else i for i in inputs]
        if method == "at" and isinstance(inputs[0], AbstractElementView):
            ufunc.at(*arrays, **options)  # which changes the first in place
            inputs[0][:] = arrays[0]
            return None
        out = options.pop("out", ())
        if any(isinstance(o, AbstractElementView) for o in out):
            (target,) = out  # as of an augmented assignment
            found = target.copy()
            getattr(ufunc, method)(*arrays, out=(found,), **options)
            target[:] = found
            return target
        if out:
            options["out"] = out
        return getattr(ufunc, method)(*arrays, **options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({np.array2string(self.copy(), threshold=12)})"


Elements = NDArray[Any] | AbstractElementView


@final
class JoinedView(AbstractElementView):
    """Several vectors, end to end.

    Parameters
    ----------
    parts : sequence of ndarray or AbstractElementView
        One-dimensional vectors, at least one.
    """

    __slots__ = ("_ends", "_parts")

    def __init__(self, parts: Sequence[Elements]) -> None:
        super().__init__()
        self._parts = tuple(parts)
        self._ends = np.cumsum([0, *(len(part) for part in parts)])

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type to which all parts can be converted."""
        return np.result_type(*(part.dtype for part in self._parts))

    def _gather(self, indices: Indices) -> NDArray[Any]:
        found = np.empty(len(indices), self.dtype)
        for part, mine, theirs in self._split(indices):
            found[mine] = part[theirs]
        return found

    def _scatter(self, indices: Indices, values: NDArray[Any]) -> None:
        writes = [
            (part, theirs, converted(values[mine], part.dtype, None, self, whole=True))
            for part, mine, theirs in self._split(indices)
        ]
        for part, theirs, given in writes:
            part[theirs] = given

    def _require_writable(self) -> None:
        super()._require_writable()
        for part in self._parts:
            require_writable(part)

    def _split(self, indices: Indices) -> Iterator[tuple[Elements, Indices, Indices]]:
        """Iterate over parts, each with the positions of its indices and their places in it."""
        which = np.searchsorted(self._ends, indices, side="right") - 1
        for i in np.unique(which):
            mine = np.flatnonzero(which == i)
            yield self._parts[i], mine, indices[mine] - self._ends[i]


@final
class SelectedView(AbstractElementView):
    """Some elements of a vector, in any order.

    Parameters
    ----------
    whole : ndarray or AbstractElementView
        One-dimensional.
    indices : ndarray of int
        Their places in it.
    """

    __slots__ = ("_indices", "_whole")

    def __init__(self, whole: Elements, indices: Indices, *, writeable: bool = True) -> None:
        super().__init__(writeable=writeable)
        self._whole = whole
        self._indices = indices

    def __len__(self) -> int:
        return len(self._indices)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements of the vector."""
        return self._whole.dtype

    def _gather(self, indices: Indices) -> NDArray[Any]:
        return np.asarray(self._whole[self._indices[indices]])

    def _scatter(self, indices: Indices, values: NDArray[Any]) -> None:
        self._whole[self._indices[indices]] = values

    def _require_writable(self) -> None:
        super()._require_writable()
        require_writable(self._whole)


def require_writable(elements: Elements) -> None:
    """Raise `ReadOnlyError`, or `PartitionError`, if the elements cannot be written."""
    if isinstance(elements, AbstractElementView):
        elements._require_writable()
    elif not elements.flags.writeable:
        raise _not_writable(len(elements))


def _not_writable(size: int) -> ReadOnlyError:
    return ReadOnlyError(
        f"view of {size} elements: cannot be written through",
        "a writable view",
        "a read-only one",
        "use what upd_vector(), upd_q(), upd_v() or upd_z() returns, of arrays that are writable",
    )
