"""Runs in segments: each begins with a restart, and the rows are those of one segment."""

from typing import Any, final

import pytest

from stagecache import State, System, simulate
from stagecache.study.ending import Ending
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.plan import Plan
from stagecache.study.restart import Restart
from stagecache.study.run import AbstractSink, Run
from stagecache.study.trajectory.trajectory import Trajectory
from tests.study.integrating import ONE_STEP
from tests.study.streamed_models import MODELS, RUNS


@final
class Segments(AbstractSink):
    """Rows in memory, and restarts after some of them."""

    def __init__(self, state: State, batch: int) -> None:
        self.rows = Trajectory(state)
        self.restarts: list[tuple[int, bytes]] = []
        self._batch = batch

    def append(self, state: State, integrator: Integrator, *, has_changed: bool) -> None:
        self.rows.append(state)

    def see_step(self, integrator: Integrator) -> None:
        pass

    @property
    def is_full(self) -> bool:
        since = self.restarts[-1][0] if self.restarts else 0
        return len(self.rows) - since >= self._batch

    def restart(self, restart: bytes) -> None:
        self.restarts.append((len(self.rows), restart))


def plan_of(state: State, until: float, **options: Any) -> Plan:
    """The plan of a simulation."""
    found = {"every": None, "method": "RK45", "accuracy": 1e-3} | options
    own = {name: found.pop(name) for name in ("every", "method", "accuracy")}
    return Plan.of(state.time, until, batch=1, options=found, **own)


def in_segments(
    system: System, state: State, until: float, batch: int, **options: Any
) -> tuple[Segments, Ending]:
    """A run with a restart after each batch."""
    sink = Segments(state, batch)
    run = Run(system, plan_of(state, until, **options), sink, lambda time: None)
    return sink, run.begin(state)


def gone_on(
    system: System, until: float, batch: int, restart: tuple[int, bytes], **options: Any
) -> tuple[Segments, Ending]:
    """What follows a restart, with its number of rows."""
    count, data = restart
    state = system.new_state()
    sink = Segments(state, batch)
    sink.restarts.append((0, data))
    run = Run(system, plan_of(state, until, **options), sink, lambda time: None)
    return sink, run.go_on(Restart.of_bytes(data, "a file"), count)


def discrete_values(rows: Any) -> str:
    """All discrete variables in all rows."""
    return repr([c.all(len(rows)) for columns in rows._kept.discrete for c in columns])


def assert_same(one: Any, other: Any) -> None:
    """Equal rows, bit for bit, with all discrete variables."""
    assert one.times.tobytes() == other.times.tobytes()
    assert one.y.tobytes() == other.y.tobytes()
    assert discrete_values(one) == discrete_values(other)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", ONE_STEP)
def test_segments_of_a_one_step_method_make_the_rows_of_one_simulation(
    method: str, name: str
) -> None:
    make, until = MODELS[name]
    system = make()
    state = system.new_state()
    accuracy = 1e-2 if method in ("Euler", "Verlet") else 1e-4
    for every in (None, until / 40):
        options: Any = {"method": method, "every": every, "accuracy": accuracy}
        whole = simulate(system, state, until, **options)
        sink, ending = in_segments(system, state, until, 3, **options)
        assert sink.restarts
        assert_same(sink.rows, whole)
        assert ending.reason is whole.termination_reason


@pytest.mark.parametrize(("method", "name"), RUNS)
def test_a_run_that_goes_on_from_any_restart_ends_as_it_would_have(method: str, name: str) -> None:
    make, until = MODELS[name]
    system = make()
    state = system.new_state()
    for every in (None, until / 50):
        options = {"method": method, "every": every, "accuracy": 1e-2}
        sink, ending = in_segments(system, state, until, 4, **options)
        for restart in sink.restarts[:: max(len(sink.restarts) // 2, 1)]:
            rest, again = gone_on(make(), until, 4, restart, **options)
            assert_same(rest.rows, sink.rows[restart[0] :])
            assert again == ending
