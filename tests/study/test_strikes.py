"""Drawn simulations, Assemblers and files, struck at a drawn moment.

What follows comes out as it does without the error: events and reports, steps, the last State, rows
of a trajectory, q of an assembly; and a file is the old one or the new one, whole.
"""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Assembler,
    Integrator,
    PeriodicEventReporter,
    QValue,
    ScheduledEventHandler,
    Stage,
    State,
    StepStatus,
    Subsystem,
    System,
    TimeStepper,
    auto_update,
    cached,
    discrete,
    event_trigger,
    load_state,
    load_trajectory,
    parameter,
    q_variable,
    resume,
    simulate,
    u_variable,
)
from stagecache.errors import AssemblyError, EventHandlerError, FileFormatError, StudyError
from tests.assembly.models import arm, four_bar
from tests.graph.check_structure import check_store
from tests.interrupting import FUSE, fused, ignore_lost_strikes, struck
from tests.profiles import examples

NOTHING: tuple[str, ...] = ()
END = StepStatus.END_OF_SIMULATION


class Ball(Subsystem):
    """Bounces, and notes what happens."""

    height = q_variable(1.0)
    speed = u_variable(0.0)
    gravity = parameter(9.81)
    notes = discrete(NOTHING, invalidates=Stage.REPORT)
    steps = auto_update(0, invalidates=Stage.REPORT, available_from=Stage.TIME)

    @steps.update
    def next_steps(self, state: State) -> int:
        FUSE.pass_by()
        return self.steps(state) + 1

    @cached(prerequisites=(height, gravity))
    @fused
    def potential(self, state: State) -> float:
        return self.gravity(state) * self.height(state)

    @cached(available_from=Stage.VELOCITY)
    @fused
    def energy(self, state: State) -> float:
        return self.potential(state) + self.speed(state) ** 2 / 2

    @fused
    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    @fused
    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -self.gravity(state)

    def note(self, what: str, state: State) -> None:
        self.notes.set(state, (*self.notes(state), f"{what} at {state.time:.3f}"))

    @event_trigger(stage=Stage.POSITION, direction="falling")
    @fused
    def ground(self, state: State) -> float:
        return self.height(state)

    @ground.handler
    @fused
    def bounce(self, state: State) -> None:
        self.note("bounce", state)
        self.speed.set(state, -0.8 * self.speed(state))


class StoppedError(Exception):
    """What ends a run before its end."""


class Run:
    """A simulation that goes on where an error has struck it."""

    def __init__(self, plan: "Plan") -> None:
        self.ball = Ball()
        self.system = System(self.ball)
        self.reports: list[tuple[float, float]] = []
        self.system.add_event_reporter(PeriodicEventReporter(plan.every, function=self.report))
        self.system.add_event_handler(ScheduledEventHandler(self.kick, next_time=0.3))
        self.plan = plan
        self.stepper = TimeStepper(
            self.system,
            Integrator(self.system, method=plan.method, final_time=0.8, **plan.options),
            progress=False,
        )
        self.start = self.system.realize_topology()
        self.stop_after = -1  # reports until `StoppedError` is raised

    @fused
    def report(self, state: State) -> None:
        self.stop_after -= 1
        if self.stop_after == 0:
            raise StoppedError
        found = round(state.time, 9), round(self.ball.potential(state), 6)
        if not self.reports or self.reports[-1] != found:  # which the error may have followed
            self.reports.append(found)

    @fused
    def kick(self, state: State) -> None:
        self.ball.note("kick", state)
        self.ball.speed.set(state, self.ball.speed(state) + 0.5)

    def begin(self) -> None:
        if not self.stepper._is_initialized:
            self.stepper.initialize(self.start)

    def run(self, until: float) -> None:
        self.begin()
        status = None
        while status is not END and not (self.stepper.time >= until and status is not None):
            status = self.stepper.step_to(until)

    def numbers(self) -> list[float]:
        """The time and y at the end, then those of all reports."""
        state = self.stepper.state
        return [state.time, *state.y.tolist(), *[x for report in self.reports for x in report]]

    def events(self) -> tuple[object, ...]:
        """What has happened, and steps that were not counted by the variable."""
        state = self.stepper.state
        num_steps = self.stepper.integrator.statistics.num_steps_taken
        return self.ball.notes(state), num_steps - self.ball.steps(state)


@frozen
class Plan:
    """A drawn simulation."""

    method: str
    every: float
    options: dict[str, Any] = field(factory=dict)


PLANS = st.one_of(
    st.builds(
        Plan,
        st.sampled_from(["RK45", "DOP853", "RK23", "Verlet"]),
        st.sampled_from([0.1, 0.25, 0.3]),
        st.sampled_from([{}, {"max_step": 0.2}, {"allow_interpolation": False}]),
    ),
    st.just(Plan("Euler", 0.25, {"fixed_step": 0.05})),
)


@ignore_lost_strikes
@examples(60)
@given(data=st.data(), plan=PLANS, until=st.sampled_from([0.3, 0.55, 0.8]))
def test_a_simulation_that_is_cut_short_goes_on_as_if_nothing_had_been(
    data: st.DataObject, plan: Plan, until: float
) -> None:
    whole = Run(plan)
    whole.run(0.8)

    def prepare() -> Run:
        run = Run(plan)
        if data_begun:
            run.run(0.2)
        return run

    data_begun = data.draw(st.booleans(), label="has begun")
    for run, _ in struck(data, prepare, lambda run: run.run(until)):
        run.run(0.8)
        assert run.events() == whole.events()
        assert run.numbers() == pytest.approx(whole.numbers(), abs=1e-4)
        state = run.stepper.state
        check_store(state._contents.realization.store)
        run.system.realize(state)
        height, speed = state.q[0], state.u[0]
        assert run.ball.energy(state) == 9.81 * height + speed**2 / 2


# ---------------------------------------------------------------------- assembly


@ignore_lost_strikes
@examples(60)
@given(data=st.data(), is_linkage=st.booleans(), operation=st.sampled_from(["assemble", "track"]))
def test_an_assembly_that_is_cut_short_leaves_q_as_they_were_and_can_be_repeated(
    data: st.DataObject, is_linkage: bool, operation: str
) -> None:
    def prepare() -> tuple[Assembler, State]:
        model: Any
        model, system, state = four_bar() if is_linkage else arm()
        assembler = Assembler(system)
        handle = model.crank if is_linkage else model.angles
        if not is_linkage or operation == "track":
            assembler.add_goal(QValue(handle, 0, 0.4))
        if operation == "track":
            assembler.assemble(state)
        return assembler, state

    def operate(subject: tuple[Assembler, State]) -> None:
        assembler, state = subject
        with suppress(AssemblyError):
            if operation == "track":
                assembler.track(0.0)
            else:
                assembler.assemble(state)

    before = prepare()[1].q.copy()
    for (assembler, state), (other, after) in struck(data, prepare, operate):
        check_store(state._contents.realization.store)
        assert any(np.array_equal(state.q, q) for q in (before, after.q))
        operate((assembler, state))
        np.testing.assert_allclose(assembler.internal_state.q, other.internal_state.q, atol=1e-3)
        np.testing.assert_allclose(state.q, after.q, atol=1e-3)
        assembler.internal_state.copy()


# ---------------------------------------------------------------------- files


class Files:
    """A new folder, a Run, and a file that was there before."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "file.arrows"
        self.run = Run(PLAN)
        self.system, self.state = self.run.system, self.run.start.copy()
        self.system.realize(self.state)
        self.state.save(self.path)
        self.old = self.path.read_bytes()
        self.run.ball.height.set(self.state, 2.0)
        self.run.ball.potential(self.state)

    def save(self) -> None:
        self.state.save(self.path, cache=True)

    def load(self) -> None:
        with suppress(FileFormatError):  # the error stands for what is read
            self.state.assign(load_state(self.path, self.system))

    def simulate(self) -> None:
        start = self.run.start
        how: dict[str, Any] = {"every": 0.05, "batch": 4, "progress": False}
        simulate(self.system, start, 0.7, method="RK45", into=self.path, **how)

    def resume(self) -> None:
        # The fuse is a part of the model, and has changed.
        resume(self.path, self.system, allow_changes=True, progress=False)

    def goes_on(self) -> bool:
        """Resume, unless the run was cut short before its first step, and nothing is lost."""
        try:
            self.resume()
        except StudyError as error:
            if error.got != "one that was interrupted before its first step":
                raise
            return False
        return True


PLAN = Plan("RK45", 0.25)


@ignore_lost_strikes
@examples(40)
@given(data=st.data(), operation=st.sampled_from(["save", "load", "simulate", "resume"]))
def test_a_file_that_is_cut_short_is_the_old_one_or_one_that_can_be_gone_on_with(
    data: st.DataObject, operation: str
) -> None:
    with TemporaryDirectory() as folder:
        count = iter(range(10**6))
        cut = data.draw(st.integers(2, 4), label="reports before")

        def prepare() -> Files:
            inner = Path(folder, str(next(count)))
            inner.mkdir()
            files = Files(inner)
            if operation == "resume":
                files.run.stop_after = cut
                with suppress(EventHandlerError):
                    files.simulate()
                files.run.stop_after = -1
            return files

        def operate(files: Files) -> None:
            getattr(files, operation)()

        for files, whole in struck(data, prepare, operate):
            assert os.listdir(files.path.parent) == [files.path.name]
            now = files.path.read_bytes()
            if operation in ("simulate", "resume"):
                if now != files.old and files.goes_on():
                    one, other = load_trajectory(files.path), load_trajectory(whole.path)
                    assert np.array_equal(one.times, other.times)
                    np.testing.assert_allclose(one.y, other.y, atol=1e-4)  # a step may be shorter
                continue
            loaded = load_state(files.path, files.system)
            assert loaded.q[0] == (1.0 if now == files.old else 2.0)
            assert files.run.ball.potential(loaded) == 9.81 * loaded.q[0]
            assert files.state.q[0] in (1.0, 2.0)
            assert files.run.ball.potential(files.state) == 9.81 * files.state.q[0]
