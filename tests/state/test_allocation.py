"""The second table of the contract: what may be allocated when, and when it is forgotten."""

import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from stagecache import (
    CacheEntry,
    Stage,
    State,
    Subsystem,
    SubsystemState,
    System,
    q_variable,
    simbody,
)
from stagecache.errors import (
    ComparisonError,
    ComputeSignatureError,
    DuplicatePrerequisiteError,
    ForeignNodeError,
    InvalidNameError,
    NotANumberError,
    OutOfRangeError,
    PrerequisiteStageError,
    ReadOnlyError,
    ShapeError,
    StagecacheError,
    StageOutOfRangeError,
    StageTooHighError,
    StageTooLowError,
    WrongTypeError,
)
from tests.state.realizing import realize, state_of

EMPTY, TOPOLOGY, MODEL, INSTANCE, TIME, POSITION = list(Stage)[:6]
REPORT, INFINITY = Stage.REPORT, Stage.INFINITY

ALLOCATIONS: dict[str, tuple[Stage, Callable[[SubsystemState], object]]] = {  # with the last stage
    "q": (TOPOLOGY, lambda s: s.allocate_q([1.0])),
    "u": (TOPOLOGY, lambda s: s.allocate_u([1.0])),
    "z": (TOPOLOGY, lambda s: s.allocate_z([1.0])),
    "discrete, Model": (EMPTY, lambda s: s.allocate_discrete_variable(MODEL, 1)),
    "discrete": (TOPOLOGY, lambda s: s.allocate_discrete_variable(INSTANCE, 1)),
    "auto-update": (
        TOPOLOGY,
        lambda s: s.allocate_auto_update_discrete_variable(REPORT, 1, TIME),
    ),
    "qerr": (MODEL, lambda s: s.allocate_qerr(1)),
    "uerr": (MODEL, lambda s: s.allocate_uerr(1)),
    "udoterr": (MODEL, lambda s: s.allocate_udoterr(1)),
    "trigger": (MODEL, lambda s: s.allocate_event_trigger(TIME, 1)),
    "entry": (MODEL, lambda s: s.allocate_cache_entry(TIME, REPORT)),
    "lazy entry": (MODEL, lambda s: s.allocate_lazy_cache_entry(TIME)),
    "entry with prerequisites": (
        MODEL,
        lambda s: s.allocate_cache_entry_with_prerequisites(TIME, INFINITY, (s.variable("q"),)),
    ),
}


def snapshot(state: State) -> object:
    """All that an allocation could change, except for lists that grow unused."""
    realization = state._contents.realization
    layout = realization.layout
    return (
        state.stage_versions,
        [s.stage for s in state],
        list(realization.store.structure),
        realization.store.clock,
        [[len(stack) for stack in s._stacks()] for s in layout.subsystems],
        str(state),
        state.cache_to_string(),
    )


def test_a_stage_that_is_too_high_is_told_before_what_is_wrong_with_the_update_entry() -> None:
    state = realize(state_of("own"), MODEL)  # as Simbody does
    with pytest.raises(StageTooHighError):
        state[0].allocate_auto_update_discrete_variable(REPORT, 1, INFINITY)


@pytest.mark.parametrize("name", ALLOCATIONS)
def test_it_is_allocated_up_to_its_last_stage_and_forgotten_with_that(name: str) -> None:
    last, allocate = ALLOCATIONS[name]
    for stage in list(Stage)[: INSTANCE + 1]:
        state = realize(state_of("other", "own"), stage)
        before = snapshot(state)
        if stage > last:
            with pytest.raises(StageTooHighError, match=f"subsystem 1 'own' at {stage}"):
                allocate(state[1])
            assert snapshot(state) == before
            continue
        allocate(state[1])
        assert snapshot(state) != before
        for higher in (REPORT, stage.next().next()):
            realize(state, REPORT)
            assert allocated(state), "advancing over it keeps it"
            state.invalidate_all(higher)
            assert allocated(state), f"it was allocated before {higher}"
        realize(state, REPORT)
        state.invalidate_all(stage.next())
        assert not allocated(state)


def allocated(state: State) -> bool:
    return any(state._contents.realization.layout.subsystems[1]._stacks())


def test_what_is_pending_is_forgotten_with_what_others_have_finished() -> None:
    state = state_of("ahead", "behind")
    state[0].advance_to_stage(TOPOLOGY)
    state[1].allocate_lazy_cache_entry(TIME)
    state.invalidate_all(MODEL)
    assert simbody.has_cache_entry(state[1], 0), "nobody was at Model"
    state.invalidate_all(TOPOLOGY)
    assert not simbody.has_cache_entry(state[1], 0)


def test_what_several_subsystems_have_allocated_is_forgotten_in_all_and_stage_by_stage() -> None:
    state = realize(state_of("a", "b"), TOPOLOGY)
    early = [part.allocate_q([1.0]) for part in state]
    realize(state, MODEL)
    late = [part.allocate_lazy_cache_entry(TIME) for part in state]
    realize(state, INSTANCE)
    state.invalidate_all(INSTANCE)
    for entry in late:
        with pytest.raises(ForeignNodeError):
            entry.version(state)
    assert [block.version(state) for block in early] == [1, 1]
    state.invalidate_all(MODEL)
    for block in early:
        with pytest.raises(ForeignNodeError):
            block.version(state)
    assert realize(state, MODEL).nq == 0


def test_the_comparison_of_an_entry_is_forgotten_with_it() -> None:
    state = state_of("a")
    source = state[0].allocate_discrete_variable(INSTANCE, 1)
    realize(state, TOPOLOGY)
    allocate = partial(
        state[0].allocate_cache_entry_with_prerequisites, TOPOLOGY, INFINITY, (source,), None
    )
    compared = allocate(compute=source, equal=lambda before, value: True)
    realize(state, INSTANCE)
    state.invalidate_all(MODEL)
    entry = allocate(compute=source)
    assert entry._node == compared._node
    realize(state, INSTANCE)
    for value in (2, 3):
        source.set(state, value)
        assert entry(state) == value
    assert entry.version(state) == 2


def test_indices_are_consecutive_and_local() -> None:
    state = state_of("a", "b")
    blocks = [s.allocate_q(np.zeros(n)) for n in (2, 3) for s in state]
    assert [(b.subsystem, b.index, b.size) for b in blocks] == [
        (0, 0, 2),
        (1, 0, 2),
        (0, 2, 3),
        (1, 2, 3),
    ]
    variables = [s.allocate_discrete_variable(REPORT, 0) for _ in range(2) for s in state]
    assert [(v.subsystem, v.index) for v in variables] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert [state[0].allocate_qerr(n) for n in (2, 0, 1)] == [0, 2, 2]


def test_first_values_come_when_model_is_realized_and_come_again() -> None:
    state = state_of("a")
    first = np.array([1.0, 2.0])
    state[0].allocate_q(first)
    first[0] = 99
    realize(state, MODEL)
    assert list(state.q) == [1, 2]
    state.q = [5, 5]
    state.invalidate_all(MODEL)
    realize(state, MODEL)
    assert list(state.q) == [1, 2]


def test_a_prerequisite_that_would_be_forgotten_first_is_refused() -> None:
    state = state_of("a", "b")
    state[1].advance_to_stage(TOPOLOGY)
    late = state[1].allocate_discrete_variable(REPORT, 1)
    before = snapshot(state)
    with pytest.raises(PrerequisiteStageError, match="would be forgotten before it"):
        state[0].allocate_cache_entry_with_prerequisites(TIME, INFINITY, (late,))
    assert snapshot(state) == before


def depend_on(subsystem: SubsystemState, prerequisites: Any) -> object:
    return subsystem.allocate_cache_entry_with_prerequisites(TIME, INFINITY, prerequisites)


def of_another_state() -> CacheEntry[Any]:
    return state_of("x")[0].allocate_lazy_cache_entry(TIME)


REFUSED: list[tuple[type[StagecacheError], Callable[[SubsystemState], object]]] = [
    (ShapeError, lambda s: s.allocate_q(1.0)),
    (ShapeError, lambda s: s.allocate_u([[1.0]])),
    (ShapeError, lambda s: s.allocate_u([[1.0], [2.0, 3.0]])),
    (NotANumberError, lambda s: s.allocate_z(["x"])),
    (NotANumberError, lambda s: s.allocate_q(None)),  # type: ignore[arg-type]
    (InvalidNameError, lambda s: s.allocate_q([1.0], name=3)),  # type: ignore[arg-type]
    (OutOfRangeError, lambda s: s.allocate_qerr(-1)),
    (OutOfRangeError, lambda s: s.allocate_uerr(1.5)),  # type: ignore[arg-type]
    (OutOfRangeError, lambda s: s.allocate_udoterr(True)),
    (OutOfRangeError, lambda s: s.allocate_event_trigger(TIME, 0)),
    (StageOutOfRangeError, lambda s: s.allocate_event_trigger(EMPTY, 1)),
    (StageOutOfRangeError, lambda s: s.allocate_event_trigger(INFINITY, 1)),
    (StageOutOfRangeError, lambda s: s.allocate_discrete_variable(TOPOLOGY, 1)),
    (
        StageOutOfRangeError,
        lambda s: s.allocate_auto_update_discrete_variable(TIME, 1, TIME),
    ),
    (
        StageOutOfRangeError,
        lambda s: s.allocate_auto_update_discrete_variable(REPORT, 1, INFINITY),
    ),
    (ComparisonError, lambda s: s.allocate_lazy_cache_entry(TIME, 1.0, equal=True)),  # type: ignore[call-overload]
    (StageOutOfRangeError, lambda s: s.allocate_cache_entry(EMPTY)),
    (StageOutOfRangeError, lambda s: s.allocate_cache_entry(INFINITY)),
    (StageOutOfRangeError, lambda s: s.allocate_cache_entry(POSITION, TIME)),
    (DuplicatePrerequisiteError, lambda s: depend_on(s, (s.variable("q"), s.variable("q")))),
    (WrongTypeError, lambda s: depend_on(s, (0,))),
    (WrongTypeError, lambda s: depend_on(s, s.variable("q"))),
    (ForeignNodeError, lambda s: depend_on(s, (of_another_state(),))),
    (
        WrongTypeError,
        lambda s: s.allocate_lazy_cache_entry(TIME, compute=3),  # type: ignore[call-overload]
    ),
    (
        ComputeSignatureError,
        lambda s: s.allocate_lazy_cache_entry(TIME, compute=lambda: 1),  # type: ignore[misc, arg-type]
    ),
]


@pytest.mark.parametrize(("error", "allocate"), REFUSED)
def test_a_refused_allocation_changes_nothing(
    error: type[StagecacheError], allocate: Callable[[SubsystemState], object]
) -> None:
    state = state_of("a")
    before = snapshot(state)
    where = "not in this State" if error is ForeignNodeError else "subsystem 0 'a'"
    with pytest.raises(error, match=where):
        allocate(state[0])
    assert snapshot(state) == before


def test_an_allocation_in_a_copy_leaves_the_original_alone() -> None:
    state = state_of("a")
    q = state.variable("q")
    realize(state, TOPOLOGY)
    first = state[0].allocate_cache_entry_with_prerequisites(TOPOLOGY, INFINITY, (q,))
    realize(state, INSTANCE)
    twin = state.copy()
    twin.invalidate_all(MODEL)
    assert (state.variable("q").dependents(state), twin.variable("q").dependents(twin)) == (
        (first,),
        (),
    )
    allocate = twin[0].allocate_cache_entry_with_prerequisites
    own = [
        allocate(TOPOLOGY, INFINITY, (q,), compute=lambda _: 0),
        allocate(TOPOLOGY, INFINITY, (q,), compute=lambda _: 1),
    ]
    realize(twin, INSTANCE)
    assert [entry(twin) for entry in own] == [0, 1]
    assert state.variable("q").dependents(state) == (first,)
    with pytest.raises(ForeignNodeError):
        first(twin)
    with pytest.raises(ForeignNodeError):
        own[0](state)


def test_entries_with_the_same_prerequisites_add_one_tracked_object_each() -> None:
    state = state_of("a")
    q = state.variable("q")

    def tracked(count: int) -> int:
        for _ in range(count):
            depend_on(state[0], (q,))
        gc.collect()
        return len(gc.get_objects())

    tracked(10)
    before = tracked(10)
    assert tracked(500) - before < 1.1 * 500


def test_the_default_state_of_a_system_is_not_allocated_in() -> None:
    system = System()
    system.add(Subsystem())
    system.realize_topology()
    with pytest.raises(ReadOnlyError):
        system.default_state[0].allocate_lazy_cache_entry(TOPOLOGY)


def test_a_new_variable_was_never_updated_even_if_one_before_it_in_the_same_place_was() -> None:
    state = realize(state_of("a"), TOPOLOGY)
    forgotten = state[0].allocate_discrete_variable(REPORT, 1)
    realize(state, TIME)
    state.time = 3.0
    forgotten.set(state, 2)
    assert forgotten.last_update_time(state) == 3.0
    state.invalidate_all(MODEL)
    state.invalidate_all(TOPOLOGY)
    state[0].advance_to_stage(TOPOLOGY)
    variable = state[0].allocate_discrete_variable(REPORT, 1)
    assert variable._node == forgotten._node
    assert np.isnan(variable.last_update_time(state))


def test_prerequisites_that_are_listed_twice_are_named_and_no_others() -> None:
    state = state_of("a")
    q, mass = state[0].allocate_q([1.0]), state[0].allocate_discrete_variable(REPORT, 1)
    with pytest.raises(DuplicatePrerequisiteError) as caught:
        state[0].allocate_cache_entry_with_prerequisites(TIME, INFINITY, (q, mass, q))
    assert caught.value.got == "q block 0 of subsystem 0 'a' repeatedly"


class Rope(Subsystem):
    """Its number of q depends on an option; hooks may allocate more."""

    places = q_variable(factory=lambda self, state: [1.0, 2.0])

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def realize_topology(self, state: State) -> None:
        state[self].allocate_u([5.0])
        if self._stage is TOPOLOGY:
            state[self].allocate_q([3.0])

    def realize_model(self, state: State) -> None:
        if self._stage is MODEL:
            state[self].allocate_q([3.0])


def test_q_is_not_allocated_after_declared_q_whose_number_is_not_known_yet() -> None:
    with pytest.raises(StageTooLowError, match="comes after declared ones"):
        System(Rope(TOPOLOGY)).realize_topology()
    state = System(Rope(MODEL)).new_state()
    assert (list(state.q), list(state.u)) == ([1.0, 2.0, 3.0], [5.0])
