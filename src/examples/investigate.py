"""Questions to a model: what depends on what, why an entry is stale, and what costs time.

::

    Weather   temperature ---> density            the density of the air
                                  |
    Cart      position, speed --> drag, pull      a cart on a spring, in that air

Run it: python -m stagecache.examples.investigate [OUTPUT FOLDER]
"""

import math
import sys
import tempfile
from pathlib import Path

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    compare,
    parameter,
    profile,
    q_variable,
    u_variable,
)


class Weather(Subsystem):
    """The air."""

    temperature = parameter(288.0, unit="K")
    pressure = parameter(101_325.0, unit="Pa")

    @cached(available_from=Stage.TIME, unit="kg/m³")  # which is too much: it does not read the time
    def density(self, state: State) -> float:
        """Density of dry air [kg/m³]."""
        return self.pressure(state) / (287.05 * self.temperature(state))


class Cart(Subsystem):
    """A cart on a spring, with drag."""

    mass = parameter(2.0, unit="kg")
    stiffness = parameter(50.0, unit="N/m")
    position = q_variable(0.3, unit="m")
    speed = u_variable(0.0, unit="m/s")

    def __init__(self, weather: Weather) -> None:
        self.weather = weather

    @cached(prerequisites=(position, stiffness), unit="N")
    def pull(self, state: State) -> float:
        """Force of the spring [N]."""
        return -self.stiffness(state) * self.position(state)

    @cached(prerequisites=lambda self: (self.speed, self.weather.density), unit="N")
    def drag(self, state: State) -> float:
        """Drag of the air [N]."""
        speed = self.speed(state)
        return -0.5 * self.weather.density(state) * speed * abs(speed)

    @cached(prerequisites=(pull, drag, mass), unit="m/s²")
    def acceleration(self, state: State) -> float:
        """Acceleration of the cart [m/s²]."""
        return (self.pull(state) + self.drag(state)) / self.mass(state)

    @cached(prerequisites=(speed, mass), unit="J")
    def kinetic_energy(self, state: State) -> float:
        """Energy of the cart [J]."""
        return self.mass(state) * self.speed(state) ** 2 / 2

    def realize_acceleration(self, state: State) -> None:
        """The forces change the speed."""
        state[self].upd_udot()[0] = self.acceleration(state)


def make_system() -> System:
    """The model, for `stagecache graph stagecache.examples.investigate`."""
    weather = Weather()
    return System(weather, cart=Cart(weather), name="cart in the wind")


def drive(state: State, *, steps: int = 100) -> None:
    """Half a second, in small steps: for `stagecache profile --run drive`."""
    system = state.system
    assert isinstance(system, System)
    step = 0.5 / steps
    for _ in range(steps):
        system.realize(state, Stage.ACCELERATION)
        speed = state.u + step * state.udot
        state.q = state.q + step * speed
        state.u = speed
        state.time += step


def main(folder: Path) -> None:
    """Ask, and leave pictures in a folder."""
    weather = Weather()
    cart = Cart(weather)
    system = System(weather, cart=cart, name="cart in the wind")
    state = system.new_state()
    system.realize(state, Stage.ACCELERATION)
    cart.kinetic_energy(state)

    print("-- What would a write do?")
    print(state.impact(weather.temperature))

    print("\n-- Why is it stale?")
    before = state.copy(keep_cache=True)
    with state.trace():
        weather.temperature.set(state, 300.0)
        print(state.explain("cart.acceleration"))

    print("\n-- What is different now?")
    print(compare(before, state))

    print("\n-- What is done in half a second?")
    with state.trace() as trace:
        drive(state)
    print(trace.summary())

    print("\n-- What can be done about it?")
    for suggestion in profile(system, drive).suggestions:
        print(suggestion)

    folder.mkdir(parents=True, exist_ok=True)
    pages = {
        "cart.svg": state.graph.to_svg(),
        "cart.html": state.graph.to_html(),
        "trace.json": trace.to_chrome(),
    }
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    period = 2 * math.pi * math.sqrt(cart.mass(state) / cart.stiffness(state))
    print(f"\nwrote {', '.join(pages)}; the period of the spring is {period:.2f} s")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
