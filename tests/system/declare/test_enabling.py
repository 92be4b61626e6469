"""Constraints that are switched on and off in a State."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    acceleration_error,
    cached,
    discrete,
    event_trigger,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    strict,
    u_variable,
    velocity_error,
)
from stagecache.errors import DeclarationError, NotANumberError
from stagecache.system.constraints.jacobians import (
    acceleration_bias,
    acceleration_jacobian,
    position_jacobian,
    velocity_jacobian,
)
from stagecache.system.constraints.rows import constraint_rows, row_names, velocity_weights
from stagecache.testing import check_coherence
from tests.profiles import examples
from tests.system.models import state_of

INSTANCE, POSITION, ACCELERATION = Stage.INSTANCE, Stage.POSITION, Stage.ACCELERATION
Matrix = NDArray[np.float64]


class Rope(Subsystem):
    """A mass in a plane with a constraint of each level; each may be off."""

    ties = modeling_option(1)
    is_tied = parameter(True)
    is_rough = parameter(True)
    is_pushed = modeling_option(True)
    length = parameter(1.0)
    place = q_variable([0.6, -0.8])
    speed = u_variable([0.4, 0.5])

    def __init__(self, called: list[str] | None = None) -> None:
        self.called = [] if called is None else called

    @position_error(enabled=is_tied, size=lambda self, state: self.ties(state))
    def rod(self, state: State) -> Matrix:
        self.called.append("rod")
        place = self.place(state)
        return np.full(self.ties(state), place @ place - self.length(state) ** 2)

    @rod.velocity
    def rod_velocity(self, state: State) -> Matrix:
        self.called.append("rod_velocity")
        return np.full(self.ties(state), 2 * (self.place(state) @ self.speed(state)))

    @rod.jacobian
    def rod_jacobian(self, state: State) -> Any:
        self.called.append("rod_jacobian")
        return {self.speed: np.tile(2 * self.place(state), (self.ties(state), 1))}

    @rod.bias
    def rod_bias(self, state: State) -> Matrix:
        self.called.append("rod_bias")
        return np.full(self.ties(state), 2 * (self.speed(state) @ self.speed(state)))

    @position_error()
    def track(self, state: State) -> float:
        return float(self.place(state)[0] * self.place(state)[1])

    @velocity_error(enabled=is_rough)
    def slip(self, state: State) -> float:
        return float(self.speed(state)[0] * self.place(state)[1])

    @acceleration_error(enabled=is_pushed)
    def push(self, state: State) -> float:
        return float(state[self].udot[1]) - 2.0

    @event_trigger(stage=POSITION, size=lambda self, state: 2 if self.is_tied(state) else 1)
    def bells(self, state: State) -> Any:
        return np.arange(2 if self.is_tied(state) else 1) + self.place(state)[0]

    @cached(prerequisites=(rod, track))
    def worst(self, state: State) -> float:
        errors = [*self.rod(state), *self.track(state)]
        return float(np.abs(errors).max())

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = [0.5, -9.81]


class Untied(Rope):
    """The same, where the constraint that may be off is always on, or is not there."""

    is_tied = parameter(False)


def all_of(state: State) -> dict[str, Any]:
    """All that a State says about constraints, realized to Acceleration."""
    state.system.realize(state, ACCELERATION)
    return {
        "qerr": state.qerr.tolist(),
        "uerr": state.uerr.tolist(),
        "udoterr": state.udoterr.tolist(),
        "multipliers": len(state.multipliers),
        "triggers": state.event_triggers.tolist(),
        "names": [row_names(state, kind) for kind in ("qerr", "uerr", "udoterr")],
        "weights": [state.qerr_weights.tolist(), state.uerr_weights.tolist()],
        "velocity weights": velocity_weights(state).tolist(),
        "position": position_jacobian(state).tolist(),
        "velocity": velocity_jacobian(state).tolist(),
        "acceleration": acceleration_jacobian(state).tolist(),
        "bias": acceleration_bias(state).tolist(),
        "constraints": [(c.name, c.qerr, c.uerr, c.udoterr) for c in constraint_rows(state)],
    }


def test_a_disabled_constraint_has_no_rows_and_none_of_its_functions_is_called() -> None:
    rope = Rope()
    state = state_of(rope, stage=ACCELERATION)
    assert (state.nqerr, state.nuerr, state.nudoterr) == (2, 3, 4)
    rope.is_tied.set(state, False)
    assert state.stage is Stage.MODEL
    rope.called.clear()
    state.system.realize(state, ACCELERATION)
    assert (state.nqerr, state.nuerr, state.nudoterr, state.nudoterr) == (1, 2, 3, 3)
    assert [rope.rod(state).size, rope.rod_velocity(state).size, rope.rod_bias(state).size] == [
        0
    ] * 3
    assert rope.rod_jacobian(state).shape == (0, 2)
    assert rope.worst(state) == pytest.approx(0.48)
    assert rope.called == []
    assert row_names(state, "udoterr") == ["rope.track", "rope.slip", "rope.push"]
    assert state.num_event_triggers == 1


def test_what_is_enabled_again_is_as_it_was_and_weights_are_one() -> None:
    rope = Rope()
    state = state_of(rope, stage=ACCELERATION)
    before = all_of(state)
    state.qerr_weights = [2.0, 3.0]
    rope.is_tied.set(state, False)
    state.system.realize(state, ACCELERATION)
    assert list(state.qerr_weights) == [1.0]
    rope.is_tied.set(state, True)
    assert all_of(state) == before


def test_a_model_without_the_constraint_has_the_same_rows_and_values() -> None:
    class Bare(Rope):
        """The rope without the rod."""

    declarations = dict(Bare.declarations)
    for name in ("rod", "rod_velocity", "rod_jacobian", "rod_bias", "rod.acceleration", "worst"):
        del declarations[name]
    Bare.declarations = declarations
    bare, rope = Bare(), Rope()
    one, other = System(rope=bare).new_state(), System(rope=rope).realize_topology()
    bare.is_tied.set(one, False)  # for the triggers
    two = other.copy()
    rope.is_tied.set(two, False)
    assert all_of(one) == all_of(two)


def test_the_switch_may_be_a_modeling_option_and_another_one_in_a_subclass() -> None:
    rope = Rope()
    state = state_of(rope)
    rope.is_pushed.set(state, False)
    assert state.stage is Stage.TOPOLOGY
    state.system.realize(state, ACCELERATION)
    assert row_names(state, "udoterr") == ["rope.rod", "rope.track", "rope.slip"]
    assert state_of(Untied(), stage=INSTANCE).nqerr == 1


def test_copies_and_checkpoints_have_rows_of_their_own() -> None:
    rope = Rope()
    state = state_of(rope, stage=ACCELERATION)
    tied = all_of(state)
    twin = state.copy()
    mark = state.checkpoint()
    rope.is_tied.set(state, False)
    untied = all_of(state)
    assert untied["names"][0] == ["rope.track"]
    assert all_of(twin) == tied
    low = state.copy()
    state.rollback(mark)
    assert state.stage is ACCELERATION
    assert all_of(state) == tied
    assert all_of(low) == untied
    state.assign(low)
    assert all_of(state) == untied


def test_a_pickled_state_has_the_rows_that_it_had() -> None:
    rope = Rope()
    state = state_of(rope, stage=INSTANCE)
    rope.is_tied.set(state, False)
    state.system.realize(state, INSTANCE)
    state.qerr_weights = [3.0]
    wanted = all_of(state)
    twin = pickle.loads(pickle.dumps(state))
    assert all_of(twin) == wanted
    twin.system["rope"].is_tied.set(twin, True)
    assert len(all_of(twin)["qerr"]) == 2


def test_values_survive_where_no_size_has_changed() -> None:
    """The layout is shared, then, and no entry that names its prerequisites is computed anew."""
    rope = Rope()
    state = state_of(rope, stage=INSTANCE)
    twin = state.copy()
    rope.length.set(twin, 2.0)
    twin.system.realize(twin, INSTANCE)
    assert twin._contents.realization.layout is state._contents.realization.layout
    rope.is_tied.set(twin, False)
    twin.system.realize(twin, INSTANCE)
    assert twin._contents.realization.layout is not state._contents.realization.layout


def test_strict_mode_and_the_coherence_check_have_nothing_to_say() -> None:
    rope = Rope()
    system = System(rope)
    state = system.new_state()
    with strict(state):
        for is_tied in (True, False, True):
            rope.is_tied.set(state, is_tied)
            all_of(state)
    check_coherence(system, settings=examples(20), seed=0)


Step = st.tuples(
    st.sampled_from(["is_tied", "is_rough", "is_pushed", "ties", "copy", "back"]), st.integers(0, 3)
)


@examples(40)
@given(st.lists(Step, max_size=12))
def test_rows_are_those_of_a_fresh_state_after_any_changes(steps: list[tuple[str, int]]) -> None:
    rope = Rope()
    system = System(rope)
    state = system.new_state()
    mark = state.checkpoint()
    for what, number in steps:
        if what == "copy":
            state = state.copy()
            mark = state.checkpoint()
        elif what == "back":
            state.rollback(mark)
        elif what == "ties":
            rope.ties.set(state, number)
        else:
            getattr(rope, what).set(state, bool(number % 2))
        if number:
            system.realize(state, Stage(number + 2))
    fresh = system.new_state()
    for name in ("is_tied", "is_rough", "is_pushed", "ties"):
        variable = getattr(rope, name)
        variable.set(fresh, variable(state))
    assert all_of(state) == all_of(fresh)


# ---------------------------------------------------------------------- bad input


def test_what_holds_no_bool_is_no_switch() -> None:
    rope = Rope()
    state = state_of(rope, stage=INSTANCE)
    rope.is_tied.set(state, "yes")  # type: ignore[arg-type]  # which is the point
    with pytest.raises(NotANumberError, match=r"rope\.is_tied: not a bool"):
        state.system.realize(state, INSTANCE)
    assert state.stage is Stage.MODEL
    rope.is_tied.set(state, True)
    assert len(all_of(state)["qerr"]) == 2


@pytest.mark.parametrize(
    "switch",
    [
        True,
        "is_tied",
        parameter(1.0),
        q_variable(1.0),
        discrete(True, invalidates=Stage.TIME),
        Rope.rod,
    ],
)
def test_a_switch_that_is_none_is_refused_where_it_is_given(switch: Any) -> None:
    for decorator in (position_error, velocity_error, acceleration_error):
        with pytest.raises(DeclarationError, match="cannot be enabled by") as caught:
            decorator(enabled=switch)
        assert "parameter(True)" in caught.value.hint


def test_a_switch_of_another_class_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Other\.gap: enabled by something that the class"):

        class Other(Subsystem):
            @position_error(enabled=Rope.is_tied)
            def gap(self, state: State) -> float:
                return 0.0


def test_a_switch_that_a_subclass_makes_something_else_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Odd\.rod: cannot be enabled by"):

        class Odd(Rope):
            is_tied = parameter(3.0)  # type: ignore[assignment]  # which is the point
