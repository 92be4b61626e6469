"""The first table of the contract: what needs which stage, and what a write invalidates."""

from functools import partial
from operator import attrgetter

import numpy as np
import pytest

from stagecache import Stage, State, simbody
from stagecache.errors import NotANumberError, ShapeError, StageTooLowError
from stagecache.state.partition import AbstractPartition
from stagecache.state.vectors.vectors import VECTORS
from tests.state.realizing import realize, state_of, upd

M, INSTANCE, P, V = Stage.MODEL, Stage.INSTANCE, Stage.POSITION, Stage.VELOCITY
D, A, R = Stage.DYNAMICS, Stage.ACCELERATION, Stage.REPORT

VARIABLES = {  # read and written from, a write invalidates
    "y": (M, P),
    "q": (M, P),
    "u": (M, V),
    "z": (M, D),
    "u_weights": (M, R),
    "z_weights": (M, R),
    "qerr_weights": (INSTANCE, P),
    "uerr_weights": (INSTANCE, V),
}
CACHES = {  # handed out for writing from, read from
    "ydot": (M, A),
    "qdot": (M, V),
    "udot": (M, A),
    "zdot": (M, D),
    "qdotdot": (M, A),
    "yerr": (INSTANCE, V),
    "qerr": (INSTANCE, P),
    "uerr": (INSTANCE, V),
    "udoterr": (INSTANCE, A),
    "multipliers": (INSTANCE, A),
}
SYSTEM_ONLY = {"y", "ydot", "yerr"}
SIZES = {
    "y": 12,
    "ydot": 12,
    "yerr": 9,
    "q": 3,
    "u": 4,
    "z": 5,
    "u_weights": 4,
    "z_weights": 5,
    "qerr_weights": 4,
    "uerr_weights": 5,
    "qdot": 3,
    "udot": 4,
    "zdot": 5,
    "qdotdot": 3,
    "qerr": 4,
    "uerr": 5,
    "udoterr": 6,
    "multipliers": 6,
}


def build() -> State:
    """Two subsystems; of each vector the second has one item."""
    state = state_of("a", "b")
    for subsystem, more in zip(state, (0, 1), strict=True):
        subsystem.allocate_q(np.arange(1.0 if more else 2.0))
        subsystem.allocate_u(np.arange(1.0 if more else 3.0))
        subsystem.allocate_z(np.arange(1.0 if more else 4.0))
        subsystem.allocate_qerr(1 if more else 3)
        subsystem.allocate_uerr(1 if more else 4)
        subsystem.allocate_udoterr(1 if more else 5)
    return state


def views(state: State, name: str) -> list[tuple[AbstractPartition, int]]:
    """The State and its partitions, as far as they have this vector, with its size there."""
    partitions: list[tuple[AbstractPartition, int]] = [(state, SIZES[name])]
    if name not in SYSTEM_ONLY:
        partitions += [(state[0], SIZES[name] - 1), (state[1], 1)]
    return partitions


@pytest.mark.parametrize("name", [*VARIABLES, *CACHES])
def test_it_is_read_from_its_stage_on(name: str) -> None:
    first = VARIABLES[name][0] if name in VARIABLES else CACHES[name][1]
    state = build()
    for stage in list(Stage)[: R + 1]:
        realize(state, stage)
        for partition, size in views(state, name):
            if stage < first:
                with pytest.raises(StageTooLowError, match=f"{name}.*\n.*{first} or later"):
                    attrgetter(name)(partition)
            else:
                view = attrgetter(name)(partition)
                assert view.shape == (size,)
                assert not view.flags.writeable


@pytest.mark.parametrize("name", [*VARIABLES, *CACHES])
def test_it_is_handed_out_for_writing_from_the_stage_on_at_which_it_exists(name: str) -> None:
    first = VARIABLES[name][0] if name in VARIABLES else CACHES[name][0]
    for stage in list(Stage)[: R + 1]:
        state = realize(build(), stage)
        for partition, size in views(state, name):
            before = (state.stage, state.stage_versions)
            if stage < first:
                with pytest.raises(StageTooLowError):
                    upd(partition, name)
                assert (state.stage, state.stage_versions) == before
            else:
                assert upd(partition, name).shape == (size,)


@pytest.mark.parametrize("name", ["q", "u", "z", "qerr", "uerr", "udoterr"])
def test_its_size_is_known_from_the_stage_on_at_which_it_exists(name: str) -> None:
    first = VARIABLES[name][0] if name in VARIABLES else CACHES[name][0]
    state = build()
    for stage in list(Stage)[: R + 1]:
        realize(state, stage)
        for (partition, size), of in zip(views(state, name), ("", *"ab"), strict=True):
            if stage < first:
                whose = f" of subsystem . '{of}'" if of else ""
                with pytest.raises(StageTooLowError, match=f"the number of {name}{whose}:"):
                    getattr(partition, f"n{name}")
            else:
                assert getattr(partition, f"n{name}") == size


@pytest.mark.parametrize("by", ["upd", "assignment"])
@pytest.mark.parametrize("name", VARIABLES)
def test_a_write_backs_up_all_before_what_it_invalidates(name: str, by: str) -> None:
    state = build()
    for i in range(len(views(state, name))):
        realize(state, R)
        partition, size = views(state, name)[i]
        if by == "upd":
            upd(partition, name)[:] = 7.0
        else:
            setattr(partition, name, np.full(size, 7.0))
        left = VARIABLES[name][1].prev()
        assert [state.stage, state[0].stage, state[1].stage] == [left] * 3
        assert np.array_equal(attrgetter(name)(partition), np.full(size, 7.0))


@pytest.mark.parametrize("name", CACHES)
def test_a_cache_is_written_without_effect_on_stages(name: str) -> None:
    state = realize(build(), CACHES[name][1])
    for partition, _ in views(state, name):
        upd(partition, name)[:] = 7.0
        assert state.stage == CACHES[name][1]
        assert (attrgetter(name)(partition) == 7.0).all()


def test_parts_lie_side_by_side_in_the_order_of_subsystems() -> None:
    state = realize(build(), R)
    state.y = np.arange(12.0)
    assert [list(state[0].q), list(state[1].q)] == [[0, 1], [2]]
    assert [list(state[0].u), list(state[1].u)] == [[3, 4, 5], [6]]
    assert [list(state[0].z), list(state[1].z)] == [[7, 8, 9, 10], [11]]
    assert (state.q_start, state.u_start, state.z_start) == (0, 3, 7)
    assert (state[1].q_start, state[1].u_start, state[1].z_start) == (2, 3, 4)
    assert (simbody.qerr_start(state), simbody.uerr_start(state), simbody.uerr_start(state[1])) == (
        0,
        4,
        4,
    )
    assert (
        simbody.udoterr_start(state[1]),
        simbody.udoterr_start(state[1]),
        state[1].nudoterr,
    ) == (5, 5, 1)
    assert np.shares_memory(state.q, state[0].q)


def test_a_subsystem_that_is_ahead_of_the_system_has_no_vectors_yet() -> None:
    state = realize(build(), Stage.TOPOLOGY)
    state[0].advance_to_stage(M)
    for use in (
        lambda: state[0].q,
        state[0].upd_q,
        lambda: setattr(state[0], "q", [1.0, 2.0]),
        lambda: state[0].variable("q")(state),
    ):
        with pytest.raises(StageTooLowError, match="the system at Model or later"):
            use()


def test_kinds_of_vectors_show_their_names() -> None:
    names = {repr(kind) for kind in VECTORS}
    assert {f"VectorKind({name!r})" for name in [*VARIABLES, *CACHES]} <= names


def test_weights_are_1_and_caches_nan_at_first() -> None:
    state = realize(build(), R)
    assert (state.u_weights == 1).all()
    assert (state.uerr_weights == 1).all()
    assert np.isnan(state.ydot).all()
    assert np.isnan(state.multipliers).all()


def test_time_is_0_at_topology_and_a_write_invalidates_time() -> None:
    state = build()
    with pytest.raises(StageTooLowError):
        state.time = 1.0
    realize(state, Stage.TOPOLOGY)
    assert state.time == 0.0
    realize(state, R)
    state.time = 2
    assert (state.time, state.stage) == (2.0, Stage.INSTANCE)
    state.invalidate_all(Stage.TOPOLOGY)
    with pytest.raises(StageTooLowError):
        state.time  # noqa: B018  # the read is what fails
    realize(state, Stage.TOPOLOGY)
    assert state.time == 0.0


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([1.0, 2.0], ShapeError),
        (1.0, ShapeError),
        ([[1.0, 2.0, 3.0]], ShapeError),
        (["a", "b", "c"], NotANumberError),
        ([1j, 2, 3], NotANumberError),
        ([True, False, True], NotANumberError),
        ([1.0, None, 2.0], NotANumberError),
        ([[1.0], [2.0, 3.0]], ShapeError),
    ],
)
def test_a_bad_assignment_is_refused_and_changes_nothing(values: object, error: type) -> None:
    state = realize(build(), R)
    before = (state.stage_versions, state.variable("q").version(state), list(state.q))
    with pytest.raises(error, match="q"):
        state.q = values  # type: ignore[assignment]  # is refused
    assert (state.stage_versions, state.variable("q").version(state), list(state.q)) == before


def test_an_item_or_an_augmented_assignment_is_refused_by_numpy() -> None:
    state = realize(build(), M)
    with pytest.raises(ValueError, match="read-only"):
        state.q[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        state.q += 1


def test_event_triggers_lie_by_stage_then_by_subsystem() -> None:
    state = build()
    assert state[1].allocate_event_trigger(P, 2) == 0
    assert state[0].allocate_event_trigger(V, 1) == 0
    assert state[0].allocate_event_trigger(P, 1) == 0
    assert state[0].allocate_event_trigger(P, 3) == 1
    with pytest.raises(StageTooLowError):
        state.num_event_triggers  # noqa: B018  # the read is what fails
    realize(state, INSTANCE)
    simbody.upd_event_triggers(state)[:] = np.arange(7.0)
    assert [simbody.num_event_triggers_by_stage(state, g) for g in (P, V, D)] == [6, 1, 0]
    assert [simbody.event_trigger_start_by_stage(state, g) for g in (P, V, D)] == [0, 6, 7]
    assert [simbody.event_trigger_start_by_stage(s, P) for s in state] == [0, 4]
    with pytest.raises(StageTooLowError):
        state.event_triggers_by_stage(P)
    realize(state, P)
    assert list(state[1].event_triggers_by_stage(P)) == [4, 5]
    state[0].upd_event_triggers_by_stage(V)[:] = 9
    with pytest.raises(StageTooLowError):
        state.event_triggers  # noqa: B018  # the read is what fails
    realize(state, A)
    assert list(state.event_triggers) == [0, 1, 2, 3, 4, 5, 9]


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (np.array([1.0]), ShapeError),
        (np.array(["1", "2"]), NotANumberError),
        (np.array([1j, 2j]), NotANumberError),
    ],
)
def test_an_array_of_another_shape_or_type_is_refused_by_each_write(
    values: np.ndarray, error: type[Exception]
) -> None:
    state = state_of("a")
    block = state[0].allocate_q([1.0, 2.0])
    realize(state, P)
    for write in (
        partial(setattr, state, "q"),
        partial(setattr, state[0], "q"),
        partial(block.set, state),
    ):
        with pytest.raises(error):
            write(values)
        assert (list(state.q), state.stage) == ([1.0, 2.0], P)
    block.set(state, np.array([3, 4]))
    assert list(state.q) == [3.0, 4.0]
