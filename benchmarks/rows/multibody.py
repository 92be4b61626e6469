"""Kinematics and forward dynamics of trees of bodies, beside MuJoCo's and Pinocchio's.

A figure is the time of the whole statement, the write included. Those of the others are called
through their Python bindings; they know no validity, and compute all bodies whatever was written.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Final

from benchmarks.kinematics import TWINS, AbstractTwin, load_twin
from benchmarks.limits import AbstractLimit, Growth, OfPeer, OfRow
from benchmarks.peers import OWN, Peer
from benchmarks.probes import AbstractProbe, Repeated
from benchmarks.rows.base import Group, Row, Section
from benchmarks.trees import Measured, Tracked, bushy, chain, falling, person, with_rods

COUNTS: Final = (10, 30, 100, 1_000)
CUBIC: Final = "its data take memory cubic in u: tens of gigabytes"
MORE: Final = "it computes contacts and sensors with them"
Make = Callable[[], Measured]

WRITE_ALL: Final = "state.q = {q}; {read}(state)"
WRITE_ONE: Final = "set_one(state, {one}); {read}(state)"
WRITE_U: Final = "state.u = {u}; {read}(state)"
REALIZE: Final = "state.q = {q}; state.u = {u}; {read}(state, ACCELERATION)"

POSES: Final = {
    "mujoco": "qpos[:] = q; mj_kinematics(model, data)",
    "pinocchio": "forwardKinematics(model, data, q)",
}
POSITIONS: Final = {  # of markers too
    "mujoco": POSES["mujoco"],
    "pinocchio": "framesForwardKinematics(model, data, q)",
}
MOTIONS: Final = {
    "mujoco": "qvel[:] = v; mj_comVel(model, data)",
    "pinocchio": "forwardKinematics(model, data, q, v)",
}
UDOT: Final = {"pinocchio": "aba(model, data, q, v, no_force)"}
JACOBIANS: Final = {
    "mujoco": (
        f"{POSES['mujoco']}; mj_comPos(model, data)\n"
        "for part, site in parts: mj_jacSite(model, data, part, None, site)"
    ),
    "pinocchio": (
        "computeJointJacobians(model, data, q); updateFramePlacements(model, data)\n"
        "for part, frame in parts:"
        " part[:] = getFrameJacobian(model, data, frame, aligned)[:3]"
    ),
}


def statement(template: str, read: str) -> str:
    """Two writes, each followed by a read: of one value, and of another."""
    return "\n".join(
        template.format(read=read, q=q, one=one, u=u)
        for q, one, u in [("other_q", "other", "other_u"), ("q", "one", "u")]
    )


def own(make: Make, template: str, read: str, which: int = -1) -> Callable[[Peer], AbstractProbe]:
    """Return the probe of ours: of a write, and a read of what is below it."""

    def build(_: Peer) -> AbstractProbe:
        measured = make()
        names = measured.names(measured.bodies[which])
        return Repeated(statement(template, read), names, operations=2)

    return build


@lru_cache(maxsize=2 * len(COUNTS))
def placed(name: str, make: Make, *, with_markers: bool) -> AbstractTwin:
    """The twin of a tree, which rows share: MuJoCo takes seconds to build a chain of 1,000."""
    kind = load_twin(name)
    measured = make()
    twin = kind(measured.system.matter, measured.markers if with_markers else None)
    twin.place(measured.state)
    return twin


def beside(make: Make, statements: dict[str, str]) -> dict[str, Callable[[], AbstractProbe]]:
    """Return the probes of the others. Their trees have markers where they are asked for."""
    marked = statements in (POSITIONS, JACOBIANS)

    def of(name: str) -> Callable[[], AbstractProbe]:
        return lambda: Repeated(statements[name], placed(name, make, with_markers=marked).names())

    return {name: of(name) for name in TWINS if name in statements}


def _row(
    name: str,
    make: Make,
    template: str,
    read: str,
    others: dict[str, str],
    limits: Sequence[AbstractLimit] = (),
    *,
    which: int = -1,
    count: int = 0,
) -> Row:
    build = own(make, template, read, which)
    without = {name: MORE for name in TWINS if name not in others}
    if count == COUNTS[-1]:
        without["pinocchio"] = CUBIC
    return Row(name, build, limits=limits, beside=beside(make, others), without=without)


def _chains(count: int) -> Group:
    row = partial(_row, make=partial(chain, count), read="poses", others=POSES, count=count)
    name = f"chain of {count:,} Pins"
    whole = f"{name}, all q"
    limits: dict[str, list[AbstractLimit]] = {"all": [], "middle": [], "last": []}
    if count == COUNTS[-1]:
        growth = Growth(1.1, tuple((n, f"chain of {n:,} Pins, all q") for n in COUNTS))
        limits = {"all": [growth], "middle": [OfRow(0.7, whole)], "last": [OfRow(0.2, whole)]}
    middle = count // 2
    return (
        row(whole, template=WRITE_ALL, limits=limits["all"]),
        row(f"{name}, the middle q", template=WRITE_ONE, limits=limits["middle"], which=middle),
        row(f"{name}, the last q", template=WRITE_ONE, limits=limits["last"]),
    )


def _bushes(count: int) -> Group:
    row = partial(_row, make=partial(bushy, count), count=count)
    name = f"tree of {count:,}"
    return (
        row(f"{name}, all q", template=WRITE_ALL, read="poses", others=POSES),
        row(f"{name}, the q of a leaf", template=WRITE_ONE, read="poses", others=POSES),
        row(f"{name}, all u", template=WRITE_U, read="motions", others=MOTIONS),
    )


MARKERS: Final[Group] = (
    _row("31 u: all q, positions of 40 markers", person, WRITE_ALL, "positions", POSITIONS),
    _row(
        "31 u: all q, Jacobian of 40 markers",
        person,
        WRITE_ALL,
        "jacobian",
        JACOBIANS,
        [OfPeer(10, "mujoco")],
    ),
    _row("31 u: the last q, Jacobian of 40 markers", person, WRITE_ONE, "jacobian", JACOBIANS),
)

DYNAMICS: Final[Group] = (
    _row(
        "chain of 30 Pins with masses: all q and u, udot",
        partial(falling, 30),
        REALIZE,
        "realize",
        UDOT,
        [OfPeer(3, "pinocchio")],
    ),
)

TO_VELOCITY: Final = "state.q = {q}; state.u = {u}; to_velocity(state)"
BESIDE_THE_TREE: Final = dict.fromkeys(TWINS, "compared with the same tree without constraints")
FRAMES: Final = "observe(other); track(); observe(one); track()"


def _rods(count: int, limits: Sequence[AbstractLimit] = ()) -> Row:
    probe = own(partial(with_rods, count), TO_VELOCITY, "")
    name = f"31 u: all q and u, to Velocity, {count} rods"
    return Row(name, probe, limits=limits, without=BESIDE_THE_TREE)


def _couplers(count: int, limits: Sequence[AbstractLimit] = ()) -> Row:
    def probe(_: Peer) -> AbstractProbe:
        return Repeated(FRAMES, Tracked(count).names(), operations=2)

    name = f"31 u: a frame of 40 markers, {count} couplers"
    return Row(name, probe, limits=limits, without=BESIDE_THE_TREE)


CONSTRAINTS: Final[Group] = (
    _rods(0),
    _rods(1),
    _rods(40, [OfRow(2.0, _rods(1).name)]),
    _couplers(0),
    _couplers(10, [OfRow(2.0, _couplers(0).name)]),
)

CHAINS_OF_BODIES: Final = tuple(row for count in COUNTS for row in _chains(count))

MULTIBODY: Final = Section(
    "Multibody",
    (CHAINS_OF_BODIES, *(_bushes(count) for count in COUNTS), MARKERS, CONSTRAINTS, DYNAMICS),
    peers=(OWN,),
    columns=tuple(TWINS),
)
