"""Differences between two States: values, validity, and stages.

>>> from stagecache import compare
>>> from stagecache.examples import pendulum as example
>>> system = example.system()
>>> state = system.new_state()
>>> other = state.copy()
>>> system["pendulum"].angle.set(other, 0.3)
>>> print(compare(state, other))
item            what   first  second
pendulum.angle  value  0.1    0.3
>>> bool(compare(state, state.copy()))
False
"""

from collections.abc import Iterator
from typing import Any, Final, final

import numpy as np
from attrs import asdict, frozen

from stagecache.display import text
from stagecache.display.html import heading, output, table
from stagecache.errors import WrongTypeError, short_repr
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import (
    AbstractContinuousVariable,
    CacheEntry,
    DiscreteVariable,
    ScalarVariable,
    TimeVariable,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.values.sameness import same, shown
from stagecache.state.vectors.vectors import VECTORS

JOINED: Final = frozenset({"y", "q", "u", "z", "ydot", "yerr"})
"""Vectors that others are parts of, and those whose blocks are compared."""

HEADS: Final = ("item", "what", "first", "second")
ABSENT: Final = "-"


@frozen
class Difference:
    """Something that is not the same in two States.

    Attributes
    ----------
    path : str
        Of a variable or entry, as in `State.graph`; the name of a vector; "system", or the name of
        a subsystem.
    what : str
        "value"; "validity" of an entry; "stage" of the system or a subsystem; "presence" of what
        only one of them has.
    first, second : str
        What it is there, in short.
    """

    path: str
    what: str
    first: str
    second: str


@final
@frozen(repr=False, str=False)
class Comparison:
    """Differences between two States; false if there are none. Versions are not compared.

    Attributes
    ----------
    differences : tuple of Difference
    """

    differences: tuple[Difference, ...]

    def of(self, what: str) -> tuple[Difference, ...]:
        """Return the differences in "value", "validity", "stage" or "presence"."""
        return tuple([d for d in self.differences if d.what == what])

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON takes it."""
        return {"differences": [asdict(d) for d in self.differences]}

    def __len__(self) -> int:
        return len(self.differences)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def __str__(self) -> str:
        if not self.differences:
            return "no difference"
        return text.table(HEADS, self._rows(), numbers=0)

    def __repr__(self) -> str:
        return f"Comparison({len(self)} differences)"

    def _repr_html_(self) -> str:
        if not self.differences:
            return output(heading("Comparison", "no difference"))
        return output(table(HEADS, self._rows(), texts=len(HEADS), what="differences"))

    def _rows(self) -> list[tuple[str, ...]]:
        return [(d.path, d.what, d.first, d.second) for d in self.differences]


def compare(first: State, second: State) -> Comparison:
    """Return what differs between two States, item by item of the same path. Cost O(both).

    Values of variables, and of vectors and entries where both can be read; which entries are
    realized; stages. NaN is the same as NaN. Nothing is computed.

    Raises
    ------
    WrongTypeError
    """
    one, other = _Side(first), _Side(second)
    return Comparison((*_stages(one, other), *_items(one, other), *_vectors(one, other)))


@final
class _Side:
    """One of two States that are compared."""

    def __init__(self, state: object) -> None:
        if not isinstance(state, State):
            raise WrongTypeError(
                f"{short_repr(state)}: is not a State",
                "two States",
                f"an object of type {type(state).__name__}",
                "pass whole States, not parts of them",
            )
        self.contents: Contents = state._contents
        self.paths = NodePaths(self.contents)
        realization = self.contents.realization
        self.stages: dict[str | None, int] = {None: realization.machine.stage}  # of the system
        self.stages.update(zip(self.paths.subsystems, realization.machine.stages, strict=True))
        stages = set(realization.layout.stages)
        keys = realization.store.keys
        self.items = {
            path: node
            for path, node in self.paths.node.items()
            if node not in stages and not isinstance(keys[node], str) and not _is_whole(keys[node])
        }

    def is_valid(self, path: str) -> bool | None:
        """Return the validity of an entry; None for a variable."""
        store = self.contents.realization.store
        node = self.items[path]
        return store.is_valid(node) if isinstance(store.keys[node], CacheEntry) else None

    def value(self, path: str) -> Any:
        """Value of a variable or of a valid entry; `ABSENT` if it has none yet."""
        contents = self.contents
        node = self.items[path]
        key = contents.realization.store.keys[node]
        if isinstance(key, TimeVariable):
            return contents.time
        if isinstance(key, AbstractContinuousVariable):
            if node not in contents.pools.places:
                return ABSENT
            values = contents.pools.y[contents.pools.places[node]]
            return float(values[0]) if isinstance(key, ScalarVariable) else values
        assert isinstance(key, DiscreteVariable | CacheEntry)
        return contents.realization.store.values[node]


def _is_whole(key: object) -> bool:
    return isinstance(key, AbstractContinuousVariable) and key.slot < 0


def _stages(one: _Side, other: _Side) -> Iterator[Difference]:
    for name in {**one.stages, **other.stages}:
        pair = [str(Stage(s.stages[name])) if name in s.stages else ABSENT for s in (one, other)]
        if pair[0] != pair[1]:
            yield Difference(name or "system", "presence" if ABSENT in pair else "stage", *pair)


def _items(one: _Side, other: _Side) -> Iterator[Difference]:
    for path in {**one.items, **other.items}:
        there = [path in side.items for side in (one, other)]
        if not all(there):
            yield Difference(path, "presence", *["there" if t else ABSENT for t in there])
            continue
        validity = [side.is_valid(path) for side in (one, other)]
        if validity[0] != validity[1]:
            pair = ["valid" if v else "not valid" for v in validity]
            yield Difference(path, "validity", *pair)
        elif validity[0] is not False:
            yield from _value(path, one.value(path), other.value(path))


def _vectors(one: _Side, other: _Side) -> Iterator[Difference]:
    """The weights, and what is computed, of the whole State."""
    for kind in VECTORS:
        if kind.name not in JOINED:
            sides = (one.contents, other.contents)
            if all(
                c.realization.machine.stage >= kind.read and kind.name in c.pools.whole
                for c in sides
            ):
                yield from _value(kind.name, *[c.pools.whole[kind.name] for c in sides])


def _value(path: str, first: Any, second: Any) -> Iterator[Difference]:
    if not same(first, second):
        yield Difference(path, "value", *shown(_plain(first), _plain(second)))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
