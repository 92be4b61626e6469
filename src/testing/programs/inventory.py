"""Inventory of a System: its items, and strategies for the values of variables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from stagecache.errors import UnknownItemError, short_repr
from stagecache.state.handles import AbstractHandle
from stagecache.state.stage import Stage
from stagecache.state.state import State
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
from stagecache.testing.programs.values import floats, like, options_like
from stagecache.testing.programs.writes import OTHER

Strategies = Mapping[AbstractHandle, st.SearchStrategy[Any]]

MOST_NUMBERS: Final = 6  # that are drawn for a block; more are repetitions of these


class Inventory:
    """Items of a System, and strategies for the values of its variables.

    Parameters
    ----------
    system : System
    strategies : mapping of handle to strategy, optional
        For variables whose values are not to be those of `stagecache.testing.programs.values`.

    Attributes
    ----------
    values : dict of Item to strategy
        For the time, discrete variables, and blocks.
    variables : list of Item
        These, without the time.
    given : frozenset of Item
        Those for which there are strategies of the user.
    entries : list of Item
    vectors, weights : list of (str, int or None)
        By name and subsystem.
    has_auto_update : bool

    Raises
    ------
    UnknownItemError
        A strategy is given for something that is not a variable of the System.
    """

    def __init__(self, system: System, strategies: Strategies | None = None) -> None:
        state = system.new_state()
        outcome_of(lambda: system.realize(state, Stage.INSTANCE))  # for its sizes
        given = _by_item(state, strategies or {})
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
        self.has_auto_update = any(handle.update is not None for _, handle in discrete_of(state))


def _by_item(state: State, strategies: Strategies) -> dict[Item, st.SearchStrategy[Any]]:
    known = {id(handle): item for item, handle in variables_of(state)}
    found: dict[Item, st.SearchStrategy[Any]] = {}
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
    """Values like the first one; of two values, more often the other."""
    if type(first) is bool:
        return st.sampled_from((OTHER, OTHER, True, False))
    return infer(first)


def _numbers(
    first: Any, given: st.SearchStrategy[Any] | None
) -> st.SearchStrategy[tuple[float, ...] | Any]:
    """Numbers for a block of q, u or z."""
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
