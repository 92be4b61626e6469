"""A State as a continuous state: which writes count, and for what."""

import copy
import pickle
from importlib.util import find_spec

import numpy as np
import pytest

from stagecache import (
    ContinuousState,
    DiagramContinuousState,
    Stage,
    State,
    Subsystem,
    System,
    q_variable,
    simbody,
)
from stagecache.errors import MissingExtraError, PartitionError, StageTooLowError
from stagecache.state.continuous.element_views import AbstractElementView
from tests.state.realizing import realize, state_of

TOPOLOGY, TIME, REPORT, INFINITY = Stage.TOPOLOGY, Stage.TIME, Stage.REPORT, Stage.INFINITY


def build() -> State:
    """Blocks of q: [1 2] [] of cart, [3] [4] of arm; u: [5] of cart, [6] of arm; z: [7] of arm."""
    state = state_of("cart", "arm")
    cart, arm = state
    cart.allocate_q([1.0, 2.0], name="position")
    cart.allocate_q([])
    arm.allocate_q([3.0])
    arm.allocate_q([4.0], name="elbow")
    cart.allocate_u([5.0])
    arm.allocate_u([6.0])
    arm.allocate_z([7.0])
    for subsystem in state:
        for block in [b for kind in ("q", "u", "z") for b in blocks(state, subsystem.index, kind)]:
            subsystem.allocate_cache_entry_with_prerequisites(TOPOLOGY, INFINITY, (block,))
    return realize(state, REPORT)


def blocks(state: State, subsystem: int, kind: str) -> list:  # type: ignore[type-arg]  # of handles
    return [
        b for b in state._contents.realization.layout.subsystems[subsystem].blocks[kind] if b.size
    ]


def versions(state: State) -> list[int]:
    return [b.version(state) for kind in "quz" for x in (0, 1) for b in blocks(state, x, kind)]


def stale(state: State) -> list[tuple[int, int]]:
    """The entries (subsystem, index) that are not realized; all of them are marked afterwards."""
    found = []
    for subsystem in state:
        for i in range(4 if subsystem.index else 2):
            if not simbody.is_cache_value_realized(subsystem, i):
                found.append((subsystem.index, i))
            simbody.mark_cache_value_realized(subsystem, i)
    return found


def test_it_shows_the_variables_in_their_order() -> None:
    state = build()
    assert repr(state.continuous_state) == "ContinuousState(q=[1. 2. 3. 4.], v=[5. 6.], z=[7.])"
    assert repr(state[1].continuous_state) == "ContinuousState(q=[3. 4.], v=[6.], z=[7.])"
    assert list(state.continuous_state) == list(state.y)
    state.q = [9, 8, 7, 6]
    assert list(state[0].continuous_state.q) == [9, 8]


@pytest.mark.parametrize(
    ("index", "touched"), [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (-1, 5)]
)
def test_a_write_of_an_element_is_a_write_of_its_block(index: int, touched: int) -> None:
    state = build()
    stale(state)
    before = versions(state)
    state.continuous_state[index] = 9.0
    assert [v - b for v, b in zip(versions(state), before, strict=True)] == [
        int(i == touched) for i in range(6)
    ]
    assert state.y[index] == 9.0
    assert state.stage < REPORT


def test_a_write_makes_stale_what_depends_on_the_blocks_and_nothing_else() -> None:
    state = build()
    stale(state)
    part = state[1].continuous_state
    part.upd_q()[1] = 8.0
    assert stale(state) == [(1, 1)]
    state.continuous_state.upd_q()[1:3] = [7.0, 6.0]
    assert stale(state) == [(0, 0), (1, 0)]
    assert list(state.q) == [1, 7, 6, 8]
    state.continuous_state.set_from_vector(np.arange(7.0))
    assert stale(state) == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (1, 3)]
    assert list(state.y) == list(range(7))


def test_reading_and_asking_for_write_access_count_as_no_write() -> None:
    state = build()
    before = (versions(state), state.stage)
    view = state.continuous_state.upd_q()
    assert list(view) == [1, 2, 3, 4]
    assert (versions(state), state.stage) == before
    view += 1
    assert list(state.q) == [2, 3, 4, 5]
    assert state.stage == TIME


def test_a_write_of_no_elements_is_not_a_write() -> None:
    state = realize(state_of("a"), REPORT)
    before = state._contents.realization.store.clock
    state.continuous_state.set_from_vector([])
    assert (state.stage, state._contents.realization.store.clock) == (REPORT, before)


def test_a_refused_write_changes_nothing() -> None:
    state = build()
    before = (versions(state), state.stage, list(state.y))
    continuous = state.continuous_state
    for bad in ([1.0], ["a"] * 7, None):
        with pytest.raises((ValueError, TypeError)):
            continuous.set_from_vector(bad)  # type: ignore[arg-type]  # is refused
    with pytest.raises(ValueError, match="read-only"):
        continuous.q[0] = 1
    assert (versions(state), state.stage, list(state.y)) == before


def test_derivatives_have_the_same_structure_and_need_their_stages() -> None:
    state = build()
    derivatives = state.continuous_derivatives
    assert (derivatives.num_q, derivatives.num_v, derivatives.num_z) == (4, 2, 1)
    derivatives.upd_vector()[:] = np.arange(7.0)
    assert (list(state.qdot), list(state.udot), list(state.zdot)) == ([0, 1, 2, 3], [4, 5], [6])
    assert state.stage == REPORT
    state.upd_u()
    with pytest.raises(StageTooLowError):
        derivatives.v.copy()
    assert repr(derivatives).startswith("ContinuousState(q=<4, not realized>")


def test_a_view_of_other_sizes_is_refused_and_clones_stay() -> None:
    state = build()
    continuous = state.continuous_state
    clone = continuous.clone()
    state.invalidate_all(Stage.MODEL)
    with pytest.raises(StageTooLowError):
        continuous.copy_to_vector()
    assert list(clone) == [1, 2, 3, 4, 5, 6, 7]
    assert pickle.loads(pickle.dumps(clone)) == clone


def test_states_are_joined_in_a_diagram() -> None:
    state, other = build(), ContinuousState([8.0], 0, 0, 1)
    diagram = DiagramContinuousState([state[1].continuous_state, other])
    diagram.upd_z()[:] = [70.0, 80.0]
    assert (list(state.z), list(other)) == ([70], [80])
    assert list(diagram.q) == [3, 4]


@pytest.mark.skipif(find_spec("xarray") is None, reason="needs the extra labels: '.[labels]'")
def test_labels_name_subsystem_block_and_element() -> None:
    labeled = build().continuous_state.to_labeled()
    names = ["cart.position[0]", "cart.position[1]", "arm.q0", "arm.elbow", "cart.u0", "arm.u0"]
    assert list(labeled["x"].values) == [*names, "arm.z0"]
    assert "".join(labeled["part"].values) == "qqqqvvz"
    assert float(labeled.sel(x="arm.elbow")) == 4.0
    plain = ContinuousState([1, 2, 3], 1, 1, 1).to_labeled()
    assert list(plain["x"].values) == ["q0", "v0", "z0"]


@pytest.mark.skipif(find_spec("xarray") is None, reason="needs the extra labels: '.[labels]'")
def test_numbers_have_the_names_that_their_subsystem_gives() -> None:
    class Hinge(Subsystem):
        angle = q_variable(0.5)

        def _number_names(self, of: object) -> tuple[str, ...]:
            return ("swing",)

    labeled = System(hinge=Hinge()).new_state().continuous_state.to_labeled()
    assert list(labeled["x"].values) == ["hinge.swing"]


def test_without_xarray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "xarray", None)
    with pytest.raises(MissingExtraError, match="labels"):
        ContinuousState([1.0]).to_labeled()


def test_a_write_of_no_element_invalidates_nothing() -> None:
    state = build()
    stale(state)
    before = versions(state)
    for view in (state.continuous_state.upd_q(), state.continuous_state.upd_vector()):
        view[[]] = []
    assert versions(state) == before
    assert stale(state) == []


def test_a_view_of_another_size_is_refused_after_model_was_realized_anew() -> None:
    state = build()
    view = state.continuous_state.upd_q()
    state.invalidate_all(Stage.MODEL)
    state[0].allocate_q([8.0])
    realize(state, TIME)
    for use in (lambda: view[0], lambda: view.__setitem__(0, 1.0), view.copy):
        with pytest.raises(PartitionError, match="the size has changed"):
            use()
    assert list(state.continuous_state.q) == list(state.q)


def test_views_take_part_in_functions_of_numpy_as_arrays_do() -> None:
    state = build()
    q = state.continuous_state.upd_q()
    assert isinstance(q, AbstractElementView)
    assert (q.ndim, q.size, q.writeable, q.read_only().writeable) == (1, 4, True, False)
    out = np.zeros(4)
    assert np.add(q, 1.0, out=out) is out
    assert out.tolist() == [2.0, 3.0, 4.0, 5.0]
    q += 1.0
    assert list(state.q) == [2.0, 3.0, 4.0, 5.0]
    np.add.at(q, [0, 0], 1.0)
    assert list(state.q) == [4.0, 3.0, 4.0, 5.0]
    assert np.asarray(q, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="is a copy"):
        q.__array__(copy=False)


def test_a_copied_continuous_state_is_apart() -> None:
    state = build()
    twin = copy.copy(state.continuous_state)
    state.q = [9, 8, 7, 6]
    assert list(twin.q) == [1.0, 2.0, 3.0, 4.0]


def test_a_view_of_another_size_keeps_the_others_that_it_is_joined_with_from_a_write() -> None:
    state, other = build(), ContinuousState([8.0], 0, 0, 1)
    view = DiagramContinuousState([other, state.continuous_state]).upd_vector()
    state.invalidate_all(Stage.MODEL)
    state[0].allocate_q([8.0])
    realize(state, TIME)
    with pytest.raises(PartitionError, match="the size has changed"):
        view[:] = 5.0
    assert list(other) == [8.0]


def test_a_write_of_one_derivative_is_not_a_write_of_its_variable() -> None:
    state = build()
    before = versions(state)
    state.continuous_derivatives.upd_vector()[[0, 5]] = [8.0, 9.0]
    assert (state.qdot[0], state.udot[1]) == (8.0, 9.0)
    assert (versions(state), state.stage, list(state.q)) == (before, REPORT, [1, 2, 3, 4])


def test_a_state_without_subsystems_has_an_empty_continuous_state() -> None:
    assert list(realize(State(), Stage.MODEL).continuous_state) == []
