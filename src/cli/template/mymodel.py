"""A mug of coffee that cools: change it into your own model.

Run it: python mymodel.py
"""

from stagecache import State, Subsystem, System, cached, parameter, simulate, z_variable


class Mug(Subsystem):
    """A mug of coffee in a room."""

    surface = parameter(0.03, unit="m²")
    heat_transfer = parameter(12.0, unit="W/(m² K)")
    heat_capacity = parameter(1250.0, unit="J/K")
    room_temperature = parameter(20.0, unit="degC")
    temperature = z_variable(90.0, unit="degC")

    @cached(prerequisites=(surface, heat_transfer, heat_capacity), unit="1/s")
    def cooling_rate(self, state: State) -> float:
        """Rate of cooling [1/s], computed once for all temperatures."""
        conductance = self.surface(state) * self.heat_transfer(state)
        return conductance / self.heat_capacity(state)

    def realize_dynamics(self, state: State) -> None:
        """Set the derivative of the temperature: heat flows to the room."""
        difference = self.temperature(state) - self.room_temperature(state)
        state[self].upd_zdot()[0] = -self.cooling_rate(state) * difference


def system() -> System:
    """Return the model, for commands such as `stagecache graph mymodel.py`."""
    return System(Mug())


def main() -> None:
    """Simulate half an hour."""
    model = system()
    trajectory = simulate(model, model.new_state(), 1800.0, every=300.0)
    for time, temperature in zip(trajectory.times, trajectory["mug.temperature"], strict=True):
        print(f"{time:6.0f} s  {temperature:5.1f} degC")


if __name__ == "__main__":
    main()
