"""Drake's tests of linear systems: an affine System gives back its own matrices."""

from typing import Any

import numpy as np
import pytest

from stagecache import (
    State,
    Subsystem,
    System,
    cached,
    find_equilibrium,
    linearize,
    parameter,
    z_variable,
)
from stagecache.errors import NodeKindError, NotANumberError
from tests.originals.chains import Array, close

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]])
B = np.array([[5.0, 7.0, 8.0, 9.0], [6.0, 10.0, 11.0, 12.0], [1.0, 0.0, 2.0, 0.0]])
C = np.array([[13.0, 14.0, 15.0], [16.0, 17.0, 18.0]])
D = np.array([[20.0, 21.0, 22.0, 23.0], [24.0, 25.0, 26.0, 27.0]])
BIAS, OFFSET = np.array([13.0, -14.0, 15.0]), np.array([24.0, 25.0])


class Affine(Subsystem):
    """zdot = A z + B (first, others) + bias, and two outputs."""

    level = z_variable((0.0, 0.0, 0.0))
    first = parameter(0.0)
    others = parameter(np.zeros(3))
    label = parameter("nothing to move")

    @cached(prerequisites=(first, others))
    def drive(self, state: State) -> Array:
        return np.array([self.first(state), *self.others(state)])

    @cached(prerequisites=(level, drive))
    def seen(self, state: State) -> Array:
        found: Array = C @ self.level(state) + D @ self.drive(state) + OFFSET
        return found

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[:] = A @ self.level(state) + B @ self.drive(state) + BIAS


class Still(Subsystem):
    """Outputs of an input, without a state."""

    first = parameter(np.array([7.0, 8.0]))

    @cached(prerequisites=(first,))
    def seen(self, state: State) -> Array:
        found: Array = D[:, :2] @ self.first(state) + OFFSET
        return found


def affine() -> tuple[System, Affine, State]:
    system = System(model := Affine())
    state = system.new_state()
    model.first.set(state, 2.0)
    model.others.set(state, np.array([1.0, -1.0, 0.5]))
    return system, model, state


@pytest.mark.parametrize("is_at_rest", [True, False])
def test_an_affine_system_has_its_own_matrices_at_rest_and_elsewhere(is_at_rest: bool) -> None:
    system, model, state = affine()
    if is_at_rest:
        state = find_equilibrium(system, state)
        drive = model.drive(state)
        close(model.level(state), np.linalg.solve(A, -B @ drive - BIAS), 1e-6)
    else:
        model.level.set(state, [26.0, 27.0, 28.0])
    found = linearize(
        system, state, (model.first, model.others), (model.seen,), differences="central"
    )
    for one, other in ((found.A, A), (found.B, B), (found.C, C), (found.D, D)):
        close(one, other, 1e-7)
    close(found.ydot0 - A @ found.y0 - B @ found.inputs0, BIAS, 1e-6)
    close(found.outputs0 - C @ found.y0 - D @ found.inputs0, OFFSET, 1e-6)
    assert bool(np.abs(found.ydot0).max() < 1e-6) == is_at_rest


@pytest.mark.parametrize("outputs", [0, 1])
@pytest.mark.parametrize("name", ["first", "others"])
def test_inputs_and_outputs_are_those_that_are_named(name: str, outputs: int) -> None:
    system, model, state = affine()
    columns = [0] if name == "first" else [1, 2, 3]
    found = linearize(system, state, (getattr(model, name),), (model.seen,) * outputs)
    close(found.A, A, 1e-6)
    close(found.B, B[:, columns], 1e-6)
    assert found.C.shape == (2 * outputs, 3)
    if outputs:
        close(found.C, C, 1e-6)
        close(found.D, D[:, columns], 1e-6)


def test_a_system_without_states_has_the_derivatives_of_its_outputs() -> None:
    system = System(model := Still())
    found = linearize(system, system.new_state(), (model.first,), (model.seen,))
    assert (found.A.shape, found.B.shape, found.C.shape) == ((0, 0), (0, 2), (2, 0))
    close(found.D, D[:, :2], 1e-6)
    close(found.outputs0 - found.D @ found.inputs0, OFFSET, 1e-5)


@pytest.mark.parametrize(("name", "error"), [("label", NotANumberError), ("seen", NodeKindError)])
def test_what_has_no_derivative_is_no_input(name: str, error: Any) -> None:
    system, model, state = affine()
    with pytest.raises(error, match=name):
        linearize(system, state, (getattr(model, name),))
    close(linearize(system, state, (model.first,)).B, B[:, :1], 1e-6)
