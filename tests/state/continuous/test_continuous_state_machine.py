"""Continuous states against plain lists: random nestings, written through any view.

The model of a leaf is a list of values and the places of q, v and z in it; that of a diagram is a
list of models. What a view shows is found by recursion, each time anew.
"""

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from stagecache.errors import PartitionError
from stagecache.state.continuous.continuous_state import (
    AbstractContinuousState,
    ContinuousState,
    DiagramContinuousState,
)
from tests.interrupting import ignore_lost_strikes, struck
from tests.profiles import examples

PARTS = ("q", "v", "z")
VIEWS = ("vector", *PARTS)
MOST = 4  # pairs
VALUES = st.integers(-99, 99)
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda old, new: new,
    "+=": lambda old, new: old + new,
    "-=": lambda old, new: old - new,
    "*=": lambda old, new: old * (new % 3 - 1),  # stays small
}


@dataclass(eq=False)
class Leaf:
    """Values, where the parts lie in them, and the array that is viewed, if one is."""

    x: list[Any]
    places: dict[str, list[int]]
    array: Any = None


Model = Leaf | list[Any]  # of models
Cell = tuple[Leaf, int]
Pair = tuple[AbstractContinuousState, Model]


def cells(model: Model, name: str) -> list[Cell]:
    """Where the elements of a view lie."""
    if isinstance(model, Leaf):
        return [
            (model, i) for i in (range(len(model.x)) if name == "vector" else model.places[name])
        ]
    return [cell for inner in model for cell in cells(inner, name)]


def shown(model: Model, name: str) -> list[Any]:
    return [leaf.x[i] for leaf, i in cells(model, name)]


def structure(model: Model) -> object:
    if isinstance(model, Leaf):
        return tuple(len(model.places[part]) for part in PARTS)
    return [structure(inner) for inner in model]


def all_leaves(model: Model) -> list[Leaf]:
    return [model] if isinstance(model, Leaf) else [x for m in model for x in all_leaves(m)]


def nodes(state: AbstractContinuousState, model: Model) -> Iterator[Pair]:
    """A state and all those in it."""
    yield state, model
    if isinstance(model, list):
        assert isinstance(state, DiagramContinuousState)
        assert state.num_substates == len(model)
        for i, inner in enumerate(model):
            yield from nodes(state.substate(i), inner)


# ------------------------------------------------------------------ making them


@dataclass(frozen=True)
class LeafPlan:
    sizes: tuple[int, int, int]
    form: str  # owner, array, views


@st.composite
def leaf_plans(draw: st.DrawFn) -> LeafPlan:
    v = draw(st.integers(0, 2))
    q = v + draw(st.integers(0, 2)) if v else 0
    return LeafPlan(
        (q, v, draw(st.integers(0, 3))), draw(st.sampled_from(["owner", "array", "views"]))
    )


PLANS: st.SearchStrategy[Any] = st.recursive(
    leaf_plans(), lambda inner: st.lists(inner, max_size=4), max_leaves=5
)


def make(plan: Any, dtype: Any, data: st.DataObject) -> Pair:
    """A state and its model, of values that are drawn."""
    if isinstance(plan, list):
        pairs = [make(inner, dtype, data) for inner in plan]
        return DiagramContinuousState([state for state, _ in pairs]), [model for _, model in pairs]
    count = sum(plan.sizes)
    x = data.draw(st.lists(VALUES, min_size=count, max_size=count))
    q, v, _ = plan.sizes
    places = {"q": list(range(q)), "v": list(range(q, q + v)), "z": list(range(q + v, count))}
    if plan.form == "owner":
        return ContinuousState(np.array(x, dtype), *plan.sizes), Leaf(x, places)
    step = data.draw(st.sampled_from([1, 2, -1, -3]))
    array = np.zeros(abs(step) * count, dtype)[::step]
    array[:] = x
    if plan.form == "array":
        return ContinuousState(array, *plan.sizes), Leaf(x, places, array)
    order = data.draw(st.permutations(PARTS))
    start, views = 0, {}
    for part in order:  # the parts lie in any order, and each of them may be reversed
        size = plan.sizes[PARTS.index(part)]
        places[part] = list(range(start, start + size))
        views[part] = array[start : start + size]
        if data.draw(st.booleans()):
            places[part].reverse()
            views[part] = views[part][::-1]
        start += size
    return ContinuousState.from_views(array, **views), Leaf(x, places, array)


class ContinuousStateMachine(RuleBasedStateMachine):
    """Runs each operation on states and on lists; up to four pairs, which may share leaves."""

    pairs: list[Pair]

    @initialize(
        data=st.data(),
        plan=PLANS,
        dtype=st.sampled_from([np.float64, np.int64, np.complex128, object]),
    )
    def begin(self, data: st.DataObject, plan: Any, dtype: Any) -> None:
        self.dtype = dtype
        self.pairs = [make(plan, dtype, data)]

    def pick(self, data: st.DataObject) -> Pair:
        """One of the pairs, or one inside of it."""
        return data.draw(st.sampled_from(list(nodes(*data.draw(st.sampled_from(self.pairs))))))

    def keep(self, pair: Pair) -> None:
        self.pairs = [*self.pairs[-MOST + 1 :], pair]

    @rule(data=st.data(), plan=PLANS)
    def add(self, data: st.DataObject, plan: Any) -> None:
        self.keep(make(plan, self.dtype, data))

    @rule(data=st.data(), name=st.sampled_from(VIEWS), write=st.sampled_from(sorted(WRITES)))
    def write_a_view(self, data: st.DataObject, name: str, write: str) -> None:
        """Whole, or a slice of it, or a slice of a slice; with one value or with many."""
        state, model = self.pick(data)
        view, where = getattr(state, f"upd_{name}")(), cells(model, name)
        for _ in range(data.draw(st.integers(0, 2))):
            key = data.draw(st.slices(len(where)))
            view, where = view[key], where[key]
        if data.draw(st.booleans()):
            new = data.draw(st.lists(VALUES, min_size=len(where), max_size=len(where)))
            operand: Any = np.array(new, view.dtype)  # without elements, that may be another
        else:
            operand = data.draw(VALUES)
            new = [operand] * len(where)
        if write == "=":
            view[:] = operand
        elif write == "+=":
            view += operand
        elif write == "-=":
            view -= operand
        else:
            view *= operand % 3 - 1 if isinstance(operand, int) else np.array(new, int) % 3 - 1
        for (leaf, i), value in zip(where, new, strict=True):
            leaf.x[i] = WRITES[write](leaf.x[i], value)

    @rule(data=st.data(), name=st.sampled_from(VIEWS), value=VALUES)
    def write_an_element_of_a_view(self, data: st.DataObject, name: str, value: int) -> None:
        state, model = self.pick(data)
        where = cells(model, name)
        if where:
            i = data.draw(st.integers(-len(where), len(where) - 1))
            getattr(state, f"upd_{name}")()[i] = value
            leaf, place = where[i]
            leaf.x[place] = value

    @rule(data=st.data(), value=VALUES)
    def write_an_element(self, data: st.DataObject, value: int) -> None:
        state, model = self.pick(data)
        where = cells(model, "vector")
        i = data.draw(st.integers(-len(where) - 2, len(where) + 1))
        if -len(where) <= i < len(where):
            state[i] = value
            leaf, place = where[i]
            leaf.x[place] = value
        else:
            with pytest.raises(IndexError):
                state[i] = value

    @rule(data=st.data())
    def write_a_slice(self, data: st.DataObject) -> None:
        state, model = self.pick(data)
        where = cells(model, "vector")
        key = data.draw(st.slices(len(where)))
        where = where[key]
        new = data.draw(st.lists(VALUES, min_size=len(where), max_size=len(where)))
        assert np.asarray(state[key]).tolist() == [leaf.x[i] for leaf, i in where]
        state[key] = new
        for (leaf, i), value in zip(where, new, strict=True):
            leaf.x[i] = value

    @rule(data=st.data(), value=VALUES)
    def write_the_array_that_is_viewed(self, data: st.DataObject, value: int) -> None:
        _, model = self.pick(data)
        found = [cell for cell in cells(model, "vector") if cell[0].array is not None]
        if found:
            leaf, i = data.draw(st.sampled_from(found))
            leaf.array[i] = leaf.x[i] = value

    @rule(data=st.data())
    def set_from_vector(self, data: st.DataObject) -> None:
        state, model = self.pick(data)
        where = cells(model, "vector")
        new = data.draw(st.lists(VALUES, min_size=len(where), max_size=len(where)))
        state.set_from_vector(new)
        for (leaf, i), value in zip(where, new, strict=True):
            leaf.x[i] = value

    @rule(data=st.data(), is_alike=st.booleans())
    def set_from(self, data: st.DataObject, is_alike: bool) -> None:
        """From any other, which is refused unless its structure is the same."""
        state, model = self.pick(data)
        other, others = (
            make(plan_like(model, data), self.dtype, data) if is_alike else self.pick(data)
        )
        if structure(model) != structure(others):
            with pytest.raises(PartitionError):
                state.set_from(other)
            return
        state.set_from(other)
        new = {name: shown(others, name) for name in PARTS}
        for name in PARTS:
            for (leaf, i), value in zip(cells(model, name), new[name], strict=True):
                leaf.x[i] = value

    @rule(data=st.data(), how=st.sampled_from(["clone", "pickle", "deepcopy"]))
    def copy_one(self, data: st.DataObject, how: str) -> None:
        state, model = self.pick(data)
        if how == "clone":
            twin = state.clone()
        else:
            twin = pickle.loads(pickle.dumps(state)) if how == "pickle" else copy.deepcopy(state)
        assert twin == state
        assert type(twin) is type(state)
        self.keep((twin, copied(model)))

    @rule(data=st.data())
    def look_at_one_inside(self, data: st.DataObject) -> None:
        self.keep(self.pick(data))

    @rule(data=st.data())
    def put_into_a_diagram(self, data: st.DataObject) -> None:
        chosen: list[Pair] = []
        for state, model in data.draw(st.permutations(self.pairs)):
            taken = {id(leaf) for _, m in chosen for leaf in all_leaves(m)}
            if taken.isdisjoint(map(id, all_leaves(model))) and not any(
                state is s for s, _ in nodes_of(chosen)
            ):
                chosen.append((state, model))
        models: list[Any] = [model for _, model in chosen]
        if sum(1 for _ in nodes_of(chosen)) < 25:
            self.keep((DiagramContinuousState([state for state, _ in chosen]), models))

    @rule(
        data=st.data(),
        name=st.sampled_from(VIEWS),
        how=st.sampled_from(["=", "+=", "set_from_vector", "set_from", "clone"]),
    )
    def strike(self, data: st.DataObject, name: str, how: str) -> None:
        """Strike an operation on a copy: each element is as before or as it should be."""
        state, model = self.pick(data)
        size = len(cells(model, name if how in WRITES else "vector"))
        new = np.array(data.draw(st.lists(VALUES, min_size=size, max_size=size)), state.dtype)
        before = shown(model, "vector")

        def prepare() -> AbstractContinuousState:
            return copy.deepcopy(state)

        def operate(twin: AbstractContinuousState) -> None:
            view = getattr(twin, f"upd_{name}")()
            if how == "=":
                view[:] = new
            elif how == "+=":
                view += new
            elif how == "set_from_vector":
                twin.set_from_vector(new)
            elif how == "set_from":
                twin.set_from(other)
            else:
                twin.clone()

        other = prepare()
        if how == "set_from":
            other.set_from_vector(new)
        for twin, whole in struck(data, prepare, operate):
            x = list(twin)
            both = zip(before, whole, strict=True)
            assert all(value in pair for value, pair in zip(x, both, strict=True))
            check_shown(twin, filled(model, x))
            twin.set_from_vector(whole.copy_to_vector())
            assert twin == whole

    @invariant()
    def each_shows_what_its_model_says(self) -> None:
        for pair in self.pairs:
            check_shown(*pair)

    @invariant()
    def two_are_equal_if_their_models_are(self) -> None:
        for state, model in self.pairs:
            for other, others in self.pairs:
                assert (state == other) == (flattened(model) == flattened(others))


def check_shown(whole: AbstractContinuousState, all_of_it: Model) -> None:
    """Assert that a state, and each in it, shows what its model says."""
    for state, model in nodes(whole, all_of_it):
        for name in VIEWS:
            expected = shown(model, name)
            assert np.asarray(getattr(state, name)).tolist() == expected
            assert np.asarray(getattr(state, f"upd_{name}")()).tolist() == expected
        x = shown(model, "vector")
        assert (list(state), state.copy_to_vector().tolist()) == (x, x)
        assert [state[i] for i in range(len(x))] == x
        assert (len(state), state.size) == (len(x), len(x))
        sizes = (state.num_q, state.num_v, state.num_z)
        assert sizes == tuple(len(cells(model, part)) for part in PARTS)


def filled(model: Model, x: list[Any]) -> Model:
    """A copy of a model that has other values."""
    twin = copied(model)
    for (leaf, i), value in zip(cells(twin, "vector"), x, strict=True):
        leaf.x[i] = value
    return twin


def nodes_of(pairs: list[Pair]) -> Iterator[Pair]:
    for pair in pairs:
        yield from nodes(*pair)


def flattened(model: Model) -> object:
    """All that is compared: values, where the parts lie, structure."""
    if isinstance(model, Leaf):
        return model.x, model.places
    return [flattened(inner) for inner in model]


def copied(model: Model) -> Model:
    if isinstance(model, Leaf):
        return Leaf(list(model.x), model.places)
    return [copied(inner) for inner in model]


def plan_like(model: Model, data: st.DataObject) -> Any:
    """The same structure, in forms that are drawn."""
    if isinstance(model, Leaf):
        q, v, z = (len(model.places[part]) for part in PARTS)
        return LeafPlan((q, v, z), data.draw(st.sampled_from(["owner", "array", "views"])))
    return [plan_like(inner, data) for inner in model]


TestContinuousState = ignore_lost_strikes(ContinuousStateMachine.TestCase)
TestContinuousState.settings = examples(100, stateful_step_count=20)
