"""What a page is told of a State: it comes to what the State is, and sums are those of a trace."""

import gc
import tracemalloc
from collections import Counter
from contextlib import ExitStack
from math import inf
from threading import Thread
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage, State, Subsystem, System, Trace, cached
from stagecache.examples import pendulum
from stagecache.inspection import WriteEvent
from stagecache.live import follower as module
from stagecache.live.follower import Follower
from stagecache.live.gate import Gate
from tests.live.page import Page, statuses_of
from tests.profiles import examples
from tests.state.asking import random_systems, steps
from tests.threads import comes_to_stay, comes_true, is_waited_for


def follow(state: State, gate: Gate | None = None) -> Follower:
    follower = Follower("model", gate or Gate())
    follower.begin(state)
    return follower


def computed(page: Page, follower: Follower) -> int:
    """The number of computations that a page has been told of, after another glance."""
    page.tell(follower.glance())
    return len(page.computed)


def subsystem_of(state: State, name: str) -> Any:
    """A subsystem of the State."""
    assert state.system is not None
    return state.system.subsystem(name)


def tip_of(state: State) -> Any:
    return subsystem_of(state, "pendulum").tip


class Slow(Subsystem):
    """An entry that takes a while, and depends on the time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    @cached(available_from=Stage.TIME)
    def number(self, state: State) -> float:
        sleep(self.seconds)
        return state.time


def slow_state(seconds: float) -> State:
    system = System(slow=Slow(seconds))
    state = system.new_state()
    system.realize(state, Stage.TIME)
    return state


@examples(50)
@given(random_systems(), st.data())
def test_after_the_last_update_the_page_is_as_a_fresh_view(
    system: System, data: st.DataObject
) -> None:
    page = Page()
    follower = Follower("model", Gate())
    for step in steps(system, data):
        if follower._shown[1] is None:
            follower.learn_hooks(step.state)
        follower.begin(step.state)
        step.do()
        if data.draw(st.booleans()):
            page.tell(follower.glance())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "monotonic", lambda: inf)  # so that all nodes are looked at
        page.tell(follower.glance())
    shown = follower._shown[1]
    assert page.statuses == (statuses_of(shown.graph) if shown else {})


@examples(50)
@given(random_systems(), st.data())
def test_counts_are_those_of_a_trace(system: System, data: st.DataObject) -> None:
    page = Page()
    follower = Follower("model", Gate())
    trace: Trace | None = None
    with ExitStack() as blocks:
        for step in steps(system, data):
            if trace is None:  # all other States are copies, or of neither
                follower.begin(step.state)
                trace = blocks.enter_context(step.state.trace())
            step.do()
            if data.draw(st.booleans()):
                page.tell(follower.glance())
        page.tell(follower.glance())
    if trace is None:
        return
    computed = Counter({row.entry: row.computed for row in trace.summary().rows})
    written = Counter([e.variable for e in trace.events if isinstance(e, WriteEvent)])
    assert follower.num_computed == computed.total()
    assert follower.num_written == written.total()
    shown = {node.path for node in page.view}
    assert page.counts("entry") == {p: n for p, n in computed.items() if n and p in shown}
    variables = page.counts("variable")
    less = {p: (variables[p], n) for p, n in written.items() if p in variables and variables[p] < n}
    assert not less


def test_computations_and_writes_flash_once() -> None:
    state = pendulum.system().new_state()
    page, follower = Page(), follow(state)
    page.tell(follower.glance())
    for _ in range(3):
        state.q = [0.1]
        tip_of(state)(state)
    page.tell(follower.glance())
    assert page.computed == ["pendulum.tip"]
    assert set(page.written) == {"q", "pendulum.q", "pendulum.angle"}
    assert page.nodes["pendulum.tip"]["count"] == 3
    assert page.nodes["pendulum.angle"]["count"] == 3
    page.tell(follower.glance())
    assert page.computed == ["pendulum.tip"]


def test_seconds_are_the_sum_of_all_computations() -> None:
    state = slow_state(0.01)
    page, follower = Page(), follow(state)
    for _ in range(3):
        state.time += 1.0
        subsystem_of(state, "slow").system.realize(state, Stage.TIME)
        subsystem_of(state, "slow").number(state)
    page.tell(follower.glance())
    assert page.nodes["slow.number"]["seconds"] >= 0.03


def test_where_nothing_is_new_nothing_is_told() -> None:
    state = pendulum.system().new_state()
    follower = follow(state)
    assert follower.glance() is not None
    assert follower.glance() is None
    assert follower.glance() is None
    state.time = 1.0
    news = follower.glance()
    assert news is not None
    assert news.view is None
    assert news.update["time"] == 1.0
    assert follower.glance() is None


def test_what_no_record_tells_is_found_when_it_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = pendulum.system().new_state()
    page, follower = Page(), follow(state)
    for _ in range(3):
        page.tell(follower.glance())
    tip = tip_of(state)
    tip.set(state, np.zeros(2))
    tip.mark_valid(state)
    assert follower.glance() is None  # it looks seldom, as nothing was noted
    monkeypatch.setattr(module, "monotonic", lambda: inf)
    page.tell(follower.glance())
    assert page.nodes["pendulum.tip"]["status"] == "valid"


def test_a_late_page_is_told_all_that_was_told_before() -> None:
    state = pendulum.system().new_state()
    early, late, follower = Page(), Page(), follow(state)
    early.tell(follower.everything())
    state.q = [0.2]
    early.tell(follower.glance())
    tip_of(state)(state)
    early.tell(follower.glance())
    late.tell(follower.everything())
    assert late.nodes == early.nodes
    assert late.view is early.view
    assert late.computed == []


# ---------------------------------------------------------------------- reasons


@examples(50)
@given(random_systems(), st.data())
def test_reasons_are_those_of_a_fresh_view_for_what_was_asked_and_at_the_end_for_all(
    system: System, data: st.DataObject
) -> None:
    page = Page()
    follower = Follower("model", Gate())
    for step in steps(system, data):
        if follower._shown[1] is None:
            follower.learn_hooks(step.state)
        follower.begin(step.state)
        step.do()
        page.tell(follower.glance())
    shown = follower._shown[1]
    if shown is None:
        return
    fresh = {path: reason.text for path, reason in shown.graph.reasons.items()}
    paths = [node.path for node in page.view]
    asked = data.draw(st.lists(st.sampled_from(paths), max_size=module.MOST_ASKED))
    for path in asked:
        follower.explain(paths.index(path))
    page.tell(follower.glance())
    assert page.reasons == {path: text for path, text in fresh.items() if path in asked}
    follower.end()
    page.tell(follower.glance())
    assert page.reasons == {path: text for path, text in fresh.items() if path in paths}


def test_a_reason_comes_though_nothing_happens_and_follows_what_happens() -> None:
    state = pendulum.system().new_state()
    page, follower = Page(), follow(state)
    tip = tip_of(state)
    tip(state)
    state.q = [0.2]
    while (news := follower.glance()) is not None:
        page.tell(news)
    assert page.reasons == {}
    follower.explain([node.path for node in page.view].index("pendulum.tip"))
    page.tell(follower.glance())
    assert page.reasons["pendulum.tip"].startswith("pendulum.tip is stale: pendulum.angle (")
    file, line = page.places["pendulum.tip"]
    assert file.endswith("test_follower.py")
    assert line > 0
    late = Page()
    late.tell(follower.everything())
    assert late.reasons == page.reasons
    tip(state)
    page.tell(follower.glance())
    assert page.reasons == {}
    subsystem_of(state, "pendulum").length.set(state, 2.0)
    page.tell(follower.glance())
    assert "pendulum.length" in page.reasons["pendulum.tip"]


def test_only_reasons_that_pages_asked_for_last_are_told() -> None:
    state = pendulum.system().new_state()
    page, follower = Page(), follow(state)
    page.tell(follower.glance())
    entries = [n for n, node in enumerate(page.view) if node.kind == "entry"]
    follower.explain(entries[0])
    page.tell(follower.glance())
    assert set(page.reasons) == {page.view.nodes[entries[0]].path}
    for _ in range(module.MOST_ASKED):
        follower.explain(entries[1])
    follower.explain(len(page.view.nodes))  # there is none
    page.tell(follower.glance())
    assert set(page.reasons) == {page.view.nodes[n].path for n in entries[:2]}


# ---------------------------------------------------------------------- several States


def test_the_state_in_which_something_happens_is_shown() -> None:
    state = pendulum.system().new_state()
    page, follower = Page(), follow(state)
    page.tell(follower.glance())
    twin = state.copy()
    twin.time = 1.0
    page.tell(follower.glance())
    assert page.time == 1.0
    state.time = 2.0
    twin.time = 3.0
    state.time = 4.0
    page.tell(follower.glance())
    assert page.time == 3.0, "the one that is shown stays, as long as something happens in it"
    state.time = 5.0
    page.tell(follower.glance())
    assert page.time == 5.0


def test_a_state_with_other_nodes_has_another_view() -> None:
    state, other = pendulum.system().new_state(), slow_state(0.0)
    page, follower = Page(), follow(state)
    state.time = 1.0
    page.tell(follower.glance())
    follower.begin(other)
    other.time = 2.0
    page.tell(follower.glance())
    assert {"slow.number", "time"} <= set(page.statuses)
    assert "pendulum.tip" not in page.statuses
    assert page.counts("variable") == {"time": 1}


def test_nothing_is_noted_once_it_is_over() -> None:
    state = pendulum.system().new_state()
    page, follower = Page(), follow(state)
    page.tell(follower.glance())
    follower.end()
    tip_of(state)(state)
    page.tell(follower.glance())
    assert (page.state, page.computed) == ("ended", [])


# ---------------------------------------------------------------------- memory


def test_many_records_are_counted_by_whoever_adds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RECORDS", 10)
    state = pendulum.system().new_state()
    page, follower = Page(), follow(state)
    for number in range(100):
        state.time = float(number)
        assert len(follower._records) <= 10
    page.tell(follower.glance())
    assert page.nodes["time"]["count"] == 100


def test_nothing_grows_with_the_number_of_events() -> None:
    state = pendulum.system().new_state()
    follower = follow(state)

    def work(times: int) -> None:
        for number in range(times):
            state.q = [0.1 * number]
            tip_of(state)(state)
            if number % 10 == 0:
                follower.glance()

    def growth() -> int:
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        work(2000)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    work(8000)  # until all that has a limit has reached it
    least = min(growth() for _ in range(3))  # caches of Python may grow now and then
    tracemalloc.stop()
    assert least < 20_000


def test_the_end_is_told_with_all_that_came_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    state = pendulum.system().new_state()
    page, follower = Page(), follow(state)
    count = follower._count

    def count_before_the_end() -> None:
        count()
        state.time = 1.0
        follower.end()

    with monkeypatch.context() as patch:
        patch.setattr(follower, "_count", count_before_the_end)
        page.tell(follower.glance())
    assert page.state == "running"
    page.tell(follower.glance())
    assert (page.state, page.nodes["time"]["count"]) == ("ended", 1)


# ---------------------------------------------------------------------- waits


def test_each_step_is_one_computation_also_where_one_is_inside_of_another() -> None:
    state = pendulum.system().new_state()
    gate = Gate(is_shut=True)
    page, follower = Page(), follow(state, gate)
    torque = subsystem_of(state, "anchor").torque
    thread = Thread(target=lambda: torque(state))
    thread.start()
    for number in range(1, 4):
        gate.grant_step()
        assert comes_to_stay(lambda number=number: computed(page, follower) == number)  # type: ignore[misc]
        assert follower.num_computed == number
    thread.join()
    assert page.computed[-1] == "anchor.torque"


def test_a_wait_is_not_part_of_the_time_of_a_computation() -> None:
    state = pendulum.system().new_state()
    gate = Gate(is_shut=True)
    page, follower = Page(), follow(state, gate)
    torque = subsystem_of(state, "anchor").torque
    thread = Thread(target=lambda: torque(state))
    start = perf_counter()
    thread.start()
    assert comes_true(lambda: is_waited_for(gate._changed))
    waited = -perf_counter()
    sleep(0.2)
    waited += perf_counter()
    gate.grant_step()  # inside of the computation of the torque, its prerequisites come first
    assert comes_true(lambda: computed(page, follower) == 1)
    assert comes_true(lambda: is_waited_for(gate._changed))
    waited -= perf_counter()
    sleep(0.2)
    waited += perf_counter()
    gate.open()
    thread.join()
    took = perf_counter() - start
    page.tell(follower.glance())
    assert set(page.computed) == {"anchor.torque", "pendulum.tip", "pendulum.weight"}
    assert all(page.nodes[path]["seconds"] < took - waited for path in page.computed)
