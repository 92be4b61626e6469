"""The bar of long simulations: when it is shown, and what it says."""

import io
from typing import Any

import pytest
from rich.console import Console

from stagecache import Subsystem, System, q_variable, run_study
from stagecache.errors import NotANumberError
from stagecache.progress import ProgressBar
from stagecache.state.state import State
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.simulate import simulate
from stagecache.study.time_stepper import TimeStepper
from stagecache.system.events.handlers import PeriodicEventReporter


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def passing(self) -> float:
        """Two seconds later at each look."""
        self.now += 2.0
        return self.now


def terminal(*, is_one: bool = True) -> Console:
    """A console that notes what it shows, 100 characters wide."""
    return Console(
        file=io.StringIO(), record=True, force_terminal=is_one, width=100, force_jupyter=False
    )


def shown_on(console: Console) -> str:
    """What it has shown since this was asked the last time."""
    return console.export_text(clear=True)


class Cart(Subsystem):
    place = q_variable(0.0)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = 2.0


def test_a_bar_is_shown_after_a_second_and_not_before() -> None:
    clock, console = Clock(), terminal()
    with ProgressBar("cart", 0.0, 10.0, console, clock) as bar:
        for t in (1.0, 2.0):
            bar.show(t)
        clock.now += 0.99
        bar.show(3.0)
        assert shown_on(console) == ""
        clock.now += 0.02
        bar.show(4.0)
        shown = shown_on(console)
        assert "cart" in shown
        assert "t = 4 of 10" in shown
        assert "━" in shown


def test_it_is_drawn_again_after_a_while_only() -> None:
    clock, console = Clock(), terminal()
    with ProgressBar("cart", 0.0, 10.0, console, clock) as bar:
        clock.now += 1.5
        bar.show(4.0)
        shown_on(console)
        clock.now += 0.05
        bar.show(5.0)
        assert shown_on(console) == ""
        clock.now += 0.06
        bar.show(6.0)
        assert "t = 6 of 10" in shown_on(console)


def test_without_a_terminal_nothing_is_shown() -> None:
    clock, console = Clock(), terminal(is_one=False)
    with ProgressBar("cart", 0.0, 10.0, console, clock) as bar:
        for t in range(10):
            clock.now += 1.0
            bar.show(t)
    assert shown_on(console) == ""


def test_nothing_is_written_by_default_where_standard_error_is_no_terminal(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    clock = Clock()
    for progress in (None, True):
        with ProgressBar("cart", 0.0, 10.0, progress, clock) as bar:
            clock.now += 5.0
            bar.show(5.0)
    assert capfd.readouterr() == ("", "")


def test_false_shows_nothing_and_true_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    console = terminal()
    monkeypatch.setattr("rich.console.Console", lambda **options: console)
    clock = Clock()
    with ProgressBar("cart", 0.0, 10.0, progress=False, clock=clock) as bar:
        clock.now += 100.0
        bar.show(5.0)
    assert shown_on(console) == ""
    monkeypatch.undo()
    made: list[dict[str, Any]] = []

    class Noted(Console):
        def __init__(self, **options: Any) -> None:
            made.append(options)
            super().__init__(file=io.StringIO(), record=True, force_terminal=True, width=100)
            self.mine = True

    monkeypatch.setattr("rich.console.Console", Noted)
    with ProgressBar("cart", 0.0, 10.0, progress=True, clock=clock) as bar:
        bar.show(5.0)
        assert "t = 5 of 10" in shown_on(bar._bar.console)
    assert made == [{"stderr": True}]


def test_an_infinite_end_has_no_total() -> None:
    clock, console = Clock(), terminal()
    with ProgressBar("cart", 0.0, float("inf"), console, clock) as bar:
        clock.now += 2.0
        bar.show(4.0)
        shown = shown_on(console)
    assert "t = 4 " in shown
    assert "inf" not in shown


def test_it_is_taken_away_when_something_raises() -> None:
    clock, console = Clock(), terminal()
    bars: list[Any] = []

    def fail() -> None:
        with ProgressBar("cart", 0.0, 10.0, console, clock) as bar:
            clock.now += 2.0
            bar.show(4.0)
            bars.append(bar._bar)
            assert bars[0].live.is_started
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not bars[0].live.is_started
    assert "t = 4 of 10" in shown_on(console)
    with ProgressBar("cart", 0.0, 10.0, console, clock) as again:
        clock.now += 2.0
        again.show(1.0)
        assert "t = 1 of 10" in shown_on(console)


@pytest.mark.parametrize("progress", [2, "yes", object()])
def test_what_does_not_say_whether_to_show_it_is_refused(progress: Any) -> None:
    with pytest.raises(NotANumberError, match=r"progress=\.\.\."):
        ProgressBar("cart", 0.0, 1.0, progress)
    system = System(Cart())
    with pytest.raises(NotANumberError, match=r"progress=\.\.\."):
        simulate(system, system.realize_topology(), 1.0, progress=progress)


def test_a_name_is_shown_as_it_is() -> None:
    clock, console = Clock(), terminal()
    with ProgressBar("[red]cart", 0.0, 10.0, console, clock) as bar:
        clock.now += 2.0
        bar.show(4.0)
        assert "[red]cart" in shown_on(console)


def test_what_is_counted_need_not_be_a_time() -> None:
    clock, console = Clock(), terminal()
    with ProgressBar("cart", 0.0, 10.0, console, clock, counted="frame") as bar:
        clock.now += 2.0
        bar.show(4)
        assert "frame = 4 of 10" in shown_on(console)


# ---------------------------------------------------------------------- in studies


def test_a_time_stepper_shows_how_far_it_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look at the clock is the beginning; from then on, each is two seconds later."""
    clock, console = Clock(), terminal()
    monkeypatch.setattr(ProgressBar.__init__, "__defaults__", (None, clock.passing))
    system = System(Cart(), name="carts")
    shown: list[str] = []
    system.add_event_reporter(PeriodicEventReporter(2.5, lambda s: shown.append(shown_on(console))))
    stepper = TimeStepper(system, Integrator(system), progress=console)
    stepper.initialize(system.realize_topology())
    stepper.step_to(10.0)
    assert "carts" in shown[2]
    assert "t = 2.5 of 10" in shown[2]
    assert "t = 7.5 of 10" in shown[4]


def test_a_simulation_has_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, console = Clock(), terminal()
    monkeypatch.setattr(ProgressBar.__init__, "__defaults__", (None, clock.passing))
    system = System(Cart(), name="carts")
    simulate(system, system.realize_topology(), 2.0, every=0.5, progress=console)
    shown = shown_on(console)
    assert shown.index("t = 0.5 of 2") < shown.index("t = 1 of 2") < shown.index("t = 2 of 2")


def test_a_long_way_without_events_is_shown_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, console = Clock(), terminal()
    monkeypatch.setattr(ProgressBar.__init__, "__defaults__", (None, clock.passing))
    system = System(Cart())
    stepper = TimeStepper(system, Integrator(system, max_step=1.0), progress=console)
    stepper.initialize(system.realize_topology())
    stepper.step_to(5.0)
    assert shown_on(console).count(" of 5") >= 5


def test_a_rate_and_the_time_that_is_left_are_shown_on_demand() -> None:
    clock, console = Clock(), terminal()
    with ProgressBar("cart", 40, 200, console, clock, counted="member", has_rate=True) as bar:
        clock.now += 2.0
        bar.show(40)
        assert "member 40 of 200 " in shown_on(console)
        clock.now += 2.0
        bar.show(60)  # 20 in 4 seconds; 140 are left
        assert "member 60 of 200, 5 a second, 0:00:28 left" in shown_on(console)


def test_a_study_of_many_members_shows_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, console = Clock(), terminal()
    monkeypatch.setattr(ProgressBar.__init__, "__defaults__", (None, clock.passing))
    run_study(System(Cart(), name="carts"), [{}] * 3, lambda state: 1.0, progress=console)
    shown = shown_on(console)
    assert shown.index("member 1 of 3") < shown.index("member 3 of 3")
    assert " a second, " in shown


def test_a_bar_inside_another_is_shown_alone() -> None:
    clock, console = Clock(), terminal()
    with ProgressBar("profile", 0.0, float("inf"), console, clock, counted="event") as outer:
        clock.now += 2.0
        outer.show(1234)
        assert "1,234 events" in shown_on(console)
        with ProgressBar("cart", 0.0, 10.0, console, clock) as inner:
            assert not outer._bar.live.is_started
            clock.now += 2.0
            outer.show(2000)
            assert not outer._bar.live.is_started
            inner.show(5.0)
            assert inner._bar.live.is_started
        clock.now += 2.0
        outer.show(3000)
        assert outer._bar.live.is_started
        assert "3,000 events" in shown_on(console)
