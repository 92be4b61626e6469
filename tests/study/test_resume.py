"""Runs in files: rows on disk, interruptions, and resumptions to the same result."""

import json
import os
from itertools import count, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from stagecache import (
    PeriodicEventHandler,
    ScheduledEventHandler,
    Stage,
    State,
    Subsystem,
    System,
    TimeStepper,
    cached,
    discrete,
    load_trajectory,
    parameter,
    q_variable,
    resume,
    simulate,
)
from stagecache.errors import (
    EventHandlerError,
    FileFormatError,
    LayoutMismatchError,
    NotANumberError,
    OutOfRangeError,
    StagecacheError,
    StudyError,
    UnsavableValueError,
    WrongTypeError,
)
from stagecache.files.envelope import pack, unpack
from stagecache.study.integrate.step_status import TerminationReason
from stagecache.study.plan import Plan
from stagecache.study.restart import Restart
from stagecache.study.run import Run
from stagecache.study.streaming import Batches
from stagecache.study.trajectory.file import TrajectoryFile
from tests.study.streamed_models import MODELS, RUNS


class InterruptError(BaseException):
    """Something that ends a program, as Control-C."""


def values_of(trajectory: Any) -> list[Any]:
    """The times, y, and discrete variables of all rows."""
    rows = trajectory._kept.in_memory(range(len(trajectory)))
    return [rows.all_times, rows.all_y, [[c.all(rows.count) for c in s] for s in rows.discrete]]


def interrupt(system: System, until: float, path: Path, after: int, **how: Any) -> None:
    """Begin a run, and end it as Control-C would, when it comes to that row."""
    append, rows = Batches.append, count()

    def stop(*args: Any, **changed: Any) -> None:
        if next(rows) == after:
            raise InterruptError
        append(*args, **changed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Batches, "append", stop)
        with pytest.raises(InterruptError):
            simulate(system, system.new_state(), until, into=path, **how)


@pytest.mark.parametrize("name", MODELS)
def test_a_file_has_the_rows_that_memory_would_have(name: str, tmp_path: Path) -> None:
    make, until = MODELS[name]
    for method in ("RK45", "Verlet"):
        for every in (None, until / 30):
            system = make()
            how: Any = {"method": method, "every": every, "accuracy": 1e-2}
            whole = simulate(system, system.new_state(), until, **how)
            path = tmp_path / "run.arrows"
            filed = simulate(system, system.new_state(), until, into=path, batch=4, **how)
            assert values_of(filed)[2] == values_of(whole)[2]
            assert filed.times.tobytes() == whole.times.tobytes()
            assert filed.y.tobytes() == whole.y.tobytes()
            assert filed.termination_reason is whole.termination_reason
            assert TrajectoryFile(path).is_finished
            TrajectoryFile(path).verify()


@pytest.mark.parametrize(("method", "name"), RUNS)
def test_an_interrupted_run_ends_in_the_same_file_byte_for_byte(
    method: str, name: str, tmp_path: Path
) -> None:
    make, until = MODELS[name]
    for every, part in ((None, 0.5), (until / 40, 0.9)):
        how: Any = {"method": method, "every": every, "accuracy": 1e-2, "batch": 5}
        whole, cut = tmp_path / "whole.arrows", tmp_path / "cut.arrows"
        system = make()
        num_rows = len(simulate(system, system.new_state(), until, into=whole, **how))
        interrupt(make(), until, cut, int(part * num_rows), **how)
        assert not TrajectoryFile(cut).is_finished
        resumed = resume(cut, make())
        assert cut.read_bytes() == whole.read_bytes()
        assert resumed.statistics is not None


# ---------------------------------------------------------------------- files of runs


def cart(*, is_longer: bool = False, period: float = 0.3) -> System:
    """A cart, and a clock that changes its speed."""

    class Cart(Subsystem):
        speed = parameter(1.0)
        place = q_variable(0.0)

        def realize_velocity(self, state: State) -> None:
            state[self].upd_qdot()[0] = self.speed(state)

        @cached(prerequisites=(place,))
        def square(self, state: State) -> float:
            return self.place(state) ** 2

    class Longer(Cart):
        length = parameter(2.0)

    part = Longer() if is_longer else Cart()
    system = System(cart=part)

    def turn(state: State) -> None:
        part.speed.set(state, -part.speed(state))

    system.add_event_handler(PeriodicEventHandler(period, turn), "turn")
    return system


def test_a_finished_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "run.arrows"
    system = cart()
    whole = simulate(system, system.new_state(), 2.0, every=0.1, into=path, batch=6)
    data = path.read_bytes()
    again = resume(path, cart())
    assert path.read_bytes() == data
    assert again.times.tolist() == whole.times.tolist()
    for kept in (again, load_trajectory(path), load_trajectory(path, system)[3:]):
        assert kept.termination_reason is TerminationReason.REACHED_FINAL_TIME
        assert kept.statistics == whole.statistics
    assert whole.statistics is not None


def test_a_run_that_is_not_finished_has_no_end(tmp_path: Path) -> None:
    path = tmp_path / "run.arrows"
    interrupt(cart(), 2.0, path, 12, every=0.1, batch=4)
    unfinished = load_trajectory(path)
    assert (unfinished.termination_reason, unfinished.statistics) == (None, None)


def test_a_crash_before_the_end_of_the_stream_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "run.arrows"
    system = cart()
    simulate(system, system.new_state(), 2.0, every=0.1, into=path, batch=6)
    data = path.read_bytes()
    for missing in (8, 9, 200, len(data) // 2):
        path.write_bytes(data[:-missing])
        resume(path, cart())
        assert path.read_bytes() == data


def test_entries_and_times_of_rows_are_in_the_file(tmp_path: Path) -> None:
    system, path = cart(), tmp_path / "run.arrows"
    times = [0.25, 0.5, 0.5 + 1e-9, 1.75]
    how: Any = {"every": times, "record": ("cart.square", "cart.speed"), "max_step": 0.1}
    whole = simulate(system, system.new_state(), 2.0, **how)
    interrupt(cart(), 2.0, path, 3, batch=1, **how)
    resumed = resume(str(path), cart())
    for column in ("time", "cart.square", "cart.speed"):
        assert resumed[column].tolist() == whole[column].tolist()
    assert resumed.times.tolist() == times
    assert load_trajectory(path)["cart.square"].tolist() == whole["cart.square"].tolist()


def test_a_batch_is_limited_even_if_no_step_ends(tmp_path: Path) -> None:
    system, path = cart(period=50.0), tmp_path / "run.arrows"
    filed = simulate(system, system.new_state(), 40.0, every=0.01, into=path, batch=30)
    starts = TrajectoryFile(path).starts
    assert len(filed) == 4001
    assert max(b - a for a, b in pairwise(starts)) <= 60
    assert len(starts) > 60


def test_a_failure_leaves_the_rows_until_then(tmp_path: Path) -> None:
    system, path = cart(), tmp_path / "run.arrows"

    def fail(state: State) -> None:
        raise ArithmeticError("it fails")

    system.add_event_handler(ScheduledEventHandler(fail, lambda state, now: 1.03), "fail")
    with pytest.raises(EventHandlerError):
        simulate(system, system.new_state(), 2.0, every=0.1, into=path, batch=4)
    assert load_trajectory(path).times.tolist() == [k * 0.1 for k in range(11)]
    with pytest.raises(EventHandlerError):
        resume(path, system)
    assert load_trajectory(path).times.tolist() == [k * 0.1 for k in range(11)]


def test_another_model_cannot_resume_a_run_and_leaves_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.arrows"
    interrupt(cart(), 2.0, path, 12, every=0.1, batch=4)
    data = path.read_bytes()
    with pytest.raises(LayoutMismatchError, match=r"cart\.length is new") as caught:
        resume(path, cart(is_longer=True))
    report: Any = caught.value.report
    assert [difference.path for difference in report.differences] == ["cart.length"]
    other = cart()
    other.add_event_handler(PeriodicEventHandler(0.2, lambda state: None), "tick")
    with pytest.raises(LayoutMismatchError, match="tick is new: an event"):
        resume(path, other)
    assert path.read_bytes() == data


def test_a_model_whose_code_or_attributes_have_changed_is_refused(tmp_path: Path) -> None:
    def model(rate: float, *, is_doubled: bool = False) -> System:
        class Cart(Subsystem):
            place = q_variable(0.0)

            def __init__(self) -> None:
                self.rate = rate
                self.names = {"a", "b"}

            def realize_velocity(self, state: State) -> None:
                state[self].upd_qdot()[0] = self.rate

        class Doubled(Cart):
            def realize_velocity(self, state: State) -> None:
                state[self].upd_qdot()[0] = 2 * self.rate

        return System(cart=Doubled() if is_doubled else Cart())

    path = tmp_path / "run.arrows"
    interrupt(model(1.0), 2.0, path, 15, every=0.1, batch=4, max_step=0.1)
    data = path.read_bytes()
    for changed in (model(3.0), model(1.0, is_doubled=True)):
        with pytest.raises(StudyError, match="a model that has changed"):
            resume(path, changed)
        assert path.read_bytes() == data
    with pytest.raises(NotANumberError, match="allow_changes"):
        resume(path, model(1.0), allow_changes=1)  # type: ignore[arg-type]
    rows = resume(path, model(3.0), allow_changes=True)["cart.place"]
    assert rows[:10] == pytest.approx([0.1 * k for k in range(10)])
    assert rows[-1] - rows[-2] == pytest.approx(0.3)
    path.write_bytes(data)
    assert resume(path, model(1.0))["cart.place"][-1] == pytest.approx(2.0)


def test_a_restart_that_does_not_fit_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.arrows"
    interrupt(cart(), 2.0, path, 15, every=0.1, batch=4)
    data = path.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TimeStepper, "_go_on", interrupted)
        with pytest.raises(InterruptError):
            resume(path, cart())
    assert path.read_bytes() == data


def test_rows_that_are_looked_at_stay_when_their_run_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "run.arrows"
    interrupt(cart(), 2.0, path, 18, every=0.1, batch=4, max_step=0.1)
    rows = load_trajectory(path)
    before = rows["cart.place"].tolist()
    resume(path, cart())
    assert load_trajectory(path)["cart.place"].tolist()[: len(before)] == before
    assert rows[::-1]["cart.place"].tolist() == before[::-1]
    other, system = tmp_path / "other.arrows", cart()
    interrupt(cart(), 2.0, other, 18, every=0.1, batch=4, max_step=0.1)
    with pytest.raises(StudyError, match="would replace a run that is not finished"):
        simulate(system, system.new_state(), 2.0, into=other)


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_a_run_that_still_goes_on_cannot_be_resumed(tmp_path: Path) -> None:
    path = tmp_path / "run.arrows"
    refused = []

    def model() -> System:
        system = cart()
        system.add_event_handler(ScheduledEventHandler(try_it, lambda state, now: 1.65), "try")
        return system

    def try_it(state: State) -> None:
        with pytest.raises(StudyError, match="is being written"):
            resume(path, model())
        refused.append(state.time)

    system = model()
    simulate(system, system.new_state(), 2.0, every=0.1, into=path, batch=4)
    assert refused == [1.65]


def test_what_is_not_an_interrupted_run_is_refused(tmp_path: Path) -> None:
    system = cart()
    saved, early, text = (tmp_path / name for name in ("saved", "early", "text"))
    simulate(system, system.new_state(), 1.0, every=0.5).save(saved)
    with pytest.raises(StudyError, match="cannot be resumed"):
        resume(saved, system)
    text.write_text("nothing")
    with pytest.raises(FileFormatError):
        resume(text, system)
    with pytest.raises(FileNotFoundError):
        resume(tmp_path / "missing", system)
    with pytest.raises(WrongTypeError):
        resume(3, system)  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError):
        resume(saved, "model")  # type: ignore[arg-type]
    with pytest.raises(NotANumberError):
        resume(saved, system, progress=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "_renew", interrupted)
        with pytest.raises(InterruptError):
            simulate(system, system.new_state(), 1.0, every=0.5, into=early)
    assert len(load_trajectory(early)) == 1
    with pytest.raises(StudyError, match="before its first step"):
        resume(early, system)


def interrupted(*args: Any) -> None:
    """Do as Control-C does."""
    raise InterruptError


def test_a_value_that_cannot_be_saved_is_refused_before_the_first_step(tmp_path: Path) -> None:
    class Holder(Subsystem):
        thing: Any = discrete(Path(), invalidates=Stage.REPORT)
        place = q_variable(0.0)

        def realize_velocity(self, state: State) -> None:
            state[self].upd_qdot()[0] = 1.0

    system = System(Holder())
    path = tmp_path / "run.arrows"
    with pytest.raises(UnsavableValueError, match=r"holder\.thing"):
        simulate(system, system.new_state(), 1.0, into=path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("batch", [0, -1, 1.5, "many", None])
def test_a_batch_has_a_number_of_rows(batch: Any, tmp_path: Path) -> None:
    system = cart()
    with pytest.raises(OutOfRangeError, match="batch"):
        simulate(system, system.new_state(), 1.0, into=tmp_path / "run", batch=batch)
    assert list(tmp_path.iterdir()) == []


def test_a_limit_of_steps_does_not_end_a_segment(tmp_path: Path) -> None:
    system, path = cart(), tmp_path / "run.arrows"
    how: Any = {"every": 0.05, "step_limit": 1, "max_step": 0.02, "method": "RK23"}
    whole = simulate(system, system.new_state(), 1.0, **how)
    filed = simulate(system, system.new_state(), 1.0, into=path, batch=7, **how)
    assert filed.y.tobytes() == whole.y.tobytes()


# ---------------------------------------------------------------------- hostile restarts


def restart_of(path: Path) -> tuple[System, Any, bytes]:
    """A System, and the plan and the last restart of a run that was interrupted."""
    make, until = MODELS["together"]
    interrupt(make(), until, path, 20, method="Verlet", batch=3)
    file = TrajectoryFile(path)
    return make(), file.header.details, file.last_restart()[1]


@pytest.mark.parametrize("seed", range(4))
def test_a_restart_that_says_something_else_is_refused_or_goes_on(
    seed: int, tmp_path: Path
) -> None:
    system, details, data = restart_of(tmp_path / "run.arrows")
    plan = Plan.of_json(details["plan"], "a file")
    content, blobs = unpack(data, "restart of a simulation", "a restart")
    random = Random(seed)
    refused = 0
    for _ in range(60):
        changed = mutated(json.loads(json.dumps(content)), random)
        packed = pack("restart of a simulation", changed, [bytes(blob) for blob in blobs])
        stepper = TimeStepper(system, plan.integrator(system), progress=False)
        try:
            stepper._go_on(Restart.of_bytes(packed, "a restart"))
            stepper.step_to(stepper.time + 0.01)
        except StagecacheError:
            refused += 1
    assert refused > 30


def mutated(found: Any, random: Random) -> Any:
    """JSON with something else at a random place."""
    if isinstance(found, dict | list) and found and random.random() < 0.9:
        places = list(found) if isinstance(found, dict) else list(range(len(found)))
        place = random.choice(places)
        if random.random() < 0.1:
            del found[place]
        else:
            found[place] = mutated(found[place], random)
        return found
    return random.choice([None, -1, 2**63, 1e300, -0.5, "x", [], {}, {"float": "nan"}, True])


def test_a_plan_that_says_something_else_is_refused(tmp_path: Path) -> None:
    _, details, _ = restart_of(tmp_path / "run.arrows")
    random = Random(1)
    refused = 0
    for _ in range(300):
        changed = mutated(json.loads(json.dumps(details["plan"])), random)
        try:
            Plan.of_json(changed, "a file")
        except StagecacheError:
            refused += 1
    assert refused > 100
