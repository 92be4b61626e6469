"""A State as a continuous state: a write in it is a write of the State."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import PartitionError
from stagecache.state.contents.contents import Contents, HasContents
from stagecache.state.continuous.continuous_state import PARTS, ContinuousState, Place
from stagecache.state.continuous.element_views import AbstractElementView, Indices, JoinedView
from stagecache.state.handles import AbstractContinuousVariable
from stagecache.state.vectors.vectors import QDOT, UDOT, ZDOT, Q, U, VectorKind, Z


@final
class LiveVector(AbstractElementView):
    """A vector of a State, or a subsystem's part of one, wherever the State keeps it now.

    A write counts as a write of the blocks that it touches; if it touches all, of the whole vector.

    Parameters
    ----------
    state : State or SubsystemState
    kind : VectorKind
    subsystem : int or None
    """

    __slots__ = ("_kind", "_size", "_state", "_subsystem")

    def __init__(self, state: HasContents, kind: VectorKind, subsystem: int | None) -> None:
        super().__init__()
        self._state = state
        self._kind = kind
        self._subsystem = subsystem
        self._size = state._contents.size(kind.part, subsystem)

    def __len__(self) -> int:
        return self._size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements of all vectors of a State."""
        return np.dtype(np.float64)

    def _gather(self, indices: Indices) -> NDArray[Any]:
        self._require_size()
        return self._state._contents.view(self._kind, self._subsystem)[indices]

    def _scatter(self, indices: Indices, values: NDArray[Any]) -> None:
        self._require_size()
        blocks = blocks_of(self._state._contents, self._kind.part, self._subsystem)
        filled = [place.start for place, _ in blocks if place.start < place.stop]
        owners = [block for place, block in blocks if place.start < place.stop]
        which = np.searchsorted(filled, indices, side="right") - 1
        touched = np.unique(which)
        if not self._kind.is_variable or len(touched) == len(filled):
            self._state._contents.upd(self._kind, self._subsystem)[indices] = values
            return
        for i in touched:
            mine = which == i
            self._state._contents.upd_block(owners[i])[indices[mine] - filled[i]] = values[mine]

    def _require_writable(self) -> None:
        super()._require_writable()
        self._require_size()

    def _require_size(self) -> None:
        """Raise `PartitionError` if Model was realized anew with another size."""
        size = self._state._contents.size(self._kind.part, self._subsystem)
        if size != self._size:
            raise PartitionError(
                f"a view of {self._kind.name}: the size has changed since",
                f"{size} elements",
                f"a view of {self._size}",
                "ask the State for a new continuous_state",
            )


def blocks_of(
    contents: Contents, part: str, subsystem: int | None
) -> list[tuple[slice, AbstractContinuousVariable]]:
    """Return the blocks of q, u or z, each with its place in that vector."""
    layout = contents.realization.layout
    places = contents.pools.places
    subsystems = layout.subsystems if subsystem is None else [layout.subsystems[subsystem]]
    blocks = [block for s in subsystems for block in s.blocks[part]]
    whole = layout.variables[part] if subsystem is None else subsystems[0].whole[part]
    first = places[whole._node].start
    return [(slice(places[b._node].start - first, places[b._node].stop - first), b) for b in blocks]


def live_state(state: HasContents, subsystem: int | None) -> ContinuousState:
    """Return the continuous variables of a State or subsystem as a continuous state."""
    return _joined(state, (Q, U, Z), subsystem)


def live_derivatives(state: HasContents, subsystem: int | None) -> ContinuousState:
    """Return their time derivatives in the same structure."""
    return _joined(state, (QDOT, UDOT, ZDOT), subsystem)


def _joined(
    state: HasContents, kinds: tuple[VectorKind, ...], subsystem: int | None
) -> ContinuousState:
    contents = state._contents
    vectors = [LiveVector(state, kind, subsystem) for kind in kinds]
    places: dict[str, Place] = {}
    names: list[str] = []
    start = 0
    for part, kind, vector in zip(PARTS, kinds, vectors, strict=True):
        places[part] = slice(start, start + len(vector))
        start += len(vector)
        for place, block in blocks_of(contents, kind.part, subsystem):
            names += _names(contents, block, place.stop - place.start)
    return ContinuousState._of(JoinedView(vectors), places, tuple(names))


def _names(contents: Contents, block: AbstractContinuousVariable, size: int) -> list[str]:
    """Return names of the elements of a block: "cart.position", "arm.elbow", "arm.angles[0]"."""
    x = block.subsystem or 0
    owner = contents.realization.layout.subsystems[x].name or str(x)
    if declared := block._names_of(size):
        return [f"{owner}.{name}" for name in declared]
    name = f"{owner}.{block._name or f'{block.kind}{block.index}'}"
    return [name] if size == 1 else [f"{name}[{i}]" for i in range(size)]
