"""Faults: a prerequisite is missing.

What is computed is the same as in the sound model. Only the declaration is another one.
"""

import math

from stagecache import Stage, State, TriggerDirection, cached, event_trigger
from tests.testing.mutants.models import (
    Anchor,
    Beads,
    Brake,
    Pendulum,
    Slider,
    Springs,
    Thermostat,
    Wagon,
)


class ForgottenParameter(Pendulum):
    """The tip does not name the length."""

    tip = cached(prerequisites=(Pendulum.angle,))(Pendulum.tip.compute)


class ForgottenInOtherSubsystem(Anchor):
    """The torque does not name the weight, which is an entry of another subsystem."""

    torque = cached(prerequisites=lambda self: (self.pendulum.tip,))(Anchor.torque.compute)


class ForgottenTime(Anchor):
    """The shift does not name the time."""

    shift = cached(prerequisites=(Anchor.amplitude,))(Anchor.shift.compute)


class NamesWhatIsUpstream(Anchor):
    """The reach names the amplitude, on which the shift depends, instead of the shift itself."""

    reach = cached(prerequisites=lambda self: (self.amplitude, self.pendulum.tip))(
        Anchor.reach.compute
    )


class OneTooFewInChain(Wagon):
    """The second of three in a chain does not name the gap."""

    rear = cached(prerequisites=lambda self: (self.engine.rear,))(Wagon.rear.compute)


class BrokenChain(Brake):
    """The last of three in a chain does not name the one before it."""

    distance = cached(prerequisites=(Brake.margin,))(Brake.distance.compute)


class PassedOver(Brake):
    """The force reads the place of the wagon, which it names only through the distance."""

    @cached(prerequisites=lambda self: (self.distance, self.wagon.momentum))
    def force(self, state: State) -> float:
        return self.wagon.momentum(state) * self.distance(state) + self.wagon.rear(state)


class ForgottenInBranch(Beads):
    """The friction does not name the viscosity, which it reads only when it is wet."""

    friction = cached(prerequisites=(Beads.speed, Beads.is_wet))(Beads.friction.compute)


class ForgottenOption(Beads):
    """The total mass does not name the option that decides how many beads there are."""

    total_mass = cached(prerequisites=(Beads.mass,))(Beads.total_mass.compute)


class ForgottenNeighbour(Springs):
    """The force of a spring does not name the place of its far end."""

    @cached(
        count=lambda self: self.count,
        prerequisites=lambda self, i: (self.place[i], self.stiffness[i]),
    )
    def force(self, state: State, i: int) -> float:
        return self.stiffness[i](state) * (self.place[i + 1](state) - self.place[i](state))


class ForgottenMembers(Springs):
    """The total names the first force, not all of them."""

    total = cached(prerequisites=lambda self: (self.force[0],))(Springs.total.compute)


class ForgottenInVelocityRow(Slider):
    """The velocity row of the constraint does not name one of the speeds."""

    rod_velocity = Slider.rod.velocity(prerequisites=(Slider.x, Slider.y, Slider.vx))(
        Slider.rod_velocity.compute
    )


class ForgottenInJacobian(Slider):
    """The jacobian of the constraint does not name one of the coordinates."""

    rod_jacobian = Slider.rod.jacobian(prerequisites=(Slider.x,))(Slider.rod_jacobian.compute)


class ForgottenInTrigger(Slider):
    """The event trigger does not name the floor."""

    above_floor = event_trigger(
        stage=Stage.POSITION, direction=TriggerDirection.FALLING, prerequisites=(Slider.y,)
    )(Slider.above_floor.compute)


class ForgottenInUpdate(Thermostat):
    """The next value of an auto-update variable does not name the temperature."""

    next_heating = Thermostat.heating.update(Thermostat.next_heating.compute)


class ForgottenExchange(Thermostat):
    """The power depends on a stage, which an automatic update of what it reads does not change."""

    power = cached(available_from=Stage.DYNAMICS)(Thermostat.power.compute)


class ForgottenAfterOverride(Anchor):
    """The shift was made to read the phase as well, and its declaration was left as it was."""

    @cached(prerequisites=lambda self: (self.amplitude, self.time))
    def shift(self, state: State) -> float:
        return self.amplitude(state) * math.sin(state.time + self.phase(state))
