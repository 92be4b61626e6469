"""What a write would make unrealized: said before it is done, and without doing it."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import CacheEntry, Stage, State, System
from stagecache.errors import (
    ForeignNodeError,
    NodeKindError,
    StagecacheError,
    UnknownPathError,
    WrongTypeError,
)
from stagecache.testing.items import blocks_of
from stagecache.views.nodes import Status
from tests.profiles import examples
from tests.state.asking import random_systems, realized, steps
from tests.state.realizing import realize, state_of
from tests.system.models import Crane

STAGES = list(Stage)[: Stage.INFINITY]


def mechanism(state: State) -> str:
    """All that a question could disturb."""
    store = state._contents.realization.store
    return repr(
        (store.clock, store.marks, store.gates, store.live, store.versions, state.stage_versions)
    )


def highest(state: State) -> Stage:
    """The highest stage of a subsystem, which is beyond the system's if an error struck."""
    return max((state.stage, *(part.stage for part in state)))


@examples(100)
@given(random_systems(), st.data())
def test_it_is_what_a_write_then_does(system: System, data: st.DataObject) -> None:
    for step in steps(system, data):
        if step.written is None:
            step.do()
            continue
        state, before, reached = step.state, realized(step.state), highest(step.state)
        untouched = mechanism(state)
        impact = state.impact(step.written)
        if impact.variable != "y":
            assert state.graph.impacts[impact.variable] == impact.entries
        assert mechanism(state) == untouched
        step.do()
        assert set(impact.entries) == before - realized(state)
        assert impact.num_valid == len(before)
        parts = [*impact.by_prerequisite, *(p for group in impact.by_stage.values() for p in group)]
        assert sorted(parts) == sorted(impact.entries)
        assert set(impact.by_stage) <= set(impact.stages)
        left = [str(g) for g in Stage if highest(state) < g <= reached]
        assert left == list(impact.stages)


@examples(50)
@given(random_systems(), st.data())
def test_it_is_the_same_for_all_variables_of_a_copy_that_keeps_its_cache(
    system: System, data: st.DataObject
) -> None:
    state = State()
    for step in steps(system, data):
        step.do()
        state = step.state
    if state.system is None:
        return
    for kind in ("q", "u", "z"):
        for _, block in blocks_of(state, kind) if state.stage >= Stage.MODEL else ():
            twin = state.copy(keep_cache=True)
            lost = realized(state)
            block.upd(twin)
            assert set(state.impact(block).entries) == lost - realized(twin)


def crane() -> tuple[Crane, State]:
    system = Crane()
    state = system.state_at()
    system.realize(state)
    for entry in (system.body.momentum, system.load.height, system.load.work):
        entry(state)
    return system, state


def test_it_tells_what_depends_on_the_variable_from_what_depends_on_the_stage() -> None:
    system, state = crane()
    impact = state.impact(system.joint.angle)
    assert impact.by_prerequisite == ("load.height", "load.work", "body.place", "joint.tip")
    assert impact.by_stage == {"Velocity": ("body.momentum", "joint.speed")}
    assert impact.stages == ("Position", "Velocity", "Dynamics", "Acceleration", "Report")
    assert str(impact) == (
        "A write of joint.angle leaves stages Position to Report. It makes 6 of 6 valid\n"
        "  entries stale:\n"
        "  by its own change: load.height, load.work, body.place, joint.tip\n"
        "  by stage Velocity: body.momentum, joint.speed"
    )
    assert repr(impact) == "Impact(joint.angle: 6 of 6 valid entries)"
    assert impact.as_dict()["by_stage"] == {"Velocity": ["body.momentum", "joint.speed"]}
    assert "joint.angle" in impact._repr_html_()


@pytest.mark.parametrize(
    ("path", "same"), [("joint/angle", "joint.angle"), ("q", "q"), ("joint.q", "joint.q")]
)
def test_a_variable_is_given_by_its_path(path: str, same: str) -> None:
    _, state = crane()
    assert state.impact(path).variable == same
    assert len(state.impact(path).entries) == 6


def test_all_of_y_is_one_write() -> None:
    _, state = crane()
    assert state.impact("y").stages == state.impact("q").stages
    assert set(state.impact("y").entries) == realized(state)


def test_weights_leave_report_only() -> None:
    _, state = crane()
    impact = state.impact("u_weights")
    assert (impact.entries, impact.stages) == ((), ("Report",))
    assert str(impact) == ("A write of u_weights leaves stage Report. It makes no entry stale.")


@examples(200)
@given(st.data())
def test_entries_that_are_presumed_computed_are_lost_with_the_stage_that_presumes_them(
    data: st.DataObject,
) -> None:
    """It names those that are realized and are not after the write: in any State, at any stage."""
    state, variables, entries = by_hand(data)
    for _ in range(data.draw(st.integers(1, 8))):
        disturb(state, entries, data)
        (written,) = some(data, [*variables, *VECTORS], least=1, most=1)
        if state.stage < (Stage.MODEL if written in VECTORS else Stage.TOPOLOGY):
            continue
        before = valid(state)
        impact = state.impact(written)
        shown = state.graph.impacts.get(impact.variable, impact.entries)
        if isinstance(written, str):
            setattr(state, written, getattr(state, written).copy())
        else:
            written.set(state, 0.5)
        assert set(impact.entries) == before - valid(state)
        assert shown == impact.entries
        parts = [*impact.by_prerequisite, *(p for group in impact.by_stage.values() for p in group)]
        assert sorted(parts) == sorted(impact.entries)


def test_an_entry_that_is_presumed_computed_is_listed_by_the_stage_that_presumes_it() -> None:
    state = state_of("arm")
    rate = state[0].allocate_discrete_variable(Stage.VELOCITY, 1, name="rate")
    matrix = state[0].allocate_cache_entry(Stage.TOPOLOGY, Stage.DYNAMICS, 0, name="matrix")
    realize(state, Stage.DYNAMICS)
    assert matrix.is_valid(state)
    assert state.impact(rate).by_stage == {"Dynamics": ("arm.matrix",)}
    matrix.mark_valid(state)  # now it is known to be computed, whatever is realized
    assert state.impact(rate).entries == ()
    rate.set(state, 2)
    assert matrix.is_valid(state)


VECTORS = ("q", "u", "z", "y", "u_weights", "z_weights")


def valid(state: State) -> set[str]:
    """The paths of the allocated entries that are valid; computed vectors are no part of it."""
    return {
        node.path
        for node in state.graph.nodes
        if ".entry " in node.path and node.status is Status.VALID
    }


def some(data: st.DataObject, items: list[Any], *, least: int = 0, most: int) -> list[Any]:
    """Some items, each once; they are chosen by their places, as Hypothesis keeps what it draws."""
    places = st.integers(0, len(items) - 1)
    return [
        items[place]
        for place in data.draw(st.lists(places, min_size=least, max_size=most, unique=True))
    ]


def by_hand(data: st.DataObject) -> tuple[State, list[Any], list[CacheEntry[Any]]]:
    """A State of two subsystems, with variables, and entries of all kinds."""
    state = state_of("one", "two")
    variables: list[Any] = [state.variable("time")]
    entries: list[CacheEntry[Any]] = []
    for part in state:
        for stage in data.draw(st.lists(st.sampled_from(STAGES[2:]), max_size=3)):
            name = f"variable {len(variables)}"
            if stage >= Stage.POSITION and data.draw(st.booleans()):
                available_from = data.draw(st.sampled_from(STAGES[1:]))
                variables.append(
                    part.allocate_auto_update_discrete_variable(stage, 0, available_from, name=name)
                )
            else:
                variables.append(part.allocate_discrete_variable(stage, 0, name=name))
        part.allocate_q([0.5])
        part.allocate_u([0.5])
        part.allocate_z([0.5])
        for _ in range(data.draw(st.integers(1, 5))):
            earliest = data.draw(st.sampled_from(STAGES[1:]))
            latest = data.draw(st.sampled_from([*STAGES[earliest:], Stage.INFINITY]))
            above = [e for e in entries if e.available_from <= earliest] + variables
            chosen = some(data, above, most=2)
            compute = (lambda state: 1.0) if data.draw(st.booleans()) else None
            kind: dict[str, Any] = {} if compute is None else {"compute": compute}
            if compute is not None and data.draw(st.booleans()):
                kind["equal"] = True
            entries.append(
                part.allocate_cache_entry_with_prerequisites(
                    earliest, latest, chosen, 0.0, name=f"entry {len(entries)}", **kind
                )
            )
    return state, variables, entries


def disturb(state: State, entries: list[CacheEntry[Any]], data: st.DataObject) -> None:
    """Advance some subsystems and the system; mark, invalidate, store and read some entries."""
    for part in state:
        for _ in range(data.draw(st.integers(0, 4))):
            if part.stage < Stage.REPORT and part.stage <= state.stage + data.draw(
                st.integers(0, 2)
            ):
                part.advance_to_stage(part.stage.next())
        while state.stage < min(part.stage for part in state) and data.draw(st.booleans()):
            state.advance_to_stage(state.stage.next())
    for entry in some(data, entries, most=4):
        do = data.draw(st.sampled_from(["mark", "invalidate", "store", "read"]))
        with suppress(StagecacheError):
            if do == "mark":
                entry.mark_valid(state)
            elif do == "invalidate":
                entry.invalidate(state)
            elif do == "store":
                entry.set(state, 2.0)
            else:
                entry(state)


def test_a_stage_that_is_not_reached_is_not_left() -> None:
    system = Crane()
    state = system.state_at(Stage.INSTANCE)
    assert "leaves no stage" in str(state.impact(system.joint.angle))


def test_what_would_be_forgotten_is_named() -> None:
    state = state_of("arm")
    option = state[0].allocate_discrete_variable(Stage.MODEL, 1, name="option")
    realize(state, Stage.TOPOLOGY)
    late = state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=lambda s: 1, name="late")
    realize(state, Stage.INSTANCE)
    late(state)
    impact = state.impact(option)
    assert impact.forgotten == impact.entries == ("arm.late",)
    assert impact.by_stage == {"Model": ("arm.late",)}
    assert "forgotten: arm.late" in str(impact)


@pytest.mark.parametrize(
    ("item", "error"),
    [
        ("joint.angel", UnknownPathError),
        ("joint.tip", NodeKindError),
        ("stage Position", NodeKindError),
        (3, WrongTypeError),
    ],
)
def test_what_is_no_variable_is_refused(item: Any, error: type[Exception]) -> None:
    _, state = crane()
    with pytest.raises(error):
        state.impact(item)


def test_a_handle_of_another_system_is_refused_and_a_similar_path_is_suggested() -> None:
    _, state = crane()
    with pytest.raises(ForeignNodeError):
        state.impact(Crane().joint.angle)
    for path in ("joint.angel", "angle", "joint/angel", "jiont.angle"):
        with pytest.raises(UnknownPathError, match=r"did you mean 'joint\.angle'\?"):
            state.impact(path)
