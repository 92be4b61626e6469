"""Faults: an early cutoff that is too early."""

import numpy as np

from stagecache import State, cached
from tests.testing.mutants.models import Gearbox, Vector


def are_close(one: Vector, other: Vector) -> bool:
    """Whether they are equal, give or take half a unit."""
    return np.allclose(one, other, rtol=0.0, atol=0.5)


def are_alike(one: Vector, other: Vector) -> bool:
    """Whether they have the same shape."""
    return one.shape == other.shape


class CoarseEqual(Gearbox):
    """The shafts are taken for unchanged when they are close to what they were."""

    shafts = cached(prerequisites=(Gearbox.speed, Gearbox.ratio), equal=are_close)(
        Gearbox.shafts.compute
    )


class EqualShapes(Gearbox):
    """The shafts are taken for unchanged when there are as many."""

    shafts = cached(prerequisites=(Gearbox.speed, Gearbox.ratio), equal=are_alike)(
        Gearbox.shafts.compute
    )


class ReadsPastCutoff(Gearbox):
    """The torque reads the speed, and names only the gear, which is often the same."""

    @cached(prerequisites=(Gearbox.gear, Gearbox.ratio))
    def torque(self, state: State) -> float:
        return self.ratio(state) * self.gear(state) + self.speed(state)
