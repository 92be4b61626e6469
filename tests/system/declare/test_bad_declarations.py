"""What a Subsystem must not declare, and what must not be done with it: each refused by name."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
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
from stagecache.errors import (
    AdoptionError,
    ComputeSignatureError,
    ConstModelError,
    CycleError,
    DeclarationError,
    DeclaredNameError,
    DuplicateNameError,
    DuplicatePrerequisiteError,
    ForeignNodeError,
    NotANumberError,
    NoValueError,
    OutOfRangeError,
    PrerequisiteStageError,
    ShapeError,
    StagecacheError,
    StageOutOfRangeError,
    StageTooLowError,
    WrongTypeError,
)
from tests.system.models import Joint, state_of

ANGLE = q_variable(1.0)


def one(self: Any, state: State) -> float:
    return 1.0


# ---------------------------------------------------------------------- in the topology


def topology_error(error: type[StagecacheError], *subsystems: Subsystem) -> StagecacheError:
    """What realize_topology raises, after which the topology is not realized."""
    system = System(*subsystems)
    for _ in range(2):
        with pytest.raises(error) as caught:
            system.realize_topology()
        assert not system.topology_has_been_realized
        with pytest.raises(StageTooLowError):
            system.default_state  # noqa: B018  # the read is what raises
    return caught.value


def entry_of(prerequisites: Any, **settings: Any) -> Subsystem:
    """A subsystem "reader" with x, which is a q, and an entry of these prerequisites."""
    declare: Any = cached(prerequisites=prerequisites, **settings)
    body = {"x": q_variable(1.0), "e": declare(one)}
    reader: Subsystem = type("Reader", (Subsystem,), body)()
    return reader


def test_a_prerequisite_of_a_subsystem_that_is_not_in_the_system_is_refused() -> None:
    lost = Joint([])
    error = topology_error(ForeignNodeError, entry_of(lambda self: (lost.tip,)))
    assert isinstance(error, ValueError)
    assert "reader.e" in error.what
    assert "joint.tip" in error.got
    assert "adopt" in error.hint


def test_a_prerequisite_of_another_system_is_refused() -> None:
    foreign = Joint([])
    other = System(foreign, name="elsewhere")
    for handle in (foreign.tip, foreign.angle, foreign.q, other.q, other.time):
        error = topology_error(ForeignNodeError, entry_of(lambda self, h=handle: (h,)))
        assert "reader.e" in error.what
        assert "elsewhere" in error.got


def test_a_prerequisite_that_is_allocated_by_hand_is_refused() -> None:
    handle = State().variable("q")
    state = State()
    state.add_subsystem()
    block = state[0].allocate_q([1.0])
    for h in (handle, block):
        error = topology_error(ForeignNodeError, entry_of(lambda self, h=h: (h,)))
        assert "reader.e" in error.what


def test_a_prerequisite_that_comes_at_a_later_stage_is_refused() -> None:
    class Late(Subsystem):
        @cached(available_from=Stage.DYNAMICS)
        def force(self, state: State) -> float:
            return 1.0

        @cached(available_from=Stage.POSITION, prerequisites=(force,))
        def place(self, state: State) -> float:
            return 1.0

    error = topology_error(PrerequisiteStageError, Late())
    assert isinstance(error, ValueError)
    assert "late.place" in error.what
    assert "late.force" in error.got
    assert "Dynamics" in error.got
    assert "available_from=Stage.DYNAMICS" in error.hint


def test_an_entry_that_is_to_be_computed_before_it_can_be_is_refused() -> None:
    class Early(Subsystem):
        @cached(available_from=Stage.DYNAMICS)
        def force(self, state: State) -> float:
            return 1.0

        @cached(computed_by=Stage.POSITION, prerequisites=(force,))
        def place(self, state: State) -> float:
            return 1.0

    error = topology_error(PrerequisiteStageError, Early())
    assert "early.place" in error.what
    assert "computed_by=Stage.DYNAMICS" in error.hint


def test_a_cycle_across_subsystems_is_refused_with_its_path() -> None:
    class Ring(Subsystem):
        after: "Ring"

        @cached(prerequisites=lambda self: (self.after.link,))
        def link(self, state: State) -> float:
            return 1.0

    a, b, c = Ring(), Ring(), Ring()
    a.after, b.after, c.after = b, c, a
    system = System(a=a, b=b, c=c)
    with pytest.raises(CycleError, match="depends on itself") as caught:
        system.realize_topology()
    assert isinstance(caught.value, ValueError)
    path = caught.value.path
    assert path[0] == path[-1]
    assert "".join(p[0] for p in path[:-1]) in ("abc", "bca", "cab")
    assert " -> ".join(path) in caught.value.got
    assert not system.topology_has_been_realized


def test_an_entry_that_names_itself_is_refused() -> None:
    error = topology_error(CycleError, entry_of(lambda self: (self.e,)))
    assert "reader.e -> reader.e" in error.got


@pytest.mark.parametrize("value", [1.0, "x", Joint, None, lambda state: 1.0])
def test_a_prerequisite_that_is_no_handle_is_refused(value: object) -> None:
    error = topology_error((WrongTypeError), entry_of(lambda self: (self.x, [value][0])))
    assert isinstance(error, TypeError)
    assert "reader.e" in error.what


def test_prerequisites_that_are_none_are_refused() -> None:
    for bad in (None, 3):
        error = topology_error(WrongTypeError, entry_of(lambda self, bad=bad: bad))
        assert isinstance(error, TypeError)
        assert "reader.e" in error.what
    error = topology_error(WrongTypeError, entry_of(lambda self: self.x))
    assert "comma" in error.hint


def test_a_prerequisite_that_is_named_twice_is_refused() -> None:
    twice = entry_of(lambda self: (self.x, self.system.time, self.x))
    error = topology_error(DuplicatePrerequisiteError, twice)
    assert isinstance(error, ValueError)
    assert error.got == "reader.x repeatedly"


def test_a_declaration_of_another_class_is_no_prerequisite() -> None:
    error = topology_error(DeclarationError, entry_of((Joint.tip,)))
    assert isinstance(error, TypeError)
    assert "reader.e" in error.what
    assert "Joint.tip" in error.got
    assert "lambda self" in error.hint


def test_an_item_that_was_not_declared_as_an_attribute_is_no_prerequisite() -> None:
    topology_error(DeclarationError, entry_of((q_variable(1.0),)))


def test_an_exception_of_a_function_of_the_author_comes_through() -> None:
    class Odd(Subsystem):
        x = parameter(factory=lambda self: self.missing)

    with pytest.raises(AttributeError, match="missing"):
        System(Odd()).realize_topology()

    class Odder(Subsystem):
        x = q_variable(factory=lambda self, state: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        System(Odder()).realize_topology()


def test_an_exception_of_a_sizing_function_names_whose_it_is() -> None:
    class Negative(Subsystem):
        n = modeling_option(-1)
        x = q_variable(factory=lambda self, state: np.zeros(self.n(state)))

    class Failing(Subsystem):
        @position_error(size=lambda self, state: 1 // 0)
        def rod(self, state: State) -> float:
            return 1.0

    for subsystem, error, name in [
        (Negative(), ValueError, "negative.x"),
        (Failing(), ZeroDivisionError, "failing.rod"),
    ]:
        system = System(subsystem)
        with pytest.raises(error) as caught:
            system.realize(system.new_state(), Stage.INSTANCE)
        assert [name in note for note in caught.value.__notes__] == [True]


def test_an_update_that_is_computed_by_model_does_not_depend_on_q() -> None:
    class Early(Subsystem):
        x = q_variable(1.0)
        mode = auto_update(1.0, invalidates=Stage.REPORT, available_from=Stage.MODEL)

        @mode.update(prerequisites=(x,))
        def next_mode(self, state: State) -> float:
            return self.x(state)

    error = topology_error(PrerequisiteStageError, Early())
    assert "early.mode.update" in error.what


@pytest.mark.parametrize("kind", [q_variable, u_variable, z_variable])
def test_of_the_variables_only_q_u_and_z_cannot_be_above_what_is_computed_by_model(
    kind: Callable[[float], Any],
) -> None:
    class Early(Subsystem):
        mass = parameter(2.0)
        x = kind(1.0)

        @cached(prerequisites=lambda self: (self.system.time, self.mass), computed_by=Stage.MODEL)
        def weight(self, state: State) -> float:
            return self.mass(state) + state.time

    class TooEarly(Early):
        @cached(prerequisites=(Early.mass, Early.x), computed_by=Stage.MODEL)
        def place(self, state: State) -> float:
            return float(self.x(state))

    early = Early()
    assert early.weight(state_of(early)) == 2.0
    error = topology_error(PrerequisiteStageError, TooEarly())
    assert "early.place: is computed by Model" in error.what


def test_a_factory_that_returns_no_numbers_is_refused() -> None:
    def returning(value: Any) -> Subsystem:
        class Odd(Subsystem):
            x = q_variable(factory=lambda self, state: value)

        return Odd()

    for value in ("text", None, [1, "x"]):
        assert "odd.x" in topology_error(NotANumberError, returning(value)).what
    assert "odd.x" in topology_error(ShapeError, returning([[1.0]])).what


def test_a_size_or_a_count_that_is_none_is_refused() -> None:
    class Odd(Subsystem):
        @position_error(size=lambda self, state: -1)
        def rod(self, state: State) -> float:
            return 1.0

    system = System(Odd())
    state = system.new_state()
    with pytest.raises(OutOfRangeError, match=r"odd\.rod"):
        system.realize(state, Stage.INSTANCE)
    assert state.stage is Stage.MODEL

    class Odder(Subsystem):
        springs = parameter(1.0, count=lambda self: 1.5)  # type: ignore[arg-type, return-value]

    error = topology_error(OutOfRangeError, Odder())
    assert isinstance(error, ValueError)
    assert "odder.springs" in error.what


# ---------------------------------------------------------------------- two of one name


def test_two_subsystems_of_one_name_are_refused() -> None:
    with pytest.raises(DuplicateNameError, match="'joint'") as caught:
        System(Joint([])).add(Joint([]), "joint")
    assert caught.value.hint


def test_a_refused_system_leaves_its_subsystems_named() -> None:
    with pytest.raises(DuplicateNameError, match="'x'"):
        System(Joint([]), x=Joint([])).add(Joint([]), "x")


# ---------------------------------------------------------------------- None, and what is stored


def test_none_is_no_value_unless_it_is_promised() -> None:
    class Forgetful(Subsystem):
        x = q_variable(1.0)

        @cached(prerequisites=(x,))
        def tip(self, state: State) -> float:  # type: ignore[return]  # as it happens
            self.x(state)

        @cached(prerequisites=(x,))
        def bare(self, state):  # type: ignore[no-untyped-def]
            self.x(state)

    forgetful = Forgetful()
    state = state_of(forgetful)
    for entry in (forgetful.tip, forgetful.bare):
        for _ in range(2):
            with pytest.raises(NoValueError, match=str(entry)) as caught:
                entry(state)
            assert isinstance(caught.value, ValueError)
            assert "return" in caught.value.hint
            assert not entry.is_valid(state)


def test_none_is_no_value_of_errors_and_updates() -> None:
    class Forgetful(Subsystem):
        latched = auto_update(1.0, invalidates=Stage.VELOCITY, available_from=Stage.POSITION)

        @latched.update
        def next_latched(self, state: State) -> float:  # type: ignore[empty-body]  # as it happens
            pass

    class Odd(Subsystem):
        @position_error()
        def rod(self, state: State) -> float:  # type: ignore[empty-body]  # as it happens
            pass

    for subsystem, name in [
        (Forgetful(), r"forgetful\.(next_latched|latched\.update)"),
        (Odd(), r"odd\.rod"),
    ]:
        state = state_of(subsystem)
        with pytest.raises(NoValueError, match=name):
            state.system.realize(state)
        assert state.stage is Stage.TIME


@pytest.mark.parametrize("promised", [Any, "Any", float | None, object])
@pytest.mark.parametrize("name", ["rod", "rate", "slope", "bell"])
def test_none_is_never_a_value_of_rows_and_jacobians(name: str, promised: object) -> None:
    def nothing(self: Any, state: State) -> Any:
        return None

    nothing.__annotations__["return"] = promised
    rod = position_error()(one)
    declared: dict[str, dict[str, Any]] = {
        "rod": {"rod": position_error()(nothing)},
        "rate": {"rod": rod, "rate": rod.velocity(nothing)},
        "slope": {"rod": rod, "slope": rod.jacobian(nothing)},
        "bell": {"bell": event_trigger(stage=Stage.TIME)(nothing)},
    }
    subsystem = type("Odd", (Subsystem,), declared[name])()
    with pytest.raises(NoValueError, match=rf"odd\.{name}"):
        getattr(subsystem, name)(state_of(subsystem, stage=Stage.REPORT))


def test_an_assignment_to_a_declared_name_names_set() -> None:
    class Pendulum(Subsystem):
        length = parameter(1.0)
        masses = parameter(1.0, count=2)
        latched = auto_update(1.0, invalidates=Stage.VELOCITY, available_from=Stage.TIME)

        @cached(prerequisites=(length,))
        def tip(self, state: State) -> float:
            return self.length(state)

    pendulum: Any = Pendulum()
    for _ in range(2):
        for name in ("length", "masses", "latched"):
            with pytest.raises(DeclaredNameError, match=rf"pendulum\.{name}") as caught:
                setattr(pendulum, name, 2.0)
            assert isinstance(caught.value, AttributeError)
            assert ".set(state, value)" in caught.value.hint
        with pytest.raises(DeclaredNameError, match=r"pendulum\.tip") as caught:
            pendulum.tip = 2.0
        assert ".set(" not in caught.value.hint
        with pytest.raises(DeclaredNameError):
            del pendulum.length
        with pytest.raises(DeclaredNameError, match=r"pendulum\.q") as caught:
            pendulum.q = 2.0
        assert "pendulum.q.set(state, value)" in caught.value.hint
        if not pendulum.is_adopted:
            System(pendulum).realize_topology()
    assert pendulum.system.topology_has_been_realized
    assert pendulum.length(pendulum.system.default_state) == 1.0


def test_storing_on_self_during_a_computation_is_refused() -> None:
    class Storing(Subsystem):
        x = q_variable(1.0)
        last: float

        @cached(prerequisites=(x,))
        def tip(self, state: State) -> float:
            self.last = self.x(state)
            return self.last

    storing = Storing()
    state = state_of(storing)
    with pytest.raises(ConstModelError, match=r"storing\.last") as caught:
        storing.tip(state)
    assert isinstance(caught.value, AttributeError)
    assert "@cached" in caught.value.hint
    assert not hasattr(storing, "last")
    assert not storing.tip.is_valid(state)
    assert state.system.topology_has_been_realized
    assert state.system.topology_cache_version == 1


def test_storing_on_another_subsystem_during_a_computation_is_refused() -> None:
    class Storing(Subsystem):
        other: Any

        @cached(prerequisites=())
        def tip(self, state: State) -> float:
            self.other.label = "x"
            return 1.0

    storing, joint = Storing(), Joint([])
    storing.other = joint
    state = state_of(storing, joint)
    with pytest.raises(ConstModelError, match=r"joint\.label"):
        storing.tip(state)


def test_an_entry_that_reads_a_variable_above_its_stage_is_told_so() -> None:
    class Hasty(Subsystem):
        x = q_variable(1.0)

        @cached(available_from=Stage.TOPOLOGY, computed_by=Stage.TOPOLOGY)
        def tip(self, state: State) -> float:
            return self.x(state)

        @cached(available_from=Stage.POSITION)
        def rate(self, state: State) -> float:
            return float(state.qdot[0])

    with pytest.raises(StageTooLowError, match="subsystem 1 'hasty'") as caught:
        System(Hasty()).realize_topology()
    assert "Model" in caught.value.expected

    class Later(Subsystem):
        x = q_variable(1.0)

        @cached(available_from=Stage.POSITION)
        def rate(self, state: State) -> float:
            return float(state.qdot[0])

    later = Later()
    state = state_of(later, stage=Stage.POSITION)
    with pytest.raises(StageTooLowError, match="qdot"):
        later.rate(state)
    assert not later.rate.is_valid(state)


# ---------------------------------------------------------------------- names


@pytest.mark.parametrize(
    "name", ["q", "time", "name", "index", "system", "version", "realize_model", "declarations"]
)
def test_a_declared_name_that_hides_an_attribute_of_subsystem_is_refused(name: str) -> None:
    with pytest.raises(DeclarationError, match=rf"Bad\.{name}") as caught:
        type("Bad", (Subsystem,), {name: parameter(1.0)})
    assert isinstance(caught.value, TypeError)
    assert name in caught.value.hint


def test_a_declared_name_is_not_hidden_by_something_else() -> None:
    class Good(Subsystem):
        size = parameter(1.0)

    for other in (3.0, one, property(lambda self: 1)):
        with pytest.raises(DeclarationError, match=r"Worse\.size") as caught:
            type("Worse", (Good,), {"size": other})
        assert "Good.size" in caught.value.expected


def test_one_declaration_does_not_have_two_names() -> None:
    shared = parameter(1.0)
    with pytest.raises(DeclarationError, match="two names"):
        type("Twice", (Subsystem,), {"a": shared, "b": shared})


def test_a_derivative_of_another_level_is_refused() -> None:
    for errors, level in [(velocity_error, "velocity"), (acceleration_error, "acceleration")]:
        declared = errors()(one)
        with pytest.raises(DeclarationError, match=level):
            getattr(declared, level)(one)


class Linked(Subsystem):
    """Items that others belong to."""

    mode = auto_update(1.0, invalidates=Stage.POSITION, available_from=Stage.TIME)

    @mode.update
    def next_mode(self, state: State) -> float:
        return self.mode(state) + 1

    @position_error()
    def rod(self, state: State) -> float:
        return 1.0

    @rod.velocity
    def rate(self, state: State) -> float:
        return 2.0

    @rod.acceleration
    def acceleration(self, state: State) -> float:
        return 3.0

    @rod.jacobian
    def slope(self, state: State) -> list[list[float]]:
        return [[]]

    @event_trigger(stage=Stage.TIME)
    def bell(self, state: State) -> float:
        return 4.0


BELONGING: dict[str, Callable[[Any], object]] = {
    "next_mode": Linked.mode.update,
    "rate": Linked.rod.velocity,
    "acceleration": Linked.rod.acceleration,
    "slope": Linked.rod.jacobian,
}


@pytest.mark.parametrize("name", BELONGING)
def test_one_function_belongs_to_an_item_in_each_role(name: str) -> None:
    declare = BELONGING[name]
    with pytest.raises(DeclarationError, match=r"Two\.another") as caught:
        type("Two", (Linked,), {"another": declare(one)})
    assert isinstance(caught.value, TypeError)
    assert repr(name) in caught.value.hint
    state_of(type("Better", (Linked,), {name: declare(one)})())  # which replaces that one


@pytest.mark.parametrize(
    ("item", "other", "name"),
    [
        ("mode", parameter(2.0), "next_mode"),
        ("mode", discrete(2.0, invalidates=Stage.POSITION), "next_mode"),
        ("rod", velocity_error()(one), "rate"),
        ("rod", acceleration_error()(one), "rate"),
        ("rod", cached(available_from=Stage.TIME)(one), "rate"),
        ("rod", parameter(2.0), "rate"),
    ],
)
def test_an_override_keeps_what_belongs_to_the_item(item: str, other: object, name: str) -> None:
    with pytest.raises(DeclarationError, match=rf"Other\.{name}") as caught:
        type("Other", (Linked,), {item: other})
    assert f"Linked.{item}" in caught.value.expected


ROLES: dict[str, Callable[[], Any]] = {
    "update": lambda: (
        auto_update(1.0, invalidates=Stage.POSITION, available_from=Stage.TIME).update
    ),
    "velocity": lambda: position_error()(one).velocity,
    "acceleration": lambda: position_error()(one).acceleration,
    "jacobian": lambda: position_error()(one).jacobian,
    "handler": lambda: event_trigger(stage=Stage.TIME)(one).handler,
}


@pytest.mark.parametrize("role", ROLES)
def test_a_function_does_not_hide_the_item_to_which_it_belongs(role: str) -> None:
    """As with ``@x.setter def x``, where it would be right."""

    def item(self: Any, state: State) -> float:
        return 1.0

    with pytest.raises(DeclarationError, match=rf"Hiding\.item: its {role}") as caught:
        type("Hiding", (Subsystem,), {"item": ROLES[role]()(item)})
    assert f"item_{role}" in caught.value.hint


def test_a_setattr_that_notices_no_change_is_refused() -> None:
    @attrs.define(slots=False)
    class Converting(Subsystem):
        factor: float = attrs.field(default=1.0, converter=float)

    class Derived(Converting):
        pass

    for subsystem in (Converting(), Derived()):
        with pytest.raises(AdoptionError, match="cannot be added") as caught:
            System(subsystem)
        assert "NO_OP" in caught.value.hint


def test_a_second_handler_is_refused() -> None:
    bell = event_trigger(stage=Stage.TIME)(one)
    bell.handler(one)
    with pytest.raises(DeclarationError, match="handler"):
        bell.handler(one)


# ---------------------------------------------------------------------- arguments

CALLS: dict[str, tuple[Callable[..., object], type[StagecacheError], type[Exception]]] = {
    "no value": (parameter, DeclarationError, TypeError),
    "two values": (
        lambda: parameter(1.0, factory=lambda self: 1.0),  # type: ignore[call-overload]
        DeclarationError,
        TypeError,
    ),
    "no factory": (lambda: q_variable(factory=3), DeclarationError, TypeError),  # type: ignore[call-overload]
    "no option": (modeling_option, DeclarationError, TypeError),
    "text": (lambda: q_variable(["x"]), NotANumberError, TypeError),
    "matrix": (lambda: u_variable([[1.0]]), ShapeError, ValueError),
    "infinity": (lambda: discrete(1, invalidates=Stage.INFINITY), StageOutOfRangeError, ValueError),
    "topology": (lambda: discrete(1, invalidates=Stage.TOPOLOGY), StageOutOfRangeError, ValueError),
    "no stage": (lambda: discrete(1, invalidates="Time"), StageOutOfRangeError, ValueError),  # type: ignore[call-overload]
    "time": (
        lambda: auto_update(1, invalidates=Stage.TIME, available_from=Stage.TIME),
        StageOutOfRangeError,
        ValueError,
    ),
    "late": (
        lambda: auto_update(1, invalidates=Stage.REPORT, available_from=Stage.INFINITY),
        StageOutOfRangeError,
        ValueError,
    ),
    "nothing": (lambda: cached()(one), DeclarationError, TypeError),
    "one": (lambda: cached(prerequisites=ANGLE)(one), WrongTypeError, TypeError),  # type: ignore[call-overload]
    "string": (lambda: cached(prerequisites="angle")(one), WrongTypeError, TypeError),  # type: ignore[arg-type]
    "empty": (lambda: cached(available_from=Stage.EMPTY)(one), StageOutOfRangeError, ValueError),
    "order": (
        lambda: cached(available_from=Stage.TIME, computed_by=Stage.MODEL)(one),
        StageOutOfRangeError,
        ValueError,
    ),
    "function": (lambda: cached(prerequisites=())(3), WrongTypeError, TypeError),  # type: ignore[arg-type]
    "arguments": (
        lambda: cached(prerequisites=())(lambda self: 1),  # type: ignore[arg-type, misc]
        ComputeSignatureError,
        TypeError,
    ),
    "family": (
        lambda: cached(count=2, prerequisites=())(one),  # type: ignore[arg-type]
        ComputeSignatureError,
        TypeError,
    ),
    "count": (lambda: parameter(1.0, count=-1), OutOfRangeError, ValueError),
    "half": (lambda: q_variable(1.0, count=1.5), OutOfRangeError, ValueError),  # type: ignore[call-overload]
    "stage of family": (
        lambda: discrete(1, invalidates=Stage.EMPTY, count=2),
        StageOutOfRangeError,
        ValueError,
    ),
    "size": (lambda: position_error(size=-1)(one), OutOfRangeError, ValueError),
    "no triggers": (lambda: event_trigger(stage=Stage.TIME, size=0), OutOfRangeError, ValueError),
    "report": (lambda: event_trigger(stage=Stage.REPORT), StageOutOfRangeError, ValueError),
    "direction": (
        lambda: event_trigger(stage=Stage.TIME, direction="up"),
        DeclarationError,
        TypeError,
    ),
    "handler": (
        lambda: event_trigger(stage=Stage.TIME)(one).handler(lambda self: None),
        ComputeSignatureError,
        TypeError,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_argument_is_refused_where_it_is_given(name: str) -> None:
    call, error, builtin = CALLS[name]
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, builtin)
    assert all((caught.value.what, caught.value.expected, caught.value.got, caught.value.hint))


# ---------------------------------------------------------------------- reads


@pytest.mark.parametrize("bad", [None, 3, State, "state"])
def test_a_handle_is_called_with_a_state(bad: Any) -> None:
    joint = Joint([])
    state_of(joint)
    for call in (joint.tip, joint.angle, joint.length, joint.q, joint.tip.is_valid):
        with pytest.raises(WrongTypeError, match="not a State") as caught:
            call(bad)
        assert isinstance(caught.value, TypeError)
    with pytest.raises(WrongTypeError):
        joint.length.set(bad, 1.0)


def test_a_partition_is_no_state() -> None:
    joint = Joint([])
    state = state_of(joint)
    with pytest.raises(WrongTypeError, match="not a State") as caught:
        joint.length(state[joint])  # type: ignore[arg-type]  # is refused
    assert "whole State" in caught.value.hint


def test_a_handler_that_hides_a_declared_item_is_refused() -> None:
    class Base(Subsystem):
        x = q_variable(1.0)
        stop = parameter(2.0)

    with pytest.raises(DeclarationError, match="hides a declared item"):

        class Derived(Base):
            @event_trigger(stage=Stage.POSITION)
            def hit(self, state: State) -> float:
                return self.x(state)

            @hit.handler
            def stop(self, state: State) -> None:  # type: ignore[override]  # is refused
                pass


def test_cached_without_parentheses_is_refused() -> None:
    def tip(self: Subsystem, state: State) -> float:
        return 1.0

    with pytest.raises(DeclarationError, match="without parentheses"):
        cached(tip)  # type: ignore[call-overload]  # is refused


def test_a_name_among_prerequisites_is_refused_whole() -> None:
    class Named(Subsystem):
        @cached(prerequisites=lambda self: ("position",))  # type: ignore[arg-type]  # is refused
        def tip(self, state: State) -> float:
            return 1.0

    with pytest.raises(WrongTypeError, match="'position'"):
        System(Named()).realize_topology()


def test_a_declared_item_is_not_assigned_in_init_and_the_cure_says_how_to_begin() -> None:
    class Cart(Subsystem):
        mass = parameter(1.0)

        def __init__(self, mass: float) -> None:
            self.mass = mass  # type: ignore[assignment]  # is refused

    with pytest.raises(DeclaredNameError) as caught:
        Cart(2.0)
    assert "factory=lambda self: self.first_mass" in caught.value.hint
