"""Small models that note what is called, in a list that is made before they are adopted."""

import numpy as np

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    event_trigger,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.state.handles import Vector

Log = list[tuple[Stage | str, str]]

RUNTIME = tuple(Stage)[Stage.INSTANCE : Stage.INFINITY]
REALIZED = tuple(Stage)[Stage.TOPOLOGY : Stage.INFINITY]


class HookError(Exception):
    """What a hook raises when it is told to."""


class Noting(Subsystem):
    """Notes each hook that is called, and each entry; fails where it is told to, and only once."""

    def __init__(self, log: Log, fails: Log | None = None) -> None:
        self.log = log
        self.fails: Log = [] if fails is None else fails

    def note(self, what: Stage | str) -> None:
        self.log.append((what, self.name))
        if (what, self.name) in self.fails:
            self.fails.remove((what, self.name))
            raise HookError(what, self.name)

    def realize_topology(self, state: State) -> None:
        self.note(Stage.TOPOLOGY)

    def realize_model(self, state: State) -> None:
        self.note(Stage.MODEL)

    def realize_instance(self, state: State) -> None:
        self.note(Stage.INSTANCE)

    def realize_time(self, state: State) -> None:
        self.note(Stage.TIME)

    def realize_position(self, state: State) -> None:
        self.note(Stage.POSITION)

    def realize_velocity(self, state: State) -> None:
        self.note(Stage.VELOCITY)

    def realize_dynamics(self, state: State) -> None:
        self.note(Stage.DYNAMICS)

    def realize_acceleration(self, state: State) -> None:
        self.note(Stage.ACCELERATION)

    def realize_report(self, state: State) -> None:
        self.note(Stage.REPORT)


# ---------------------------------------------------------------------- three subsystems


class Joint(Noting):
    """What moves. Nothing is upstream of it."""

    length = parameter(2.0)
    is_free = modeling_option(True)
    angle = q_variable(0.5)
    rate = u_variable(0.25)
    fatigue = z_variable(0.0)

    @cached(available_from=Stage.POSITION, prerequisites=(angle, length))
    def tip(self, state: State) -> float:
        self.note("tip")
        return self.length(state) * self.angle(state)

    @cached(available_from=Stage.VELOCITY, prerequisites=(rate, length))
    def speed(self, state: State) -> float:
        self.note("speed")
        return self.length(state) * self.rate(state)


class Body(Noting):
    """What the joint moves."""

    mass = parameter(3.0)

    def __init__(self, joint: Joint, log: Log, fails: Log | None = None) -> None:
        super().__init__(log, fails)
        self.joint = joint

    @cached(available_from=Stage.POSITION, prerequisites=lambda self: (self.joint.tip,))
    def place(self, state: State) -> float:
        self.note("place")
        return self.joint.tip(state) + 1

    @cached(
        prerequisites=lambda self: (self.joint.speed, self.mass),
        computed_by=Stage.DYNAMICS,
    )
    def momentum(self, state: State) -> float:
        self.note("momentum")
        return self.mass(state) * self.joint.speed(state)


class Load(Noting):
    """What pulls at the body."""

    pull = discrete(10.0, invalidates=Stage.DYNAMICS)

    def __init__(self, body: Body, log: Log, fails: Log | None = None) -> None:
        super().__init__(log, fails)
        self.body = body

    @cached(
        available_from=Stage.POSITION,
        prerequisites=lambda self: (self.body.place,),
        computed_by=Stage.POSITION,
    )
    def height(self, state: State) -> float:
        self.note("height")
        return self.body.place(state) * 2

    @cached(prerequisites=lambda self: (self.body.place, self.pull))
    def work(self, state: State) -> float:
        self.note("work")
        return self.pull(state) * self.body.place(state)


class Crane(System):
    """Load, body and joint, in this order: each depends on those after it.

    They are realized in the order of their indices, but at Position as joint, body, load, and at
    Velocity as load, joint, body.
    """

    def __init__(self) -> None:
        self.log: Log = []
        self.fails: Log = []
        self.joint = Joint(self.log, self.fails)
        self.body = Body(self.joint, self.log, self.fails)
        self.load = Load(self.body, self.log, self.fails)
        super().__init__(self.load, self.body, self.joint, name="crane")

    def state_at(self, stage: Stage = Stage.MODEL) -> State:
        """A copy of the default State, realized to that stage, and nothing noted."""
        state = self.new_state()
        self.realize(state, stage)
        self.log.clear()
        return state


# ---------------------------------------------------------------------- sizes and families


class Chain(Subsystem):
    """As many links as a modeling option says, with an error and a trigger for each."""

    num_links = modeling_option(2)
    start = parameter(1.0)
    angles = q_variable(factory=lambda self, state: np.full(self.num_links(state), 0.5))
    twist = q_variable(0.25)

    @position_error(size=lambda self, state: self.num_links(state))
    def gaps(self, state: State) -> Vector:
        return self.angles(state) - self.start(state)

    @gaps.velocity
    def gap_rates(self, state: State) -> Vector:
        return 2 * self.angles(state)

    @position_error(size=1)
    def twisted(self, state: State) -> float:
        return self.twist(state) + 100

    @event_trigger(stage=Stage.POSITION, size=lambda self, state: self.num_links(state))
    def contacts(self, state: State) -> Vector:
        return self.angles(state) + 10

    @event_trigger(stage=Stage.POSITION)
    def end_stop(self, state: State) -> float:
        return self.twist(state) + 20


class Springs(Subsystem):
    """Some equal springs between neighbours."""

    def __init__(self, count: int) -> None:
        self.count = count

    stiffness = parameter(factory=lambda self, i: 10.0 * (i + 1), count=lambda self: self.count)
    place = q_variable(0.5, count=lambda self: self.count + 1)

    @cached(
        count=lambda self: self.count,
        prerequisites=lambda self, i: (self.place[i], self.place[i + 1], self.stiffness[i]),
    )
    def force(self, state: State, i: int) -> float:
        return self.stiffness[i](state) * (self.place[i + 1](state) - self.place[i](state))

    @cached(prerequisites=(force,))
    def total(self, state: State) -> float:
        return sum(force(state) for force in self.force)


# ---------------------------------------------------------------------- what tests do often


def state_of(*subsystems: Subsystem, stage: Stage = Stage.MODEL) -> State:
    """A State of a new System of these subsystems, realized to that stage."""
    system = System(*subsystems)
    state = system.new_state()
    system.realize(state, stage)
    return state
