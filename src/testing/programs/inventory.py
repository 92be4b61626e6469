"""Inventory of a System: its items, and strategies for the values of variables.

A strategy that a user gives replaces the one of its variable. The others follow from the first
value, in the default State. They always include their bounds, and never NaN or an infinite number:

========================  ===========================================================
a first value that is     is written as
========================  ===========================================================
a float                   0, 1, -1; the first value, its half, double, negative, and
                          one more; other numbers from -1000 to 1000
an int                    the same, whole
an int, of an option      0 to 2 more than the first value (it may be a size)
a bool, an enum member    any bool, any member
a string                  the first value, "", and short texts
a tuple, a dict           one with as many items, with the same keys
a list, a set             one with up to two items more
an array                  one of the same shape and dtype
None, any other type      the first value, always
========================  ===========================================================
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stagecache.checks import require_type, wrong_type
from stagecache.errors import UnknownItemError, short_repr
from stagecache.state.handles import AbstractHandle
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.values.sameness import same
from stagecache.state.vectors.vectors import CONTINUOUS, WEIGHTS
from stagecache.system.core.system import System
from stagecache.testing.items import (
    TIME,
    Item,
    blocks_of,
    discrete_of,
    entries_of,
    variables_of,
)
from stagecache.testing.oracle.comparison import outcome_of
from stagecache.testing.oracle.oracle import Snapshot
from stagecache.testing.programs.files import can_be_saved
from stagecache.testing.programs.writes import OTHER, Related

MOST: Final = 1000
MOST_DRAWS: Final = 5
ROUND: Final = 3  # decimals of a number, so that programs are short


def floats(first: float = 1.0) -> st.SearchStrategy[float]:
    """Return a strategy of moderate floats, some of them related to the first value."""
    first = float(first)
    if not -MOST <= first <= MOST:
        first = 1.0
    special = [0.0, 1.0, -1.0, first, first / 2, 2 * first, -first, first + 1]
    return st.one_of(
        st.sampled_from(list(dict.fromkeys(special))),
        st.floats(-MOST, MOST, allow_nan=False, allow_subnormal=False).map(_rounded),
    )


def integers(first: int = 1) -> st.SearchStrategy[int]:
    """Return a strategy of moderate integers, likewise."""
    first = first if -MOST <= first <= MOST else 1
    special = [0, 1, -1, first, 2 * first, first + 1]
    return st.one_of(st.sampled_from(list(dict.fromkeys(special))), st.integers(-MOST, MOST))


def like(first: Any) -> st.SearchStrategy[Any]:
    """Return a strategy of values like the first one, in type and size."""
    if isinstance(first, np.ndarray):
        return _arrays(first)
    if isinstance(first, np.generic):
        return _arrays(np.asarray(first)).map(lambda array: array[()])
    if isinstance(first, Enum):
        return st.sampled_from(list(type(first)))
    kind = type(first)
    if kind is bool:
        return st.booleans()
    if kind is int:
        return integers(first)
    if kind is float:
        return floats(first)
    if kind is complex:
        return st.builds(complex, floats(first.real), floats(first.imag))
    if kind is str:
        return st.sampled_from([first, "", first + "a"]) | st.text(max_size=4)
    if kind is tuple:
        return st.tuples(*map(like, first))
    if kind is dict:
        return st.fixed_dictionaries({key: like(value) for key, value in first.items()})
    if kind in (list, set, frozenset) and first:
        found = [like(item) for item in list(first)[:4]]
        return st.lists(st.one_of(found), max_size=len(first) + 2).map(kind)
    return st.just(first)


def options_like(first: Any) -> st.SearchStrategy[Any]:
    """Return values of a modeling option, on which sizes may depend."""
    if type(first) is int and first >= 0:
        return st.integers(0, first + 2)
    if type(first) is float and first >= 0:
        return st.sampled_from([0.0, 1.0, first, first + 1, first / 2])
    return like(first)


def _arrays(first: np.ndarray[Any, Any]) -> st.SearchStrategy[Any]:
    kind = first.dtype.kind
    elements: st.SearchStrategy[Any]
    if kind == "f":
        elements = floats(float(first.flat[0]) if first.size else 1.0)
        if first.dtype.itemsize < 8:
            elements = st.integers(-MOST, MOST).map(float)
    elif kind in "iu":
        info = np.iinfo(first.dtype)
        elements = st.integers(max(-MOST, int(info.min)), min(MOST, int(info.max)))
    elif kind == "b":
        elements = st.booleans()
    elif kind == "c":
        elements = st.builds(complex, st.integers(-MOST, MOST), st.integers(-MOST, MOST))
    else:
        return st.just(first)
    return hnp.arrays(first.dtype, first.shape, elements=elements)


def _rounded(value: float) -> float:
    return round(value, ROUND) + 0.0  # no negative zero


Strategies = Mapping[AbstractHandle, st.SearchStrategy[Any]]

MOST_NUMBERS: Final = 6  # that are drawn for a block; more are repetitions of these


class Inventory:
    """Items of a System, and strategies for the values of its variables.

    Parameters
    ----------
    system : System
    strategies : mapping of handle to strategy, optional
        Strategies in place of the default ones of this module.

    Attributes
    ----------
    values : dict of Item to strategy
        Strategies for the time, discrete variables and blocks.
    variables : list of Item
        These, without the time.
    given : frozenset of Item
        Variables with strategies of the user.
    entries : list of Item
    first : dict of Item to object
        Values of the variables in the default State.
    vectors, weights : list of (str, int or None)
        By name and subsystem.
    auto_updated : list of Item
        Variables with automatic updates.
    costly : frozenset of Item
        Variables whose writes make an expensive entry stale. A program writes at most one of them,
        and always the same value.
    can_be_saved : bool
        True if a State can be saved and loaded.
    reads_in_threads : bool
        True if programs read in several threads, as in `check_threads`.
    writes_costly : bool
        True if programs write costly variables.
    scout : tuple of (Item, list of Item), or None
        An expensive entry, and the variables on which it must not depend: the next program tries
        that.

    Raises
    ------
    WrongTypeError
        The System is not one, or the strategies are not a mapping.
    UnknownItemError
        A strategy is given for something that is not a variable of the System.
    """

    def __init__(self, system: System, strategies: Strategies | None = None) -> None:
        hint = "pass the System of the model"
        require_type(system, System, f"{short_repr(system)}: not a System", "a System", hint)
        state = system.new_state()
        outcome_of(lambda: system.realize(state, Stage.INSTANCE))  # for its sizes
        given = _by_item(state, {} if strategies is None else strategies)
        self.values: dict[Item, st.SearchStrategy[Any]] = {}
        for item, handle in discrete_of(state):
            infer = options_like if handle.invalidates == Stage.MODEL else like
            self.values[item] = given[item] if item in given else _another(infer, handle(state))
        for kind in CONTINUOUS:
            for item, block in blocks_of(state, kind):
                self.values[item] = _numbers(block(state), given.get(item))
        self.values[TIME] = given.get(TIME, floats())
        self.variables = [item for item in self.values if item != TIME]
        self.given = frozenset(given)
        self.entries = [item for item, _ in entries_of(state)]
        self.vectors = [*_vectors(state)]
        self.weights = [(kind.name, x) for kind, x in _vectors_of_weights(state)]
        self.auto_updated = [i for i, handle in discrete_of(state) if handle.update is not None]
        self.first = Snapshot.of(state).values
        self._model = [
            (s.name, type(s).__module__, type(s).__qualname__) for s in system.subsystems
        ]
        self.costly: frozenset[Item] = frozenset()
        self.can_be_saved = can_be_saved(system, state)
        self.reads_in_threads = False
        self.writes_costly = True
        self.scout: tuple[Item, list[Item]] | None = None
        self._costly_values: dict[Item, Any] = {}

    @property
    def key(self) -> str:
        """The model, and how programs for it are drawn now: a name for what is kept of these."""
        return f"{self._model} {self.scout} {self.writes_costly and sorted(map(str, self.costly))}"

    @property
    def has_auto_update(self) -> bool:
        """True if a variable has an automatic update that makes no expensive entry stale."""
        return bool(self.auto_updated) and self.costly.isdisjoint(self.auto_updated)

    def other_value(self, item: Item, draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
        """Draw a value that a variable does not have at first; a related one if that is rare."""
        first = self.first.get(item)
        for _ in range(MOST_DRAWS):
            value = draw(self.values[item])
            if isinstance(value, Related):
                return value
            if item.kind in CONTINUOUS and first is not None:
                if not np.array_equal(np.resize(value, np.shape(first)), first):
                    return value
            elif not same(value, first):
                return value
        return value

    def costly_value(self, item: Item, draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
        """Return the value that programs write to a costly variable: the first that was drawn."""
        value = self.other_value(item, draw)  # each time, as Hypothesis demands
        return self._costly_values.setdefault(item, value)


def _by_item(state: State, strategies: Strategies) -> dict[Item, st.SearchStrategy[Any]]:
    known = {id(handle): item for item, handle in variables_of(state)}
    found: dict[Item, st.SearchStrategy[Any]] = {}
    if not isinstance(strategies, Mapping):
        hint = "write {subsystem.variable: strategy}"
        raise wrong_type(strategies, "strategies", "a mapping of handles", hint)
    for handle, strategy in strategies.items():
        members: Iterable[Any] = [handle]
        if isinstance(handle, Sequence):  # a family
            members = handle
        for member in members:
            if id(member) not in known:
                raise UnknownItemError(
                    f"strategies: {short_repr(member)} is not a variable of the System",
                    "the handle of a discrete variable, of some q, u or z, or of the time",
                    repr(member),
                    "give strategies for what is written; entries are computed from that",
                )
            found[known[id(member)]] = strategy
    return found


def _another(infer: Callable[[Any], st.SearchStrategy[Any]], first: Any) -> Any:
    """Return values like the first one; of two values, more often the other."""
    if type(first) is bool:
        return st.sampled_from((OTHER, OTHER, True, False))
    return infer(first)


def _numbers(
    first: Any, given: st.SearchStrategy[Any] | None
) -> st.SearchStrategy[tuple[float, ...] | Any]:
    """Return numbers for a block of q, u or z."""
    if isinstance(first, float):
        one = floats(first) if given is None else given
        return one.map(lambda value: (float(value),))
    if given is not None:
        return given.map(lambda values: tuple(map(float, values)))
    most = max(1, min(len(first), MOST_NUMBERS))
    one = floats(float(first[0]) if len(first) else 1.0)
    return st.lists(one, min_size=1, max_size=most).map(tuple)


def _vectors(state: State) -> Iterable[tuple[str, int | None]]:
    for kind in CONTINUOUS:
        owners = sorted({item.subsystem for item, _ in blocks_of(state, kind)})
        if owners:
            yield from ((kind, x) for x in (None, *owners))
    if any(blocks_of(state, kind) for kind in CONTINUOUS):
        yield "y", None


def _vectors_of_weights(state: State) -> Iterable[tuple[Any, int | None]]:
    for kind in WEIGHTS:
        if state.stage >= kind.exists and len(getattr(state, kind.name)):
            yield kind, None
