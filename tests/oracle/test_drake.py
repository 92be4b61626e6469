"""Random operations on continuous states of Drake, through pydrake, and on ours.

pydrake binds no `DiagramContinuousState`; the states of the contexts of diagrams are such. Nothing
illegal is asked of it: it checks neither indices nor sizes.
"""

import importlib
import importlib.util
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagecache.state.continuous.continuous_state import (
    AbstractContinuousState,
    ContinuousState,
    DiagramContinuousState,
)
from tests.profiles import count

pytestmark = [
    pytest.mark.drake,
    pytest.mark.skipif(
        importlib.util.find_spec("pydrake") is None,
        reason="needs Drake: pip install 'stagecache[oracles]'",
    ),
]
VIEWS = {  # ours, and Drake's
    "vector": "vector",
    "q": "generalized_position",
    "v": "generalized_velocity",
    "z": "misc_continuous_state",
}
Plan = tuple[int, int, int] | list[Any]  # sizes, or the plans of substates


@pytest.fixture(scope="module")
def framework() -> Any:
    return importlib.import_module("pydrake.systems.framework")


def random_plan(rng: random.Random, depth: int) -> Plan:
    if depth == 0 or rng.random() < 0.3:
        v = rng.randint(0, 2)
        return (v + rng.randint(0, 2) if v else 0, v, rng.randint(0, 3))
    return [random_plan(rng, depth - 1) for _ in range(rng.randint(1, 4))]


def build_system(framework: Any, plan: Plan, inside: list[Any]) -> Any:
    """A system with continuous states like this; it and all in it are added to `inside`."""
    if isinstance(plan, tuple):
        system = framework.LeafSystem()
        if sum(plan):
            system.DeclareContinuousState(*plan)
    else:
        builder = framework.DiagramBuilder()
        for inner in plan:
            builder.AddSystem(build_system(framework, inner, inside))
        system = builder.Build()
    inside.append(system)
    return system


def build_ours(plan: Plan, inside: list[AbstractContinuousState]) -> AbstractContinuousState:
    state: AbstractContinuousState
    if isinstance(plan, tuple):
        state = ContinuousState(np.zeros(sum(plan)), *plan)
    else:
        state = DiagramContinuousState([build_ours(inner, inside) for inner in plan])
    inside.append(state)
    return state


class Comparison:
    """States of Drake beside ours, from the leaves up; the root is the last."""

    def __init__(self, framework: Any, rng: random.Random, plan: Plan) -> None:
        self.rng = rng
        self.compared = 0
        self.systems: list[Any] = []
        ours: list[AbstractContinuousState] = []
        root = build_system(framework, plan, self.systems)
        build_ours(plan, ours)
        self.context = root.CreateDefaultContext()
        theirs = [
            system.GetMyMutableContextFromRoot(self.context).get_mutable_continuous_state()
            for system in self.systems
        ]
        self.pairs = list(zip(theirs, ours, strict=True))
        assert len(self.pairs) == len(ours)

    def value(self) -> float:
        return float(self.rng.randint(-99, 99))

    def step(self) -> None:
        """One operation on both."""
        theirs, ours = self.rng.choice(self.pairs)
        name = self.rng.choice(list(VIEWS))
        view = getattr(ours, f"upd_{name}")()
        mutable = getattr(theirs, f"get_mutable_{VIEWS[name]}")()
        n, x = len(view), len(ours)
        new = np.array([self.value() for _ in range(n)])
        match self.rng.choice(["element", "view", "zero", "item", "vector", "set_from", "clone"]):
            case "element" if n:
                i = self.rng.randrange(n)
                mutable.SetAtIndex(i, new[i])
                view[i] = new[i]
            case "view":
                mutable.SetFromVector(new)
                view[:] = new
            case "zero":
                mutable.SetZero()
                view[:] = 0
            case "item" if x:
                i, value = self.rng.randrange(x), self.value()
                theirs[i] = value
                ours[i] = value
            case "vector":
                whole = np.array([self.value() for _ in range(x)])
                theirs.SetFromVector(whole)
                ours.set_from_vector(whole)
            case "set_from":  # other values in the same structure
                theirs_too, ours_too = theirs.Clone(), ours.clone()
                whole = np.array([self.value() for _ in range(x)])
                theirs_too.SetFromVector(whole)
                ours_too.set_from_vector(whole)
                theirs.SetFrom(theirs_too)
                ours.set_from(ours_too)
            case "clone":  # it is independent, and so is what was cloned
                theirs_too, ours_too = theirs.Clone(), ours.clone()
                getattr(theirs_too, f"get_mutable_{VIEWS[name]}")().SetFromVector(new)
                getattr(ours_too, f"upd_{name}")()[:] = new
                self.look(theirs_too, ours_too)
            case _:
                return
        self.compared += 1
        for pair in self.pairs:
            self.look(*pair)

    def look(self, theirs: Any, ours: AbstractContinuousState) -> None:
        """Compare sizes, values and order."""
        assert (theirs.size(), theirs.num_q(), theirs.num_v(), theirs.num_z()) == (
            ours.size,
            ours.num_q,
            ours.num_v,
            ours.num_z,
        )
        for name, named in VIEWS.items():
            expected = getattr(theirs, f"get_{named}")().CopyToVector().tolist()
            assert np.asarray(getattr(ours, name)).tolist() == expected
        assert ours.copy_to_vector().tolist() == theirs.CopyToVector().tolist()
        assert [ours[i] for i in range(len(ours))] == [theirs[i] for i in range(len(ours))]


def compare(framework: Any, seed: int) -> int:
    """Run one sequence on both; return the number of operations compared."""
    rng = random.Random(seed)
    comparison = Comparison(framework, rng, random_plan(rng, depth=3))
    for _ in range(20):
        comparison.step()
    return comparison.compared


def test_ours_and_those_of_drake_do_the_same(
    framework: Any, record_property: Callable[[str, object], None]
) -> None:
    number = count(50)
    first = random.SystemRandom().randrange(2**32)
    compared = 0
    for seed in range(first, first + number):
        try:
            compared += compare(framework, seed)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
    record_property("nestings", number)
    record_property("operations compared", compared)
    print(f"{number} nestings from seed {first}, {compared} operations compared")  # noqa: T201 - shown by -rP
    assert compared > 10 * number


@pytest.mark.parametrize("sizes", [(0, 0, 0), (0, 0, 3), (1, 1, 0), (3, 2, 1)], ids=str)
def test_a_leaf_that_owns_its_vector(framework: Any, sizes: tuple[int, int, int]) -> None:
    x = np.arange(1.0, sum(sizes) + 1)
    theirs = framework.ContinuousState(framework.BasicVector(x), *sizes)
    for ours in (ContinuousState(x.tolist(), *sizes), ContinuousState(x, *sizes).clone()):
        for name, named in VIEWS.items():
            expected = getattr(theirs, f"get_{named}")().CopyToVector().tolist()
            assert np.asarray(getattr(ours, name)).tolist() == expected
