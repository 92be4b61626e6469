"""Valid calls of simulations, integrators, trajectories, ensembles and linear models."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from stagecache import (
    Integrator,
    IntegratorOptions,
    Simulation,
    Stage,
    State,
    TimeStepper,
    Trajectory,
    find_equilibrium,
    full_factorial,
    latin_hypercube,
    linearize,
    load_study,
    load_trajectory,
    resume,
    run_study,
    simulate,
    sobol,
)
from stagecache.measures import Delay, Derivative, Extreme, Integral, SampleAndHold
from stagecache.study import Members
from tests.misuse.models import Cart
from tests.misuse.recipe import Call, Recipe, Recipes, call, item, setting
from tests.misuse.world import World

TABLE: Final = {"cart.stiffness": [1.0, 2.0], "cart.place": [0.0, 0.1]}


def stiffness(state: State) -> dict[str, float]:
    """Return a parameter of a member."""
    return {"stiffness": state.system.get(Cart, "cart").stiffness(state)}


def trajectory_file(w: World) -> Path:
    """Return a file with a simulation that can be resumed."""
    return w.file("run", lambda path: simulate(w.system, w.state, 0.01, into=path))


def study_file(w: World) -> Path:
    """Return the file of a study."""
    return w.file("study", lambda path: run_study(w.system, Members(TABLE), stiffness, into=path))


def results(w: World) -> Any:
    """Return the results of a small study."""
    return w.keep("results", lambda: run_study(w.system, Members(TABLE), stiffness))


def exported(name: str) -> Recipe:
    """Return a recipe of a method of a trajectory that writes a file."""
    return lambda w: call(getattr(w.trajectory, name), w.folder / "exported")


def linear(w: World) -> Any:
    """Return a linear model."""
    return w.keep(
        "linear", lambda: linearize(w.system, w.state, (w.cart.stiffness,), (w.cart.force,))
    )


def _listed(trajectory: Trajectory) -> Call:
    return call(lambda stage: list(trajectory.states(stage)), Stage.TIME)


DAMAGED: Final = b"damaged"

RECIPES: Final[Recipes] = {
    "simulate": lambda w: call(simulate, w.system, w.state, 0.01).but(
        until=-1.0,
        method=["nonsense", 3, ""],
        accuracy=[0.0, -1.0, 2.0],
        every=[-1.0, 0.0, [1.0, 0.5]],
        record=[["nonsense"], [3], (w.foreign.cart.force,), w.cart.force, (w.foreign.node,)],
        batch=[0, -1],
        into=[3, object()],
    ),
    "resume": lambda w: call(resume, trajectory_file(w), w.system).but(
        path=w.file("damaged", lambda path: path.write_bytes(DAMAGED))
    ),
    "load_trajectory": lambda w: call(load_trajectory, trajectory_file(w), w.system).but(
        path=w.file("damaged", lambda path: path.write_bytes(DAMAGED)),
        renamed={"nonsense": "cart.stiffness"},
    ),
    "Trajectory": lambda w: call(Trajectory, w.state).but(
        record=[["nonsense"], [3], (w.foreign.cart.force,), w.cart.force]
    ),
    "Trajectory.append": lambda w: call(w.trajectory.append, w.state),
    "Trajectory[...]": lambda w: item(w.trajectory, 0).but(
        which=["nonsense", 2, -3, None, 1.5, w.foreign.cart.force, w.foreign.node, w.cart.springs]
    ),
    "Trajectory.state": lambda w: call(w.trajectory.state, 0),
    "Trajectory.states": lambda w: _listed(w.trajectory),
    "Trajectory.calc": lambda w: call(w.trajectory.calc, "cart.force").but(
        item=["nonsense", 3, None, w.foreign.cart.force]
    ),
    "Trajectory.curve": lambda w: call(w.trajectory.curve, "cart.place").but(
        item=["nonsense", "cart.doubled[0]", 3, None, w.foreign.cart.force]
    ),
    "Trajectory.save": exported("save"),
    "Trajectory.to_parquet": exported("to_parquet"),
    "Trajectory.to_netcdf": exported("to_netcdf"),
    "Trajectory.to_csv": lambda w: call(w.trajectory.to_csv, w.folder / "exported").but(
        path=[3, object()], paths=["nonsense", 3]
    ),
    "Trajectory.to_xarray": lambda w: call(w.trajectory.to_xarray).but(units={"x": 3}),
    "Trajectory.to_dataframe": lambda w: call(w.trajectory.to_dataframe, "cart.force").but(
        paths=["nonsense", 3]
    ),
    "Trajectory.plot": lambda w: call(w.trajectory.plot, "cart.force").but(paths=["nonsense", 3]),
    "Integrator": lambda w: call(Integrator, w.system).but(method=["nonsense", 3, ""]),
    "Integrator.initialize": lambda w: call(w.integrator.initialize, w.state),
    "Integrator.reinitialize": lambda w: call(w.integrator.reinitialize, Stage.POSITION, False),
    "Integrator.step_to": lambda w: call(w.integrator.step_to, 0.01).but(report_time=-1.0),
    "Integrator.step_by": lambda w: call(w.integrator.step_by, 0.01).but(interval=-1.0),
    "IntegratorOptions": lambda _: call(IntegratorOptions),
    "TimeStepper": lambda w: call(TimeStepper, w.system, Integrator(w.system)).but(
        integrator=[Integrator(w.foreign.system), None, Integrator]
    ),
    "TimeStepper.initialize": lambda w: call(w.stepper.initialize, w.state),
    "TimeStepper.step_to": lambda w: call(w.stepper.step_to, 0.01).but(time=-1.0),
    "TimeStepper.report_all_significant_states =": lambda w: setting(
        w.stepper, "report_all_significant_states", True
    ),
    "run_study": lambda w: call(run_study, w.system, Members(TABLE), stiffness).but(
        members=[3, "x", None, {"nonsense": [1.0]}, {"cart.stiffness": 3}],
        study=[3, None, lambda: 1],
        workers=[0, -1],
        retries=-1,
        executor=3,
    ),
    "load_study": lambda w: call(load_study, study_file(w)).but(
        path=[w.folder / "none", w.file("damaged", lambda path: path.write_bytes(DAMAGED))]
    ),
    "Simulation": lambda _: call(Simulation, 0.01).but(
        until=[-1.0],
        outputs=[{"x": 3}, {3: stiffness}],
        method="nonsense",
        accuracy=[0.0, -1.0],
        every=[0.0, -1.0],
    ),
    "Simulation(...)": lambda w: call(Simulation(0.01), w.state),
    "StudyResults[...]": lambda w: item(results(w), 0).but(index=[4, -5, None, "x", 1.5]),
    "StudyResults.raise_first": lambda w: call(results(w).raise_first),
    "StudyResults.to_pandas": lambda w: call(results(w).to_pandas),
    "StudyResults.to_xarray": lambda w: call(results(w).to_xarray),
    "full_factorial": lambda _: call(full_factorial, TABLE).but(
        levels=[{"x": 3}, {3: [1.0]}, {}, {"x": []}]
    ),
    "latin_hypercube": lambda _: call(latin_hypercube, {"x": (0.0, 1.0)}, 4).but(
        bounds=[{"x": 3}, {"x": (1.0, 0.0)}, {"x": (0.0,)}, {"x": (0.0, np.nan)}, {}], n=0
    ),
    "sobol": lambda _: call(sobol, {"x": (0.0, 1.0)}, 4).but(
        bounds=[{"x": 3}, {"x": (1.0, 0.0)}, {"x": (0.0,)}, {"x": (0.0, np.nan)}, {}], n=0
    ),
    "Members": lambda _: call(Members, TABLE).but(
        columns=[{"x": [1.0], "y": [1.0, 2.0]}, {"x": 3}, {3: [1.0]}]
    ),
    "Members.column": lambda _: call(Members(TABLE).column, "cart.place").but(path="nonsense"),
    "Members[...]": lambda _: item(Members(TABLE), 0).but(which=[2, -3, None, "x", 1.5]),
    "Integral": lambda w: call(Integral, w.cart.force),
    "Extreme": lambda w: call(Extreme, w.cart.force, "maximum", 0.0).but(kind="largest"),
    "Delay": lambda w: call(Delay, w.cart.force, 0.1).but(delay=[0.0, -1.0]),
    "Derivative": lambda w: call(Derivative, w.cart.force),
    "SampleAndHold": lambda w: call(SampleAndHold, w.cart.force, 0.1).but(interval=[0.0, -1.0]),
    "find_equilibrium": lambda w: call(
        find_equilibrium, w.system, w.state, (w.cart.stiffness,)
    ).but(moving=[(w.cart.force,), ("nonsense",)], bounds=[{w.cart.stiffness: (1.0, 0.0)}]),
    "linearize": lambda w: call(linearize, w.system, w.state, (), (w.cart.force,)).but(
        inputs=[["nonsense"], [3], (w.foreign.cart.stiffness,), w.cart.stiffness],
        outputs=[["nonsense"], [3], (w.foreign.cart.force,)],
        step=[0.0, -1.0],
        sizes={"nonsense": 1.0},
    ),
    "Linearization.to_scipy": lambda w: call(linear(w).to_scipy),
}
