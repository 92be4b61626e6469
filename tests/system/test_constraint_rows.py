"""Whose the rows of errors are, and the Jacobians that constraints declare."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    acceleration_error,
    modeling_option,
    normalization_error,
    parameter,
    position_error,
    q_variable,
    strict,
    u_variable,
    u_variable_family,
    velocity_error,
)
from stagecache.errors import (
    DeclarationError,
    IncoherentError,
    NotANumberError,
    NoValueError,
    ShapeError,
    StageTooLowError,
    UnknownItemError,
)
from stagecache.system.constraint_rows import (
    acceleration_bias,
    acceleration_jacobian,
    constraint_rows,
    normalization_jacobian,
    position_jacobian,
    position_rows,
    row_names,
    velocity_jacobian,
    velocity_weights,
)
from stagecache.testing import check_coherence
from tests.system.models import state_of

Matrix = NDArray[np.float64]
INSTANCE, POSITION, VELOCITY = Stage.INSTANCE, Stage.POSITION, Stage.VELOCITY


class Mixed(Subsystem):
    """Constraints of each level, and rows that hooks allocate."""

    x = q_variable([1.0, 2.0])
    v = u_variable([3.0, 4.0])

    @velocity_error()
    def slip(self, state: State) -> float:
        return float(self.v(state)[0])

    @position_error(size=2)
    def rod(self, state: State) -> Matrix:
        return self.x(state) ** 2

    @position_error(size=0)
    def nothing(self, state: State) -> Matrix:
        return np.empty(0)

    @acceleration_error()
    def push(self, state: State) -> float:
        return 1.0

    def realize_model(self, state: State) -> None:
        state[self].allocate_qerr(2)
        state[self].allocate_uerr(1)

    def realize_position(self, state: State) -> None:
        state[self].upd_qerr()[2:] = [self.x(state)[0] ** 3, 5.0]

    def realize_velocity(self, state: State) -> None:
        state[self].upd_uerr()[3:] = self.v(state)[0] * self.v(state)[1]


def test_each_row_has_the_name_of_its_constraint() -> None:
    one, two = Mixed(), Mixed()
    system = System(one=one, two=two)
    state = system.realize_topology().copy()
    system.realize(state, INSTANCE)
    assert row_names(state, "qerr") == [
        *("one.rod[0]", "one.rod[1]", "qerr 2 of one[0]", "qerr 2 of one[1]"),
        *("two.rod[0]", "two.rod[1]", "qerr 2 of two[0]", "qerr 2 of two[1]"),
    ]
    assert row_names(state, "uerr")[:4] == ["one.slip", "one.rod[0]", "one.rod[1]", "uerr 3 of one"]
    assert row_names(state, "udoterr")[4:] == ["two.slip", "two.rod[0]", "two.rod[1]", "two.push"]
    rows = {c.name: (c.qerr, c.uerr, c.udoterr, c.handle) for c in constraint_rows(state)}
    assert list(rows)[:5] == ["one.slip", "one.rod", "one.push", "qerr 2 of one", "uerr 3 of one"]
    assert rows["two.rod"] == (slice(4, 6), slice(5, 7), slice(5, 7), two.rod)
    assert rows["qerr 2 of two"] == (slice(6, 8), None, None, None)
    assert position_rows(state).tolist() == list(range(8))


def test_a_state_without_a_system_has_rows_too() -> None:
    state = State()
    part = state[state.add_subsystem("cart")]
    for stage in (Stage.TOPOLOGY, Stage.MODEL, INSTANCE):
        if stage is INSTANCE:
            part.allocate_uerr(2)
        part.advance_to_stage(stage)
        state.advance_to_stage(stage)
    assert row_names(state, "uerr") == [
        "uerr 0 of subsystem 0 'cart'[0]",
        "uerr 0 of subsystem 0 'cart'[1]",
    ]
    assert velocity_weights(state).tolist() == [1.0, 1.0]


def test_the_jacobian_of_rows_that_hooks_fill_is_by_differences() -> None:
    state = state_of(Mixed(), stage=VELOCITY)
    assert np.allclose(position_jacobian(state), [[2, 0], [0, 4], [3, 0], [0, 0]], atol=1e-8)
    assert np.allclose(velocity_jacobian(state), [[1, 0], [2, 0], [0, 4], [4, 3]], atol=1e-8)
    assert np.allclose(acceleration_jacobian(state), [[1, 0], [2, 0], [0, 4], [0, 0]], atol=1e-8)


def test_the_weight_of_a_derivative_is_that_of_its_position_error() -> None:
    mixed = Mixed()
    system = System(mixed)
    system.default_time_scale = 0.5
    state = system.realize_topology().copy()
    system.realize(state, INSTANCE)
    state.qerr_weights = [2.0, 4.0, 6.0, 8.0]
    state.uerr_weights = [10.0, 20.0, 30.0, 40.0]
    assert velocity_weights(state).tolist() == [10.0, 1.0, 2.0, 40.0]
    state.qerr_weights = [1.0, 1.0, 1.0, 1.0]
    assert velocity_weights(state).tolist() == [10.0, 0.5, 0.5, 40.0]


def test_stages_and_kinds_are_checked() -> None:
    mixed = Mixed()
    state = state_of(mixed)
    for function in (constraint_rows, position_rows, velocity_weights, position_jacobian):
        with pytest.raises(StageTooLowError):
            function(state)
    state.system.realize(state, POSITION)
    for function in (velocity_jacobian, acceleration_jacobian, acceleration_bias):
        with pytest.raises(StageTooLowError):
            function(state)
    assert normalization_jacobian(state).shape == (0, 2)
    assert state.stage is POSITION
    with pytest.raises(UnknownItemError, match="rows of 'yerr'"):
        row_names(state, "yerr")


# ---------------------------------------------------------------------- declared Jacobians


class Wheel(Subsystem):
    """Has u of all kinds, for constraints of another subsystem."""

    count = modeling_option(2)
    spin = u_variable(1.0)
    slide = u_variable(factory=lambda self, state: np.ones(self.count(state)))
    spokes = u_variable_family([1.0, 2.0], count=2)


class Axle(Subsystem):
    """Its Jacobian is whatever it is told to be."""

    own = u_variable([1.0, 2.0])

    def __init__(self, wheel: Wheel, jacobian: Any, size: int = 2) -> None:
        self.wheel, self.jacobian, self.size = wheel, jacobian, size

    @position_error(size=lambda self, state: self.size)
    def join(self, state: State) -> Matrix:
        return np.zeros(self.size)

    @join.jacobian(prerequisites=())
    def join_jacobian(self, state: State) -> Any:
        return self.jacobian(self, state)


def jacobian_of(function: Any, size: int = 2, count: int = 2) -> Any:
    wheel = Wheel()
    axle = Axle(wheel, function, size)
    state = state_of(axle, wheel)
    wheel.count.set(state, count)
    state.system.realize(state, INSTANCE)
    return axle.join_jacobian(state)


def blocks(self: Axle, state: State) -> Any:
    return {
        self.wheel.slide: np.arange(2.0 * self.wheel.count(state)).reshape(2, -1),
        self.own: csr_array([[0.0, 7.0], [8.0, 0.0]]),
        self.wheel.spokes[1]: [[1, 2], [3, 4]],
        self.wheel.spin: [5, 6],
    }


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_blocks_by_handles_go_to_their_columns(count: int) -> None:
    found = jacobian_of(blocks, count=count)
    wanted = np.zeros((2, 7 + count))
    wanted[:, :2] = [[0, 7], [8, 0]]
    wanted[:, 2] = [5, 6]
    wanted[:, 3 : 3 + count] = np.arange(2 * count).reshape(2, count)
    wanted[:, -2:] = [[1, 2], [3, 4]]
    assert isinstance(found, np.ndarray)
    assert found.tolist() == wanted.tolist()
    assert not found.flags.writeable


def test_blocks_of_many_columns_make_a_sparse_matrix_that_is_the_same() -> None:
    found = jacobian_of(blocks, count=200)
    assert isinstance(found, csr_array)
    dense = found.toarray()
    assert dense[:, :3].tolist() == [[0, 7, 5], [8, 0, 6]]
    assert dense[:, 3:203].tolist() == np.arange(400).reshape(2, 200).tolist()
    assert dense[:, 203:].tolist() == [[0, 0, 1, 2], [0, 0, 3, 4]]
    with pytest.raises(ValueError, match="read-only"):
        found.data[0] = 1.0


def test_a_whole_and_an_empty_dict_are_blocks_too() -> None:
    whole = jacobian_of(lambda self, state: {self.wheel.u: np.ones((2, 7))})
    assert whole.tolist() == np.hstack([np.zeros((2, 2)), np.ones((2, 7))]).tolist()
    assert (
        jacobian_of(lambda self, state: {self.system.u: np.ones((2, 9))}).tolist() == [[1] * 9] * 2
    )
    assert jacobian_of(lambda self, state: {}).tolist() == [[0] * 9] * 2
    assert jacobian_of(lambda self, state: {}, count=200).nnz == 0
    assert jacobian_of(lambda self, state: {self.own: [3, 4]}, size=1).tolist() == [
        [3, 4] + [0] * 7
    ]


def test_a_sparse_jacobian_stays_sparse() -> None:
    found = jacobian_of(lambda self, state: coo_array(([1, 2], ([0, 0], [3, 3])), shape=(2, 9)))
    assert isinstance(found, csr_array)
    assert (found.dtype, found.nnz, found[0, 3]) == (np.float64, 1, 3.0)


BAD: list[tuple[type[Exception], Any]] = [
    (ShapeError, lambda self, state: np.ones((2, 8))),
    (ShapeError, lambda self, state: csr_array(np.ones((1, 9)))),
    (ShapeError, lambda self, state: {self.own: np.ones((2, 3))}),
    (ShapeError, lambda self, state: {self.own: [1.0, 2.0]}),
    (ShapeError, lambda self, state: {self.own: csr_array(np.ones((1, 2)))}),
    (NotANumberError, lambda self, state: {self.own: [["a", "b"], ["c", "d"]]}),
    (DeclarationError, lambda self, state: {"own": np.ones((2, 2))}),
    (DeclarationError, lambda self, state: {self.q: np.ones((2, 0))}),
    (DeclarationError, lambda self, state: {self.join: np.ones((2, 0))}),
    (DeclarationError, lambda self, state: {self.own: np.ones((2, 2)), self.u: np.ones((2, 2))}),
    (NoValueError, lambda self, state: None),
]


@pytest.mark.parametrize(("error", "function"), BAD)
def test_what_is_no_jacobian_is_refused_by_name(error: type[Exception], function: Any) -> None:
    with pytest.raises(error, match=r"axle\.join_jacobian"):
        jacobian_of(function)


# ---------------------------------------------------------------------- whole matrices


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
        system.adopt_subsystem(link, f"link{i}")
    state = system.realize_topology().copy()
    state.q = 0.5 + 0.01 * np.arange(length)
    system.realize(state, Stage.ACCELERATION)
    return state


@settings(max_examples=12, deadline=None)
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
    check_coherence(state.system, settings=settings(max_examples=15, deadline=None), seed=0)


def test_what_is_read_and_not_declared_has_a_cure() -> None:
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
    assert {str(read.entry).removeprefix("sloppy."): read.cure for read in reads.undeclared} == {
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
