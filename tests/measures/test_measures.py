"""Measures: against formulas and brute force; in copies, files and rollbacks; and as declared."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    Trajectory,
    cached,
    discrete,
    load_state,
    q_variable,
    scheduled,
    simulate,
    strict,
    u_variable,
)
from stagecache.errors import (
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    StageOutOfRangeError,
    UnknownChoiceError,
    WrongTypeError,
)
from stagecache.measures import Delay, Derivative, Extreme, Integral, SampleAndHold
from stagecache.testing import check_coherence


class Swing(Subsystem):
    """An oscillator, whose offset jumps at 1.5 s."""

    angle = q_variable(1.0)
    rate = u_variable(0.0)
    offset = discrete(0.0, invalidates=Stage.DYNAMICS)

    @cached(prerequisites=(angle, offset))
    def height(self, state: State) -> float:
        return self.angle(state) + self.offset(state)

    @cached(prerequisites=(angle, rate))
    def both(self, state: State) -> Any:
        return np.array([self.angle(state), self.rate(state)])

    @cached(available_from=Stage.ACCELERATION)
    def push(self, state: State) -> float:
        return float(state[self].udot[0])

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -self.angle(state)

    @scheduled(1.5)
    def jump(self, state: State) -> None:
        self.offset.set(state, 0.25)


def made() -> tuple[System, Swing, dict[str, Any]]:
    system = System(swing := Swing())
    measures: dict[str, Any] = {
        "integral": Integral(swing.height),
        "integrals": Integral(swing.both, [1.0, 2.0]),
        "top": Extreme(swing.height),
        "bottom": Extreme(swing.both, "minimum", since=0.7),
        "far": Extreme(swing.height, "magnitude"),
        "late": Delay(swing.height, 0.4),
        "slope": Derivative(swing.height),
        "held": SampleAndHold(swing.both, 0.3),
    }
    for name, measure in measures.items():
        system.add(measure, name)
    return system, swing, measures


def run(until: float = 3.0) -> tuple[Trajectory, Swing, dict[str, Any]]:
    system, swing, measures = made()
    record = [m.value for name, m in measures.items() if not name.startswith("i")]
    record += [measures["top"].reached_at, swing.height, swing.both]
    found = simulate(system, system.new_state(), until, max_step=0.01, accuracy=1e-7, record=record)
    return found, swing, measures


def test_integrals() -> None:
    found, _, measures = run()
    t = found.times
    jumped = 0.25 * np.clip(t - 1.5, 0.0, None)
    np.testing.assert_allclose(
        found[measures["integral"].value][:, 0], np.sin(t) + jumped, atol=1e-6
    )
    expected = np.column_stack([1.0 + np.sin(t), 2.0 + np.cos(t) - 1.0])
    np.testing.assert_allclose(found[measures["integrals"].value], expected, atol=1e-6)


def test_an_integral_of_what_acceleration_computes() -> None:
    system = System(swing := Swing())
    impulse = system.add(Integral(swing.push), "impulse")
    found = simulate(system, system.new_state(), 1.0, accuracy=1e-7)
    np.testing.assert_allclose(found[impulse.value][:, 0], -np.sin(found.times), atol=1e-6)


def test_extremes_are_those_of_all_rows_up_to_now() -> None:
    found, swing, measures = run()
    heights, values = found[swing.height], found[swing.both]
    tops = np.maximum.accumulate(heights)
    np.testing.assert_allclose(found[measures["top"].value], tops, atol=1e-15)
    reached = found[measures["top"].reached_at]
    for i in range(0, len(heights), 37):
        first = int(np.flatnonzero(heights == tops[i])[0])
        assert reached[i] == found.times[first]
    far = found[measures["far"].value]
    assert np.array_equal(np.abs(far), np.maximum.accumulate(np.abs(heights)))
    counts = found.times >= 0.7
    bottoms = found[measures["bottom"].value]
    assert np.isnan(bottoms[~counts]).all()
    expected = np.minimum.accumulate(values[counts])
    np.testing.assert_allclose(bottoms[counts], expected, atol=1e-15)


def test_a_delay_is_what_was_there_then() -> None:
    found, swing, measures = run()
    t, late = found.times, found[measures["late"].value]
    then = t - 0.4
    expected = np.where(then > 0.0, np.cos(then), 1.0) + 0.25 * (then > 1.5)
    is_near_the_jump = np.abs(then - 1.5) < 0.02
    np.testing.assert_allclose(late[~is_near_the_jump], expected[~is_near_the_jump], atol=2e-5)
    kept = measures["late"].kept(found[-1])
    assert kept[0, 0] <= t[-1] - 0.4 < kept[1, 0]
    assert len(kept) < 60
    assert swing.height(found[-1]) == pytest.approx(kept[-1, 1])


def test_a_derivative_is_that_of_the_last_step() -> None:
    found, _, measures = run(1.4)
    slopes = found[measures["slope"].value]
    t = found.times
    assert slopes[0] == 0.0
    np.testing.assert_allclose(slopes[2:], -np.sin(t[2:]), atol=0.01)


def test_samples_are_held() -> None:
    found, swing, measures = run()
    held, values, t = found[measures["held"].value], found[swing.both], found.times
    parts = t / 0.3
    between = np.abs(parts - np.round(parts)) > 1e-6
    first = np.searchsorted(t, 0.3 * np.floor(parts) - 1e-9)
    np.testing.assert_allclose(held[between], values[first[between]], atol=1e-9)


def test_memories_go_with_copies_files_and_rollbacks(tmp_path: Any) -> None:
    system, _, measures = made()
    middle = simulate(system, system.new_state(), 1.0, max_step=0.05)[-1]

    def values(state: State) -> list[Any]:
        system.realize(state, Stage.ACCELERATION)
        return [np.array(m.value(state)).tolist() for m in measures.values()]

    here = values(middle)
    path = tmp_path / "middle.state"
    middle.save(path)
    assert values(load_state(path, system)) == here
    assert values(middle.copy()) == here
    straight = simulate(system, middle, 2.0, max_step=0.05)[-1]
    mark = middle.checkpoint()
    swing = system.get(Swing)
    swing.angle.set(middle, -7.0)
    system.realize(middle, Stage.ACCELERATION)
    middle.auto_update_discrete_variables()
    assert values(middle) != here
    middle.rollback(mark)
    mark.release()
    assert values(middle) == here
    again = simulate(system, middle, 2.0, max_step=0.05)[-1]
    assert values(again) == values(straight)


def test_a_run_in_parts_is_a_run_in_one() -> None:
    system, _, measures = made()
    whole = simulate(system, system.new_state(), 2.0, fixed_step=0.125)[-1]
    parts = system.new_state()
    for _, until in pairwise([0.0, 0.5, 1.0, 2.0]):
        parts = simulate(system, parts, until, fixed_step=0.125)[-1]
    for name in ("integral", "top", "late"):
        np.testing.assert_allclose(
            measures[name].value(parts), measures[name].value(whole), rtol=1e-9
        )


def test_what_they_read_is_declared() -> None:
    system, _, _ = made()
    state = system.new_state()
    with strict(state):
        system.realize(state, Stage.REPORT)
        state.auto_update_discrete_variables()
        state.time = 0.5
        system.realize(state, Stage.REPORT)


def test_random_programs_find_no_stale_value() -> None:
    system, _, _ = made()
    check_coherence(system, seed=1, budget=4.0)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda swing: Integral(3.0), WrongTypeError),  # type: ignore[arg-type]
        (lambda swing: Integral(swing.height, "x"), ShapeError),
        (lambda swing: Integral(swing.height, np.nan), OutOfRangeError),
        (lambda swing: Extreme(swing.height, "largest"), UnknownChoiceError),
        (lambda swing: Extreme(swing.height, since=np.nan), OutOfRangeError),
        (lambda swing: Delay(swing.height, 0.0), OutOfRangeError),
        (lambda swing: Delay(swing.height, "long"), NotANumberError),  # type: ignore[arg-type]
        (lambda swing: SampleAndHold(swing.height, -1.0), OutOfRangeError),
        (lambda swing: Derivative("height"), WrongTypeError),  # type: ignore[arg-type]
    ],
)
def test_wrong_measures(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make(Swing())


def test_sources_without_numbers_are_named() -> None:
    class Words(Subsystem):
        @cached(prerequisites=lambda self: (self.time,))
        def text(self, state: State) -> str:
            return f"at {state.time}"

    system = System(words := Words())
    delay = system.add(Delay(words.text, 1.0), "late")
    state = system.new_state()
    system.realize(state, Stage.TIME)
    with pytest.raises(NotANumberError, match=r"late: cannot measure(.|\n)*words\.text"):
        delay.value(state)


def test_an_integral_of_another_length_is_named() -> None:
    system = System(swing := Swing())
    system.add(Integral(swing.both), "sums")
    with pytest.raises(ShapeError, match="sums"):
        simulate(system, system.new_state(), 0.1)


class Pair(Subsystem):
    gain = discrete(1.0, invalidates=Stage.REPORT)

    @cached(prerequisites=lambda self: (self.time,))
    def pair(self, state: State) -> tuple[float, float]:
        return state.time, 2.0 - state.time


def test_all_numbers_of_a_tuple_are_measured() -> None:
    system = System(pair := Pair())
    measures: list[Any] = [system.add(Extreme(pair.pair)), system.add(Delay(pair.pair, 0.5))]
    measures += [system.add(SampleAndHold(pair.pair, 0.5)), system.add(Derivative(pair.pair))]
    last = simulate(system, system.new_state(), 1.0, max_step=0.1)[-1]
    found = [measure.value(last).tolist() for measure in measures]
    expected = [[1.0, 2.0], [0.5, 1.5], [1.0, 1.0], [1.0, -1.0]]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_an_integral_needs_what_changes_zdot() -> None:
    with pytest.raises(StageOutOfRangeError, match="zdot"):
        Integral(Pair().gain)
