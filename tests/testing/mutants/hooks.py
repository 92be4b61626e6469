"""Faults: a hook fills what it should not fill then, or from what is not up to date."""

from stagecache import Stage, State
from tests.testing.mutants.models import Follower, Pendulum, Probe


class FilledTooLate(Probe):
    """An entry that is presumed computed by Position is filled by the hook of Velocity."""

    def realize_position(self, state: State) -> None:
        pass

    def realize_velocity(self, state: State) -> None:
        Probe.realize_position(self, state)
        Probe.realize_velocity(self, state)


class FilledInOneBranch(Probe):
    """An entry that is presumed computed by Velocity is not filled when the probe is off."""

    def realize_velocity(self, state: State) -> None:
        if self.is_on(state):
            self.spin.set(state, self.rate(state))


class FilledTooEarly(Probe):
    """An entry that is filled by the hook of Instance depends on an angle."""

    def realize_topology(self, state: State) -> None:
        Probe.realize_topology(self, state)
        self.early = state[self].allocate_cache_entry(
            Stage.INSTANCE, Stage.INSTANCE, 0.0, name="early"
        )

    def realize_instance(self, state: State) -> None:
        self.early.set(state, self.angle(state))


class MarkedWithoutComputing(Probe):
    """A hook marks an entry as realized, whether it computed it or not."""

    def realize_topology(self, state: State) -> None:
        Probe.realize_topology(self, state)
        self.lean = state[self].allocate_cache_entry_with_prerequisites(
            Stage.POSITION, Stage.INFINITY, (self.angle, self.offset), 0.0, name="lean"
        )

    def realize_position(self, state: State) -> None:
        Probe.realize_position(self, state)
        if self.angle(state) > 0:
            self.lean.set(state, self.angle(state) + self.offset(state))
        self.lean.mark_valid(state)


class StaleAttribute(Pendulum):
    """The hook of Acceleration takes the weight from where that of Instance put it in self."""

    def __init__(self) -> None:
        self.kept = {"weight": 0.0}

    def realize_instance(self, state: State) -> None:
        self.kept["weight"] = self.weight(state)

    def realize_acceleration(self, state: State) -> None:
        torque = self.pull(state) - self.kept["weight"] * float(self.tip(state)[0])
        state[self].upd_udot()[0] = torque


class OrderOfHooks(Follower):
    """The hook takes the udot of a subsystem whose hook is called after it."""

    def realize_velocity(self, state: State) -> None:
        start = state[self.slider].u_start
        state[self].upd_qdot()[0] = self.gain(state) * state.upd_udot()[start]
