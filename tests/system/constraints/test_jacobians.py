"""The Jacobians of all constraints of a State, in whatever form their parts are."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    normalization_error,
    parameter,
    position_error,
    q_variable,
    strict,
    u_variable,
)
from stagecache.errors import (
    IncoherentError,
)
from stagecache.system.constraints.jacobians import (
    acceleration_bias,
    acceleration_jacobian,
    normalization_jacobian,
    position_jacobian,
    velocity_jacobian,
)
from stagecache.testing import check_coherence
from tests.profiles import examples
from tests.system.models import state_of


class Link(Subsystem):
    """One of many, each tied to the one before."""

    x = q_variable(0.5)
    v = u_variable(0.25)

    def __init__(self, before: "Link | None", form: str) -> None:
        self.before, self.form = before, form

    @position_error()
    def tie(self, state: State) -> float:
        return self.x(state) ** 2 - (0 if self.before is None else self.before.x(state))

    @tie.velocity
    def tie_velocity(self, state: State) -> float:
        before = 0 if self.before is None else self.before.v(state)
        return 2 * self.x(state) * self.v(state) - before

    @tie.jacobian
    def tie_jacobian(self, state: State) -> Any:
        found = {self.v: [2 * self.x(state)]}
        if self.before is not None:
            found[self.before.v] = [-1.0]
        if self.form == "dict":
            return found
        dense = np.zeros((1, state.nu))
        for handle, values in found.items():
            dense[0, handle.place(state).start - state.u_start] = values[0]
        return dense if self.form == "dense" else csr_array(dense)

    @tie.bias
    def tie_bias(self, state: State) -> float:
        return 2 * self.v(state) ** 2

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = 1.5


def chain(length: int, forms: list[str]) -> State:
    links: list[Link] = []
    for i in range(length):
        links.append(Link(links[-1] if links else None, forms[i % len(forms)]))
    system = System()
    for i, link in enumerate(links):
        system.add(link, f"link{i}")
    state = system.new_state()
    state.q = 0.5 + 0.01 * np.arange(length)
    system.realize(state, Stage.ACCELERATION)
    return state


@examples(12)
@given(
    st.sampled_from([1, 3, 99, 100, 130]),
    st.lists(st.sampled_from(["dict", "dense", "sparse"]), min_size=1, max_size=3),
)
def test_whole_matrices_are_the_same_in_whatever_form_the_parts_are(
    length: int, forms: list[str]
) -> None:
    state = chain(length, forms)
    wanted = np.diag(2 * state.q) - np.eye(length, k=-1)
    for jacobian in (position_jacobian, velocity_jacobian, acceleration_jacobian):
        found = jacobian(state)
        assert isinstance(found, csr_array if length >= 100 else np.ndarray)
        dense = found if isinstance(found, np.ndarray) else found.toarray()
        assert np.allclose(dense, wanted, rtol=0, atol=1e-15)
    assert np.allclose(state.udoterr, wanted @ state.udot + acceleration_bias(state))
    assert np.allclose(acceleration_bias(state), 2 * state.u**2)


def test_strict_mode_and_the_coherence_check_have_nothing_to_say() -> None:
    state = chain(3, ["dict", "dense", "sparse"])
    with strict(state):
        state.q = state.q + 0.1
        state.system.realize(state, Stage.ACCELERATION)
        assert acceleration_jacobian(state).shape == (3, 3)
    check_coherence(state.system, settings=examples(15), seed=0)


def test_what_is_read_and_not_declared_has_a_hint() -> None:
    class Sloppy(Subsystem):
        is_on = parameter(True)
        x = q_variable(1.0)
        y = q_variable(2.0)
        v = u_variable(1.0)
        w = u_variable(1.0)

        @position_error(prerequisites=(x,), enabled=is_on)
        def rod(self, state: State) -> float:
            return self.x(state) * self.y(state)

        @rod.bias(prerequisites=(x,))
        def rod_bias(self, state: State) -> float:
            return self.x(state) * self.w(state)

        @rod.jacobian(prerequisites=(x,))
        def rod_jacobian(self, state: State) -> Any:
            return {self.v: self.y(state)}

        @normalization_error(prerequisites=(x,))
        def norm(self, state: State) -> float:
            return self.y(state)

        @norm.jacobian(prerequisites=(x,))
        def norm_jacobian(self, state: State) -> Any:
            return {self.y: self.y(state)}

    state = state_of(Sloppy())
    with strict(state, undeclared="record") as reads:
        state.system.realize(state)
        acceleration_bias(state)
        position_jacobian(state)
        normalization_jacobian(state)
    assert {str(read.entry).removeprefix("sloppy."): read.hint for read in reads.undeclared} == {
        "rod": "write @position_error(..., prerequisites=(x, y))",
        "rod_bias": "write @rod.bias(prerequisites=(x, w))",
        "rod_jacobian": "write @rod.jacobian(prerequisites=(x, y))",
        "norm": "write @normalization_error(..., prerequisites=(x, y))",
        "norm_jacobian": "write @norm.jacobian(prerequisites=(x, y))",
    }


def test_coherence_is_checked_of_sparse_jacobians_as_well() -> None:
    class Forgetful(Link):
        @Link.tie.jacobian(prerequisites=())
        def tie_jacobian(self, state: State) -> Any:
            return csr_array([[2 * self.x(state)]])

    with pytest.raises(IncoherentError, match="tie_jacobian"):
        check_coherence(System(Forgetful(None, "sparse")), seed=0)
