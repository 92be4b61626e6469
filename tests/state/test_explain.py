"""Why an entry is not realized: which write made it so, along which path, and what a call does."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stagecache import CauseKind, Explanation, Stage, State, System
from stagecache.errors import CacheEntryOutOfDateError, NodeKindError, UnknownPathError
from stagecache.testing.operation import AutoUpdate, Invalidate, ReadAll, ReadEntry, Realize
from stagecache.testing.writes import SetTime, SetVariable, SetVector
from tests.state.asking import Step, entries, random_systems, realized, steps
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
    assert explained.is_realized == (explained.cause is None)
    if explained.cause is None:
        assert explained.path == explained.computes == ()
        return
    assert explained.path[-1] == explained.entry
    assert set(zip(explained.path, explained.path[1:], strict=False)) <= edges


@settings(max_examples=100)
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
                assert is_named(explained, written) or is_next_value(step, path), explained


def is_next_value(step: Step, path: str) -> bool:
    """Whether it is invalidated explicitly, with the variable whose next value it is."""
    explained = step.state.explain(path)
    assert explained.cause is not None
    is_invalidated = explained.cause.kind is CauseKind.INVALIDATED
    is_waiting = explained.cause.kind is CauseKind.WAITING and not explained.cause.variable
    handle: Any = step.written
    return (is_invalidated or is_waiting) and getattr(handle, "update", None) is not None


@settings(max_examples=100)
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
            if explained.is_realized:
                last[path] = step.state.copy(keep_cache=True)
            elif explained.cause is not None and explained.cause.variable and path in last:
                then = last[path]
                names = {explained.cause.variable, explained.cause.written_as} - {""}
                assert any(
                    path in then.impact(name).entries
                    for name in names
                    if name == "y" or name in then.graph
                ), (explained, then)


@settings(max_examples=100)
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
                assert explained.computes[-1:] == (() if explained.is_realized else (path,))


# ---------------------------------------------------------------------- examples


def crane(stage: Stage = Stage.MODEL) -> tuple[Crane, State]:
    system = Crane()
    return system, system.new_state(stage)


def test_an_entry_that_was_never_computed() -> None:
    system, state = crane(Stage.DYNAMICS)
    explained = state.explain(system.load.work)
    assert explained.cause is not None
    assert explained.cause.kind is CauseKind.NEVER
    assert explained.path == ("load.work",)
    assert explained.computes == ("load.work",)
    assert explained.text == (
        "load.work is not realized: it was never computed.\nA call computes load.work."
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
        "load.work is not realized: load has not reached stage Position, "
        "since joint.length (now version 2) was written.\n"
        "The way is joint.length -> joint.tip -> body.place -> load.work.\n"
        "A call raises: load has not reached stage Position, "
        "since joint.length (now version 2) was written.\n"
        "load.work: waits for a stage\n"
        "├─ body.place: waits for a stage\n"
        "│  └─ joint.tip: waits for a stage\n"
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
    state[0].mark_cache_value_not_realized(0)
    explained = state.explain("arm.pull")
    assert explained.cause is not None
    assert (explained.cause.kind, explained.cause.what) == (CauseKind.INVALIDATED, "arm.tip")
    assert explained.path == ("arm.tip", "arm.pull")


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
    assert repr(explained) == "Explanation(arm.tip: realized)"
    assert "<pre>" in explained._repr_html_()
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


@pytest.mark.parametrize(
    ("item", "error"),
    [("arm.tap", UnknownPathError), ("arm.angle", NodeKindError), ("stage Time", NodeKindError)],
)
def test_what_is_no_entry_is_refused(item: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        build().explain(item)


def test_a_trace_tells_where_it_was_written_and_from_which_version() -> None:
    state = build()
    with state.trace():
        state.q = [2.0]
        cause = state.explain("arm.pull").cause
        assert cause is not None
        assert (cause.version_before, cause.version) == (1, 2)
        assert cause.file == __file__
        text = f"arm.angle (from version 1 to 2, as q, in {__file__}:{cause.line})"
        assert str(cause).startswith(text)
    cause = state.explain("arm.pull").cause
    assert cause is not None
    assert (cause.file, cause.version_before) == ("", None)
