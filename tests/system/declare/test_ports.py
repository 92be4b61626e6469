"""Inputs: randomly connected Systems against recomputation of all, and one rule after another."""

import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as Settings  # noqa: N812  # a class
from hypothesis import strategies as st

from stagecache import (
    DiscreteVariable,
    Family,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    input_port,
    linearize,
    load_state,
    parameter,
    position_error,
    profile,
    q_variable,
    shared_results,
    simulate,
    strict,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    ComputeSignatureError,
    ConstModelError,
    CycleError,
    DeclaredNameError,
    ForeignNodeError,
    InputError,
    LayoutMismatchError,
    NodeKindError,
    NotANumberError,
    PrerequisiteStageError,
    ShapeError,
    StageOutOfRangeError,
    TopologyVersionError,
    WrongTypeError,
)
from stagecache.testing import check_all
from tests.profiles import examples
from tests.system.core.test_transport import where_it_is_unknown


class Heavy(Subsystem):
    value = input_port(float)

    @cached(prerequisites=(value,), shared=True)
    def square(self, state: State) -> float:
        return self.value(state) ** 2


class Controller(Subsystem):
    gain = parameter(2.0)
    angle = input_port(float, unit="rad")

    @cached(prerequisites=(gain, angle))
    def force(self, state: State) -> float:
        return -self.gain(state) * self.angle(state)


class Cart(Subsystem):
    mass = parameter(2.0, unit="kg")
    place = q_variable(1.0, unit="m")
    speed = u_variable(0.25)
    tilt = z_variable((0.5, 0.75))
    force = input_port(float)
    wind = input_port(float, default=0.5, invalidates=Stage.ACCELERATION)

    @cached(prerequisites=(mass, force, wind))
    def push(self, state: State) -> float:
        return (self.force(state) + self.wind(state)) / self.mass(state)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[:] = 0.0

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = self.push(state)


def loop() -> tuple[System, Controller, Cart]:
    controller, cart = Controller(), Cart()
    system = System(controller, cart)
    system.connect(controller.force, cart.force)
    system.connect(cart.tilt[1], controller.angle)
    return system, controller, cart


def wind_of(system: System, cart: Cart) -> DiscreteVariable[float]:
    found = system.connections[cart.wind]
    assert isinstance(found, DiscreteVariable)
    return found


# ---------------------------------------------------------------------- randomly connected


class Part(Subsystem):
    """A part with a variable, three inputs, and two entries that read some of them."""

    first = parameter(0.0)
    place = q_variable(0.0)
    one = input_port(float, default=1.0)
    two = input_port(float, default=2.0)
    three = input_port(float)

    def __init__(self, reads: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        self.reads = reads
        self.calls: list[str] = []

    def value(self, state: State, x: int) -> float:
        self.calls.append(f"{self.name}.{'lh'[x]}")
        return float(1 + x + sum(getattr(self, name)(state) for name in self.reads[x]))

    @cached(prerequisites=lambda self: tuple(getattr(self, name) for name in self.reads[0]))
    def l(self, state: State) -> float:  # noqa: E743  # the lower one
        return self.value(state, 0)

    @cached(
        prerequisites=lambda self: tuple(getattr(self, name) for name in self.reads[1]), equal=True
    )
    def h(self, state: State) -> float:
        return self.value(state, 1) // 4


VARIABLES = ("first", "place")
PORTS = ("one", "two", "three")
ENTRIES = ("l", "h")
DEFAULTS = {"one": 1.0, "two": 2.0}
NAMES = st.sets(st.sampled_from([*VARIABLES, *PORTS]), max_size=3).map(sorted).map(tuple)
NAMES_OF_PORTS = st.sampled_from(PORTS)
Node = tuple[int, str]


def rising(time: float) -> float:
    return 3.0 * time


class Model:
    """Parts that are connected as a table says, and what each node must have as its value."""

    def __init__(self, reads: list[Any], sources: dict[Node, Any]) -> None:
        self.parts = [Part(tuple(each)) for each in reads]
        self.sources = sources
        self.system = System()
        for x, part in enumerate(self.parts):
            self.system.add(part, f"p{x}")
        self.held: dict[Node, DiscreteVariable[float]] = {}
        for (x, name), source in sources.items():
            self.connect(x, name, source)
        self.values: dict[Node, float] = {(x, n): 0.0 for x in range(len(reads)) for n in VARIABLES}

    def handle(self, node: Node) -> Any:
        return getattr(self.parts[node[0]], node[1])

    def connect(self, x: int, name: str, source: Any) -> None:
        port = self.handle((x, name))
        if isinstance(source, tuple):
            self.system.connect(self.handle(source), port)
        elif isinstance(source, float):
            self.held[x, name] = self.system.fix(port, source)
        elif source is not None:
            self.system.connect(source, port)

    def above(self, node: Node) -> list[Node]:
        x, name = node
        if name in ENTRIES:
            return [(x, read) for read in self.parts[x].reads[ENTRIES.index(name)]]
        source = self.sources.get(node)
        return [source] if isinstance(source, tuple) else []

    def fault(self) -> type[Exception] | None:
        """Why the topology is refused."""
        readers = [(x, name) for x in range(len(self.parts)) for name in (*PORTS, *ENTRIES)]
        for node in readers:
            for above in self.above(node):
                if above[1] == "three" and self.sources.get(above) is None:
                    return InputError
        done: set[Node] = set()
        for node in readers:
            if self._goes_in_circles(node, [], done):
                return CycleError
        return None

    def _goes_in_circles(self, node: Node, path: list[Node], done: set[Node]) -> bool:
        if node in path or node in done:
            return node in path
        found = any(self._goes_in_circles(above, [*path, node], done) for above in self.above(node))
        done.add(node)
        return found

    def brute(self, node: Node, time: float) -> float:
        name = node[1]
        if name in VARIABLES:
            return self.values[node]
        if name in ENTRIES:
            which = ENTRIES.index(name)
            total = float(1 + which + sum(self.brute(above, time) for above in self.above(node)))
            return total // 4 if which else total
        source: Any = self.sources.get(node, DEFAULTS.get(name))
        if isinstance(source, tuple):
            return self.brute(source, time)
        return self.values.get(node, source) if isinstance(source, float) else float(source(time))


@st.composite
def models(draw: st.DrawFn) -> Model:
    count = draw(st.integers(1, 3))
    reads = [(draw(NAMES), draw(NAMES)) for _ in range(count)]
    nodes = [(x, n) for x in range(count) for n in (*VARIABLES, *PORTS, *ENTRIES)]
    sources: dict[Node, Any] = {}
    for x in range(count):
        for name in PORTS:
            # three times as often to what comes before it, so that most have no cycle
            before = [node for node in nodes if node < (x, "a")] or [(x, "first")]
            source = draw(
                st.sampled_from(
                    [None, 4.0, rising, *nodes, *3 * before, (x, "first"), (x, "place")]
                )
            )
            if source is not None:
                sources[x, name] = source
    return Model(reads, sources)


@given(models(), st.data())
@examples(150)
def test_random_connections_give_what_recomputation_gives(
    model: Model, data: st.DataObject
) -> None:
    fault = model.fault()
    if fault is not None:
        with pytest.raises(fault):
            model.system.new_state()
        return
    state = model.system.new_state()
    time = 0.0
    written = [*model.values, *model.held]
    connections = model.system.connections
    for x in range(len(model.parts)):
        for name in ("one", "two"):
            if (x, name) not in model.sources:
                model.held[x, name] = connections[model.handle((x, name))]
                written.append((x, name))
    for _ in range(data.draw(st.integers(1, 6))):
        action = data.draw(st.sampled_from(["write", "write", "time", "copy", "read"]))
        if action == "write":
            node = data.draw(st.sampled_from(written))
            value = float(data.draw(st.integers(0, 9)))
            handle: Any = model.held[node] if node in model.held else model.handle(node)
            handle.set(state, value)
            model.values[node] = value
        elif action == "time":
            time = float(data.draw(st.integers(0, 5)))
            state.time = time
        elif action == "copy":
            state = state.copy(keep_cache=data.draw(st.booleans()))
        with strict(state):
            for x in range(len(model.parts)):
                for name in (*PORTS, *ENTRIES):
                    if name == "three" and (x, name) not in model.sources:
                        continue
                    assert model.handle((x, name))(state) == model.brute((x, name), time)


@given(models())
@examples(60)
def test_a_write_makes_stale_what_is_connected_to_it_and_nothing_else(model: Model) -> None:
    if model.fault() is not None:
        return
    state = model.system.new_state()
    nodes = [(x, n) for x in range(len(model.parts)) for n in (*PORTS, *ENTRIES)]
    nodes = [n for n in nodes if n[1] != "three" or n in model.sources]

    def upstream(node: Node) -> set[Node]:
        return {node}.union(*(upstream(above) for above in model.above(node)))

    for x, part in enumerate(model.parts):
        for each, name in nodes:
            model.handle((each, name))(state)
        part.first.set(state, part.first(state) + 1.0)
        for each, name in nodes:
            is_valid = model.handle((each, name)).is_valid(state)
            assert is_valid == ((x, "first") not in upstream((each, name)))


@given(models(), st.lists(st.tuples(NAMES_OF_PORTS, st.booleans()), max_size=4))
@examples(60)
def test_inputs_are_connected_anew_and_older_states_are_refused(
    model: Model, changes: list[tuple[str, bool]]
) -> None:
    states: list[State] = []
    for name, is_fixed in changes:
        if model.fault() is None:
            state = model.system.new_state()
            for node in [(x, n) for x in range(len(model.parts)) for n in (*PORTS, *ENTRIES)]:
                if node[1] != "three" or node in model.sources:
                    assert model.handle(node)(state) == model.brute(node, 0.0)
            states.append(state)
        if (0, name) in model.sources:
            model.system.disconnect(model.handle((0, name)))
            del model.sources[0, name]
        else:
            model.sources[0, name] = 5.0 if is_fixed else rising
            model.connect(0, name, model.sources[0, name])
        for state in states:
            assert "first" in str(state)  # it can still be shown
            with pytest.raises(TopologyVersionError, match=r"was \w+"):
                model.system.realize(state)


# ---------------------------------------------------------------------- sources


def test_an_input_is_what_is_connected_to_it_and_a_write_reaches_its_readers_alone() -> None:
    system, controller, cart = loop()
    state = system.new_state()
    assert cart.push(state) == (-2.0 * 0.75 + 0.5) / 2.0
    cart.mass.set(state, 4.0)
    assert cart.force.is_valid(state)
    assert controller.force.is_valid(state)
    controller.gain.set(state, 4.0)
    assert controller.angle.is_valid(state)
    assert not cart.push.is_valid(state)
    assert cart.push(state) == (-4.0 * 0.75 + 0.5) / 4.0
    assert [str(handle) for handle in cart.force.prerequisites(state)] == ["controller.force"]


def test_a_fixed_value_is_a_variable_that_invalidates_what_reads_it_and_a_stage() -> None:
    system, _, cart = loop()
    wind = wind_of(system, cart)
    state = system.new_state()
    system.realize(state)
    assert state.udot == cart.push(state)
    wind.set(state, 3.0)
    assert state.stage is Stage.DYNAMICS
    assert cart.force.is_valid(state)
    system.realize(state)
    assert state.udot == cart.push(state) == (-1.5 + 3.0) / 2.0
    copy = state.copy()
    wind.set(copy, 4.0)
    assert (cart.wind(state), cart.wind(copy)) == (3.0, 4.0)


def test_fix_takes_the_first_value_and_a_default_is_a_source_again_after_it() -> None:
    system, _, cart = loop()
    wind = system.fix(cart.wind, 2)
    state = system.new_state()
    assert (cart.wind(state), wind(state), type(wind(state))) == (2.0, 2.0, float)
    assert system.connections[cart.wind] is wind
    system.disconnect(cart.wind)
    assert cart.wind(system.new_state()) == 0.5
    system.connect(cart.place, cart.wind)
    state = system.new_state()
    assert cart.wind(state) == 1.0
    assert "cart.wind.fixed" not in str(state)
    assert system.connections[cart.wind] is cart.place


def test_a_function_of_the_time_and_a_column_of_a_trajectory_feed_an_input() -> None:
    system, controller, cart = loop()
    trajectory = simulate(system, system.new_state(), 1.0, every=0.25)
    system.disconnect(cart.force)
    system.connect(trajectory.curve(cart.place), cart.force)
    system.connect(np.cos, cart.wind)
    state = system.new_state()
    for row, time in enumerate(trajectory.times.tolist()):
        state.time = time
        assert cart.force(state) == trajectory[cart.place][row]
        assert cart.wind(state) == np.cos(time)
    state.time = 0.375
    assert cart.force(state) == pytest.approx(trajectory[cart.place][1:3].mean())
    twin = pickle.loads(pickle.dumps(state))
    assert twin.system["cart"].push(twin) == cart.push(state)
    assert controller.force(state) == -1.5


def test_vectors_and_inputs_of_any_class_are_taken() -> None:
    class Arm(Subsystem):
        torques = input_port(float, shape=2)
        pose = input_port(float, shape=(2, 2), default=np.eye(2))
        side = input_port(str, default="left")
        options = input_port(dict, default={"stiff": True})
        count = input_port(int, default=3)
        is_on = input_port(bool)
        anything = input_port(object, default=None)

    class Motors(Subsystem):
        angles = q_variable((1.0, 2.0))
        is_on = parameter(True)

        @cached(prerequisites=(angles,))
        def torques(self, state: State) -> list[float]:
            return [2.0 * angle for angle in self.angles(state)]

    arm, motors = Arm(), Motors()
    system = System(arm, motors)
    system.connect(motors.torques, arm.torques)  # type: ignore[arg-type]  # it is converted
    system.connect(motors.is_on, arm.is_on)
    state = system.new_state()
    motors.angles.set(state, (3.0, 4.0))
    torques = arm.torques(state)
    assert torques.tolist() == [6.0, 8.0]
    assert not torques.flags.writeable
    assert arm.pose(state).tolist() == np.eye(2).tolist()
    values = (arm.side(state), arm.options(state), arm.count(state), arm.is_on(state))
    assert values == ("left", {"stiff": True}, 3, True)
    assert arm.anything(state) is None
    system.disconnect(arm.torques)
    system.connect(motors.angles, arm.torques)
    state = system.new_state()
    seen = arm.torques(state)
    motors.angles.upd(state)[0] = 7.0
    assert (seen.tolist(), arm.torques(state).tolist()) == ([1.0, 2.0], [7.0, 2.0])


def test_rows_of_a_constraint_are_an_array_whatever_their_function_promises() -> None:
    class Rod(Subsystem):
        angle = q_variable(0.5)

        @position_error(prerequisites=(angle,))
        def error(self, state: State) -> float:
            return self.angle(state)

    class Gauge(Subsystem):
        error = input_port(float, shape=1)

    rod, gauge = Rod(), Gauge()
    system = System(rod, gauge)
    system.connect(rod.error, gauge.error)
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    assert gauge.error(state).tolist() == [0.5]


def test_a_shared_entry_may_depend_on_an_input() -> None:
    found = []
    with shared_results():
        for _ in range(2):
            system = System(heavy := Heavy())
            held = system.fix(heavy.value, 3.0)
            state = system.new_state()
            with state.trace() as trace:
                found.append(heavy.square(state))
                held.set(state, 4.0)
                found.append(heavy.square(state))
    assert found == [9.0, 16.0, 9.0, 16.0]
    row = trace.summary()["heavy.square"]
    assert (row.computed, row.found) == (0, 2)


def test_an_early_cutoff_of_the_source_keeps_what_depends_on_the_input() -> None:
    class Sign(Subsystem):
        value = parameter(1.0)

        @cached(prerequisites=(value,), equal=True)
        def sign(self, state: State) -> float:
            return float(np.sign(self.value(state)))

    class User(Subsystem):
        sign = input_port(float)

        def __init__(self) -> None:
            self.calls: list[float] = []

        @cached(prerequisites=(sign,))
        def twice(self, state: State) -> float:
            self.calls.append(self.sign(state))
            return 2.0 * self.sign(state)

    sign, user = Sign(), User()
    system = System(sign, user)
    system.connect(sign.sign, user.sign)
    state = system.new_state()
    for value in (1.0, 5.0, 7.0, -1.0, -2.0):
        sign.value.set(state, value)
        assert user.twice(state) == 2.0 * np.sign(value)
    assert user.calls == [1.0, -1.0]


# ---------------------------------------------------------------------- stages


def test_an_input_can_be_read_from_the_stage_of_its_source_on() -> None:
    class Late(Subsystem):
        @cached(available_from=Stage.VELOCITY)
        def value(self, state: State) -> float:
            return state.time

    class User(Subsystem):
        value = input_port(float)

        @cached(prerequisites=(value,), available_from=Stage.POSITION)
        def early(self, state: State) -> float:
            return self.value(state)

    class Bold(User):
        @cached(prerequisites=(User.value,))
        def early(self, state: State) -> float:
            return self.value(state)

    late, user = Late(), User()
    system = System(late, user)
    system.connect(late.value, user.value)
    with pytest.raises(PrerequisiteStageError, match=r"user\.early") as caught:
        system.new_state()
    assert "user.value, connected to late.value, which depends on Velocity" in caught.value.got
    late, user = Late(), Bold()
    system = System(late, user)
    system.connect(late.value, user.value)
    system.new_state()
    assert user.value.available_from is user.early.available_from is Stage.VELOCITY


def test_a_source_that_might_leave_the_stage_of_a_hook_valid_is_refused() -> None:
    class Report(Subsystem):
        value = discrete(1.0, invalidates=Stage.REPORT)

    report = Report()
    system, _, cart = loop()
    system.add(report)
    system.connect(report.value, cart.wind)
    with pytest.raises(PrerequisiteStageError, match=r"cart\.wind") as caught:
        system.new_state()
    assert "Acceleration" in caught.value.expected
    assert "report.value, which invalidates Report" in caught.value.got


def test_a_default_may_be_read_by_rows_and_by_hooks_of_any_stage_from_time_on() -> None:
    class Door(Subsystem):
        angle = q_variable(0.25)
        rate = u_variable(0.0)
        stop = input_port(float, default=0.25)

        @position_error(prerequisites=(angle, stop))
        def closed(self, state: State) -> float:
            return self.angle(state) - self.stop(state)

    system = System(door := Door())
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    assert state.qerr == 0.0
    stop = system.connections[door.stop]
    stop.set(state, 0.5)
    assert state.stage is Stage.INSTANCE
    system.project_q(state)
    assert door.angle(state) == pytest.approx(0.5)


# ---------------------------------------------------------------------- refusals


def test_an_input_without_a_source_is_refused_where_it_is_read() -> None:
    class Quiet(Subsystem):
        force = input_port(float)

    quiet = Quiet()
    system = System(quiet)
    state = system.new_state()
    with pytest.raises(InputError, match=r"quiet\.force: has no source") as caught:
        quiet.force(state)
    assert "system.connect(source, quiet.force)" in caught.value.hint
    controller = Controller()
    system.add(controller)
    with pytest.raises(InputError, match=r"controller\.angle: has no source") as caught:
        system.new_state()
    assert "controller.force" in caught.value.got
    system.connect(quiet.force, controller.angle)
    with pytest.raises(InputError, match=r"quiet\.force: has no source"):
        system.new_state()
    assert system.connections == {controller.angle: quiet.force}


def test_a_cycle_is_refused_with_its_path() -> None:
    system, controller, cart = loop()
    system.disconnect(controller.angle)
    system.connect(cart.push, controller.angle)
    with pytest.raises(CycleError) as caught:
        system.new_state()
    assert set(caught.value.path) == {
        *("controller.angle", "cart.push", "cart.force", "controller.force")
    }
    system.disconnect(cart.force)
    system.connect(cart.force, cart.force)
    system.disconnect(controller.angle)
    system.fix(controller.angle, 0.0)
    with pytest.raises(CycleError, match=r"cart\.force -> cart\.force"):
        system.new_state()


class SupportsClose(Protocol):
    def close(self) -> None: ...


class Sources(Subsystem):
    text = parameter("left")
    flag = parameter(True)
    length = parameter(1.0, unit="m")
    three = q_variable((1.0, 2.0, 3.0))
    springs = parameter(1.0, count=2)
    vector = input_port(float, shape=4, default=np.zeros(4))

    @cached(prerequisites=())
    def word(self, state: State) -> str:
        return "word"

    @cached(prerequisites=())
    def unsaid(self, state: State):  # type: ignore[no-untyped-def]
        return "unsaid"


class Sinks(Subsystem):
    number = input_port(float, default=0.0)
    angle = input_port(float, default=0.0, unit="rad")
    two = input_port(float, shape=2, default=(0.0, 0.0))
    mass = parameter(1.0)


MISFITS: dict[str, tuple[Callable[[Sources, Sinks], tuple[Any, Any]], type[Exception], str]] = {
    "text": (lambda a, b: (a.text, b.number), WrongTypeError, "'left'"),
    "flag": (lambda a, b: (a.flag, b.number), WrongTypeError, "True"),
    "vector": (lambda a, b: (a.three, b.number), WrongTypeError, "ndarray"),
    "promise": (lambda a, b: (a.word, b.number), WrongTypeError, "promises str"),
    "no vector": (lambda a, b: (a.word, b.two), ShapeError, "promises str"),
    "size": (lambda a, b: (a.three, b.two), ShapeError, r"\(3,\)"),
    "size of an input": (lambda a, b: (a.vector, b.two), ShapeError, r"\(4,\)"),
    "input": (lambda a, b: (a.vector, b.number), WrongTypeError, "ndarray"),
    "other way": (lambda a, b: (b.number, a.vector), ShapeError, "promises float"),
    "unit": (lambda a, b: (a.length, b.angle), InputError, "m, of sources.length"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_source_that_does_not_fit_is_refused_with_the_topology(name: str) -> None:
    find, kind, got = MISFITS[name]
    sources, sinks = Sources(), Sinks()
    system = System(sources, sinks)
    source, port = find(sources, sinks)
    system.connect(source, port)
    with pytest.raises(kind, match=got) as caught:
        system.new_state()
    assert str(port) in str(caught.value)
    system.disconnect(port)
    system.new_state()


def test_a_promise_that_may_fit_is_taken() -> None:
    class Promises(Subsystem):
        @cached(prerequisites=())
        def anything(self, state: State) -> Any:
            return 1.0

        @cached(prerequisites=())
        def half(self, state: State) -> Fraction:
            return Fraction(1, 2)

        @cached(prerequisites=())
        def flag(self, state: State) -> np.bool_:
            return np.bool_(True)

    class Reader(Subsystem):
        number = input_port(float)
        vector = input_port(float, shape=())
        other = input_port(float)
        flag = input_port(bool)

    promises, reader = Promises(), Reader()
    system = System(promises, reader)
    connect: Any = system.connect
    connect(promises.anything, reader.number)
    connect(promises.anything, reader.vector)
    connect(promises.half, reader.other)
    connect(promises.flag, reader.flag)
    state = system.new_state()
    assert (reader.number(state), reader.vector(state).item(), reader.other(state)) == (
        1.0,
        1.0,
        0.5,
    )
    assert reader.flag(state) is True


def test_a_value_that_does_not_fit_is_refused_when_it_is_read() -> None:
    sources, sinks = Sources(), Sinks()
    system = System(sources, sinks)
    system.connect(sources.unsaid, sinks.number)
    held: Any = system.fix(sinks.two, np.array([1.0, 2.0]))
    state = system.new_state()
    with pytest.raises(WrongTypeError, match=r"sinks\.number") as caught:
        sinks.number(state)
    assert "sources.unsaid" in str(caught.value)
    held.set(state, np.zeros(3))
    with pytest.raises(ShapeError, match=r"\(2,\)") as misfit:
        sinks.two(state)
    assert "sinks.two.fixed.set(state, value)" in misfit.value.hint
    held.set(state, ["x", "y"])
    with pytest.raises(NotANumberError, match=r"sinks\.two"):
        sinks.two(state)


def test_what_cannot_be_connected_is_refused_at_once() -> None:
    sources, sinks = Sources(), Sinks()
    system = System(sources, sinks)
    other = System(foreign := Sources())
    connect: Any = system.connect
    refusals: list[tuple[type[Exception], Any, Any]] = [
        (WrongTypeError, 3.0, sinks.number),
        (WrongTypeError, Sources.length, sinks.number),
        (WrongTypeError, sources.springs, sinks.number),
        (WrongTypeError, sources, sinks.number),
        (WrongTypeError, sources.length, Sinks.number),
        (WrongTypeError, sources.length, "sinks.number"),
        (NodeKindError, sources.length, sinks.mass),
        (NodeKindError, sources.length, sources.word),
        (NodeKindError, sinks.number, sources.length),
        (ForeignNodeError, foreign.length, sinks.number),
        (ForeignNodeError, other.q, sinks.number),
        (ForeignNodeError, sources.length, foreign.vector),
        (ComputeSignatureError, lambda: 1.0, sinks.number),
    ]
    for kind, source, port in refusals:
        with pytest.raises(kind):
            connect(source, port)
    assert isinstance(sources.springs, Family)
    with pytest.raises(WrongTypeError, match=r"sinks\.number: its fixed value does not fit"):
        system.fix(sinks.number, "x")  # type: ignore[misc]
    with pytest.raises(InputError, match="cannot be disconnected"):
        system.disconnect(sinks.number)
    others: list[tuple[type[Exception], Any]] = [
        (WrongTypeError, Sinks.number),
        (NodeKindError, sinks.mass),
        (ForeignNodeError, foreign.vector),
    ]
    for kind, port in others:
        with pytest.raises(kind):
            system.disconnect(port)
    system.connect(sources.length, sinks.number)
    for again in (
        lambda: connect(sources.length, sinks.number),
        lambda: system.fix(sinks.number, 1.0),
    ):
        with pytest.raises(InputError, match="has a source already") as caught:
            again()
        assert "sources.length" in caught.value.got
    assert system.connections[sinks.number] is sources.length


def test_an_input_is_not_assigned_and_its_declaration_is_checked() -> None:
    system, _, cart = loop()
    with pytest.raises(DeclaredNameError) as caught:
        cart.force = 3.0  # type: ignore[assignment]
    assert "system.fix(cart.force, value)" in caught.value.hint
    assert system.connections
    with pytest.raises(WrongTypeError, match="not a type"):
        input_port(1.0)  # type: ignore[call-overload]
    for unknown in (Any, SupportsClose):
        with pytest.raises(WrongTypeError, match="cannot be told from others"):
            input_port(unknown)
    with pytest.raises(WrongTypeError, match="its default does not fit"):
        input_port(float, default="x")
    with pytest.raises(WrongTypeError, match="its default does not fit"):
        input_port(float, default=10**400)
    with pytest.raises(WrongTypeError, match="not an array of floats"):
        input_port(int, shape=3)
    with pytest.raises(StageOutOfRangeError):
        input_port(float, invalidates=Stage.INSTANCE)


def test_connecting_is_a_change_of_topology_that_a_computation_cannot_make() -> None:
    class Meddler(Subsystem):
        force = input_port(float, default=1.0)

        def realize_report(self, state: State) -> None:
            self.system.fix(self.force, 2.0)

    system = System(meddler := Meddler())
    state = system.new_state()
    with pytest.raises(ConstModelError, match=r"meddler\.force"):
        system.realize(state)
    system.fix(meddler.force, 2.0)
    with pytest.raises(TopologyVersionError, match=r"meddler\.force was fixed"):
        system.realize(state)

    class Early(Meddler):
        def realize_topology(self, state: State) -> None:
            self.system.fix(self.force, 2.0)

    with pytest.raises(ConstModelError, match=r"^fix\(\): refused"):
        System(Early()).new_state()


def test_disconnecting_is_a_change_of_topology_that_a_hook_cannot_make() -> None:
    class Meddler(Subsystem):
        force = input_port(float, default=1.0)

        def realize_report(self, state: State) -> None:
            self.system.disconnect(self.force)

    class Early(Meddler):
        def realize_topology(self, state: State) -> None:
            self.system.disconnect(self.force)

    system = System(meddler := Meddler())
    system.fix(meddler.force, 2.0)
    state = system.new_state()
    with pytest.raises(ConstModelError, match=r"the source of meddler\.force"):
        system.realize(state)
    assert meddler.force(state) == 2.0
    system = System(early := Early())
    system.fix(early.force, 2.0)
    with pytest.raises(ConstModelError, match=r"^disconnect\(\): refused"):
        system.new_state()


# ---------------------------------------------------------------------- everything else


def test_states_are_saved_and_pickled_with_fixed_values_by_name(tmp_path: Path) -> None:
    system, _, cart = loop()
    wind = wind_of(system, cart)
    state = system.new_state()
    wind.set(state, 4.0)
    system.realize(state)
    state.save(tmp_path / "state", cache=True)
    loaded = load_state(tmp_path / "state", system)
    assert wind(loaded) == 4.0
    assert cart.push.is_valid(loaded)
    assert cart.push(loaded) == cart.push(state)
    other, _, another = loop()
    again = load_state(tmp_path / "state", other)
    assert wind_of(other, another)(again) == 4.0
    other.connect(another.place, another.wind)
    with pytest.raises(LayoutMismatchError, match=r"cart\.wind\.fixed"):
        load_state(tmp_path / "state", other)
    twin: Any = where_it_is_unknown(pickle.dumps(state))
    assert twin.system is not system
    cart = twin.system["cart"]
    assert (cart.wind(twin), cart.push(twin)) == (4.0, (-1.5 + 4.0) / 2.0)
    assert twin.system.connections[cart.force] is twin.system["controller"].force
    assert pickle.loads(pickle.dumps(wind)) is wind


def test_views_and_questions_show_the_input_between_its_source_and_its_readers() -> None:
    system, controller, cart = loop()
    state = system.new_state()
    cart.push(state)
    view = system.graph
    node = view["cart.force"]
    assert (node.kind, node.variant, node.subsystem) == ("entry", "input", "cart")
    assert node.file.endswith("test_ports.py")
    assert view["cart.wind.fixed"].kind == "variable"
    path = ["controller.gain", "controller.force", "cart.force", "cart.push"]
    assert state.impact(controller.gain).by_prerequisite == tuple(path[1:])
    controller.gain.set(state, 3.0)
    assert list(state.explain(cart.push).path) == path
    unit = system.units
    assert unit["controller.angle"] == "rad"


def test_a_linear_model_moves_a_fixed_input() -> None:
    system, _, cart = loop()
    state = system.new_state()
    for which in (cart.wind, "cart.wind", wind_of(system, cart)):
        model = linearize(system, state, inputs=(which,))
        assert model.B.round(6).tolist() == [[0.0], [0.5], [0.0], [0.0]]
        assert model.inputs == ("cart.wind.fixed",)
    with pytest.raises(NodeKindError, match=r"cart\.force"):
        linearize(system, state, inputs=(cart.force,))


def test_the_testing_kit_and_strict_mode_check_a_model_with_inputs() -> None:
    system, _, _ = loop()
    assert check_all(system, settings=Settings(max_examples=8, database=None), seed=1)


def test_a_profile_does_not_suggest_to_change_an_input() -> None:
    system, _, cart = loop()
    wind = wind_of(system, cart)

    def run(state: State) -> None:
        for _ in range(10):
            wind.set(state, 1.0)
            cart.push(state)

    found = profile(system, run)
    assert [entry.suggestion for entry in found.entries if entry.entry == "cart.wind"] == [""]
