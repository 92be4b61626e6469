"""Tracing a State: what is noted, that it adds up, and that nothing is left of it afterwards."""

import csv
import gc
import io
import json
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    CacheEntry,
    Stage,
    State,
    Subsystem,
    System,
    Trace,
    cached,
    q_variable,
    run_study,
    shared_results,
    simbody,
    simulate,
    strict,
    verify,
)
from stagecache.errors import StageTooLowError, WrongTypeError
from stagecache.examples import pendulum
from stagecache.inspection import (
    ComputationEvent,
    HitEvent,
    InvalidationEvent,
    StageEvent,
    WriteEvent,
)
from stagecache.inspection.trace.log import TraceLog
from tests.profiles import examples
from tests.sharing.models import room_in
from tests.state.realizing import realize, state_of

Entry = CacheEntry[Any]


class Fixture:
    """A chain of entries below a block of q; a mass beside it; and all reads of entries, counted.

    ::

        angle --> tip --> torque        mass --> weight --> torque        Position --> height
    """

    def __init__(self, up_to: Stage = Stage.VELOCITY) -> None:
        self.state = state_of("arm", "")
        arm = self.state[0]
        self.angle = arm.allocate_q([0.5], name="angle")
        self.mass = arm.allocate_discrete_variable(Stage.INSTANCE, 2.0, name="mass")
        self.reads = 0
        self.tip = self.entry("tip", (self.angle,), lambda s: float(self.angle(s)[0]) * 2)
        self.weight = self.entry("weight", (self.mass,), lambda s: self.mass(s) * 10)
        self.torque = self.entry(
            "torque",
            (self.tip, self.weight),
            lambda s: self.read(self.tip, s) * self.read(self.weight, s),
        )
        self.height = arm.allocate_cache_entry_with_prerequisites(
            Stage.POSITION,
            Stage.INFINITY,
            (),
            compute=lambda s: self.read(self.tip, s) + 1,
            name="height",
        )
        realize(self.state, up_to)

    def entry(self, name: str, above: tuple[Any, ...], compute: Any, **options: Any) -> Entry:
        return self.state[0].allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, above, compute=compute, name=name, **options
        )

    def read(self, entry: Entry, state: State | None = None) -> Any:
        self.reads += 1
        return entry(state or self.state)


def events_of(trace: Trace, kind: type[Any]) -> list[Any]:
    return [event for event in trace.events if isinstance(event, kind)]


# ---------------------------------------------------------------------- what is noted


def test_a_write_is_noted_with_its_versions_and_its_place() -> None:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        fixture.angle.set(fixture.state, [0.25])
    (event,) = events_of(trace, WriteEvent)
    assert (event.variable, event.before) == ("arm.angle", event.after - 1)
    assert event.after == fixture.angle.version(fixture.state)
    assert Path(event.file).name == "test_trace.py"
    assert "fixture.angle.set" in Path(event.file).read_text().splitlines()[event.line - 1]


WRITES: dict[str, Any] = {
    "q": lambda f: setattr(f.state, "q", [1.0]),
    "y": lambda f: setattr(f.state, "y", [1.0]),
    "time": lambda f: setattr(f.state, "time", 1.0),
    "arm.q": lambda f: f.state[0].upd_q(),
    "arm.angle": lambda f: f.angle.upd(f.state),
    "arm.mass": lambda f: f.mass.set(f.state, 3.0),
    "u_weights": lambda f: f.state.upd_u_weights(),
}


@pytest.mark.parametrize("path", WRITES)
def test_whatever_is_written_is_noted_once_by_its_path(path: str) -> None:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        WRITES[path](fixture)
    assert [event.variable.split(" of ")[0] for event in events_of(trace, WriteEvent)] == [path]


def test_a_write_says_which_entries_it_made_stale_and_no_others() -> None:
    fixture = Fixture()
    fixture.torque(fixture.state)
    fixture.height(fixture.state)
    with fixture.state.trace() as trace:
        fixture.mass.set(fixture.state, 3.0)
        fixture.mass.set(fixture.state, 4.0)
    stale = [(e.entry, e.cause) for e in events_of(trace, InvalidationEvent)]
    assert sorted(stale) == [
        ("arm.height", "arm.mass"),  # by its stage
        ("arm.torque", "arm.mass"),
        ("arm.weight", "arm.mass"),
    ]


def test_a_computation_says_what_it_read_for_whom_and_how_long_it_took() -> None:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        fixture.torque(fixture.state)
    tip, weight, torque = events_of(trace, ComputationEvent)
    assert [e.entry for e in (tip, weight, torque)] == ["arm.tip", "arm.weight", "arm.torque"]
    assert (tip.reads, weight.reads) == (("arm.angle",), ("arm.mass",))
    assert torque.reads == ("arm.tip", "arm.weight")
    assert (tip.reader, weight.reader, torque.reader) == ("arm.torque", "arm.torque", "")
    assert torque.time <= tip.time
    assert torque.seconds >= tip.seconds + weight.seconds
    assert 0 < torque.own_seconds < torque.seconds - tip.seconds - weight.seconds  # nor notes
    assert tip.changed is tip.is_unchanged is None


def test_what_has_changed_since_the_last_computation_is_said() -> None:
    fixture = Fixture()
    fixture.torque(fixture.state)
    with fixture.state.trace() as trace:
        fixture.state.time = 1.0
        fixture.angle.set(fixture.state, [0.5])
        fixture.torque(fixture.state)
        fixture.mass.set(fixture.state, 7.0)
        fixture.angle.set(fixture.state, [0.75])
        fixture.torque(fixture.state)
    found = [(e.entry, e.changed, e.is_unchanged) for e in events_of(trace, ComputationEvent)]
    assert found == [
        ("arm.tip", ("arm.angle",), True),
        ("arm.torque", ("arm.angle",), True),
        ("arm.tip", ("arm.angle",), False),
        ("arm.weight", ("arm.mass",), False),
        ("arm.torque", ("arm.angle", "arm.mass"), False),
    ]
    assert trace.summary()["arm.tip"].unchanged == 1


def test_what_is_computed_again_though_nothing_that_it_reads_has_changed_is_needless() -> None:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        fixture.height(fixture.state)
        for value in (3.0, 4.0):  # by way of the stage, this makes the height stale
            fixture.mass.set(fixture.state, value)
            realize(fixture.state, Stage.VELOCITY)
            fixture.height(fixture.state)
        for q in ([0.5], [0.75]):  # the tip comes out the same at first, and then not
            fixture.state.q = q
            realize(fixture.state, Stage.VELOCITY)
            fixture.height(fixture.state)
    summary = trace.summary()
    assert (summary["arm.tip"].computed, summary["arm.tip"].needless) == (3, 0)
    assert (summary["arm.height"].computed, summary["arm.height"].needless) == (5, 3)


def test_what_reads_a_vector_that_nobody_watches_is_not_called_needless() -> None:
    fixture = Fixture(Stage.TOPOLOGY)
    entry = fixture.entry("weights", (fixture.mass,), lambda s: float(s.u_weights.sum()))
    realize(fixture.state, Stage.VELOCITY)
    with fixture.state.trace() as trace:
        for value in (3.0, 4.0):
            fixture.mass.set(fixture.state, value)
            entry(fixture.state)
    row = trace.summary()["arm.weights"]
    assert (row.computed, row.unchanged, row.needless) == (2, 1, 0)


BOX: list[int] = []


@pytest.mark.parametrize("compute", [lambda s: BOX, lambda s: threading.Lock()])
def test_of_what_is_changed_in_place_or_not_known_to_pickle_nothing_is_said(compute: Any) -> None:
    fixture = Fixture(Stage.TOPOLOGY)
    entry = fixture.entry("box", (fixture.mass,), compute)
    realize(fixture.state, Stage.VELOCITY)
    entry(fixture.state)
    with fixture.state.trace() as trace:
        fixture.mass.set(fixture.state, 1.0)
        entry(fixture.state)
    (event,) = events_of(trace, ComputationEvent)
    assert event.is_unchanged is None


VALUES = (1.0, math.nan, 2, "x", None, [1, 2], np.arange(3), np.arange(9000.0), {"a": [1]})


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("is_unchanged", [True, False])
def test_values_of_any_type_are_compared(value: Any, is_unchanged: bool) -> None:
    fixture = Fixture(Stage.TOPOLOGY)
    results = [deepcopy(value), deepcopy(value) if is_unchanged else (value, 1)]
    entry = fixture.entry("any", (fixture.mass,), lambda s: results[int(fixture.mass(s))])
    realize(fixture.state, Stage.VELOCITY)
    fixture.mass.set(fixture.state, 0.0)
    realize(fixture.state, Stage.VELOCITY)
    entry(fixture.state)
    with fixture.state.trace() as trace:
        fixture.mass.set(fixture.state, 1.0)
        entry(fixture.state)
    (event,) = events_of(trace, ComputationEvent)
    assert event.is_unchanged is is_unchanged


def test_a_computation_that_raises_is_noted_with_its_error() -> None:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        fixture.mass.set(fixture.state, "heavy")  # type: ignore[arg-type]  # makes it fail
        fixture.angle.set(fixture.state, [0.1])
        with pytest.raises(TypeError):
            fixture.torque(fixture.state)
        fixture.mass.set(fixture.state, 1.0)
        fixture.torque(fixture.state)
    errors = [(e.entry, e.error) for e in events_of(trace, ComputationEvent)]
    assert errors.count(("arm.torque", "TypeError")) == 1
    assert trace.summary()["arm.torque"].failed == 1
    assert errors[-1] == ("arm.torque", "")


def test_a_read_that_waits_for_a_stage_is_none() -> None:
    fixture = Fixture()
    fixture.state.invalidate_all(Stage.POSITION)
    with fixture.state.trace() as trace, pytest.raises(StageTooLowError):
        fixture.height(fixture.state)
    assert trace.events == ()


def test_stages_are_noted_forward_and_back() -> None:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        fixture.state.time = 1.0
        realize(fixture.state, Stage.POSITION)
        fixture.state.invalidate_all(Stage.POSITION)
    changes = [
        (e.before, e.after, e.cause) for e in events_of(trace, StageEvent) if not e.subsystem
    ]
    assert changes == [
        (Stage.VELOCITY, Stage.INSTANCE, "time"),
        (Stage.INSTANCE, Stage.TIME, "advance_to_stage()"),
        (Stage.TIME, Stage.POSITION, "advance_to_stage()"),
        (Stage.POSITION, Stage.TIME, "invalidate_all(Position)"),
    ]
    alone = [e for e in events_of(trace, StageEvent) if e.subsystem]
    assert len(alone) == 4


def test_entries_made_stale_by_hand_by_rollback_and_by_assign_are_noted() -> None:
    fixture = Fixture()
    state = fixture.state
    with state.trace() as trace:
        mark = state.checkpoint()
        fixture.tip(state)
        state.rollback(mark)
        fixture.tip(state)
        fixture.tip.invalidate(state)
        fixture.tip(state)
        state.assign(state.copy())
    causes = [e.cause for e in events_of(trace, InvalidationEvent) if e.entry == "arm.tip"]
    assert causes == ["rollback()", "arm.tip"]  # a copy keeps it: it needs no later stage
    fixture.tip(state)
    assert state._contents.observers == ()


def test_what_is_forgotten_meanwhile_keeps_its_name_and_is_said_to_be_stale() -> None:
    state = state_of("arm")
    realize(state, Stage.TOPOLOGY)
    with state.trace() as trace:
        mass = state[0].allocate_discrete_variable(Stage.INSTANCE, 2.0, name="mass")
        weight = state[0].allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (mass,), compute=mass, name="weight"
        )
        realize(state, Stage.INSTANCE)
        mass.set(state, 1.0)
        weight(state)
        state.invalidate_all(Stage.TOPOLOGY)
    assert [e.variable for e in events_of(trace, WriteEvent)] == ["arm.mass"]
    assert [e.reads for e in events_of(trace, ComputationEvent)] == [("arm.mass",)]
    assert [e.entry for e in events_of(trace, InvalidationEvent)] == ["arm.weight"]


def test_a_write_may_be_told_of_after_the_state_has_become_a_smaller_one() -> None:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        fixture.mass.set(fixture.state, 3.0)
        fixture.state.assign(state_of("small"))
    assert [e.variable for e in events_of(trace, WriteEvent)] == ["arm.mass"]


READS: dict[str, Any] = {
    "a copy of the State": lambda s: s.copy().time,
    "the number of q": lambda s: s.nq,
    "the start of q": lambda s: s[0].q_start,
    "event triggers of stage Time": lambda s: s.event_triggers_by_stage(Stage.TIME),
    "the number of event triggers": lambda s: simbody.num_event_triggers_by_stage(s, Stage.TIME),
    "the start of event triggers": lambda s: simbody.event_trigger_start_by_stage(s[0], Stage.TIME),
    "qdot": lambda s: s.qdot,
    "time": lambda s: s.time,
}


@pytest.mark.parametrize("name", READS)
def test_reads_of_what_is_no_item_are_noted_by_its_name(name: str) -> None:
    fixture = Fixture(Stage.TOPOLOGY)
    entry = fixture.entry("reads", (), lambda s: repr(READS[name](s)))
    realize(fixture.state, Stage.ACCELERATION)
    with fixture.state.trace() as trace:
        entry(fixture.state)
    (event,) = events_of(trace, ComputationEvent)
    assert name in event.reads


def test_an_exchange_of_variables_is_a_write() -> None:
    state = state_of("arm")
    latch = state[0].allocate_auto_update_discrete_variable(
        Stage.POSITION, 1.0, Stage.TIME, name="latch"
    )
    below = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (latch,), compute=latch, name="below"
    )
    realize(state, Stage.POSITION)
    below(state)
    latch.update.set(state, 5.0)
    latch.update.mark_valid(state)
    with state.trace() as trace:
        state.auto_update_discrete_variables()
    assert latch(state) == 5.0
    (write,) = events_of(trace, WriteEvent)
    assert (write.variable, write.after) == ("arm.latch", write.before + 1)
    assert "arm.below" in [e.entry for e in events_of(trace, InvalidationEvent)]


def test_a_write_makes_stale_what_was_stored_and_marked_by_hand() -> None:
    state = state_of("arm")
    mass = state[0].allocate_discrete_variable(Stage.POSITION, 2.0, name="mass")
    weight = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (mass,), name="weight"
    )
    realize(state, Stage.TIME)
    with state.trace() as trace:
        weight.set(state, 20.0)
        weight.mark_valid(state)
        mass.set(state, 3.0)
    assert [e.entry for e in events_of(trace, InvalidationEvent)] == ["arm.weight"]


def test_a_write_of_an_auto_update_variable_is_one_write() -> None:
    state = state_of("arm")
    latch = state[0].allocate_auto_update_discrete_variable(
        Stage.POSITION, 1.0, Stage.TIME, name="latch"
    )
    realize(state, Stage.POSITION)
    latch.update.set(state, 5.0)
    latch.update.mark_valid(state)
    with state.trace() as trace:
        latch.set(state, 2.0)
    (write,) = events_of(trace, WriteEvent)
    assert write.variable == "arm.latch"


# ---------------------------------------------------------------------- it adds up


Steps = st.lists(st.sampled_from(["angle", "mass", "time", "tip", "torque", "height", "weight"]))


@examples(60)
@given(Steps, st.booleans())
def test_computed_and_hits_are_the_reads(steps: list[str], is_strict: bool) -> None:
    fixture = Fixture()
    state = fixture.state
    fixture.torque(state)
    fixture.reads = 0
    with state.trace() as trace:
        for number, step in enumerate(steps):
            if step == "angle":
                fixture.angle.set(state, [0.1 * (number % 3)])
            elif step == "mass":
                fixture.mass.set(state, float(number % 2))
            elif step == "time":
                state.time = float(number)
            else:
                realize(state, Stage.VELOCITY)
                entry: Entry = getattr(fixture, step)
                if is_strict:
                    with strict(state, undeclared="record"):
                        fixture.read(entry)
                else:
                    fixture.read(entry)
    summary = trace.summary()
    assert summary.reads == summary.computed + summary.hits == fixture.reads
    assert summary.hits == len(events_of(trace, HitEvent))
    assert summary.computed == len(events_of(trace, ComputationEvent))


@examples(20)
@given(st.lists(st.integers(0, 79), max_size=5))
def test_of_a_deep_chain_what_is_computed_ahead_is_no_hit_when_it_is_read(links: list[int]) -> None:
    fixture = Fixture(Stage.TOPOLOGY)
    state = fixture.state
    chain = [fixture.weight]
    for number in range(80):
        above = chain[-1]
        link = fixture.entry(
            f"link {number}",
            (above,),
            lambda s, above=above: fixture.read(above, s) + 1,
        )
        chain.append(link)
    realize(state, Stage.INSTANCE)
    with state.trace() as trace:
        assert fixture.read(chain[-1]) == 100.0
        assert {(row.computed, row.hits) for row in trace.summary().rows} == {(1, 0)}
        for number in links:
            fixture.mass.set(state, float(number))
            fixture.read(chain[number + 1])
            fixture.read(chain[number])
    summary = trace.summary()
    assert summary.reads == summary.computed + summary.hits == fixture.reads


def with_cutoff() -> tuple[Fixture, Entry, Entry]:
    """The sign of the angle, whose values are compared, and what is below it; both realized."""
    fixture = Fixture(Stage.TOPOLOGY)
    sign = fixture.entry(
        "sign", (fixture.angle,), lambda s: float(fixture.angle(s)[0]) > 0, equal=True
    )
    force = fixture.entry("force", (sign,), lambda s: not sign(s))
    realize(fixture.state, Stage.VELOCITY)
    force(fixture.state)
    return fixture, sign, force


def test_of_a_cutoff_what_is_as_it_was_is_a_hit() -> None:
    fixture, _, force = with_cutoff()
    with fixture.state.trace() as trace:
        fixture.angle.set(fixture.state, [0.75])
        force(fixture.state)
    rows = trace.summary()
    assert (rows["arm.sign"].computed, rows["arm.sign"].unchanged) == (1, 1)
    assert (rows["arm.force"].computed, rows["arm.force"].hits) == (0, 1)


def test_a_value_that_was_computed_to_be_compared_is_no_hit_when_it_is_read_first() -> None:
    fixture, sign, force = with_cutoff()
    with fixture.state.trace() as trace:
        fixture.angle.set(fixture.state, [-1.0])
        force(fixture.state)
        sign(fixture.state)
    rows = trace.summary()
    assert (rows["arm.sign"].computed, rows["arm.sign"].hits) == (1, 1)
    assert (rows["arm.force"].computed, rows["arm.force"].hits) == (1, 0)


def test_threads_lose_no_event() -> None:
    fixture = Fixture()
    state = fixture.state
    threads = [
        threading.Thread(target=lambda: [fixture.torque(state) for _ in range(500)])
        for _ in range(4)
    ]
    with state.trace() as trace:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    row = trace.summary()["arm.torque"]
    assert (row.computed, row.reads) == (1, 2000)


def test_events_beyond_the_most_are_counted_only() -> None:
    fixture = Fixture()
    with fixture.state.trace(most=3) as trace:
        for _ in range(10):
            fixture.torque(fixture.state)
    assert len(trace.events) == 3
    assert trace.num_dropped == 3 + 9 - 3
    assert trace.summary().reads == 12


def test_events_leave_no_objects_for_the_garbage_collector() -> None:
    fixture = Fixture()
    left = []
    with fixture.state.trace() as trace:
        for number in (10, 100, 1000):
            gc.collect()
            before = len(gc.get_objects())
            for value in range(number):
                fixture.mass.set(fixture.state, value)
                fixture.torque(fixture.state)
                fixture.torque(fixture.state)
            left.append(len(gc.get_objects()) - before)
    assert max(left[1:]) < 20
    assert trace.summary()["arm.torque"].reads == 2220


def test_records_are_counted_when_somebody_looks() -> None:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        for value in range(100):
            fixture.mass.set(fixture.state, value)
            fixture.torque(fixture.state)
            fixture.torque(fixture.state)
    assert trace._log._number == 0
    assert trace.summary()["arm.torque"].reads == 200
    assert trace._log._number > 400


@examples(60)
@given(Steps, st.integers(0, 12))
def test_how_many_are_kept_changes_neither_counts_nor_what_is_kept(
    steps: list[str], most: int
) -> None:
    fixture = Fixture()
    state = fixture.state
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr("stagecache.inspection.trace.log.FEWEST", 2)  # so that it counts meanwhile
        whole, short = [stack.enter_context(state.trace(most=n)) for n in (1000, most)]
        for number, step in enumerate(steps):
            if step == "angle":
                fixture.angle.set(state, [0.1 * (number % 3)])
            elif step == "mass":
                fixture.mass.set(state, float(number % 2))
            elif step == "time":
                state.time = float(number)
            else:
                realize(state, Stage.VELOCITY)
                fixture.read(getattr(fixture, step))
    assert short.summary() == whole.summary()
    few, all_ = short.events, whole.events
    assert [evolve(e, time=0.0) for e in few] == [evolve(e, time=0.0) for e in all_[: len(few)]]
    assert len(few) >= min(most, len(all_))
    assert (len(few) + short.num_dropped, whole.num_dropped) == (len(all_), 0)


@pytest.mark.parametrize("number", range(1, 12))
def test_control_c_while_records_are_counted_loses_one_of_them(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    fixture = Fixture()
    with fixture.state.trace() as whole, fixture.state.trace() as trace:
        for value in range(10):
            fixture.mass.set(fixture.state, value)
            fixture.torque(fixture.state)
    count = TraceLog._count
    expected = whole.events
    lost: list[list[Any]] = []

    def count_or_stop(log: TraceLog, record: list[Any], place: int) -> bool:
        if log._number == number and not lost:
            lost.append(record)
            raise KeyboardInterrupt
        return count(log, record, place)

    monkeypatch.setattr(TraceLog, "_count", count_or_stop)
    with pytest.raises(KeyboardInterrupt):
        trace.summary()
    assert len(trace.events) == len(expected) - len(whole._log._events(lost[0], -1))
    changed = [event.changed for event in events_of(trace, ComputationEvent)]
    assert changed[-2:] == [("arm.mass",), ("arm.mass",)]


def test_control_c_is_raised_also_when_a_computation_has_just_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fixture = Fixture()
    times = iter([1])

    def clock() -> int:
        for time in times:
            return time
        raise KeyboardInterrupt

    with fixture.state.trace() as trace, monkeypatch.context() as patch:
        patch.setattr("stagecache.inspection.trace.tracer.perf_counter_ns", clock)
        with pytest.raises(KeyboardInterrupt):
            fixture.tip(fixture.state)
    assert trace.summary()["arm.tip"].computed == 1


# ---------------------------------------------------------------------- blocks


def test_nothing_is_left_when_it_ends() -> None:
    fixture = Fixture(Stage.TOPOLOGY)
    state = fixture.state
    fails = fixture.entry("fails", (fixture.torque,), lambda s: fixture.torque(s) / 0)
    realize(state, Stage.VELOCITY)
    with pytest.raises(ZeroDivisionError), state.trace() as trace:
        fails(state)
    contents = state._contents
    assert contents.observers == ()
    assert contents.visible is contents.realization.store
    assert contents.realization.evaluator.functions is contents.realization.layout.functions
    number = len(trace.events)
    fixture.angle.set(state, [0.1])
    fixture.torque(state)
    assert len(trace.events) == number


def test_copies_are_traced_as_states_of_their_own_until_the_trace_ends() -> None:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        twins = [fixture.state.copy(), fixture.state.copy(keep_cache=True)]
        twins.append(twins[0].copy())
        for twin in twins:
            fixture.torque(twin)
    assert trace.summary()["arm.torque"].computed == 3
    assert {event.state for event in trace.events} == {1, 2, 3}
    for twin in twins:
        assert twin._contents.observers == ()
        assert twin._contents.visible is twin._contents.realization.store
        fixture.angle.set(twin, [0.1])
        fixture.torque(twin)
        fixture.torque(twin.copy())
    assert trace.summary()["arm.torque"].computed == 3


def test_a_state_that_is_assigned_a_traced_one_is_not_traced() -> None:
    fixture = Fixture()
    other = fixture.state.copy()
    with fixture.state.trace() as trace:
        other.assign(fixture.state)
        fixture.torque(other)
        fixture.torque(other.copy())
    assert trace.events == ()


def test_copies_that_other_threads_make_are_traced() -> None:
    fixture = Fixture()

    def work() -> None:
        twin = fixture.state.copy()
        fixture.angle.set(twin, [0.1])
        fixture.torque(twin)

    with fixture.state.trace() as trace:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert trace.summary()["arm.torque"].computed == 4
    assert len({event.state for event in events_of(trace, ComputationEvent)}) == 4


def test_a_trace_holds_no_copies() -> None:
    fixture = Fixture()
    with fixture.state.trace(most=0) as trace:
        for _ in range(50):
            fixture.torque(fixture.state.copy())
        assert trace.summary()["arm.torque"].computed == 50
        gc.collect()
        assert len(trace._log._copies) == 0
        assert len(trace._log._states) == 1


class Prober(Subsystem):
    """An entry that tries another value in a copy."""

    angle = q_variable(0.5)

    @cached(prerequisites=(angle,))
    def slow(self, state: State) -> float:
        sleep(0.02)
        return self.angle(state)

    @cached(prerequisites=(angle,))
    def probe(self, state: State) -> float:
        twin = state.copy()
        self.angle.set(twin, 2.0)
        return self.slow(twin)


def test_what_a_computation_does_in_a_copy_is_neither_its_read_nor_its_own_time() -> None:
    prober = Prober()
    state = System(prober).new_state()
    with state.trace() as trace:
        prober.probe(state)
    inner, outer = events_of(trace, ComputationEvent)
    assert (inner.entry, inner.state, inner.reader) == ("prober.slow", 1, "")
    assert (outer.entry, outer.state) == ("prober.probe", 0)
    assert outer.reads == ("a copy of the State",)
    assert inner.own_seconds >= 0.02
    assert outer.own_seconds <= outer.seconds - inner.seconds


def test_blocks_may_be_nested_and_overlap() -> None:
    fixture = Fixture()
    with fixture.state.trace() as outer:
        fixture.tip(fixture.state)
        with fixture.state.trace() as inner:
            fixture.tip(fixture.state)
        fixture.tip(fixture.state)
    assert (outer.summary().reads, inner.summary().reads) == (3, 1)
    assert inner.events[0].time < outer.events[1].time


def test_several_states_are_told_apart() -> None:
    fixture = Fixture()
    twin = fixture.state.copy()
    with fixture.state.trace(twin) as trace:
        fixture.tip(twin)
        fixture.tip(fixture.state)
    assert [event.state for event in trace.events] == [1, 0]
    with pytest.raises(WrongTypeError):
        fixture.state.trace(3)  # type: ignore[arg-type]  # is refused


@pytest.mark.parametrize("mode", [strict, verify])
def test_it_goes_together_with_strict_mode(mode: Any) -> None:
    fixture = Fixture()
    state = fixture.state
    with state.trace() as trace:
        with mode(state) as reads:
            fixture.torque(state)
            assert state.is_strict
        assert not state.is_strict
        fixture.torque(state)
    with mode(state):
        with state.trace() as other:
            fixture.torque(state)
        assert state.is_strict
    assert state._contents.observers == ()
    assert reads.of(fixture.torque) == {fixture.tip, fixture.weight}
    assert trace.summary()["arm.torque"].reads == 2
    assert other.summary()["arm.torque"].computed == 0


def test_what_is_allocated_meanwhile_is_traced() -> None:
    state = state_of("arm")
    with state.trace() as trace:
        mass = state[0].allocate_discrete_variable(Stage.INSTANCE, 2.0, name="mass")
        weight = state[0].allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (mass,), compute=mass, name="weight"
        )
        realize(state, Stage.INSTANCE)
        weight(state)
        mass.set(state, 1.0)
    assert trace.summary()["arm.weight"].computed == 1
    assert [e.entry for e in events_of(trace, InvalidationEvent)] == ["arm.weight"]


def test_the_last_write_of_a_variable_is_known_while_it_is_traced() -> None:
    fixture = Fixture()
    state = fixture.state
    node = fixture.angle._node
    assert state._contents.trace_of_write(node) is None
    with state.trace() as trace:
        assert state._contents.trace_of_write(node) is None
        fixture.angle.set(state, [1.0])
        state.q = [2.0]
        found = state._contents.trace_of_write(node)
        assert found is not None
        assert found.version_before == fixture.angle.version(state) - 1
        assert "state.q = " in Path(found.file).read_text().splitlines()[found.line - 1]
        assert found.seconds == events_of(trace, WriteEvent)[-1].time
    assert state._contents.trace_of_write(node) is None


def test_the_time_of_a_write_is_that_since_the_first_trace_that_is_on() -> None:
    fixture = Fixture()
    state = fixture.state
    node = fixture.angle._node
    first = state.trace().__enter__()
    fixture.angle.set(state, [1.0])
    with state.trace() as second:
        found = state._contents.trace_of_write(node)
        assert found is not None
        assert found.seconds == events_of(first, WriteEvent)[-1].time
        first.__exit__(None, None, None)
        assert state._contents.trace_of_write(node) is None
        fixture.angle.set(state, [2.0])
        found = state._contents.trace_of_write(node)
        assert found is not None
        assert found.seconds == events_of(second, WriteEvent)[-1].time


# ---------------------------------------------------------------------- showing


def some_trace() -> Trace:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        for angle in (0.1, 0.1, 0.2):
            fixture.angle.set(fixture.state, [angle])
            realize(fixture.state, Stage.VELOCITY)
            fixture.torque(fixture.state)
            fixture.height(fixture.state)
    return trace


def test_the_summary_is_a_table_with_a_total() -> None:
    summary = some_trace().summary()
    lines = str(summary).splitlines()
    assert lines[0].split("  ")[0] == "entry"
    assert len(lines) == 1 + len(summary.rows) + 1
    assert sum(row.share for row in summary.rows) == pytest.approx(1)
    assert summary["arm.torque"].unchanged == 1
    plain = json.loads(json.dumps(summary.as_dict()))
    assert plain["total"]["computed"] == sum(row["computed"] for row in plain["entries"])
    assert summary._repr_html_().count("<tr") == len(lines)
    assert str(Trace((Fixture().state,)).summary()) == "no entry was read"


def test_csv_has_a_line_for_each_event(tmp_path: Path) -> None:
    trace = some_trace()
    text = trace.to_csv(tmp_path / "trace.csv")
    assert (tmp_path / "trace.csv").read_text() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(trace.events)
    assert {row["event"] for row in rows} == {
        *("write", "invalidation", "computation", "hit", "stage"),
    }
    torque = next(row for row in rows if row["entry"] == "arm.torque" and row["seconds"])
    assert torque["reads"] == "arm.tip;arm.weight"


def test_the_chrome_format_has_each_event_in_microseconds(tmp_path: Path) -> None:
    trace = some_trace()
    trace.to_chrome(tmp_path / "trace.json")
    found = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len([e for e in found if e["ph"] != "M"]) == len(trace.events)
    boxes = [e for e in found if e.get("cat", "").startswith("computation")]
    computations = events_of(trace, ComputationEvent)
    assert [e["dur"] for e in boxes] == [pytest.approx(c.seconds * 1e6) for c in computations]
    needed = {"M": {"args"}, "X": {"cat", "ts", "dur"}, "i": {"cat", "ts", "s"}}
    for event in found:
        assert event.keys() >= {"name", "ph", "pid", "tid"} | needed[event["ph"]]
    named = [e["args"]["name"] for e in found if e["name"] in ("process_name", "thread_name")]
    assert named == ["State 0", "thread 0"]


def test_the_chrome_format_names_copies_and_what_was_in_vain() -> None:
    fixture = Fixture()
    with fixture.state.trace() as trace:
        fixture.height(fixture.state)
        fixture.state.time = 1.0
        realize(fixture.state, Stage.VELOCITY)
        fixture.height(fixture.state)  # reads tip alone, and needs stage Position
        fixture.angle.set(fixture.state, [0.5])  # as it was
        fixture.tip(fixture.state)
        fixture.tip(fixture.state.copy())
    found = json.loads(trace.to_chrome())["traceEvents"]
    boxes = {e["name"]: e["cat"] for e in found if e.get("cat", "").startswith("computation")}
    assert boxes == {
        "arm.height": "computation",
        "arm.tip": "computation",
        "arm.height (needless)": "computation,needless",
        "arm.tip (unchanged)": "computation,unchanged",
    }
    titles = [e["args"]["name"] for e in found if e["name"] == "process_name"]
    assert titles == ["State 0", "State 1, a copy"]


# ---------------------------------------------------------------------- studies


def test_a_simulation_is_traced_with_the_state_that_it_begins_with() -> None:
    system = pendulum.system()
    state = system.new_state()
    with state.trace() as trace:
        trajectory = simulate(system, state, 1.0)
    summary = trace.summary()
    assert trajectory.statistics is not None
    assert summary["pendulum.tip"].computed >= trajectory.statistics.num_steps_taken
    assert summary["pendulum.weight"].computed == 1
    before = trace.summary().computed
    simulate(system, state, 1.0)
    assert trace.summary().computed == before


def test_a_simulation_into_a_file_is_traced_to_its_end(tmp_path: Path) -> None:
    system = pendulum.system()
    state = system.new_state()
    counts = []
    for options in ({}, {"into": tmp_path / "rows.arrow", "batch": 2}):
        with state.trace() as trace:
            simulate(system, state, 1.0, every=0.1, **options)  # type: ignore[arg-type]  # of several types
        counts.append(trace.summary()["pendulum.tip"].computed)
    in_memory, in_file = counts
    assert in_file >= in_memory > 0  # where it goes on from a restart, it computes some again


def tip_at(state: State) -> float:
    """Study of a pendulum: the height of its tip."""
    return float(pendulum_of(state).tip(state)[1])


def pendulum_of(state: State) -> Any:
    assert state.system is not None
    return state.system.get(pendulum.Pendulum)


@pytest.mark.parametrize("num_threads", [0, 3])
def test_members_of_a_study_are_traced_in_this_thread_and_in_others(num_threads: int) -> None:
    system = pendulum.system()
    state = system.new_state()
    members = {"pendulum.length": [1.0, 2.0, 3.0, 4.0]}
    with ExitStack() as stack:
        executor = stack.enter_context(ThreadPoolExecutor(num_threads)) if num_threads else None
        trace = stack.enter_context(state.trace())
        run_study(system, members, tip_at, state=state, executor=executor)
    assert trace.summary()["pendulum.tip"].computed == 4
    assert trace.untraced == ()


def test_members_of_a_study_in_other_processes_are_said_not_to_be_traced() -> None:
    system = pendulum.system()
    state = system.new_state()
    with state.trace() as trace:
        run_study(system, {"pendulum.length": [1.0, 2.0]}, tip_at, state=state, workers=1)
    assert trace.untraced == ("not traced: 2 members of run_study() in other processes",)
    assert str(trace.summary()).endswith(trace.untraced[0])


# ---------------------------------------------------------------------- shared entries


def test_a_shared_value_that_is_found_is_not_computed_and_its_key_is_no_read() -> None:
    with shared_results():
        room, state = room_in(width=4.0)
        room.load(state)
        other, another = room_in(width=4.0)
        with another.trace() as trace:
            other.load(another)
            other.load(another)
    row = trace.summary()["room.load"]
    assert (row.computed, row.found, row.hits, row.reads) == (0, 1, 1, 2)
    assert row.hit_rate == 1.0
    assert trace.summary().rows == (row,)  # its prerequisites were looked at for the key alone
    [event] = events_of(trace, ComputationEvent)
    assert event.is_found
    assert event.reads == ()
    names = [e["name"] for e in json.loads(trace.to_chrome())["traceEvents"] if "cat" in e]
    assert names == ["room.load (shared)", "hit room.load"]


def test_a_shared_value_that_is_computed_reads_what_its_function_reads() -> None:
    with shared_results():
        room, state = room_in(width=4.0)
        with state.trace() as trace:
            room.load(state)
            room.load(state)
    summary = trace.summary()
    assert [(r.computed, r.found) for r in (summary["room.load"], summary["room.factors"])] == [
        (1, 0),
        (1, 0),
    ]
    assert summary["room.factors"].hits == 0
    reads = {event.entry: event.reads for event in events_of(trace, ComputationEvent)}
    assert reads["room.factors"] == ("room.width", "room.height")
    assert set(reads["room.load"]) == {"room.factors", "room.angle"}


def test_what_is_computed_after_a_found_value_is_not_called_needless() -> None:
    with shared_results():
        room, state = room_in(width=4.0)
        room.load(state)
        other, another = room_in(width=4.0)
        with another.trace() as trace:
            other.load(another)
            other.width.set(another, 5.0)
            other.load(another)
            other.width.set(another, 4.0)
            other.load(another)
    row = trace.summary()["room.load"]
    assert (row.computed, row.found, row.needless) == (1, 2, 0)
