"""Differences: rows that depend on what is not seen to be read."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    State,
    Subsystem,
    System,
    linearize,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.errors import NotANumberError
from stagecache.study import Linearization
from tests.profiles import examples
from tests.study.linear.random_models import Model, brute, built, handle, models

both = pytest.mark.parametrize("differences", ["forward", "central"])


@frozen
class Hidden:
    """A read of a number of an earlier part that no observer sees."""

    reader: int
    row: int
    source: int
    number: int
    factor: float


def with_a_stash(sizes: tuple[int, ...], hidden: list[Hidden], curvature: float = 0.0) -> System:
    """Parts whose hooks leave their variables in a dict, where hooks of later parts find them."""
    stash: dict[int, Any] = {}

    class Part(Subsystem):
        gain = parameter(2.0)

        def __init__(self, number: int, size: int) -> None:
            self.number, self.size = number, size

        def realize_dynamics(self, state: State) -> None:
            x = self.x(state)  # type: ignore[attr-defined]
            stash[self.number] = np.atleast_1d(x).copy()
            rates = self.gain(state) * np.atleast_1d(x)
            for each in hidden:
                if each.reader == self.number:
                    found = stash[each.source][each.number]
                    rates[each.row] += each.factor * (found + curvature * found**2)
            state[self].upd_zdot()[:] = rates

    parts = []
    for number, size in enumerate(sizes):
        kind = type("Part", (Part,), {"x": z_variable(np.linspace(0.3, 0.9, size))})
        parts.append(kind(number, size))
    return System(*parts)


@st.composite
def hidden_reads(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Hidden]]:
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=2, max_size=6)))
    hidden = []
    for _ in range(draw(st.integers(0, 4))):
        reader = draw(st.integers(1, len(sizes) - 1))
        source = draw(st.integers(0, reader - 1))
        row, number = draw(st.integers(0, sizes[reader] - 1)), draw(st.integers(0, 30))
        factor = draw(st.sampled_from([-30.0, -1.0, 0.01, 1.0, 3.0]))
        hidden.append(Hidden(reader, row, source, number % sizes[source], factor))
    return sizes, hidden


@both
@examples(80)
@given(hidden_reads(), st.sampled_from([0.0, 1.0]), st.booleans())
def test_a_check_finds_what_hooks_pass_on_behind_the_state(
    differences: Any, model: tuple[tuple[int, ...], list[Hidden]], curvature: float, as_input: bool
) -> None:
    system = with_a_stash(*model, curvature)
    state = system.new_state()
    inputs = [part.gain for part in system if hasattr(part, "gain")] if as_input else []
    found = linearize(system, state, inputs, differences=differences, check=True)
    is_central = differences == "central"
    relative = float(np.finfo(float).eps) ** (1 / 3 if is_central else 1 / 2)
    expected = brute(system, state, inputs, (), relative=relative, is_central=is_central)
    np.testing.assert_array_equal(np.block([[found.A, found.B]]), expected)


def test_what_is_stashed_is_booked_to_its_own_column() -> None:
    system = with_a_stash((2, 3), [Hidden(1, 0, 0, 1, 3.0)])
    state = system.new_state()
    model = linearize(system, state, check=True)
    np.testing.assert_allclose(model.A[2], [0, 3, 2, 0, 0], atol=1e-6)
    assert len(model.groups) == 5
    # The State, three groups, the check; and again the four columns that were not moved alone.
    assert model.num_evaluations == 1 + 3 + 1 + 4
    unchecked = linearize(system, state)
    assert unchecked.num_evaluations == 1 + 3
    np.testing.assert_allclose(unchecked.A[2], [0, 0, 2, 3, 0], atol=1e-6)  # as documented


class Mass(Subsystem):
    stiffness = parameter(2.0)
    place = q_variable(0.0)
    speed = u_variable(0.0)

    def __init__(self) -> None:
        self.others: list[Mass] = []

    def realize_acceleration(self, state: State) -> None:
        place = self.place(state)
        stretches = [other.place(state) - place for other in self.others]
        force = sum(x + x**3 + math.sin(5 * x) for x in stretches)
        state[self].upd_udot()[0] = self.stiffness(state) * force - math.exp(place)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize(("differences", "count"), [("forward", 5), ("central", 9)])
def test_a_check_of_a_chain_costs_one_evaluation_or_two(
    differences: Any, count: int, scale: float
) -> None:
    masses = [Mass() for _ in range(100)]
    for left, right in pairwise(masses):
        left.others.append(right)
        right.others.append(left)
    system = System(*masses)
    state = system.new_state()
    state.q = 0.3 * np.sin(np.arange(100))
    for mass in masses:
        mass.stiffness.set(state, scale)
    system.realize_topology()
    plain = linearize(system, state, differences=differences)
    model = linearize(system, state, differences=differences, check=True)
    assert model.num_evaluations == count
    assert plain.num_evaluations == count - (1 if differences == "forward" else 2)
    np.testing.assert_array_equal(model.A, plain.A)
    assert model.groups == plain.groups


def test_columns_that_were_moved_alone_need_no_check() -> None:
    system = with_a_stash((3,), [])
    model = linearize(system, system.new_state(), check=True)
    assert model.num_evaluations == 1 + 3


@examples(60)
@given(models(), st.booleans())
def test_a_check_changes_no_bit_of_what_was_seen(model: Model, is_central: bool) -> None:
    system = built(model)
    state = system.new_state()
    inputs = [handle(system, model, i) for i, x in enumerate(model.items) if x.kind == "parameter"]
    differences: Any = "central" if is_central else "forward"

    def whole(found: Linearization) -> Any:
        return np.block([[found.A, found.B]])

    plain = linearize(system, state, inputs, differences=differences)
    checked = linearize(system, state, inputs, differences=differences, check=True)
    np.testing.assert_array_equal(whole(checked), whole(plain))
    assert checked.num_evaluations >= plain.num_evaluations


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
@pytest.mark.parametrize("factor", [1e-5, 1.0])
def test_a_row_that_changes_without_a_known_column_depends_on_everything(
    scale: float, factor: float
) -> None:
    """In any unit: a row of 1e-15 changes by less than the rounding of 1."""

    class Sly(Subsystem):
        x = z_variable((0.5, 0.25))

        def realize_dynamics(self, state: State) -> None:
            hidden = state._contents.pools.y  # no observer sees this
            state[self].upd_zdot()[:] = [scale * (1.0 + factor * hidden[1]), 0.0]

    system = System(Sly())
    model = linearize(system, system.new_state())
    expected = np.array([[0.0, factor], [0.0, 0.0]])
    np.testing.assert_allclose(model.A / scale, expected, rtol=0.01)


def test_a_check_is_a_bool() -> None:
    system = with_a_stash((1,), [])
    with pytest.raises(NotANumberError, match=r"linearize\(check=\.\.\.\): not a bool"):
        linearize(system, system.new_state(), check=1)  # type: ignore[arg-type]
