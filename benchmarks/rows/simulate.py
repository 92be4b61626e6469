"""Ten seconds of a double pendulum: what is spent besides its right-hand side, beside two peers.

A note below a figure says how many steps and evaluations it took, and how far from the reference
the result is: so nobody is fast by being wrong.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy as np

from benchmarks.double_pendulum import (
    REFERENCE,
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
from benchmarks.errors import NotInstalledError
from benchmarks.limits import AbstractLimit, OfPeer
from benchmarks.peers import OWN, Peer
from benchmarks.probes import AbstractProbe, Repeated
from benchmarks.rows.base import Build, Row, Section
from benchmarks.rows.realize import DRAKE

SOLVE_IVP: Final = "solve_ivp"
FIFTH_ORDER: Final = "drake, order 5"

BESIDE_SOLVE_IVP: Final = {"DOP853": 1.25, "RK45": 1.5, "BDF": 1.5}
BESIDE_DRAKE: Final = OfPeer(0.6, DRAKE)

NOT_OF_DRAKE: Final = "Drake has its own methods, which are in the rows of DOP853"
IN_PARTS: Final = "measured as a whole only"

EVALUATION: Final = "derivatives(0.1, y); derivatives(0.2, y)"
BARE_EVALUATION: Final = "ydot(0.1, y); ydot(0.2, y)"
WRITING: Final = "derivatives.put(0.1, y); derivatives.put(0.2, y)"


class AnyRun(Protocol):
    """What simulates when it is called, and knows what came out."""

    y: Vector
    num_steps: int
    num_evaluations: int

    def __call__(self) -> None: ...


def probe(run: AnyRun) -> Repeated:
    """Build the probe of a run, with what came out as a note."""
    run()
    error = float(np.abs(run.y - REFERENCE).max())
    note = f"{run.num_steps:,} steps\n{run.num_evaluations:,} evaluations\noff by {error:.0e}"
    return Repeated("run()", {"run": run}, note=note)


def simulating(method: str, accelerations: Accelerations) -> Build:
    """Return the row of a run by a method; Drake's by its default one."""

    def build(peer: Peer) -> AbstractProbe:
        return drake(accelerations) if peer.name == DRAKE else probe(Run(method, accelerations))

    return build


def drake(accelerations: Accelerations, scheme: str = "") -> Repeated:
    """Build the probe of Drake."""
    try:
        from benchmarks.peers.drake_pendulum import DrakeRun  # noqa: PLC0415  # it may be missing
    except ModuleNotFoundError as error:
        raise NotInstalledError("Drake is not installed") from error
    return probe(DrakeRun(accelerations, scheme))


def _row(method: str, name: str, accelerations: Accelerations) -> Row:
    beside: dict[str, Callable[[], AbstractProbe]] = {
        SOLVE_IVP: lambda: probe(BareRun(method, accelerations))
    }
    of_solve_ivp = OfPeer(BESIDE_SOLVE_IVP[method], SOLVE_IVP)
    limits: Sequence[AbstractLimit] = [of_solve_ivp]
    is_first = method == "DOP853"
    if is_first:
        limits = [of_solve_ivp, BESIDE_DRAKE]
        beside[FIFTH_ORDER] = lambda: drake(accelerations, "runge_kutta5")
    return Row(
        f"10 s by {method}, {name}",
        simulating(method, accelerations),
        limits=limits,
        without={} if is_first else {DRAKE: NOT_OF_DRAKE},
        beside=beside,
    )


def _evaluate(statement: str, subsystem: Callable[[], DoublePendulum | Idle]) -> Build:
    return lambda _: Repeated(statement, evaluating(subsystem()), operations=2)


def _evaluate_bare(accelerations: Accelerations) -> Callable[[], AbstractProbe]:
    names = {"ydot": bare(accelerations), "y": np.ones(4)}
    return lambda: Repeated(BARE_EVALUATION, names, operations=2)


def _evaluation(name: str, accelerations: Accelerations, factor: float) -> Row:
    return Row(
        f"one evaluation, {name}",
        _evaluate(EVALUATION, lambda: DoublePendulum(accelerations)),
        limits=[OfPeer(factor, SOLVE_IVP)],
        without={DRAKE: IN_PARTS},
        beside={SOLVE_IVP: _evaluate_bare(accelerations)},
    )


SIMULATE: Final = Section(
    "Simulating",
    (
        tuple(_row(method, "closed form", closed_form) for method in ("DOP853", "RK45", "BDF")),
        tuple(_row(method, "mass matrix", mass_matrix) for method in ("DOP853", "RK45", "BDF")),
        (
            _evaluation("closed form", closed_form, 4),
            _evaluation("mass matrix", mass_matrix, 1.5),
            Row(
                "one evaluation, hooks that do nothing",
                _evaluate(EVALUATION, Idle),
                without={DRAKE: IN_PARTS},
            ),
            Row(
                "of it: time and y written",
                _evaluate(WRITING, Idle),
                without={DRAKE: IN_PARTS},
            ),
        ),
    ),
    peers=(OWN, DRAKE),
    columns=(SOLVE_IVP, FIFTH_ORDER),
)
