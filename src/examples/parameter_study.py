"""A hall that is warmed by its floor: a study of 200 members, which share five geometries.

Run it: python -m stagecache.examples.parameter_study [OUTPUT FOLDER] [--workers 2] [--dask]

The walls exchange heat by radiation. View factors between them depend on the size of the hall
alone, and take most of the time. They are shared: computed five times, for 200 members. Members
run in this process, in others, or on a local cluster of Dask, with the same results.
"""

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagecache import (
    State,
    Subsystem,
    System,
    cached,
    full_factorial,
    parameter,
    run_study,
    shared_results,
    simulate,
    z_variable,
)
from stagecache.errors import MissingExtraError
from stagecache.study import Members, StudyResults

Vector = NDArray[np.float64]

HOUR = 3600.0  # s
POINTS = 40  # along each side of a surface
FLOOR, CEILING = 0, 1
SIGMA = 5.670374e-8  # W/(m² K⁴)
ABSOLUTE = 273.15  # K at 0 °C


def view_factors_of_box(width: float, depth: float, height: float) -> Vector:
    """View factors between floor, ceiling and four walls of a box, (6, 6).

    Element [i, j] is the part of the radiation of surface i that arrives at j. Between opposite
    surfaces it is the area of j times the mean of cos cos / (pi r²), by Gauss-Legendre quadrature.
    The others follow: all of it arrives somewhere, and as much goes from i to j as from j to i.
    """
    sides = ((width, depth, height), (depth, height, width), (width, height, depth))
    areas = np.array([one * other for one, other, _ in sides])
    opposite = np.array([view_factor_across(*side) for side in sides])
    half = areas * (1 - opposite) / 2  # what goes to one surface of each of the other pairs
    factors = np.empty((6, 6))
    for i in range(3):
        for j in range(3):
            between = half[i] + half[j] - half.sum() / 2
            factors[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = between / areas[i]
        factors[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[0, opposite[i]], [opposite[i], 0]]
    return factors


def view_factor_across(one: float, other: float, distance: float) -> float:
    """View factor between equal rectangles that face each other, of these sides [m]."""
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    x, y = (grid.ravel() for grid in np.meshgrid(one * (nodes + 1) / 2, other * (nodes + 1) / 2))
    weight = np.outer(weights, weights).ravel() / 4
    squares = (x - x[:, None]) ** 2 + (y - y[:, None]) ** 2 + distance**2
    kernel = distance**2 / (np.pi * squares**2)
    return float(weight @ kernel @ weight) * one * other


class Hall(Subsystem):
    """A hall of six surfaces, with a heated floor."""

    width = parameter(8.0, unit="m")
    depth = parameter(6.0, unit="m")
    height = parameter(3.0, unit="m")
    power = parameter(2500.0, unit="W")  # of the heating of the floor
    emissivity = parameter(0.9)
    loss = parameter(0.4, unit="W/(m² K)")  # to the air outdoors
    capacity = parameter(3e4, unit="J/(m² K)")
    outdoors = parameter(2.0, unit="°C")
    temperatures = z_variable([12.0] * 6, unit="°C")  # of floor, ceiling and walls

    @cached(prerequisites=(width, depth, height), unit="m²")
    def areas(self, state: State) -> Vector:
        """Areas of the surfaces, (6,) [m²]."""
        width, depth, height = self.width(state), self.depth(state), self.height(state)
        return np.repeat([width * depth, depth * height, width * height], 2)

    @cached(prerequisites=(width, depth, height), shared=True)
    def view_factors(self, state: State) -> Vector:
        """View factors between the surfaces, (6, 6)."""
        return view_factors_of_box(self.width(state), self.depth(state), self.height(state))

    @cached(prerequisites=(view_factors, emissivity))
    def exchange(self, state: State) -> Vector:
        """Net radiation of each surface for the black radiation of all, (6, 6)."""
        emissivity = self.emissivity(state)
        factors = self.view_factors(state)
        radiosity = emissivity * np.linalg.inv(np.eye(6) - (1 - emissivity) * factors)
        leaving: Vector = (np.eye(6) - factors) @ radiosity
        return leaving

    @cached(prerequisites=(temperatures, exchange, power, areas, loss, outdoors), unit="W")
    def flows(self, state: State) -> Vector:
        """Heat that flows into each surface, (6,) [W]."""
        temperatures, areas = self.temperatures(state), self.areas(state)
        black = SIGMA * (temperatures + ABSOLUTE) ** 4  # W/m²
        lost = self.loss(state) * (temperatures - self.outdoors(state))  # W/m²
        flows: Vector = -areas * (self.exchange(state) @ black + lost)
        flows[FLOOR] += self.power(state)
        return flows

    def realize_dynamics(self, state: State) -> None:
        """The temperatures follow the flows."""
        state[self].upd_zdot()[:] = self.flows(state) / (self.areas(state) * self.capacity(state))


def system() -> System:
    """The model: one hall."""
    return System(Hall(), name="hall")


def warmed(state: State) -> dict[str, float]:
    """Temperatures of floor and ceiling after 12 hours [°C]: the function of the study."""
    last = simulate(state.system, state, 12 * HOUR, accuracy=1e-5)[-1]
    temperatures = state.system.get(Hall).temperatures(last)
    return {"floor": float(temperatures[FLOOR]), "ceiling": float(temperatures[CEILING])}


def members() -> Members:
    """Five heights of the hall, with 40 combinations of heating, surfaces and weather each."""
    return full_factorial(
        {
            "hall.height": [2.5, 3.0, 4.0, 5.0, 6.0],
            "hall.power": [1500.0, 2000.0, 2500.0, 3000.0],
            "hall.emissivity": [0.1, 0.9],
            "hall.outdoors": [-10.0, -5.0, 0.0, 5.0, 10.0],
        }
    )


def carry_out(workers: int | None, *, with_dask: bool) -> StudyResults:
    """Run the study in this process, in some workers, or on a local cluster of Dask."""
    if not with_dask:
        return run_study(system(), members(), warmed, workers=workers)
    import distributed  # noqa: PLC0415  # of the extra studies

    dask: Any = distributed
    number = workers or 2
    with (
        dask.LocalCluster(number, threads_per_worker=1, dashboard_address=None) as cluster,
        dask.Client(cluster) as client,
    ):
        return run_study(system(), members(), warmed, executor=client.get_executor())


def show(results: StudyResults, folder: Path) -> None:
    """Print what the height of the hall does, and write all results as a table."""
    for height in (2.5, 3.0, 4.0, 5.0, 6.0):
        found = [r.values["ceiling"] for r in results if r.parameters["hall.height"] == height]
        print(f"{height:.1f} m high: the ceiling is at {min(found):.1f} to {max(found):.1f} °C")
    try:
        results.to_pandas().to_csv(folder / "parameter_study.csv", index=False)
    except MissingExtraError as error:
        print(error)
    else:
        print("wrote parameter_study.csv")


def main(arguments: list[str] | None = None) -> None:
    """Run the study, and print results and times."""
    parser = argparse.ArgumentParser(description="A study of 200 members with five geometries.")
    parser.add_argument("folder", nargs="?", default=".", type=Path, help="folder for the table")
    parser.add_argument("--workers", type=int, help="number of processes")
    parser.add_argument("--dask", action="store_true", help="run on a local cluster of Dask")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        path: Any = None
        if options.workers or options.dask:  # processes share values by a folder
            path = stack.enter_context(TemporaryDirectory())
        stack.enter_context(shared_results(path=path))
        start = time.perf_counter()
        results = carry_out(options.workers, with_dask=options.dask)
        seconds = time.perf_counter() - start
    counts = results.statistics
    print(f"{counts.num_ok} of {counts.num_members} members, in {seconds:.1f} s", file=sys.stderr)
    print(f"view factors: computed {counts.shared_computed} times, found {counts.shared_found}")
    show(results, options.folder)


if __name__ == "__main__":
    main()
