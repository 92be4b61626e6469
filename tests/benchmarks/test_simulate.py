"""What is measured of simulating is what the rows say: one model, in each library."""

import re
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest

from benchmarks.double_pendulum import (
    GRAVITY,
    LENGTH,
    MASS,
    REFERENCE,
    START,
    Accelerations,
    BareRun,
    DoublePendulum,
    Idle,
    Run,
    Vector,
    bare,
    closed_form,
    evaluating,
    mass_matrix,
)
from benchmarks.peers import OWN, load_peer
from benchmarks.probes import Repeated
from benchmarks.rows import SIMULATE
from benchmarks.rows.realize import DRAKE
from benchmarks.rows.simulate import BARE_EVALUATION, EVALUATION, FIFTH_ORDER, SOLVE_IVP, WRITING
from stagecache import Stage, System

ROWS = {row.name: row for group in SIMULATE.groups for row in group}
RUNS = {name: row for name, row in ROWS.items() if name.startswith("10 s")}
FORMS = [closed_form, mass_matrix]
POINTS = np.random.default_rng(9).uniform(-3, 3, (20, 4))


@pytest.mark.parametrize("y", POINTS, ids=str)
def test_both_forms_are_the_same_accelerations(y: Vector) -> None:
    assert closed_form(*y.tolist()) == pytest.approx(tuple(mass_matrix(*y.tolist())), rel=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_accelerations_conserve_the_energy(form: Accelerations) -> None:
    """Its derivative, by differences along the motion, is 0."""

    def energy(y: Vector) -> float:
        a, b = y[0], y[0] + y[1]
        rates = np.array([y[2], y[2] + y[3]])
        arms = LENGTH * np.array([[np.cos(a), np.sin(a)], [np.cos(b), np.sin(b)]])
        first = arms[0] / 2 * rates[0]
        second = arms[0] * rates[0] + arms[1] / 2 * rates[1]
        kinetic = (MASS * (first @ first + second @ second) + 0.1 * rates @ rates) / 2
        height = -1.5 * LENGTH * np.cos(a) - LENGTH * np.cos(b) / 2
        return float(kinetic + MASS * GRAVITY * height)

    for y in POINTS:
        step = 1e-6 * bare(form)(0.0, y)
        assert energy(y + step) - energy(y - step) == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("y", POINTS[:3], ids=str)
def test_the_system_and_the_bare_function_are_the_same_ydot(form: Accelerations, y: Vector) -> None:
    system = System(DoublePendulum(form))
    state = system.new_state()
    assert state.y.tolist() == list(START)
    state.y = y
    system.realize(state, Stage.ACCELERATION)
    assert state.ydot.tolist() == bare(form)(0.0, y).tolist()


@pytest.mark.parametrize("run", [Run, BareRun])
@pytest.mark.parametrize("method", ["DOP853", "RK45", "BDF"])
def test_a_run_ends_where_simbody_does(
    method: str, run: Callable[[str, Accelerations], Run | BareRun]
) -> None:
    simulate = run(method, closed_form)
    simulate()
    assert simulate.y == pytest.approx(REFERENCE, abs=1e-4)
    assert simulate.num_evaluations > simulate.num_steps > 100


@pytest.mark.parametrize("method", ["DOP853", "RK45", "BDF"])
def test_both_take_the_same_steps(method: str) -> None:
    ours, bare_run = Run(method, closed_form), BareRun(method, closed_form)
    ours()
    bare_run()
    assert ours.num_steps == bare_run.num_steps
    assert abs(ours.num_evaluations - bare_run.num_evaluations) <= 20


GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "choose_integrator.md"
TABLE = re.findall(
    r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \| (\S+) \| (\S+) \|$", GUIDE.read_text("utf-8"), re.M
)


def test_the_guide_has_a_table_of_methods() -> None:
    assert [row[0] for row in TABLE][:2] == ["DOP853", "RK45"]
    assert len(TABLE) >= 7


@pytest.mark.parametrize("row", TABLE, ids=itemgetter(0))
def test_the_table_of_the_guide_is_what_runs_give(row: tuple[str, ...]) -> None:
    """Steps may differ a little by the version of SciPy, and errors by more."""
    method, steps, evaluations, of_q, of_u = row
    run = Run(method, closed_form)
    run()
    assert run.num_steps == pytest.approx(int(steps.replace(",", "")), rel=0.05)
    assert run.num_evaluations == pytest.approx(int(evaluations.replace(",", "")), rel=0.05)
    errors = np.abs(run.y - REFERENCE)
    assert float(of_q) / 5 < errors[:2].max() < float(of_q) * 5
    assert float(of_u) / 5 < errors[2:].max() < float(of_u) * 5


def test_a_run_can_be_repeated() -> None:
    run = Run("RK45", closed_form)
    run()
    first = run.y.copy()
    run()
    assert run.y.tolist() == first.tolist()


def test_an_evaluation_computes_ydot_at_both_times() -> None:
    names = evaluating(DoublePendulum(closed_form))
    derivatives, y = names["derivatives"], np.array(START)
    statistics = derivatives.system.statistics  # type: ignore[attr-defined]  # it is Derivatives
    statistics.reset()
    exec(EVALUATION, names)
    assert statistics.num_realizations(Stage.ACCELERATION) == 2
    assert derivatives(0.1, y).tolist() == bare(closed_form)(0.1, y).tolist()  # type: ignore[operator]
    exec(BARE_EVALUATION, {"ydot": bare(closed_form), "y": y})


def test_an_evaluation_of_idle_hooks_fails_nowhere() -> None:
    names = evaluating(Idle())
    exec(EVALUATION, names)
    exec(WRITING, names)
    derivatives = names["derivatives"]
    assert derivatives.num_failures == 0  # type: ignore[attr-defined]  # it is Derivatives
    assert derivatives.count == 2  # type: ignore[attr-defined]  # a write alone is no evaluation


@pytest.mark.parametrize("name", ROWS)
def test_every_row_can_be_measured(name: str) -> None:
    row = ROWS[name]
    assert row.build(load_peer(OWN)).sample() > 0
    if SOLVE_IVP in row.beside:
        assert row.beside[SOLVE_IVP]().sample() > 0


def test_the_evaluations_are_divided_by_two() -> None:
    for name in ROWS.keys() - RUNS.keys():
        probe = ROWS[name].build(load_peer(OWN))
        assert isinstance(probe, Repeated)
        assert probe._operations == 2


@pytest.mark.parametrize(("scheme", "error"), [("", 1e-3), ("runge_kutta5", 1e-4)])
@pytest.mark.parametrize("form", FORMS)
def test_drake_gets_near_to_the_same_end_each_time(
    form: Accelerations, scheme: str, error: float
) -> None:
    pytest.importorskip("pydrake", reason="pydrake is in the extra: pip install '.[bench]'")
    from benchmarks.peers.drake_pendulum import DrakeRun  # noqa: PLC0415

    run = DrakeRun(form, scheme)
    run()
    first = run.y.tolist()
    assert first == pytest.approx(REFERENCE, abs=error)
    run()
    assert run.y.tolist() == first
    assert run.num_evaluations > run.num_steps > 100


@pytest.mark.parametrize("name", [name for name, row in RUNS.items() if DRAKE not in row.without])
def test_drake_is_measured_with_both_methods(name: str) -> None:
    pytest.importorskip("pydrake", reason="pydrake is in the extra: pip install '.[bench]'")
    assert ROWS[name].build(load_peer(DRAKE)).sample() > 0
    assert ROWS[name].beside[FIFTH_ORDER]().sample() > 0
