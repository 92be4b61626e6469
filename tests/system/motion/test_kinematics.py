"""Kinematics: products with N and its pseudoinverse are those of the explicit matrices."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.sparse import coo_array, csr_array

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    modeling_option,
    parameter,
    q_variable,
    strict,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    DeclarationError,
    KinematicsError,
    NotANumberError,
    NoValueError,
    PrerequisiteStageError,
    ShapeError,
    StageTooLowError,
    WrongTypeError,
)
from stagecache.state.handles import Vector
from stagecache.system.constraints.quaternions import quaternion_kinematics
from stagecache.system.motion.kinematics import kinematics
from stagecache.system.motion.matrix import checked_matrix, diagonal_blocks
from stagecache.system.motion.operators import (
    kinematic_blocks,
    multiply_by_n,
    multiply_by_n_pinv,
    multiply_by_n_pinv_transpose,
    multiply_by_n_transpose,
)
from tests.profiles import examples
from tests.system.models import state_of

POSITION, INSTANCE = Stage.POSITION, Stage.INSTANCE
OPERATORS = (
    multiply_by_n,
    multiply_by_n_transpose,
    multiply_by_n_pinv,
    multiply_by_n_pinv_transpose,
)
Operator = Callable[..., Vector]


# ---------------------------------------------------------------------- random models


@dataclass
class Piece:
    """Some q and u of a subsystem, and how they are related."""

    form: str  # "plain", "dense", "stack", "sparse", "quaternion" or "family"
    count: int  # of blocks; where the option decides, of those at first
    shape: tuple[int, int]  # of one block
    is_sized: bool  # whether the option decides how many there are
    has_pinv: bool
    seed: int


@dataclass
class Spec:
    """A subsystem: its pieces, and the order in which their variables are declared."""

    pieces: list[Piece]
    order: list[int]


@st.composite
def pieces(draw: st.DrawFn) -> Piece:
    forms = ["plain", "plain", "dense", "stack", "sparse", "quaternion", "family"]
    form = draw(st.sampled_from(forms))
    if form in ("quaternion", "family"):
        shape = (4, 3)
    elif form == "plain":
        shape = (1, 1)
    else:
        num_u = draw(st.integers(0, 3))
        shape = (draw(st.integers(num_u, 4)), num_u)
    return Piece(
        form,
        draw(st.integers(0, 3)),
        shape,
        draw(st.booleans()) and form != "family",
        draw(st.booleans()) and form in ("dense", "stack", "sparse"),
        draw(st.integers(0, 1000)),
    )


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    chosen = draw(st.lists(pieces(), max_size=4))
    return Spec(chosen, draw(st.permutations(range(2 * len(chosen)))))


models = st.lists(specs(), min_size=1, max_size=3)


def stack_of(piece: Piece, values: Vector) -> Vector:
    """The blocks of a piece that is no quaternion, which depend on its q."""
    n, m = piece.shape
    count = len(values) // n if n else piece.count
    random = np.random.default_rng(piece.seed)
    found = np.empty((count, n, m))
    for i in range(count):
        left, _ = np.linalg.qr(random.normal(size=(n, m)))
        found[i] = left @ np.diag(random.uniform(0.5, 2, size=m) * (1.5 + np.sin(values.sum())))
    return found


def in_form(piece: Piece, blocks: Any) -> Any:
    if piece.form == "stack":
        return blocks
    dense = dense_of(blocks)
    return coo_array(dense) if piece.form == "sparse" else dense


def dense_of(blocks: Vector) -> Vector:
    """The matrix that has them on its diagonal."""
    k, n, m = blocks.shape
    found = np.zeros((k * n, k * m))
    for i, block in enumerate(blocks):
        found[i * n : i * n + n, i * m : i * m + m] = block
    return found


def hamilton(a: Vector, b: Vector) -> Vector:
    """The product of two quaternions."""
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.array([scalar, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def quaternion_block(q: Vector) -> Vector:
    return np.transpose([hamilton(np.eye(4)[i], q) / 2 for i in (1, 2, 3)])


def class_of(spec: Spec) -> type[Subsystem]:
    body: dict[str, Any] = {"num": modeling_option(1)}
    names = [f"{kind}{i}" for i in range(len(spec.pieces)) for kind in "qu"]
    for place in spec.order:
        name = names[place]
        kind, piece = name[0], spec.pieces[int(name[1:])]
        body[name] = variable(kind, piece)
    for i, piece in enumerate(spec.pieces):
        q, u = body[f"q{i}"], body[f"u{i}"]
        if piece.form in ("quaternion", "family"):
            body[f"n{i}"] = quaternion_kinematics(q, u)
        elif piece.form != "plain":
            body[f"n{i}"] = kinematics(q, u)(n_function(f"q{i}", piece))
            if piece.has_pinv:
                body[f"p{i}"] = body[f"n{i}"].pinv(pinv_function(f"q{i}", piece))
    return type("Random", (Subsystem,), body)


def variable(kind: str, piece: Piece) -> Any:
    size = piece.shape["qu".index(kind)]
    start = 0.5 if kind == "q" else 0.0
    if piece.form == "family":
        declare: Any = q_variable if kind == "q" else u_variable
        return declare(np.full(size, start), count=piece.count)
    declare = q_variable if kind == "q" else u_variable
    if piece.is_sized:
        return declare(factory=lambda self, state: np.full(size * self.num(state), start))
    return declare(np.full(size * piece.count, start))


def n_function(name: str, piece: Piece) -> Callable[[Any, State], Any]:
    return lambda self, state: in_form(piece, blocks_of(self, name, piece, state))


def pinv_function(name: str, piece: Piece) -> Callable[[Any, State], Any]:
    def compute(self: Any, state: State) -> Any:
        blocks = blocks_of(self, name, piece, state)
        return in_form(piece, np.linalg.pinv(blocks))

    return compute


def blocks_of(subsystem: Any, name: str, piece: Piece, state: State) -> Vector:
    values = getattr(subsystem, name)(state)
    if piece.is_sized and not piece.shape[0]:
        return np.empty((0, *piece.shape))
    return stack_of(piece, values)


class Built:
    """A System of random subsystems, a State of it, and its N as one dense matrix."""

    def __init__(self, model: list[Spec], seed: int, nums: list[int]) -> None:
        self.model = model
        self.subsystems: list[Any] = [class_of(spec)() for spec in model]
        self.system = System()
        for i, subsystem in enumerate(self.subsystems):
            self.system.add(subsystem, f"s{i}")
        self.state = self.system.new_state()
        self.random = np.random.default_rng(seed)
        self.write(nums)

    def write(self, nums: list[int]) -> None:
        for subsystem, num in zip(self.subsystems, nums, strict=False):
            subsystem.num.set(self.state, num)
        self.system.realize(self.state, Stage.MODEL)
        self.state.q = self.random.normal(size=self.state.nq)
        self.system.realize(self.state, POSITION)

    def dense(self) -> Vector:
        parts = [
            self._dense_of(s, spec) for s, spec in zip(self.subsystems, self.model, strict=True)
        ]
        return np.asarray(block_diag(np.empty((0, 0)), *parts))

    def _dense_of(self, subsystem: Any, spec: Spec) -> Vector:
        """By counting: where each variable starts, in the order of their declarations."""
        names = [f"{kind}{i}" for i in range(len(spec.pieces)) for kind in "qu"]
        rows: dict[str, list[int]] = {}
        counts = {"q": 0, "u": 0}
        for name in [names[place] for place in spec.order]:
            handles = getattr(subsystem, name)
            values = np.concatenate(
                [
                    np.empty(0),
                    *(
                        [h(self.state) for h in handles]
                        if self._is_family(handles)
                        else [handles(self.state)]
                    ),
                ]
            )
            rows[name] = list(range(counts[name[0]], counts[name[0]] + len(values)))
            counts[name[0]] += len(values)
        found = np.zeros((counts["q"], counts["u"]))
        plain: dict[str, list[int]] = {"q": [], "u": []}
        q = self.state[subsystem].q
        for i, piece in enumerate(spec.pieces):
            if piece.form == "plain":
                for kind in "qu":
                    plain[kind] += rows[f"{kind}{i}"]
                continue
            values = q[rows[f"q{i}"]]
            if piece.form in ("quaternion", "family"):
                blocks = [quaternion_block(one) for one in values.reshape(-1, 4)]
                block = dense_of(np.reshape(blocks, (-1, 4, 3)))
            else:
                block = dense_of(blocks_of(subsystem, f"q{i}", piece, self.state))
            found[np.ix_(rows[f"q{i}"], rows[f"u{i}"])] = block
        found[sorted(plain["q"]), sorted(plain["u"])] = 1
        return found

    @staticmethod
    def _is_family(handles: Any) -> bool:
        return hasattr(handles, "__len__")


nums = st.lists(st.integers(0, 3), min_size=3, max_size=3)
widths = st.sampled_from([(), (1,), (3,), (0,)])


@given(models, st.integers(0, 100), nums, nums, widths)
def test_operators_equal_explicit_matrices(
    model: list[Spec], seed: int, first: list[int], then: list[int], width: tuple[int, ...]
) -> None:
    built = Built(model, seed, first)
    for sizes in (first, then):
        built.write(sizes)
        state = built.state
        n = built.dense()
        n_pinv = np.linalg.pinv(n)
        u, q = (built.random.normal(size=(count, *width)) for count in (state.nu, state.nq))
        assert_allclose(multiply_by_n(state, u), n @ u, atol=1e-12)
        assert_allclose(multiply_by_n_transpose(state, q), n.T @ q, atol=1e-12)
        assert_allclose(multiply_by_n_pinv(state, q), n_pinv @ q, atol=1e-9)
        assert_allclose(multiply_by_n_pinv_transpose(state, u), n_pinv.T @ u, atol=1e-9)
        assert state.stage == POSITION


@examples(40)
@given(models, st.integers(0, 100), nums)
def test_pinv_of_n_is_its_inverse_from_the_left(
    model: list[Spec], seed: int, sizes: list[int]
) -> None:
    state = Built(model, seed, sizes).state
    identity = np.eye(state.nu)
    assert_allclose(multiply_by_n_pinv(state, multiply_by_n(state, identity)), identity, atol=1e-9)


@examples(40)
@given(models, st.integers(0, 100), nums)
def test_power_is_the_same_in_q_and_in_u(model: list[Spec], seed: int, sizes: list[int]) -> None:
    built = Built(model, seed, sizes)
    state = built.state
    u, fq = built.random.normal(size=state.nu), built.random.normal(size=state.nq)
    fu, qdot = multiply_by_n_transpose(state, fq), multiply_by_n(state, u)
    assert np.isclose(fq @ qdot, fu @ u)
    assert np.isclose(multiply_by_n_pinv_transpose(state, fu) @ qdot, fu @ u)


@examples(40)
@given(models, st.integers(0, 100), nums)
def test_transposes_are_adjoint(model: list[Spec], seed: int, sizes: list[int]) -> None:
    state = Built(model, seed, sizes).state
    for operator, transpose, from_u in (
        (multiply_by_n, multiply_by_n_transpose, True),
        (multiply_by_n_pinv, multiply_by_n_pinv_transpose, False),
    ):
        source, target = (state.nu, state.nq) if from_u else (state.nq, state.nu)
        matrix = operator(state, np.eye(source))
        assert_allclose(transpose(state, np.eye(target)), matrix.T, atol=1e-14)


@examples(40)
@given(models, st.integers(0, 100), nums)
def test_blocks_are_all_of_n_that_is_not_one(
    model: list[Spec], seed: int, sizes: list[int]
) -> None:
    built = Built(model, seed, sizes)
    n = built.dense()
    blocks = kinematic_blocks(built.state)
    rest_q, rest_u = np.ones(len(n), bool), np.ones(n.shape[1], bool)
    for block in blocks:
        assert rest_q[block.q].all()
        assert rest_u[block.u].all()
        rest_q[block.q] = rest_u[block.u] = False
        assert_allclose(block.n, n[np.ix_(block.q, block.u)], atol=1e-12)
        assert_allclose(block.n_pinv, np.linalg.pinv(block.n), atol=1e-9)
    assert (n[rest_q][:, rest_u] == np.eye(int(np.count_nonzero(rest_q)))).all()
    assert not n[rest_q][:, ~rest_u].any()
    assert not n[~rest_q][:, rest_u].any()


@given(st.integers(0, 1000), st.integers(0, 6), st.integers(0, 6))
def test_a_sparse_matrix_is_divided_as_far_as_it_can_be(seed: int, n: int, m: int) -> None:
    random = np.random.default_rng(seed)
    dense = random.normal(size=(n, m)) * (random.random((n, m)) < 0.25)
    matrix = checked_matrix(coo_array(dense), (n, m), "matrix")
    again = np.zeros((n, m))
    num_rows = num_columns = 0
    for rows, columns, block in diagonal_blocks(matrix):
        again[np.ix_(rows, columns)] = block
        num_rows, num_columns = num_rows + len(rows), num_columns + len(columns)
        links = nx.Graph()
        links.add_nodes_from([*(("row", r) for r in rows), *(("column", c) for c in columns)])
        links.add_edges_from(
            (("row", r), ("column", c)) for r in rows for c in columns if dense[r, c]
        )
        assert nx.is_connected(links)
    assert (again == dense).all()
    assert (num_rows, num_columns) == (n, m)


# ---------------------------------------------------------------------- one model


class Wheel(Subsystem):
    """A wheel whose angle is kept as cosine and sine, and something that slides."""

    radius = parameter(2.0)
    slide = q_variable(0.5)
    direction = q_variable((1.0, 0.0))
    turn = u_variable(0.0)
    slip = u_variable(0.0)
    heat = z_variable(0.0)

    def __init__(self) -> None:
        self.calls: list[str] = []

    @kinematics(direction, turn)
    def rolling(self, state: State) -> Vector:
        self.calls.append("N")
        cosine, sine = self.direction(state)
        return np.array([[-sine], [cosine]])

    @rolling.pinv
    def rolling_back(self, state: State) -> Any:
        self.calls.append("P")
        cosine, sine = self.direction(state)
        return np.array([[-sine, cosine]]) / (cosine**2 + sine**2)

    @cached(available_from=Stage.VELOCITY)
    def rates(self, state: State) -> Vector:
        return multiply_by_n(state, state.u)

    def realize_velocity(self, state: State) -> None:
        state.upd_qdot()[:] = multiply_by_n(state, state.u)


class PlainWheel(Wheel):
    """The same, its pseudoinverse by singular values."""

    rolling_back = Wheel.rolling.pinv(lambda self, state: np.linalg.pinv(self.rolling(state)))


def wheel_at(stage: Stage) -> tuple[Wheel, State]:
    wheel = Wheel()
    return wheel, state_of(wheel, stage=stage)


def realized(state: State, stage: Stage = POSITION) -> State:
    assert state.system is not None
    state.system.realize(state, stage)
    return state


def test_q_and_u_that_no_block_has_are_paired_in_order() -> None:
    _, state = wheel_at(POSITION)
    assert list(multiply_by_n(state, [3, 7])) == [7, 0, 3]
    assert list(multiply_by_n_pinv(state, [7, 5, 3])) == [3, 7]


def test_n_is_computed_once_until_its_q_is_written() -> None:
    wheel, state = wheel_at(POSITION)
    for _ in range(2):
        for operator, count in zip(OPERATORS, (2, 3, 3, 2), strict=True):
            operator(state, np.ones(count))
    assert wheel.calls == ["N", "P"]
    wheel.slide.set(state, 3.0)
    wheel.turn.set(state, 3.0)
    wheel.radius.set(state, 3.0)
    wheel.heat.set(state, 3.0)
    state.time = 3.0
    multiply_by_n_pinv(realized(state), np.ones(3))
    assert wheel.calls == ["N", "P"]
    wheel.direction.set(state, [0.0, 1.0])
    multiply_by_n(realized(state), np.ones(2))
    assert wheel.calls == ["N", "P", "N"]
    assert list(multiply_by_n_pinv(state, [0, 1, 0])) == [-1, 0]
    assert wheel.calls == ["N", "P", "N", "P"]


def test_operators_can_be_used_while_velocity_is_being_realized() -> None:
    wheel, state = wheel_at(POSITION)
    state.u = [2.0, 3.0]
    realized(state, Stage.VELOCITY)
    assert list(state.qdot) == [3, 0, 2]
    assert list(wheel.rates(state)) == [3, 0, 2]


def test_a_strict_state_is_content_with_it() -> None:
    wheel = Wheel()
    state = System(wheel).new_state()
    with strict(state, undeclared="record") as log:
        realized(state, Stage.VELOCITY)
        multiply_by_n_pinv(state, np.ones(3))
        wheel.rates(state)
    assert log.undeclared == ()
    assert log.over_declared() == ()


def test_a_system_with_kinematics_goes_to_other_processes() -> None:
    _, state = wheel_at(POSITION)
    twin = realized(pickle.loads(pickle.dumps(state)))
    assert list(multiply_by_n(twin, [3, 7])) == [7, 0, 3]
    assert list(multiply_by_n_pinv(realized(state.copy()), [7, 5, 3])) == [3, 7]


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_throw_below_position(operator: Operator) -> None:
    for stage in (Stage.MODEL, INSTANCE, Stage.TIME):
        _, state = wheel_at(stage)
        with pytest.raises(StageTooLowError, match="needs a later stage"):
            operator(state, [])
        assert state.stage == stage
    with pytest.raises(WrongTypeError):
        operator(3, [])


def test_blocks_are_there_from_instance_on() -> None:
    _, state = wheel_at(Stage.MODEL)
    with pytest.raises(StageTooLowError, match="the blocks of N"):
        kinematic_blocks(state)
    (block,) = kinematic_blocks(realized(state, INSTANCE))
    assert (list(block.q), list(block.u)) == ([1, 2], [0])
    assert state.stage == INSTANCE


@pytest.mark.parametrize(("operator", "count"), [*zip(OPERATORS, (2, 3, 3, 2), strict=True)])
def test_a_wrong_length_is_refused(operator: Operator, count: int) -> None:
    wheel, state = wheel_at(POSITION)
    wrong: list[Any] = [1.0, np.ones(count - 1), np.ones(count + 1), np.ones((count, 1, 1))]
    wrong += [np.ones((count + 1, 2)), [[1.0, 2.0], [3.0]]]
    for values in wrong:
        with pytest.raises(ShapeError):
            operator(state, values)
    for values in (["a"] * count, [1j] * count, [None] * count):
        with pytest.raises(NotANumberError):
            operator(state, values)
    assert (state.stage, wheel.calls) == (POSITION, [])


@pytest.mark.parametrize(("operator", "count"), [*zip(OPERATORS, (3, 2, 2, 3), strict=True)])
def test_nothing_stands_for_zeros(operator: Operator, count: int) -> None:
    _, state = wheel_at(POSITION)
    assert operator(state, []).tolist() == [0.0] * count
    assert operator(state, np.empty((0, 2))).tolist() == [[0.0, 0.0]] * count


def test_what_is_returned_is_new_and_what_is_given_stays() -> None:
    state = state_of(Free(), stage=POSITION)
    u = np.array([1, 2, 3])
    found = multiply_by_n(state, u)
    assert found.dtype == np.dtype(float)
    assert list(found) == [1, 2, 3]
    found[:] = 0
    assert list(u) == [1, 2, 3]
    assert not np.shares_memory(multiply_by_n(state, state.u), state.u)


class Free(Subsystem):
    x = q_variable((1.0, 2.0, 3.0))
    v = u_variable((0.0, 0.0, 0.0))


def test_without_kinematics_n_is_one() -> None:
    state = state_of(Free(), stage=POSITION)
    for operator in OPERATORS:
        assert (operator(state, np.eye(3)) == np.eye(3)).all()
    assert kinematic_blocks(state) == ()


def test_a_state_without_a_system_has_an_n_that_is_one() -> None:
    state = State()
    one = state[state.add_subsystem("one")]
    one.allocate_q([1.0, 2.0])
    one.allocate_u([1.0, 2.0])
    for stage in tuple(Stage)[Stage.TOPOLOGY : Stage.VELOCITY]:
        one.advance_to_stage(stage)
        state.advance_to_stage(stage)
    assert list(multiply_by_n(state, [3, 4])) == [3, 4]


def test_what_a_hook_allocates_is_paired_too() -> None:
    class Hooked(Wheel):
        def realize_model(self, state: State) -> None:
            state[self].allocate_q([5.0])
            state[self].allocate_u([6.0])

    assert list(multiply_by_n(state_of(Hooked(), stage=POSITION), [3, 7, 9])) == [7, 0, 3, 9]


# ---------------------------------------------------------------------- declarations


def test_kinematics_of_no_variables_are_those_of_all() -> None:
    class Sheared(Subsystem):
        x = q_variable((1.0, 2.0))
        y = q_variable(1.0)
        v = u_variable((0.0, 0.0, 0.0))

        @kinematics()
        def shear(self, state: State) -> Vector:
            return np.triu(np.ones((3, 3)))

    sheared = Sheared()
    state = state_of(sheared, stage=POSITION)
    assert list(multiply_by_n(state, [1, 2, 3])) == [6, 5, 3]
    assert_allclose(multiply_by_n_pinv(state, [6, 5, 3]), [1, 2, 3])
    version = sheared.shear.version(state)
    sheared.y.set(state, 3.0)
    multiply_by_n(realized(state), [])
    multiply_by_n(state, [1, 2, 3])
    assert sheared.shear.version(state) > version


def test_a_constant_n_is_computed_again_where_modeling_options_change_its_size() -> None:
    class Chain(Subsystem):
        num = modeling_option(2)
        x = q_variable(factory=lambda self, state: np.zeros(self.num(state)))
        v = u_variable(factory=lambda self, state: np.zeros(self.num(state)))

        @kinematics(x, v, prerequisites=())
        def gears(self, state: State) -> Any:
            return csr_array(2.0 * np.eye(self.num(state)))

    chain = Chain()
    state = state_of(chain, stage=POSITION)
    assert list(multiply_by_n(state, [1, 2])) == [2, 4]
    version = chain.gears.version(state)
    chain.x.set(state, [3, 4])
    assert list(multiply_by_n(realized(state), [1, 2])) == [2, 4]
    assert chain.gears.version(state) == version
    chain.num.set(state, 3)
    assert list(multiply_by_n(realized(state), [1, 2, 3])) == [2, 4, 6]
    assert list(multiply_by_n_pinv(state, [2, 4, 6])) == [1, 2, 3]


def test_a_block_has_its_variables_in_the_order_in_which_they_are_named() -> None:
    class Crossed(Subsystem):
        a = q_variable(1.0)
        gap = q_variable(1.0)
        b = q_variable((1.0, 2.0))
        c = q_variable(1.0, count=2)
        v = u_variable(1.0)
        w = u_variable((1.0, 2.0))
        other_gap = u_variable(1.0)

        @kinematics(c, b, w, a, v)
        def mixed(self, state: State) -> Vector:
            return np.arange(15.0).reshape(5, 3) + np.eye(5, 3)

    crossed = Crossed()
    state = state_of(Free(), crossed, stage=POSITION)
    n = np.arange(15.0).reshape(5, 3) + np.eye(5, 3)
    expected = np.zeros((9, 7))
    expected[:3, :3] = np.eye(3)
    expected[4, 6] = 1
    expected[np.ix_([7, 8, 5, 6, 3], [4, 5, 3])] = n
    assert (multiply_by_n(state, np.eye(7)) == expected).all()
    assert_allclose(multiply_by_n_pinv(state, expected), np.eye(7), atol=1e-12)
    (block,) = kinematic_blocks(state)
    assert (list(block.q), list(block.u)) == ([7, 8, 5, 6, 3], [4, 5, 3])


def test_q_without_u_may_stand_still() -> None:
    class Held(Subsystem):
        x = q_variable((1.0, 2.0))
        y = q_variable(1.0)
        v = u_variable(0.0)

        @kinematics(x)
        def still(self, state: State) -> Vector:
            return np.empty((2, 0))

    state = state_of(Held(), stage=POSITION)
    assert list(multiply_by_n(state, [5])) == [0, 0, 5]
    assert list(multiply_by_n_pinv(state, [1, 2, 3])) == [3]


def test_a_subclass_may_replace_variables_and_n_and_its_pseudoinverse() -> None:
    class Geared(Wheel):
        turn = u_variable(1.0)

        @kinematics(Wheel.direction, turn)
        def rolling(self, state: State) -> Vector:
            cosine, sine = self.direction(state)
            return np.array([[-2 * sine], [2 * cosine]])

        @Wheel.rolling.pinv
        def rolling_back(self, state: State) -> Vector:
            cosine, sine = self.direction(state)
            return np.array([[-sine / 2, cosine / 2]])

    for cls, scale in ((Geared, 2), (PlainWheel, 1)):
        state = state_of(cls(), stage=POSITION)
        assert list(multiply_by_n(state, [3, 7])) == [7, 0, 3 * scale]
        assert_allclose(multiply_by_n_pinv(state, [7, 5, 3 * scale]), [3, 7])


def test_a_pseudoinverse_that_is_none_is_refused() -> None:
    class Wrong(Wheel):
        value: Any

        @Wheel.rolling.pinv
        def rolling_back(self, state: State) -> Any:
            return self.value

    wrong: Any = Wrong()
    wrong.value = [[0.0, 2.0]]
    state = state_of(wrong, stage=POSITION)
    with pytest.raises(KinematicsError, match=r"wrong\.rolling_back: is not the pseudoinverse"):
        multiply_by_n_pinv(state, [1, 2, 3])
    assert list(multiply_by_n(state, [3, 7])) == [7, 0, 3]
    for value, error in (
        ([[1.0, 1.0]], KinematicsError),  # an inverse from the left, but not the least
        ([[0.0, 1.0, 2.0]], ShapeError),
        (csr_array([[0.0, 1.0]]), ShapeError),
        (np.array([[[0.0, 1.0]]]), ShapeError),
        ([[0.0, np.nan]], KinematicsError),
        (None, NoValueError),
    ):
        made: Any = Wrong()
        made.value = value
        with pytest.raises(error, match="rolling_back"):
            multiply_by_n_pinv(state_of(made, stage=POSITION), [1, 2, 3])


def test_an_n_that_does_not_fit_is_refused() -> None:
    class Wrong(Wheel):
        value: Any

        @kinematics(Wheel.direction, Wheel.turn)
        def rolling(self, state: State) -> Any:
            return self.value

    for value, error in (
        ([[1.0, 2.0]], ShapeError),
        ([1.0, 2.0], ShapeError),
        (np.ones((2, 2, 1)), ShapeError),
        ([[np.inf], [1.0]], KinematicsError),
        (csr_array([[np.nan], [1.0]]), KinematicsError),
        ([["a"], ["b"]], NotANumberError),
        (None, NoValueError),
    ):
        wrong: Any = Wrong()
        wrong.value = value
        state = state_of(wrong, stage=POSITION)
        for operator in (multiply_by_n, multiply_by_n_pinv_transpose):
            with pytest.raises(error, match=r"wrong\.rolling"):
                operator(state, [1, 2])
        assert state.stage == POSITION


@pytest.mark.parametrize("form", [np.array, csr_array, lambda n: np.array(n)[None]])
def test_an_n_without_full_column_rank_has_no_pseudoinverse(form: Callable[[Any], Any]) -> None:
    class Singular(Subsystem):
        x = q_variable((1.0, 2.0))
        v = u_variable((3.0, 4.0))

        @kinematics(x, v)
        def locked(self, state: State) -> Any:
            return form([[1.0, 2.0], [2.0, 4.0]])

    state = state_of(Singular(), stage=POSITION)
    assert list(multiply_by_n(state, [1, 1])) == [3, 6]
    with pytest.raises(
        KinematicsError, match=r"singular\.locked: N does not have full column rank"
    ):
        multiply_by_n_pinv(state, [1, 1])


def test_numbers_that_differ_are_refused_when_an_operator_is_called() -> None:
    class Odd(Subsystem):
        x = q_variable((1.0, 2.0))
        v = u_variable(3.0)

    state = state_of(Free(), Odd(), stage=POSITION)
    for operator in OPERATORS:
        inputs: list[Any] = [[], np.ones(state.nu), np.ones(state.nq)]
        for values in inputs:
            with pytest.raises((KinematicsError, ShapeError), match=r"odd|shape"):
                operator(state, values)
    with pytest.raises(KinematicsError, match="'odd': nothing relates") as caught:
        multiply_by_n(state, [])
    assert caught.value.got == "2 q and 1 u"

    class OddWheel(Wheel):
        extra = q_variable(1.0)

    with pytest.raises(KinematicsError, match="'odd_wheel': nothing relates"):
        kinematic_blocks(state_of(OddWheel(), stage=POSITION))

    class Few(Subsystem):
        x = q_variable(1.0)
        v = u_variable((3.0, 4.0))

        @kinematics(x, v)
        def wide(self, state: State) -> Vector:
            return np.ones((1, 2))

    with pytest.raises(KinematicsError, match="relates fewer q than u"):
        multiply_by_n(state_of(Few(), stage=POSITION), [1, 2])


def test_an_n_that_depends_on_u_is_refused() -> None:
    class Circular(Subsystem):
        x = q_variable(1.0)
        v = u_variable(3.0)

        @kinematics(x, v, prerequisites=(x, v))
        def wrong(self, state: State) -> Vector:
            return np.ones((1, 1))

    with pytest.raises(PrerequisiteStageError, match=r"circular\.wrong: depends on u"):
        System(Circular()).realize_topology()

    class Late(Subsystem):
        x = q_variable(1.0)
        v = u_variable(3.0)

        @cached(available_from=Stage.VELOCITY)
        def speed(self, state: State) -> float:
            return self.v(state)

        @kinematics(x, v, prerequisites=(speed,))
        def wrong(self, state: State) -> Vector:
            return np.ones((1, 1))

    with pytest.raises(KinematicsError, match=r"late\.wrong: is not known at Position"):
        multiply_by_n(state_of(Late(), stage=Stage.VELOCITY), [1])


def test_kinematics_of_what_is_no_q_and_u_are_refused() -> None:
    x, v, z = q_variable(1.0), u_variable(1.0), z_variable(1.0)
    wrong: list[tuple[Any, ...]] = [(x, v, z), (v,), (x, x, v), (x, 3), (lambda self, state: 1,)]
    for variables in wrong:
        with pytest.raises(DeclarationError, match="kinematics: not for these"):
            kinematics(*variables)


def test_a_class_has_kinematics_of_each_variable_once() -> None:
    def one(self: Any, state: State) -> Vector:
        return np.eye(1)

    with pytest.raises(DeclarationError, match=r"Twice\.\w+: relates variables") as caught:

        class Twice(Subsystem):
            x = q_variable(1.0)
            v = u_variable(1.0)
            w = u_variable(1.0)
            first = kinematics(x, v)(one)
            second = kinematics(x, w)(one)

    assert caught.value.got == "x"
    with pytest.raises(DeclarationError, match="relates variables"):

        class All(Wheel):
            everything = kinematics()(one)

    with pytest.raises(DeclarationError, match="is the pinv of 'rolling', as"):

        class TwoInverses(Wheel):
            another = Wheel.rolling.pinv(one)

    with pytest.raises(DeclarationError, match="relates a variable that is not there"):

        class Replaced(Wheel):
            turn = z_variable(1.0)
