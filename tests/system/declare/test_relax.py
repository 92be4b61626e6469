"""Fast variables: relax moves them to known equilibria, or leaves the State as it was."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    discrete,
    modeling_option,
    parameter,
    q_variable,
    strict,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    ComputeSignatureError,
    DeclarationError,
    EquilibriumError,
    NotANumberError,
    NoValueError,
    OutOfRangeError,
    PrerequisiteStageError,
    ReadOnlyError,
    ShapeError,
    StageOutOfRangeError,
    WrongTypeError,
)
from stagecache.state.handles import Vector
from stagecache.system.declare.fast_variables import relax
from stagecache.testing import check_coherence
from tests.profiles import examples
from tests.system.models import state_of

INSTANCE, TIME, POSITION, VELOCITY = Stage.INSTANCE, Stage.TIME, Stage.POSITION, Stage.VELOCITY
DYNAMICS, ACCELERATION = Stage.DYNAMICS, Stage.ACCELERATION


class Chain(Subsystem):
    """Springs between two walls, with a load on each joint; linear, or hardening by a cubic term.

    ::

        wall --k0-- x0 --k1-- x1 ... xn-1 --kn-- wall
    """

    load = parameter(1.0)
    hardening = parameter(0.0)

    def __init__(self, stiffness: list[float]) -> None:
        self.stiffness = np.array(stiffness)
        self.calls: list[int] = []

    joints = q_variable(factory=lambda self, state: np.zeros(len(self.stiffness) - 1))
    speed = u_variable(0.5)

    @joints.equilibrium(stage=POSITION)
    def balance(self, state: State) -> Vector:
        self.calls.append(1)
        stretch = np.diff(np.concatenate([[0.0], self.joints(state), [0.0]]))
        force = self.stiffness * stretch + self.hardening(state) * stretch**3
        return np.diff(force) + self.load(state)


stiffnesses = st.lists(st.floats(0.5, 5), min_size=1, max_size=8)


@examples(50)
@given(stiffnesses, st.floats(-3, 3))
def test_linear_springs_relax_to_the_solution_in_few_evaluations(
    stiffness: list[float], load: float
) -> None:
    chain = Chain(stiffness)
    state = state_of(chain)
    chain.load.set(state, load)
    n = len(stiffness) - 1
    matrix = np.zeros((n, n))
    for i in range(n):
        matrix[i, i] = stiffness[i] + stiffness[i + 1]
        if i:
            matrix[i, i - 1] = matrix[i - 1, i] = -stiffness[i]
    wanted = np.linalg.solve(matrix, np.full(n, load))
    is_moved = relax(state.system, state, POSITION, 1e-6)
    assert chain.joints(state) == pytest.approx(wanted, abs=1e-5)
    assert is_moved == bool(np.any(chain.joints(state)))
    assert state.stage == POSITION
    assert len(chain.calls) <= n + 4
    assert np.abs(chain.balance(state)).max(initial=0.0) <= 1e-6


@examples(50)
@given(st.floats(0.1, 5), st.just(0.0) | st.floats(0.1, 50), st.floats(-20, 20))
def test_a_hardening_spring_relaxes_to_the_root_of_its_cubic(
    stiffness: float, hardening: float, load: float
) -> None:
    chain = Chain([stiffness, stiffness])
    state = state_of(chain)
    chain.load.set(state, load)
    chain.hardening.set(state, hardening)
    relax(state.system, state, POSITION, 1e-9)
    roots = np.roots(
        [2 * hardening, 0, 2 * stiffness, -load] if hardening else [stiffness, -load / 2]
    )
    wanted = min(roots, key=lambda root: abs(root.imag)).real
    assert chain.joints(state)[0] == pytest.approx(wanted, abs=1e-6)


# ---------------------------------------------------------------------- several subsystems


class Part(Subsystem):
    """Fast variables of all kinds; residuals A (x - root) + (x - root)^3 over all of the System."""

    x = q_variable(0.0)
    speeds = u_variable((0.0, 0.0))
    wear = z_variable(0.0)
    level = discrete(0.0, invalidates=DYNAMICS)
    grid = discrete(np.zeros((2, 2)), invalidates=Stage.POSITION)
    links = q_variable(0.0, count=2)
    slack = parameter(0.0, count=2)
    slow = q_variable(3.0)
    later = z_variable(5.0)

    def __init__(self, bench: "Bench", number: int) -> None:
        self.bench = bench
        self.first = number * 13

    def unknowns(self, state: State) -> Vector:
        return np.concatenate(
            [
                [self.x(state)],
                self.speeds(state),
                [self.wear(state), self.level(state)],
                self.grid(state).reshape(-1),
                [link(state) for link in self.links],
                [slack(state) for slack in self.slack],
            ]
        )

    def _residuals(self, state: State, start: int, count: int) -> Vector:
        start += self.first
        return self.bench.residuals(state)[start : start + count]

    @x.equilibrium(stage=DYNAMICS)
    def x_balance(self, state: State) -> Vector:
        return self._residuals(state, 0, 1)

    @speeds.equilibrium(stage=DYNAMICS)
    def speeds_balance(self, state: State) -> Vector:
        return self._residuals(state, 1, 2)

    @wear.equilibrium(stage=DYNAMICS)
    def wear_balance(self, state: State) -> Vector:
        return self._residuals(state, 3, 1)

    @level.equilibrium(stage=DYNAMICS)
    def level_balance(self, state: State) -> Vector:
        return self._residuals(state, 4, 1)

    @grid.equilibrium(stage=DYNAMICS)
    def grid_balance(self, state: State) -> Vector:
        return self._residuals(state, 5, 4)

    @links.equilibrium(stage=DYNAMICS)
    def link_balance(self, state: State, i: int) -> Vector:
        return self._residuals(state, 9 + i, 1)

    @slack.equilibrium(stage=DYNAMICS)
    def slack_balance(self, state: State, i: int) -> Vector:
        return self._residuals(state, 11 + i, 1)

    @later.equilibrium(stage=ACCELERATION)
    def later_balance(self, state: State) -> float:
        return self.later(state) - 1


class Bench(Subsystem):
    """Where the conditions of all parts come from."""

    def __init__(self, matrix: Vector, root: Vector, cubic: float) -> None:
        self.matrix = matrix
        self.root = root
        self.cubic = cubic
        self.parts: list[Part] = []
        self.calls: list[int] = []

    @cached(available_from=DYNAMICS)
    def residuals(self, state: State) -> Vector:
        self.calls.append(1)
        off = np.concatenate([part.unknowns(state) for part in self.parts]) - self.root
        return self.matrix @ off + self.cubic * off**3


@examples(30)
@given(st.integers(1, 2), st.floats(0, 1), st.randoms(use_true_random=False))
def test_coupled_subsystems_relax_together_and_nothing_else_moves(
    count: int, cubic: float, random: Any
) -> None:
    n = 13 * count
    rng = np.random.default_rng(random.randint(0, 10**6))
    basis = rng.normal(size=(n, n)) / n
    matrix, root = basis @ basis.T + np.eye(n), rng.normal(size=n)
    bench = Bench(matrix, root, cubic)
    bench.parts += [Part(bench, i) for i in range(count)]
    named: dict[str, Any] = {f"part_{i}": part for i, part in enumerate(bench.parts)}
    system = System(bench, **named)
    state = system.new_state()
    assert relax(state.system, state, DYNAMICS, 1e-8)
    found = np.concatenate([part.unknowns(state) for part in bench.parts])
    assert found == pytest.approx(root, abs=1e-7)
    assert state.stage == DYNAMICS
    assert len(bench.calls) <= (n + 4 if cubic == 0 else 10 * n)
    for part in bench.parts:
        assert (part.slow(state), part.later(state)) == (3.0, 5.0)
        assert part.grid(state).shape == (2, 2)
    assert relax(state.system, state, ACCELERATION)
    assert [part.later(state) for part in bench.parts] == pytest.approx([1.0] * count, abs=1e-4)
    assert np.array_equal(np.concatenate([p.unknowns(state) for p in bench.parts]), found)


# ---------------------------------------------------------------------- what stays


def test_a_state_at_equilibrium_keeps_its_stages_and_versions() -> None:
    chain = Chain([1.0, 2.0, 3.0])
    state = state_of(chain)
    relax(state.system, state, POSITION, 1e-8)
    state.system.realize(state)
    versions, calls = state.stage_versions, len(chain.calls)
    version = chain.joints.version(state)
    assert not relax(state.system, state, POSITION, 1e-8)
    assert not relax(state.system, state, POSITION, 1e-3)
    assert state.stage == Stage.REPORT
    assert (state.stage_versions, chain.joints.version(state)) == (versions, version)
    assert len(chain.calls) == calls


def test_without_conditions_of_a_stage_it_is_only_realized() -> None:
    chain = Chain([1.0, 2.0])
    state = state_of(chain)
    assert not relax(state.system, state, VELOCITY)
    assert state.stage == VELOCITY
    assert not chain.calls


class Fast(Subsystem):
    """A fast number whose condition is told from outside."""

    is_driven = parameter(False)
    x = q_variable(2.0)
    other = q_variable(4.0)

    def __init__(self, condition: Callable[[float], Any]) -> None:
        self.condition = condition

    @x.prescribed(enabled=is_driven)
    def drive(self, state: State) -> float:
        return 0.0

    @x.equilibrium(stage=VELOCITY)
    def balance(self, state: State) -> Any:
        return self.condition(self.x(state))


def fails_but_at_start(x: float) -> float:
    if x != 2.0:
        raise LookupError("not at 2")
    return x


@pytest.mark.parametrize(
    ("condition", "error", "words"),
    [
        (lambda x: x**2 + 1, EquilibriumError, "fast.balance"),
        (lambda x: math.copysign(1.0, x), EquilibriumError, r"1 of it at best"),
        (lambda x: math.nan, NotANumberError, "fast.balance"),
        (lambda x: x if x == 2.0 else math.inf, EquilibriumError, "fast.balance"),
        (lambda x: [x, x], ShapeError, "fast.balance"),
        (lambda x: None, NoValueError, "fast.balance"),
        (fails_but_at_start, LookupError, "not at 2"),
    ],
)
@pytest.mark.parametrize("stage", [Stage.MODEL, POSITION, Stage.REPORT])
def test_a_failure_leaves_the_state_as_it_was(
    condition: Callable[[float], Any], error: type[Exception], words: str, stage: Stage
) -> None:
    fast = Fast(condition)
    state = state_of(fast, stage=stage)
    y, version = state.y.copy(), fast.x.version(state)
    with pytest.raises(error, match=words):
        relax(state.system, state, VELOCITY)
    assert np.array_equal(state.y, y)
    assert state.stage == stage
    assert fast.x.version(state) == version


def test_a_hard_start_is_mastered() -> None:
    for condition, wanted in (
        (lambda x: (x - 2) ** 3 - 8, 4.0),  # its derivative is 0 at the start
        (lambda x: math.atan(x + 3), -3.0),  # Newton's method diverges
        (lambda x: 1e6 * (x - 1e-3), 1e-3),
        (lambda x: math.inf if x < 0.5 else math.log(x / 0.75), 0.75),  # the first step is too long
        (lambda x: 0.1 / (x - 1.75) - 1 if x != 1.75 else 1 / 0, 1.85),
    ):
        fast = Fast(condition)
        state = state_of(fast)
        assert relax(state.system, state, VELOCITY, 1e-9)
        assert fast.x(state) == pytest.approx(wanted, rel=1e-6)
        assert fast.other(state) == 4.0


def test_what_is_prescribed_cannot_be_fast() -> None:
    fast = Fast(lambda x: x - 1)
    state = state_of(fast)
    fast.is_driven.set(state, True)
    with pytest.raises(EquilibriumError, match=r"fast\.x cannot be moved"):
        relax(state.system, state, VELOCITY)
    assert (fast.x(state), state.stage) == (2.0, Stage.MODEL)
    fast.is_driven.set(state, False)
    assert relax(state.system, state, VELOCITY)

    class Both(Subsystem):
        x = q_variable(0.0)

        @x.equilibrium(stage=POSITION)
        def balance(self, state: State) -> float:
            return 0.0

        @x.prescribed
        def drive(self, state: State) -> float:
            return 0.0

    with pytest.raises(DeclarationError, match=r"both\.balance"):
        System(Both()).realize_topology()


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("accuracy", [0.0, -1.0, math.nan, math.inf, "small", None, [1e-4]])
def test_an_accuracy_is_a_positive_number(accuracy: Any) -> None:
    state = state_of(Fast(lambda x: x))
    with pytest.raises((OutOfRangeError, NotANumberError, ShapeError), match="accuracy"):
        relax(state.system, state, VELOCITY, accuracy)
    assert state.stage == Stage.MODEL


@pytest.mark.parametrize("stage", [Stage.MODEL, Stage.INFINITY, "Position", None])
def test_a_stage_to_relax_is_one_of_runtime(stage: Any) -> None:
    state = state_of(Fast(lambda x: x))
    with pytest.raises(StageOutOfRangeError, match="relax"):
        relax(state.system, state, stage)


def test_a_default_state_is_not_moved() -> None:
    system = System(Fast(lambda x: x))
    system.realize_topology()
    with pytest.raises(ReadOnlyError):
        relax(system, system.default_state, VELOCITY)
    assert system.default_state.q[0] == 2.0


@pytest.mark.parametrize(
    ("variable", "stage", "error"),
    [
        (q_variable(0.0), TIME, DeclarationError),
        (u_variable(0.0), POSITION, DeclarationError),
        (z_variable(0.0), VELOCITY, DeclarationError),
        (discrete(0.0, invalidates=VELOCITY), POSITION, DeclarationError),
        (modeling_option(0.0), POSITION, DeclarationError),
        (q_variable(0.0, count=2), TIME, DeclarationError),
        (q_variable(0.0), Stage.MODEL, StageOutOfRangeError),
        (q_variable(0.0), Stage.INFINITY, StageOutOfRangeError),
        (q_variable(0.0), None, StageOutOfRangeError),
    ],
)
def test_a_condition_needs_a_stage_that_its_variable_invalidates(
    variable: Any, stage: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="equilibrium"):
        variable.equilibrium(stage=stage)


def test_decorators_check_their_arguments() -> None:
    x, family = q_variable(0.0), q_variable(0.0, count=2)
    with pytest.raises(DeclarationError, match="parentheses"):
        x.equilibrium(lambda self, state: 0.0, stage=POSITION)  # type: ignore[arg-type]  # refused
    with pytest.raises(WrongTypeError):
        x.equilibrium(stage=POSITION, prerequisites="x")  # type: ignore[arg-type]  # refused
    with pytest.raises(ComputeSignatureError):
        x.equilibrium(stage=POSITION)(lambda self: 0.0)
    with pytest.raises(ComputeSignatureError):
        family.equilibrium(stage=POSITION)(lambda self, state: 0.0)
    assert not hasattr(auto_update(0.0, invalidates=POSITION, available_from=TIME), "equilibrium")


def test_a_condition_cannot_depend_on_a_later_stage() -> None:
    class Late(Subsystem):
        x = q_variable(0.0)

        @cached(available_from=DYNAMICS)
        def force(self, state: State) -> float:
            return 0.0

        @x.equilibrium(stage=POSITION, prerequisites=(force,))
        def balance(self, state: State) -> float:
            return self.force(state)

    with pytest.raises(PrerequisiteStageError, match="balance"):
        System(Late()).realize_topology()


def test_a_fast_variable_holds_numbers() -> None:
    class Named(Subsystem):
        name_of_it = parameter("a")

        @name_of_it.equilibrium(stage=POSITION)
        def balance(self, state: State) -> float:
            return 0.0

    state = state_of(Named())
    with pytest.raises(NotANumberError, match=r"named\.name_of_it"):
        relax(state.system, state, POSITION)


# ---------------------------------------------------------------------- strict mode and coherence


class Damper(Subsystem):
    """A q whose condition reads a u, which does not invalidate Position."""

    x = q_variable(0.0)
    v = u_variable(2.0)

    @x.equilibrium(stage=POSITION, prerequisites=(v,))
    def balance(self, state: State) -> float:
        return self.x(state) - 3 * self.v(state)


def test_a_condition_may_read_a_later_variable_that_it_names() -> None:
    damper = Damper()
    state = state_of(damper)
    with strict(state):
        assert relax(state.system, state, POSITION)
        assert damper.x(state) == pytest.approx(6.0)
        damper.v.set(state, 1.0)
        assert relax(state.system, state, POSITION)
    assert damper.x(state) == pytest.approx(3.0)


def test_models_with_conditions_are_coherent() -> None:
    system = System(Damper(), Fast(lambda x: x**3 - 1), Chain([1.0, 2.0, 3.0]))
    result = check_coherence(system, settings=examples(20), seed=1)
    assert result.entries == result.computed == 4
