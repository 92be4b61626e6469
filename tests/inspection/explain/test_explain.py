"""Why an entry is not valid: which write made it so, along which path, and what a call does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    System,
    simbody,
)
from stagecache.display.text import duration
from stagecache.errors import CacheEntryOutOfDateError, NodeKindError, UnknownPathError
from stagecache.graph.sources import shown_file
from stagecache.inspection import (
    CauseKind,
    Explanation,
    WriteEvent,
)
from stagecache.testing.programs.operation import (
    AutoUpdate,
    Invalidate,
    ReadAll,
    ReadEntry,
    Realize,
)
from stagecache.testing.programs.writes import SetTime, SetVariable, SetVector
from tests.profiles import examples
from tests.state.asking import entries, random_systems, realized, steps
from tests.state.realizing import realize, state_of
from tests.system.models import Crane

ON_ONE_STATE = (
    *(AutoUpdate, Invalidate, ReadAll, ReadEntry, Realize),
    *(SetTime, SetVariable, SetVector),
)


def is_named(explained: Explanation, written: Any) -> bool:
    """Whether an explanation names what was written."""
    cause = explained.cause
    assert cause is not None
    if isinstance(written, str):  # y, or weights
        return written in (cause.variable, cause.written_as)
    if cause.variable == str(written).removeprefix("system."):
        return True
    return cause.written_as == str(written).removeprefix("system.")


def check(state: State, explained: Explanation) -> None:
    """What holds of any explanation."""
    edges = {(edge.source, edge.target) for edge in state.graph.edges}
    assert explained.is_valid == (explained.cause is None)
    if explained.cause is None:
        assert explained.path == explained.computes == ()
        return
    assert explained.path[-1] == explained.entry
    assert set(zip(explained.path, explained.path[1:], strict=False)) <= edges


@examples(100)
@given(random_systems(), st.data())
def test_the_cause_is_the_write_without_which_the_entry_would_be_realized(
    system: System, data: st.DataObject
) -> None:
    for step in steps(system, data):
        before = realized(step.state)
        written = step.written
        step.do()
        for path in before - realized(step.state):
            if path not in entries(step.state):
                continue  # forgotten
            explained = step.state.explain(path)
            check(step.state, explained)
            if written is not None and explained.cause is not None:
                assert is_named(explained, written), explained


@examples(100)
@given(random_systems(), st.data())
def test_the_write_that_is_named_makes_the_entry_stale_by_itself(
    system: System, data: st.DataObject
) -> None:
    last: dict[str, State] = {}
    for step in steps(system, data):
        if not isinstance(step.operation, ON_ONE_STATE):
            continue
        step.do()
        for path, entry in entries(step.state).items():
            explained = step.state.explain(entry)
            check(step.state, explained)
            if explained.is_valid:
                last[path] = step.state.copy(keep_cache=True)
            elif explained.cause is not None and explained.cause.variable and path in last:
                then = last[path]
                names = {explained.cause.variable, explained.cause.written_as} - {""}
                assert any(makes_stale(then, name, path) for name in names), (explained, then)
                for other in explained.others:
                    if not other.startswith("stage "):
                        assert makes_stale(then, other, path), (explained, then)


def makes_stale(state: State, variable: str, path: str) -> bool:
    """Whether a write of that variable alone does; "y" has no node."""
    is_there = variable == "y" or variable in state.graph
    return is_there and path in state.impact(variable).entries


@examples(100)
@given(random_systems(), st.data())
def test_a_call_computes_what_is_said(system: System, data: st.DataObject) -> None:
    for step in steps(system, data):
        step.do()
        for path, entry in entries(step.state).items():
            explained = step.state.explain(path)
            twin = step.state.copy(keep_cache=True)
            before = realized(twin)
            if explained.refuses:
                with pytest.raises((CacheEntryOutOfDateError, RuntimeError)):
                    entry(twin)
            else:
                entry(twin)
                assert realized(twin) - before == set(explained.computes)
                assert explained.computes[-1:] == (() if explained.is_valid else (path,))


# ---------------------------------------------------------------------- examples


def crane(stage: Stage = Stage.MODEL) -> tuple[Crane, State]:
    system = Crane()
    return system, system.state_at(stage)


def test_an_entry_that_was_never_computed() -> None:
    system, state = crane(Stage.DYNAMICS)
    explained = state.explain(system.load.work)
    assert explained.cause is not None
    assert explained.cause.kind is CauseKind.NEVER
    assert explained.path == ("load.work",)
    assert explained.computes == ("load.work",)
    assert explained.text == (
        "load.work is not computed: no call has computed it.\nA call computes load.work."
    )


def test_a_variable_that_was_written_and_the_way_from_there() -> None:
    system, state = crane()
    system.realize(state, Stage.POSITION)
    system.load.work(state)
    system.joint.length.set(state, 9.0)
    system.realize(state, Stage.INSTANCE)
    explained = state.explain("load/work")
    assert explained.cause is not None
    assert explained.cause.kind is CauseKind.WAITING
    assert explained.cause.what == "stage Position"
    assert (explained.cause.variable, explained.cause.version) == ("joint.length", 2)
    assert explained.path == ("joint.length", "joint.tip", "body.place", "load.work")
    assert explained.refuses
    assert str(explained) == (
        "load.work is stale: load has not reached stage Position, since joint.length (now\n"
        "  version 2) was written.\n"
        "Path: joint.length -> joint.tip -> body.place -> load.work.\n"
        "A call raises.\n"
        "load.work: stale, waits for a stage\n"
        "├─ body.place: stale, waits for a stage\n"
        "│  └─ joint.tip: stale, waits for a stage\n"
        "│     ├─ joint.angle: version 1\n"
        "│     └─ joint.length: changed, now version 2\n"
        "└─ load.pull: version 1"
    )


def build() -> State:
    """An arm at Position, with two entries of which one depends on the other."""
    state = state_of("arm")
    angle = state[0].allocate_q([1.0], name="angle")
    tip = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (angle,), compute=lambda s: angle(s)[0], name="tip"
    )
    pull = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TIME, Stage.INFINITY, (tip,), compute=lambda s: tip(s) + 1, name="pull"
    )
    realize(state, Stage.POSITION)
    pull(state)
    return state


def test_a_write_of_a_whole_names_the_block_that_is_a_prerequisite() -> None:
    state = build()
    state.q = [2.0]
    explained = state.explain("arm.pull")
    assert explained.cause is not None
    assert (explained.cause.what, explained.cause.written_as) == ("arm.angle", "q")
    assert str(explained.cause) == (
        "arm.angle (now version 2, as q) has changed since it was computed"
    )
    assert explained.path == ("arm.angle", "arm.tip", "arm.pull")
    assert explained.computes == ("arm.tip", "arm.pull")


def test_a_write_of_another_block_is_not_taken_for_one_of_a_prerequisite() -> None:
    state = state_of("arm")
    one, other = (state[0].allocate_q([1.0], name=name) for name in ("one", "other"))
    entry = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (one,), compute=one, name="entry"
    )
    realize(state, Stage.TIME)
    entry(state)
    one.set(state, [2.0])
    other.set(state, [3.0])
    assert str(state.explain(entry).cause).startswith("arm.one (now version 2) has changed")


def test_a_stage_that_was_invalidated_by_a_write_or_explicitly() -> None:
    state = build()
    state.time = 1.0
    realize(state, Stage.TIME)
    explained = state.explain("arm.pull")
    assert explained.path == ("time", "stage Time", "arm.pull")
    assert str(explained.cause) == "stage Time was invalidated by time (now version 3)"
    state = build()
    state.invalidate_all(Stage.TIME)
    realize(state, Stage.TIME)
    explained = state.explain("arm.pull")
    assert explained.path == ("stage Time", "arm.pull")
    assert str(explained.cause) == "stage Time was invalidated by invalidate_all(Time)"
    assert explained.computes == ("arm.pull",)


def test_an_entry_upstream_that_was_invalidated() -> None:
    state = build()
    simbody.mark_cache_value_not_realized(state[0], 0)
    explained = state.explain("arm.pull")
    assert explained.cause is not None
    assert (explained.cause.kind, explained.cause.what) == (CauseKind.INVALIDATED, "arm.tip")
    assert explained.path == ("arm.tip", "arm.pull")


def test_what_took_the_stage_is_said_also_where_it_is_no_variable() -> None:
    state = build()
    state.invalidate_all(Stage.TIME)
    assert str(state.explain("arm.pull").cause) == (
        "arm has not reached stage Time, since invalidate_all(Time)"
    )
    state = state_of("arm")
    state[0].allocate_cache_entry_with_prerequisites(
        Stage.POSITION, Stage.INFINITY, (), compute=lambda s: 1, name="lift"
    )
    realize(state, Stage.POSITION)
    simbody.cache_entry_info(state[0], 0)(state)
    state.y = []
    assert str(state.explain("arm.lift").cause) == (
        "arm has not reached stage Position, since y was written"
    )


def two_parameters() -> State:
    """An entry that depends on two variables and is computed."""
    state = state_of("arm")
    one, two = [
        state[0].allocate_discrete_variable(Stage.REPORT, 1.0, name=name) for name in ("one", "two")
    ]
    both = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY,
        Stage.INFINITY,
        (one, two),
        compute=lambda s: one(s) + two(s),
        name="both",
    )
    realize(state, Stage.INSTANCE)
    both(state)
    return state


def test_of_several_writes_the_first_is_the_cause_and_the_others_are_named() -> None:
    state = two_parameters()
    simbody.set_discrete_variable(state[0], 1, 2.0)
    assert state.explain("arm.both").others == ()
    simbody.set_discrete_variable(state[0], 0, 2.0)
    explained = state.explain("arm.both")
    assert explained.cause is not None
    assert (explained.cause.variable, explained.others) == ("arm.two", ("arm.one",))
    assert explained.as_dict()["others"] == ["arm.one"]
    assert "Changed since, too: arm.one." in explained.text
    assert "one: changed, now version 2" in explained.tree


def test_a_variable_that_was_written_twice_is_named_once() -> None:
    state = build()
    for time in (1.0, 2.0):
        state.q = [time]
        realize(state, Stage.POSITION)
    assert state.explain("arm.pull").others == ()


def test_a_stage_that_was_invalidated_later_is_named_too() -> None:
    state = build()
    state.q = [2.0]
    state.invalidate_all(Stage.TIME)
    assert state.explain("arm.pull").others == ("stage Time",)


def test_a_write_of_what_was_forgotten_since_is_named() -> None:
    state = state_of("arm")
    option = state[0].allocate_discrete_variable(Stage.MODEL, 1, name="option")
    entry = state[0].allocate_cache_entry_with_prerequisites(
        Stage.INSTANCE, Stage.INFINITY, (), compute=lambda s: 1, name="entry"
    )
    realize(state, Stage.TOPOLOGY)
    late = state[0].allocate_discrete_variable(Stage.INSTANCE, 1, name="late")
    realize(state, Stage.INSTANCE)
    entry(state)
    late.set(state, 2)
    option.set(state, 2)
    state[0].allocate_discrete_variable(Stage.INSTANCE, 1, name="in its place")
    realize(state, Stage.INSTANCE)
    explained = state.explain(entry)
    assert explained.cause is not None
    assert (explained.cause.variable, explained.cause.written_as) == ("", str(late))
    assert explained.path == ("stage Instance", "arm.entry")
    assert explained.others == ("arm.option",)


def test_what_a_modeling_option_drops_is_explained_by_it_and_not_named_beside_it() -> None:
    state = state_of("arm")
    option = state[0].allocate_discrete_variable(Stage.MODEL, 1, name="option")
    angle = state[0].allocate_q([1.0], name="angle")
    for stage in (Stage.TOPOLOGY, Stage.MODEL):
        state[0].allocate_cache_entry_with_prerequisites(
            stage, Stage.INFINITY, (angle,), compute=lambda s: 1, name=f"from {stage}"
        )
    realize(state, Stage.INSTANCE)
    for entry in (0, 1):
        simbody.cache_entry_info(state[0], entry)(state)
    option.set(state, 2)
    realize(state, Stage.INSTANCE)
    early, late = [state.explain(f"arm.from {stage}") for stage in ("Topology", "Model")]
    assert early.cause is not None
    assert (early.cause.variable, early.cause.written_as) == ("arm.angle", "arm.option")
    assert late.cause is not None
    assert (late.cause.variable, late.others) == ("arm.option", ())


def presumed() -> State:
    """An entry that a stage presumes computed, which nobody has marked."""
    state = state_of("arm")
    mass = state[0].allocate_discrete_variable(Stage.REPORT, 1.0, name="mass")
    state[0].allocate_cache_entry_with_prerequisites(
        Stage.POSITION, Stage.VELOCITY, (mass,), name="tip"
    )
    mass.set(state, 2.0)
    return realize(state, Stage.DYNAMICS)


def test_an_entry_that_was_presumed_computed_is_stale_since_a_write() -> None:
    state = presumed()
    assert state.explain("arm.tip").is_valid
    simbody.set_discrete_variable(state[0], 0, 3.0)
    explained = state.explain("arm.tip")
    assert explained.cause is not None
    assert (explained.cause.kind, explained.cause.variable) == (CauseKind.CHANGED, "arm.mass")
    assert explained.path == ("arm.mass", "arm.tip")


def test_a_write_before_an_entry_was_presumed_computed_is_no_cause() -> None:
    state = state_of("arm")
    early, late = [
        state[0].allocate_discrete_variable(Stage.REPORT, 1.0, name=n) for n in ("early", "late")
    ]
    tip = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.VELOCITY, (early, late), name="tip"
    )
    realize(state, Stage.INSTANCE)
    tip.mark_valid(state)
    early.set(state, 2.0)
    realize(state, Stage.VELOCITY)
    late.set(state, 2.0)
    explained = state.explain(tip)
    assert explained.cause is not None
    assert (explained.cause.variable, explained.others) == ("arm.late", ())


def test_a_state_of_an_older_topology_says_what_was_changed() -> None:
    system, state = crane()
    system.realize(state)
    system.load.work(state)
    system.load.colour = "red"  # type: ignore[attr-defined]  # any attribute is part of the model
    explained = state.explain("load.work")
    assert explained.cause is not None
    assert explained.cause.kind is CauseKind.OUTDATED
    assert str(explained.cause) == "the System was changed: load.colour was assigned"
    assert explained.refuses == str(explained.cause)
    assert explained.path == ("load.work",)


def test_a_write_of_a_variable_discards_its_next_value() -> None:
    state = state_of("arm")
    mode = state[0].allocate_auto_update_discrete_variable(
        Stage.DYNAMICS, 1.0, available_from=Stage.TIME, name="mode"
    )
    assert mode.update is not None
    below = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TIME, Stage.INFINITY, (mode.update,), compute=lambda s: 1, name="below"
    )
    realize(state, Stage.TIME)
    mode.update.set(state, 2.0)
    mode.update.mark_valid(state)
    below(state)
    mode.set(state, 3.0)
    explained = state.explain(below)
    assert explained.cause is not None
    assert (explained.cause.kind, explained.cause.variable) == (CauseKind.CHANGED, "arm.mode")
    assert explained.path == ("arm.mode", "arm.update of mode", "arm.below")


def test_a_copy_says_that_it_is_one() -> None:
    twin = realize(build().copy(), Stage.TIME)
    assert "by the copy of the State" in twin.explain("arm.pull").text


def test_what_comes_out_as_it_was_is_no_cause() -> None:
    state = state_of("arm")
    one = state[0].allocate_discrete_variable(Stage.REPORT, 1.0, name="one")
    two = state[0].allocate_discrete_variable(Stage.REPORT, 1.0, name="two")
    sign = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY,
        Stage.INFINITY,
        (one,),
        compute=lambda s: one(s) > 0,
        equal=True,
        name="sign",
    )
    force = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY,
        Stage.INFINITY,
        (sign, two),
        compute=lambda s: sign(s) * two(s),
        name="force",
    )
    realize(state, Stage.INSTANCE)
    force(state)
    one.set(state, 2.0)
    explained = state.explain(force)
    assert explained.is_at_most
    assert explained.path == ("arm.one", "arm.sign", "arm.force")
    assert "computes at most arm.sign, arm.force" in explained.text
    sign(state)
    two.set(state, 3.0)
    explained = state.explain(force)
    assert explained.path == ("arm.two", "arm.force")
    assert explained.computes == ("arm.force",)


def test_an_entry_that_is_being_computed_and_one_without_a_function() -> None:
    state = state_of("arm")
    seen: list[Explanation] = []

    def compute(state: State) -> int:
        seen.append(state.explain("arm.pull"))
        return 1

    pull = state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=compute, name="pull")
    state[0].allocate_cache_entry(Stage.TOPOLOGY, name="by_hand")
    realize(state, Stage.INSTANCE)
    pull(state)
    assert seen[0].cause is not None
    assert seen[0].cause.kind is CauseKind.COMPUTING
    assert "it has no compute function" in state.explain("arm.by_hand").text


def test_a_frozen_state_says_that_nothing_is_computed() -> None:
    state = build()
    state.q = [2.0]
    explained = state.frozen().explain("arm.tip")
    assert (explained.refuses, explained.computes) == ("the State is frozen", ())


def test_it_shows_itself_in_short_and_as_html_and_as_a_dictionary() -> None:
    state = build()
    explained = state.explain("arm.tip")
    assert repr(explained) == "Explanation(arm.tip: valid)"
    assert "<pre " in explained._repr_html_()
    assert explained.as_dict()["cause"] is None
    state.q = [2.0]
    assert state.explain("arm.tip").as_dict()["cause"]["variable"] == "arm.angle"


def test_a_deep_chain_is_explained_without_recursion_and_its_tree_is_short() -> None:
    state = state_of("arm")
    first = state[0].allocate_discrete_variable(Stage.REPORT, 1.0, name="first")
    above: Any = first

    def one_more(above: Any) -> Any:
        return state[0].allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (above,), compute=lambda state: above(state) + 1
        )

    for _ in range(3000):
        above = one_more(above)
    realize(state, Stage.INSTANCE)
    above(state)
    first.set(state, 2.0)
    explained = state.explain(above)
    assert len(explained.path) == 3001
    assert len(explained.computes) == 3000
    assert len(str(explained).splitlines()) < 100
    assert len(explained.text) < 1000


def test_what_to_ask_of_a_stage_is_said() -> None:
    with pytest.raises(NodeKindError, match="downstream_of"):
        build().explain("stage Time")
    with pytest.raises(NodeKindError, match="impact"):
        build().explain("u_weights")


@pytest.mark.parametrize(
    ("item", "error"),
    [("arm.tap", UnknownPathError), ("arm.angle", NodeKindError), ("stage Time", NodeKindError)],
)
def test_what_is_no_entry_is_refused(item: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        build().explain(item)


def test_a_trace_tells_when_and_where_it_was_written_and_from_which_version() -> None:
    state = build()
    with state.trace() as trace:
        state.q = [2.0]
        cause = state.explain("arm.pull").cause
        assert cause is not None
        assert (cause.version_before, cause.version) == (1, 2)
        assert cause.file == __file__
        (write,) = (event for event in trace.events if isinstance(event, WriteEvent))
        assert cause.seconds == write.time > 0
        when = f"{duration(write.time)} after the trace began"
        where = f"in {shown_file(__file__)}:{cause.line}"
        text = f"arm.angle (from version 1 to 2, as q, {when}, {where})"
        assert str(cause).startswith(text)
        assert state.explain("arm.pull").as_dict()["cause"]["seconds"] == write.time
    cause = state.explain("arm.pull").cause
    assert cause is not None
    assert (cause.file, cause.version_before, cause.seconds) == ("", None, None)


def test_of_several_writes_of_a_variable_all_that_is_told_is_of_the_last() -> None:
    state = state_of("arm")
    rate = state[0].allocate_u([1.0], name="rate")
    entry = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (rate,), compute=lambda s: rate(s)[0], name="speed"
    )
    realize(state, Stage.INSTANCE)
    entry(state)
    with state.trace():
        state.y = [2.0]
        cause = state.explain(entry).cause
        assert cause is not None
        assert (cause.version_before, cause.written_as) == (1, "y")
        line = cause.line
        rate.set(state, [3.0])
        cause = state.explain(entry).cause
        assert cause is not None
        assert (cause.version_before, cause.written_as) == (2, "arm.rate")
        assert cause.line > line
