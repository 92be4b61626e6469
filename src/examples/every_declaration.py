"""Every kind of declaration in one model: a hanging chain of beads, and an observer.

::

    hook ---o---o---o    Chain      its beads are q and u; a modeling option has their number
                         Rope       a stiffer kind of chain: a subclass that replaces one item
                         Observer   computes from items of another subsystem, and from the time

Run it: python -m stagecache.examples.every_declaration
"""

import numpy as np
from numpy.typing import NDArray

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    TriggerDirection,
    acceleration_error,
    auto_update,
    cached,
    discrete,
    event_trigger,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    u_variable,
    velocity_error,
    z_variable,
)

Vector = NDArray[np.float64]


class Chain(Subsystem):
    """Beads that slide on a vertical wire, with a spring above each."""

    def __init__(self, num_springs: int) -> None:
        self.num_springs = num_springs

    # ---- variables: what is written

    beads = modeling_option(3)  # how many beads there are in a State
    mass = parameter(0.5, unit="kg")  # of each bead
    stiffness = parameter(
        factory=lambda _, i: 40.0 + 10.0 * i, count=lambda self: self.num_springs, unit="N/m"
    )
    wind = discrete(0.0, invalidates=Stage.DYNAMICS, unit="N")  # upward, on each bead
    height = q_variable(
        factory=lambda self, state: -0.2 * np.arange(1.0, self.beads(state) + 1), unit="m"
    )
    speed = u_variable(factory=lambda self, state: np.zeros(self.beads(state)), unit="m/s")
    heat = z_variable(0.0, unit="J")
    lowest = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.POSITION, unit="m")

    @lowest.update
    def next_lowest(self, state: State) -> float:
        """Lowest height of a bead so far [m]."""
        return min(self.lowest(state), float(self.height(state).min()))

    # ---- computations: what is read

    @cached(prerequisites=(height,), unit="m")
    def stretches(self, state: State) -> Vector:
        """Extension of each spring beyond its rest length [m]."""
        return -np.diff(self.height(state), prepend=0.0) - 0.1

    @cached(
        count=lambda self: self.num_springs,
        prerequisites=lambda self, i: (self.stiffness[i], self.stretches),
        unit="N",
    )
    def force(self, state: State, i: int) -> float:
        """Force of one spring [N]; 0 where the chain is shorter than that."""
        stretches = self.stretches(state)
        return self.stiffness[i](state) * float(stretches[i]) if i < len(stretches) else 0.0

    @cached(prerequisites=(force,), computed_by=Stage.DYNAMICS, unit="N")
    def total_force(self, state: State) -> float:
        """Sum of all forces [N]: realizing Dynamics computes it, if no one has before."""
        return sum(force(state) for force in self.force)

    @cached(available_from=Stage.VELOCITY, unit="J")
    def kinetic_energy(self, state: State) -> float:
        """Kinetic energy of all beads [J]."""
        return float(self.mass(state) * np.sum(self.speed(state) ** 2) / 2)

    # ---- errors of constraints: the first bead hangs at a fixed height

    @position_error(prerequisites=(height,))
    def fixed(self, state: State) -> float:
        """Distance of the first bead from its place [m]."""
        return float(self.height(state)[0]) + 0.2

    @fixed.velocity
    def fixed_velocity(self, state: State) -> float:
        """Time derivative of `fixed` [m/s]."""
        return float(self.speed(state)[0])

    @fixed.acceleration
    def fixed_acceleration(self, state: State) -> float:
        """Time derivative of `fixed_velocity` [m/s²]."""
        return float(state[self].udot[0])

    @fixed.jacobian
    def fixed_jacobian(self, state: State) -> Vector:
        """Jacobian of the velocity error with respect to u, (1, nu)."""
        jacobian = np.zeros((1, state.nu))
        jacobian[0, self.speed.place(state).start - state.u_start] = 1.0
        return jacobian

    @velocity_error(size=lambda self, state: self.beads(state) - 1)
    def rigid(self, state: State) -> Vector:
        """All other beads have the speed of the first one."""
        return np.diff(self.speed(state))

    @acceleration_error()
    def balanced(self, state: State) -> float:
        """The last bead is not accelerated."""
        return float(state[self].udot[-1])

    # ---- events

    @event_trigger(stage=Stage.POSITION, direction=TriggerDirection.FALLING)
    def above_ground(self, state: State) -> float:
        """The height of the lowest bead above the ground [m]."""
        return float(self.height(state).min()) + 5.0

    @above_ground.handler
    def stop(self, state: State) -> None:
        """The chain lies on the ground."""
        self.speed.set(state, np.zeros(self.beads(state)))

    # ---- hooks

    def realize_velocity(self, state: State) -> None:
        """Heights change with the speeds."""
        state[self].upd_qdot()[:] = self.speed(state)

    def realize_dynamics(self, state: State) -> None:
        """Friction of the wire makes heat."""
        state[self].upd_zdot()[:] = 0.1 * np.sum(self.speed(state) ** 2)

    def realize_acceleration(self, state: State) -> None:
        """The springs, the weight and the wind accelerate the beads."""
        upward = np.array([force(state) for force in self.force])[: self.beads(state)]
        net = upward - np.append(upward[1:], 0.0) + self.wind(state)
        state[self].upd_udot()[:] = net / self.mass(state) - 9.81


class Rope(Chain):
    """A chain whose springs do not push, which is all that it says anew."""

    @cached(prerequisites=(Chain.height,))
    def stretches(self, state: State) -> Vector:
        """Stretches as in the chain, but 0 where slack."""
        return np.maximum(Chain.stretches.compute(self, state), 0.0)


class Observer(Subsystem):
    """Entries computed from the items of others."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain

    @cached(prerequisites=lambda self: (self.chain.force, self.chain.mass))
    def load(self, state: State) -> float:
        """The force of the springs, in weights of a bead."""
        weight = 9.81 * self.chain.mass(state)
        return sum(force(state) for force in self.chain.force) / weight

    @cached(prerequisites=lambda self: (self.time, self.system.q))
    def caption(self, state: State) -> str:
        """Caption of a picture."""
        return f"t = {state.time:.2f} s, q = {np.round(state.q, 2)}"


def main() -> None:
    """Write variables of each kind, and look at what is computed again."""
    rope = Rope(4)
    observer = Observer(rope)
    system = System(rope, observer=observer, name="rope")
    state = system.new_state()
    system.realize(state)
    print(f"{rope.beads(state)} beads: load {observer.load(state):.3f}, {observer.caption(state)}")
    print(f"qerr {state.qerr}, uerr {state.uerr}, triggers {state.event_triggers}")

    rope.stiffness[1].set(state, 100.0)
    stale = [force.name for force in rope.force if not force.is_valid(state)]
    print(f"a stiffness was written: {stale} to be computed again, and {observer.load}")

    rope.beads.set(state, 4)
    system.realize(state, Stage.VELOCITY)
    print(f"{rope.beads(state)} beads: nq {state.nq}, load {observer.load(state):.3f}")

    rope.height.set(state, [-0.2, -0.5, -0.9, -1.4])
    system.realize(state)
    state.auto_update_discrete_variables()
    print(f"lowest so far {rope.lowest(state)}, total force {rope.total_force(state):.1f} N")


if __name__ == "__main__":
    main()
