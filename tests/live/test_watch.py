"""Live views: what they follow, and that nothing is left of them."""

import gc
import weakref
from threading import Thread
from time import sleep
from typing import Any

import numpy as np
import pytest

from stagecache import State, simulate, strict, watch
from stagecache.errors import NotANumberError, OutOfRangeError, WrongTypeError
from stagecache.examples import pendulum
from stagecache.live import LiveView
from tests.live.page import Page, statuses_of
from tests.threads import TIMEOUT, comes_true


@pytest.fixture
def state() -> State:
    return pendulum.system().new_state()


def system_of(state: State) -> Any:
    assert state.system is not None
    return state.system


def page_of(view: LiveView) -> Page:
    """A page that listens."""
    page = Page()
    view._feed.add(page.tell)
    return page


def test_a_simulation_is_followed_though_it_works_on_a_copy(state: State) -> None:
    with state.trace() as trace, watch(state) as view:
        page = page_of(view)
        simulate(system_of(state), state, 1.0)
    summary = trace.summary()
    assert page.state == "ended"
    assert page.nodes["pendulum.tip"]["count"] == summary["pendulum.tip"].computed > 10
    assert page.nodes["pendulum.angle"]["count"] > 10
    assert page.time == 1.0


def test_copies_of_copies_are_followed(state: State) -> None:
    with watch(state) as view:
        page = page_of(view)
        twin = state.copy().copy(keep_cache=True)
        twin.time = 2.0
    assert page.time == 2.0


def test_each_copy_is_followed_once(state: State) -> None:
    with watch(state) as view, view._following_all():
        page = page_of(view)
        state.copy().time = 2.0
    assert page.counts("variable") == {"time": 1}


def test_another_state_is_not_followed(state: State) -> None:
    other = system_of(state).new_state()
    with watch(state) as view:
        page = page_of(view)
        other.time = 1.0
    assert page.counts("variable") == {}


def test_the_program_that_makes_states_is_followed() -> None:
    view = LiveView("program", None, every=0.01, is_paused=False)
    page = page_of(view)
    with view._following_all():
        system: Any = pendulum.system()
        state = system.new_state()
        state.q = [0.2]
        system.subsystem("anchor").torque(state)
    view.close()
    fresh = statuses_of(state.graph)
    assert page.statuses == {path: fresh[path] for path in page.statuses}
    assert page.nodes["anchor.torque"]["count"] == 1


def test_threads_are_followed_and_paused(state: State) -> None:
    anchor = system_of(state).subsystem("anchor")
    with watch(state, paused=True) as view:
        page = page_of(view)
        threads = [Thread(target=lambda: anchor.torque(state)) for _ in range(4)]
        for thread in threads:
            thread.start()
        sleep(0.2)
        assert all(thread.is_alive() for thread in threads)
        view.resume()
        for thread in threads:
            thread.join()
    assert page.nodes["anchor.torque"]["count"] == 1


def test_a_paused_state_can_be_read_and_traced_by_others(state: State) -> None:
    tip, weight = (getattr(system_of(state).subsystem("pendulum"), n) for n in ("tip", "weight"))
    weight(state)
    with watch(state, paused=True) as view:
        thread = Thread(target=lambda: tip(state))
        thread.start()
        sleep(0.1)
        assert weight(state) == pytest.approx(19.62)
        assert state.graph["pendulum.weight"].value == "19.62"
        assert "pendulum.tip" in str(state.explain(tip))
        with state.lock, state.trace():
            assert weight(state) == pytest.approx(19.62)
        assert thread.is_alive()
        view.step()
        thread.join()
        assert np.allclose(tip(state), [0.0998, -0.995], atol=1e-3)


def test_the_end_lets_a_paused_thread_go_on(state: State) -> None:
    tip = system_of(state).subsystem("pendulum").tip
    with watch(state, paused=True):
        thread = Thread(target=lambda: tip(state))
        thread.start()
        sleep(0.1)
        assert thread.is_alive()
    thread.join(TIMEOUT)
    assert not thread.is_alive()


def test_who_comes_when_all_is_over_is_told_how_it_ended(state: State) -> None:
    tip = system_of(state).subsystem("pendulum").tip
    with watch(state) as view:
        tip(state)
        state.q = [0.3]
    page = page_of(view)
    assert page.state == "ended"
    assert page.nodes["pendulum.tip"]["count"] == 1
    assert page.reasons["pendulum.tip"].startswith("pendulum.tip is stale: pendulum.angle")
    assert "anchor.torque" in page.reasons


def test_a_page_asks_why_an_entry_is_not_valid(state: State) -> None:
    with watch(state) as view:
        page = page_of(view)
        number = [node.path for node in page.view].index("pendulum.tip")
        assert view._obey(f"explain {number}")
        assert view._obey(f"explain {number} 12-34"), "with a serial number"
        for wrong in ("explain", "explain ", "explain tip", "explain -1", "explain12"):
            assert not view._obey(wrong)
        assert comes_true(lambda: set(page.reasons) == {"pendulum.tip"})


def test_nothing_is_left_of_a_view(state: State) -> None:
    copies = [state.copy()]
    with watch(state) as view:
        copies += [state.copy(), state.copy(keep_cache=True), state.frozen()]
        view.serve()
    for each in (state, *copies):
        assert each._contents.observers == ()
        assert each._contents.visible is each._contents.realization.store


def test_a_closed_view_holds_no_copy(state: State) -> None:
    with watch(state) as view:
        copy = state.copy()
        copy.time = 1.0
        gone = weakref.ref(copy)
    page_of(view)
    del copy
    gc.collect()
    assert gone() is None


def test_copies_that_nobody_needs_are_let_go(state: State) -> None:
    with watch(state) as view:
        for _ in range(20):
            state.copy().time = 1.0
        view._follower.count()
        gc.collect()
        assert len(view._follower._followed) <= 3


def test_two_views_and_a_trace_and_strict_mode_do_not_disturb_each_other(state: State) -> None:
    tip = system_of(state).subsystem("pendulum").tip
    with watch(state) as one, state.trace() as trace, strict(state):
        first = page_of(one)
        with watch(state) as other:
            second = page_of(other)
            tip(state)
        state.q = [0.3]
        tip(state)
    assert (first.nodes["pendulum.tip"]["count"], second.nodes["pendulum.tip"]["count"]) == (2, 1)
    assert trace.summary()["pendulum.tip"].computed == 2
    assert state._contents.observers == ()


def test_repr_says_what_was_followed(state: State) -> None:
    with watch(state) as view:
        state.time = 1.0
        assert repr(view) == "LiveView(running: 0 computed, 1 written)"
        view.pause()
        assert repr(view) == "LiveView(paused: 0 computed, 1 written)"
    assert repr(view) == "LiveView(ended: 0 computed, 1 written)"


def test_what_cannot_be_watched_is_refused(state: State) -> None:
    with pytest.raises(WrongTypeError, match="not a State"):
        watch(system_of(state))
    with pytest.raises(OutOfRangeError):
        watch(state, every=0.0)
    with pytest.raises(NotANumberError):
        watch(state, every="often")  # type: ignore[arg-type]
    with pytest.raises(NotANumberError):
        watch(state, paused=1)  # type: ignore[arg-type]
    with watch(state) as view, pytest.raises(OutOfRangeError):
        view.serve(-1)
