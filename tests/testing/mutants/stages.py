"""Faults: a stage is too early for what is read, or a whole vector is read and not named."""

from stagecache import Stage, State, cached
from tests.testing.mutants.models import Beads, Pendulum, Slider


class StageTooEarly(Pendulum):
    """The kinetic energy depends on Position, and reads a speed."""

    kinetic_energy = cached(available_from=Stage.POSITION)(Pendulum.kinetic_energy.compute)


class ReadsWholeQ(Beads):
    """The highest reads q of the whole State, and names that of its own subsystem."""

    highest = cached(prerequisites=lambda self: (self.q,))(Beads.highest.compute)


class ReadsPartition(Beads):
    """The fastest reads the u of its subsystem, and depends on Position."""

    fastest = cached(available_from=Stage.POSITION)(Beads.fastest.compute)


class ReadsY(Beads):
    """The norm reads y, and depends on Position."""

    norm = cached(available_from=Stage.POSITION)(Beads.norm.compute)


class ReadsQdot(Beads):
    """The rise reads qdot, which is computed at Velocity, and depends on Position."""

    rise = cached(available_from=Stage.POSITION)(Beads.rise.compute)


class ReadsQerr(Slider):
    """The misfit reads the errors of the constraint, and names only the coordinates."""

    misfit = cached(prerequisites=(Slider.x, Slider.y))(Slider.misfit.compute)


class ReadsWeights(Slider):
    """The effort reads the weights of u, whose writes make Report stale, at Acceleration."""

    effort = cached(available_from=Stage.ACCELERATION)(Slider.effort.compute)


class ReadsSize(Beads):
    """The density reads how many q there are, which is decided at Model, and names the mass."""

    density = cached(prerequisites=(Beads.mass,))(Beads.density.compute)


class HookTooEarly(Pendulum):
    """The hook of Velocity reads the pull, whose writes make only Acceleration stale."""

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.rate(state) + self.pull(state)
