"""The projected inverse of the mass matrix, G inv(M) G'; by the roots that are kept of M."""

from typing import Any

import numpy as np

from stagecache.numerics.mass_matrices import times_root
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.constraints.products import dense
from stagecache.system.dynamics.accelerating import Dynamics, check_massless


def projected_m_inv(state: State) -> Vector:
    """Return G inv(M) G'. Shape (nudoterr, nudoterr), symmetric. Needs Dynamics.

    All u count as free, whatever prescribes them. With R' R = inv(M), it is (R G')' (R G').

    Raises
    ------
    StageTooLowError
    MassMatrixError
        A constraint acts on a u without mass.
    """
    contents: Any = state._contents
    contents.require_stage(Stage.DYNAMICS, None, "the projected inverse of the mass matrix")
    g = dense(state, "g")
    dynamics = Dynamics(state.system.subsystems)
    has_mass = np.zeros(g.shape[1], bool)
    found = np.zeros((len(g), len(g)))
    for index, mass in zip(dynamics.layout_of(contents).masses, dynamics.masses, strict=True):
        has_mass[index] = True
        part = times_root(mass.root(state), g[:, index].T)
        found += part.T @ part
    check_massless(state, g, np.flatnonzero(~has_mass))
    return found
