"""Compare trees with their twins in other libraries: `python -m tests.multibody.comparison`.

What is compared of each body: its pose, its velocity, its acceleration where udot is 0, and the
Jacobian of a frame at a random point of it. Of a tree with mass, also its mass matrix, the forces
on u that udot = 0 takes, its udot under gravity, times M, and its energies. (udot itself is only as
precise as M is regular; it is compared where the condition number of M is below 1e5.)
"""

from collections import Counter
from typing import Final

import click
import numpy as np
from attrs import define, field

from benchmarks.errors import NotInstalledError
from benchmarks.kinematics import TWINS, AbstractTwin, load_twin, twin_versions
from stagecache import Stage
from stagecache.multibody import AbstractMobilizer
from tests.multibody.trees import MOBILIZERS, Array, Tree, make_tree

CLOSE: Final = 1e-9
"""How far apart results may be, relative to the largest number of ours in the array, or to 1."""

KINEMATICS: Final = ("pose", "velocity", "acceleration", "Jacobian")
DYNAMICS: Final = ("mass matrix", "bias force", "M udot", "udot", "energy")
REGULAR: Final = 1e5
"""The largest condition number of a mass matrix for which udot itself is compared."""

QUANTITIES: Final = (*KINEMATICS, *DYNAMICS)


@define
class Counts:
    """How much was compared, and how far apart it was."""

    trees: int = 0
    bodies: int = 0
    numbers: int = 0
    joints: Counter[str] = field(factory=Counter)
    apart: dict[str, float] = field(factory=lambda: dict.fromkeys(QUANTITIES, 0.0))

    def note(self, quantity: str, one: Array, other: Array, what: str) -> None:
        """Note how far apart ours and theirs are, and fail where that is too far."""
        assert one.shape == other.shape
        self.numbers += one.size
        apart = _apart(one, other)
        assert apart <= CLOSE, f"{what}: {apart:.1e} apart"
        self.apart[quantity] = max(self.apart[quantity], apart)

    @property
    def worst(self) -> float:
        """The largest relative difference of all."""
        return max(self.apart.values())


def compare(twin_of: type[AbstractTwin], tree: Tree, counts: Counts) -> Counts:
    """Compare all bodies of a tree, count what was compared, and fail where it differs."""
    state = tree.state
    twin = twin_of(tree.system.matter)
    twin.place(state)
    counts.trees += 1
    for body in tree.bodies[1:]:
        counts.bodies += 1
        counts.joints[type(body.mobilizer).__name__] += 1
        station = tree.rng.normal(size=3)
        ours = (
            body.pose(state).matrix,
            body.velocity(state),
            body.acceleration_bias(state),
            body.frame_jacobian(state, station),
        )
        theirs = (
            twin.pose(body),
            twin.velocity(body),
            twin.acceleration(body),
            twin.frame_jacobian(body, station),
        )
        for quantity, one, other in zip(KINEMATICS, ours, theirs, strict=True):
            counts.note(quantity, one, other, f"{quantity} of {body} in {twin.name}")
    if tree.system.matter.forces:
        compare_dynamics(twin, tree, counts)
    return counts


def compare_dynamics(twin: AbstractTwin, tree: Tree, counts: Counts) -> None:
    """Compare the dynamics of a tree with mass under gravity."""
    state, matter = tree.state, tree.system.matter
    tree.system.realize(state, Stage.ACCELERATION)
    at_rest = -matter.bias_force(state) - matter.applied_force(state)
    kinetic, potential = twin.energies()
    m, accelerations = matter.m_matrix(state), twin.accelerations()
    pairs = {
        "mass matrix": (m, twin.mass_matrix()),
        "bias force": (at_rest, twin.forces_at_rest()),
        "M udot": (m @ state.udot, m @ accelerations),
        "energy": (
            np.array([matter.kinetic_energy(state), matter.potential_energy(state)]),
            np.array([kinetic, potential]),
        ),
    }
    if m.size and np.linalg.cond(m) < REGULAR:
        pairs["udot"] = state.udot, accelerations
    for quantity, (one, other) in pairs.items():
        counts.note(quantity, one, other, f"{quantity} in {twin.name}")


def _apart(one: Array, other: Array) -> float:
    scale = max(1.0, np.abs(one).max(initial=0.0))
    return float(np.abs(one - other).max(initial=0.0) / scale)


def random_tree(seed: int, most: int) -> Tree:
    """A tree of up to so many bodies of any mobilizers."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, most + 1))
    kinds: list[type[AbstractMobilizer]] = [
        MOBILIZERS[k] for k in rng.integers(0, len(MOBILIZERS), size)
    ]
    parents = [int(rng.integers(0, i + 1)) for i in range(size)]
    euler, plain = rng.random(2) < 0.5
    return make_tree(
        kinds, parents, seed, use_euler_angles=bool(euler), plain=bool(plain), has_mass=True
    )


@click.command(help="Compare random trees with each library that is installed, and print counts.")
@click.option("--trees", default=1000, show_default=True, help="How many.")
@click.option("--most", default=20, show_default=True, help="Bodies of the largest.")
def main(trees: int, most: int) -> None:
    for name in TWINS:
        try:
            twin = load_twin(name)
        except NotInstalledError as error:
            click.echo(str(error))
            continue
        counts = Counts()
        for seed in range(trees):
            compare(twin, random_tree(seed, most), counts)
        click.echo(
            f"{name} {twin_versions()[name]}: {counts.trees:,} trees, {counts.bodies:,} bodies, "
            f"{counts.numbers:,} numbers; largest relative differences: "
            + ", ".join(f"{quantity} {apart:.1e}" for quantity, apart in counts.apart.items())
        )
        click.echo("  " + ", ".join(f"{kind} {n:,}" for kind, n in sorted(counts.joints.items())))


if __name__ == "__main__":
    main(prog_name="python -m tests.multibody.comparison")
