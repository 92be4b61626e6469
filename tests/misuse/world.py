"""Things on which calls are made, and all that can be seen of them, byte for byte."""

import shutil
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from stagecache import (
    Assembler,
    Checkpoint,
    Graph,
    Integrator,
    Stage,
    State,
    System,
    TimeStepper,
    Trajectory,
)
from stagecache.multibody import (
    DiscreteForces,
    Gravity,
    MultibodySystem,
    Pin,
    TwoPointSpring,
)
from stagecache.state import CacheEntry
from tests.misuse.models import Cart, Reach, cart_system
from tests.misuse.recipe import Wrong

BAR: Final = {"mass": 1.0, "center": (0.5, 0.0, 0.0)}
STATES: Final = frozenset({"state", "pose"})
VARIANTS: Final = {
    "frozen State": STATES | {"hand"},
    "default State": STATES,
    "outdated State": STATES,
    "State at Topology": STATES | {"hand"},
    "State at Position": STATES,
    "Empty State": STATES | {"hand"},
    "State of another System": STATES,
    "removed handle": frozenset({"angle", "tip"}),
}
"""Receivers and States that most calls must refuse, a world for each; and what they are in it."""


class Foreign:
    """Things of another graph, State, System, which no call in a world may take."""

    def __init__(self) -> None:
        self.system = cart_system()
        self.cart = self.system.get(Cart, "cart")
        self.state = self.system.new_state()
        self.system.realize(self.state)
        self.mark = self.state.checkpoint()
        self.graph = Graph("foreign")
        self.node = self.graph.variable("mass", 1.0)
        self.entry = self.graph.entry("twice", lambda mass: 2 * mass(), prerequisites=(self.node,))
        self.graph_mark = self.graph.checkpoint()
        other = cart_system()
        self.outdated = other.new_state()
        other.invalidate_topology_cache()
        self.removed = self.graph.variable("removed", 1.0)
        self.graph.remove(self.removed)
        self.multibody = MultibodySystem()
        self.body = self.multibody.matter.add_body(
            "bar", self.multibody.matter.ground, Pin(), mass_properties=BAR
        )
        self.condition = Assembler(self.system).add_error(Reach(self.cart))

    def handles(self) -> Iterator[Wrong]:
        """Handles of nodes and items elsewhere, and dead ones."""
        yield Wrong("foreign", "a variable of another graph", self.node)
        yield Wrong("foreign", "an entry of another graph", self.entry)
        yield Wrong("dead", "a removed node", self.removed)
        yield Wrong("foreign", "a parameter of another System", self.cart.stiffness)
        yield Wrong("foreign", "an entry of another System", self.cart.force)
        yield Wrong("foreign", "a q of another System", self.cart.place)
        yield Wrong(
            "dead", "an entry that is in no State", CacheEntry("idle", Stage.TIME, Stage.TIME)
        )

    def seen(self) -> object:
        """All that can be seen of them."""
        return seen_of_state(self.state), seen_of_graph(self.graph), repr(self.system)


class World:
    """Each thing is made when a call first needs it; all that were made are seen."""

    def __init__(self, folder: Path, foreign: Foreign, variant: str = "") -> None:
        self.folder = folder / "world"
        """A folder of its own, as it is emptied, and others may use the one that is given."""
        self.foreign = foreign
        self.variant = variant
        self.kept: dict[str, Any] = {}
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.folder.mkdir()

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the thing of that name, which is made the first time."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    # ------------------------------------------------------------------ graphs

    @cached_property
    def graph(self) -> Graph:
        graph = Graph("pendulum")
        angle = graph.variable("angle", 1.0)
        length = graph.variable("length", 2.0)
        tip = graph.entry("tip", lambda a, b: a() * b(), prerequisites=(angle, length))
        graph.entry("lazy", lambda tip: tip() + 1, prerequisites=(tip,))
        tip()
        return graph

    @cached_property
    def angle(self) -> Any:
        return self._perhaps_removed(self.graph["angle"])

    @cached_property
    def tip(self) -> Any:
        return self._perhaps_removed(self.graph["tip"])

    def _perhaps_removed(self, node: Any) -> Any:
        if self.variant == "removed handle":
            self.graph.remove(*[n for n in self.graph if n.name != "idle"])
            self.graph.variable("idle", 1.0)
        return node

    @cached_property
    def graph_mark(self) -> Checkpoint:
        return self.graph.checkpoint()

    # ------------------------------------------------------------------ States

    @cached_property
    def system(self) -> System:
        return cart_system()

    @cached_property
    def cart(self) -> Cart:
        return self.system.get(Cart, "cart")

    @cached_property
    def state(self) -> State:
        """A State at Report, where the variant of the world is nothing else."""
        variant, system = self.variant, self.system
        if variant == "default State":
            return system.default_state
        if variant == "State of another System":
            return cart_system().new_state()
        if variant == "Empty State":
            return State()
        state = system.new_state()
        if variant == "outdated State":
            system.invalidate_topology_cache()
        elif variant == "State at Position":
            system.realize(state, Stage.POSITION)
        elif variant != "State at Topology":
            system.realize(state)
            _ = self.cart.doubled[0](state)
        return state.frozen() if variant == "frozen State" else state

    @cached_property
    def second_state(self) -> State:
        """Another State of the same System."""
        return self.system.new_state()

    @cached_property
    def mark(self) -> Checkpoint:
        return self.state.checkpoint()

    @cached_property
    def hand(self) -> State:
        """A State that is made by hand, with a subsystem at Empty, where items can be allocated."""
        if self.variant == "Empty State":
            return State()
        state = State()
        state.add_subsystem("pendulum")
        state.add_subsystem("other")
        part = state[0]
        self.kept["hand q"] = part.allocate_q([0.5, 0.25], name="q")
        self.kept["hand variable"] = part.allocate_discrete_variable(Stage.REPORT, 3.0, name="d")
        self.kept["hand entry"] = part.allocate_cache_entry(
            Stage.TOPOLOGY, Stage.INFINITY, 1.0, name="e"
        )
        if self.variant in ("State at Topology", "State at Position"):
            for x in (0, 1):
                state[x].advance_to_stage(Stage.TOPOLOGY)
            state.advance_to_stage(Stage.TOPOLOGY)
        return state.frozen() if self.variant == "frozen State" else state

    @property
    def part(self) -> Any:
        """The subsystem of the State that is made by hand."""
        return self.hand[0]

    def item(self, name: str) -> Any:
        """A handle of the State that is made by hand: "q", "variable" or "entry"."""
        _ = self.hand
        return self.kept[f"hand {name}"]

    # ------------------------------------------------------------------ studies

    @cached_property
    def integrator(self) -> Integrator:
        integrator = Integrator(self.system)
        integrator.initialize(self.state)
        return integrator

    @cached_property
    def stepper(self) -> TimeStepper:
        stepper = TimeStepper(self.system, Integrator(self.system))
        stepper.initialize(self.state)
        return stepper

    @cached_property
    def trajectory(self) -> Trajectory:
        trajectory = Trajectory(self.state, record=(self.cart.force,))
        trajectory.append(self.state)
        later = self.state.copy()
        later.time = 1.0
        self.system.realize(later)
        trajectory.append(later)
        return trajectory

    @cached_property
    def assembler(self) -> Assembler:
        assembler = Assembler(self.system)
        self.kept["condition"] = assembler.add_goal(Reach(self.cart))
        assembler.initialize(self.state)
        return assembler

    @property
    def condition(self) -> Any:
        """The condition of the assembler."""
        _ = self.assembler
        return self.kept["condition"]

    # ------------------------------------------------------------------ bodies

    @cached_property
    def multibody(self) -> MultibodySystem:
        system = MultibodySystem(name="arm")
        matter = system.matter
        link = matter.ground
        for name, joint in (("upper", "shoulder"), ("lower", "elbow")):
            link = matter.add_body(name, link, Pin(), mass_properties=BAR, coordinates=[joint])
        system.add(Gravity(matter))
        system.add(DiscreteForces(matter))
        system.add(TwoPointSpring(matter.ground, (1, 0, 0), link, (0, 1, 0), 1.0))
        return system

    @property
    def matter(self) -> Any:
        """The tree of two bars."""
        return self.multibody.matter

    @property
    def body(self) -> Any:
        """The outer bar."""
        return self.matter.body("lower")

    @cached_property
    def pose(self) -> State:
        """A State of the tree, at Acceleration."""
        state = self.multibody.new_state()
        if self.variant == "outdated State":
            self.multibody.invalidate_topology_cache()
        elif self.variant == "State of another System":
            return self.foreign.multibody.new_state()
        elif self.variant == "default State":
            return self.multibody.default_state
        elif self.variant == "Empty State":
            return State()
        elif self.variant == "State at Position":
            self.multibody.realize(state, Stage.POSITION)
        elif self.variant != "State at Topology":
            self.multibody.realize(state, Stage.ACCELERATION)
        return state.frozen() if self.variant == "frozen State" else state

    # ------------------------------------------------------------------ files

    def file(self, name: str, write: Callable[[Path], object]) -> Path:
        """Return a file in the folder, which is written if it is not there."""
        path = self.folder / name
        if not path.exists():
            write(path)
        return path

    # ------------------------------------------------------------------ seeing

    def files(self) -> dict[str, bytes | None]:
        """Return the bytes of each State and file."""
        found: dict[str, bytes | None] = {}
        for name, thing in [*vars(self).items(), *self.kept.items()]:
            if isinstance(thing, State):
                found[name] = bytes_of(thing)
        for path in sorted(self.folder.rglob("*")):
            found[f"file {path.name}"] = path.read_bytes() if path.is_file() else None
        return found

    def seen(self) -> dict[str, object]:
        """Return all that can be seen of what was made: versions, vectors, valid entries, names."""
        seen: dict[str, object] = {}
        for name, thing in [*vars(self).items(), *self.kept.items()]:
            if isinstance(thing, State):
                seen[name] = seen_of_state(thing)
            elif isinstance(thing, Graph):
                seen[name] = seen_of_graph(thing)
            elif isinstance(thing, System):
                seen[name] = (
                    repr(thing.subsystems),
                    thing.topology_cache_version,
                    [repr(e) for e in (*thing.event_handlers, *thing.event_reporters)],
                )
            elif isinstance(thing, Integrator | TimeStepper | Assembler):
                seen[name] = seen_of_study(thing)
            elif isinstance(thing, Trajectory):
                seen[name] = [t.tobytes() for t in (thing.times, thing.q, thing.u)], len(thing)
            elif hasattr(thing, "seen"):
                seen[name] = thing.seen()
        for path in sorted(self.folder.rglob("*")):
            seen[f"file {path.name}"] = path.stat().st_mtime_ns
        return seen


class Valid(dict[str, object]):
    """Versions and values of the entries that are valid: a call may add some, but change none."""


def seen_of_graph(graph: Graph) -> object:
    """Return names, versions and statuses of all nodes, and the values of those that are valid."""
    valid = Valid({n.name: (n.version, n()) for n in graph if n.is_valid()})
    return valid, [(n.name, n.prerequisites) for n in graph], graph.statistics.changes, graph.name


def bytes_of(state: State) -> bytes:
    """Return a State as it is saved, if it has a System that is as it was."""
    system = state.system
    if system is None or not state._contents.belongs_to(system, system.topology_cache_version):
        return b""
    return state.to_bytes()


def seen_of_state(state: State) -> dict[str, object]:
    """Return the bytes, stages, versions and statuses of a State, and all values that are valid."""
    items = Valid()
    for part in state:
        layout = part._layout
        for handle in (*layout.discrete, *layout.entries):
            if not isinstance(handle, CacheEntry) or handle.is_valid(state):
                items[f"{part.index}.{handle.index} {handle}"] = handle.version(state)
    vectors = [
        np.asarray(getattr(state, name)).tobytes() if state.stage >= Stage.MODEL else b""
        for name in ("q", "u", "z", "u_weights", "z_weights")
    ]
    stages = [(part.stage, part.stage_versions) for part in state]
    return {
        "stage": state.stage,
        "versions": state.stage_versions,
        "subsystems": stages,
        "items": items,
        "vectors": vectors,
        "topology": state.topology_version,
        "strict": state.is_strict,
    }


def seen_of_study(study: Integrator | TimeStepper | Assembler) -> object:
    """Return the settings of a study, and its State."""
    settings = {
        name: repr(getattr(study, name, None))
        for name in (
            "accuracy",
            "error_tolerance",
            "method",
            "options",
            "report_all_significant_states",
            "use_rms_error_norm",
            "system_constraints_weight",
            "force_numerical_gradient",
            "force_numerical_jacobian",
        )
    }
    if isinstance(study, Assembler):
        return settings, seen_of_state(study.internal_state), study.num_free_qs
    return settings, seen_of_state(study.state)
