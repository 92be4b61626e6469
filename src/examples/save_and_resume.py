"""Save and resume: a State in a file, and an interrupted run that goes on to the same rows.

Run it: python -m stagecache.examples.save_and_resume [OUTPUT FOLDER]

A reservoir fills in the rain and empties through a gate, which opens and closes at two levels. The
program saves a State, and loads it into a later version of the model, where the reservoir has
another name. Then it simulates a month with its rows in a file, is interrupted on the way, looks at
the rows that are there, and resumes the run. It compares the result with a run without an
interruption.
"""

import math
import sys
from pathlib import Path

from stagecache import (
    PeriodicEventReporter,
    Stage,
    State,
    Subsystem,
    System,
    discrete,
    event_trigger,
    load_state,
    load_trajectory,
    parameter,
    resume,
    simulate,
    z_variable,
)
from stagecache.errors import LayoutMismatchError

HOUR, DAY, MONTH = 3600.0, 86400.0, 30 * 86400.0  # s


class Reservoir(Subsystem):
    """Water that comes with the rain, and goes through a gate."""

    area = parameter(2.0e5, unit="m²")
    gate = parameter(1.0, unit="m²")
    is_open = discrete(False, invalidates=Stage.DYNAMICS)
    level = z_variable(3.0, unit="m")
    released = z_variable(0.0, unit="m³")

    def realize_dynamics(self, state: State) -> None:
        """The level changes with all water that comes and goes."""
        rain = 4.0 * (1.0 + math.sin(2 * math.pi * state.time / (5 * DAY)))  # m³/s
        depth = max(self.level(state), 0.0)
        flow = self.gate(state) * math.sqrt(2 * 9.81 * depth) if self.is_open(state) else 0.0
        state[self].upd_zdot()[:] = (rain - flow) / self.area(state), flow

    @event_trigger(stage=Stage.DYNAMICS, direction="rising")
    def full(self, state: State) -> float:
        """Excess over the upper level [m]."""
        return self.level(state) - 4.0

    @full.handler
    def open_gate(self, state: State) -> None:
        """Let water out."""
        self.is_open.set(state, True)

    @event_trigger(stage=Stage.DYNAMICS, direction="falling")
    def low(self, state: State) -> float:
        """Excess over the lower level [m]."""
        return self.level(state) - 2.0

    @low.handler
    def close_gate(self, state: State) -> None:
        """Keep the water."""
        self.is_open.set(state, False)


def system() -> System:
    """The model."""
    return System(reservoir=Reservoir())


def later_system() -> System:
    """A later version of the model, in which the reservoir has another name."""
    return System(lake=Reservoir())


def save_and_load(folder: Path) -> None:
    """Save a State, and load it into the model and into a later version of it."""
    model = system()
    start = model.new_state()
    model.get(Reservoir).gate.set(start, 0.9)
    path = folder / "start.state"
    start.save(path)
    gate = model.get(Reservoir).gate
    print(f"saved; the gate is {gate(load_state(path, model))} m² again")

    later = later_system()
    try:
        load_state(path, later)
    except LayoutMismatchError as error:
        print(error.hint)
    moved, report = load_state(path, later, strict=False, renamed={"reservoir": "lake"})
    print(f"{report}\nthe gate of the lake is {later.get(Reservoir).gate(moved)} m²")


def watched_system(*, is_interrupted: bool = False) -> System:
    """The model with a reporter, which may interrupt a run after ten days, as Control-C does."""
    model = system()

    def watch(state: State) -> None:
        if is_interrupted and state.time > 10 * DAY:
            raise KeyboardInterrupt

    model.add_event_reporter(PeriodicEventReporter(HOUR, watch))
    return model


def main() -> None:
    """Save, load, interrupt, resume, and compare."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    folder.mkdir(parents=True, exist_ok=True)
    save_and_load(folder)

    path = folder / "month.arrows"
    try:
        model = watched_system(is_interrupted=True)
        simulate(model, model.new_state(), MONTH, every=HOUR, into=path, batch=24)
    except KeyboardInterrupt:
        rows = load_trajectory(path)
        print(f"interrupted: {len(rows)} rows are in the file, until day {rows.times[-1] / DAY:g}")
    resumed = resume(path, watched_system())
    print(f"resumed: {len(resumed)} rows, until day {resumed.times[-1] / DAY:g}")

    model = watched_system()
    whole = simulate(model, model.new_state(), MONTH, every=HOUR)
    is_same = resumed.y.tobytes() == whole.y.tobytes()
    print(f"the same as without an interruption, bit for bit: {is_same}")
    print(f"released: {resumed['reservoir.released'][-1]:.0f} m³")


if __name__ == "__main__":
    main()
