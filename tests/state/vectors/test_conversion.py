"""What may be written as numbers."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    ContinuousState,
    ProjectOptions,
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    discrete,
    generalized_force,
    mass_matrix,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    simbody,
    u_variable,
    z_variable,
)
from stagecache.errors import NotANumberError, OutOfRangeError, ShapeError
from stagecache.state.vectors.conversion import ANY, converted, refuse_masked, require_array
from tests.state.realizing import state_of

MASKED: Any = np.ma.array([1.0, 2.0], mask=[True, False])
ONE: Any = np.ma.array(1.0, mask=True)
CONSTANT: Any = np.ma.masked


class Model(Subsystem):
    """One of each that takes numbers; its computations return what they are told to."""

    option = modeling_option(1.0)
    size = parameter(1.0)
    label = discrete("a", invalidates=Stage.REPORT)
    memory = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.POSITION)
    place = q_variable([1.0, 2.0])
    angle = q_variable(1.0)
    speed = u_variable([1.0, 2.0])
    rate = u_variable(1.0)
    heat = z_variable([1.0, 2.0])

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}

    def answer(self, name: str, usual: Any) -> Any:
        return self.answers.get(name, usual)

    @cached(prerequisites=())
    def table(self, state: State) -> Any:
        return self.answer("table", 1.0)

    @memory.update
    def next_memory(self, state: State) -> Any:
        return self.answer("next_memory", 1.0)

    @position_error(size=2)
    def rod(self, state: State) -> Any:
        return self.answer("rod", [0.0, 0.0])

    @rod.jacobian
    def rod_jacobian(self, state: State) -> Any:
        return self.answer("rod_jacobian", np.zeros((2, 3)))

    @mass_matrix(speed)
    def inertia(self, state: State) -> Any:
        return self.answer("inertia", [1.0, 1.0])

    @generalized_force(speed)
    def weight(self, state: State) -> Any:
        return self.answer("weight", [1.0, 1.0])

    @rate.prescribed
    def drive(self, state: State) -> Any:
        return self.answer("drive", 1.0)


Write = Callable[[Model, State], object]
WRITES: dict[str, Write] = {
    "option": lambda m, s: m.option.set(s, ONE),
    "parameter": lambda m, s: m.size.set(s, MASKED),
    "discrete": lambda m, s: m.label.set(s, MASKED.astype(str)),
    "discrete by index": lambda m, s: simbody.set_discrete_variable(s[m], 1, MASKED),
    "auto-update": lambda m, s: m.memory.set(s, MASKED),
    "next value": lambda m, s: m.memory.update.set(s, MASKED),
    "entry": lambda m, s: m.table.set(s, MASKED),
    "q of a block": lambda m, s: m.place.set(s, MASKED),
    "a number of q": lambda m, s: m.angle.set(s, ONE),
    "the constant": lambda m, s: m.angle.set(s, CONSTANT),
    "all q": lambda m, s: setattr(s, "q", np.ma.zeros(3)),
    "u of a subsystem": lambda m, s: setattr(s[m], "u", np.ma.zeros(3)),
    "z": lambda m, s: m.heat.set(s, MASKED),
    "y": lambda m, s: setattr(s, "y", np.ma.zeros(8)),
    "u_weights": lambda m, s: setattr(s, "u_weights", np.ma.ones(3)),
    "qerr_weights": lambda m, s: setattr(s, "qerr_weights", np.ma.ones(2)),
    "time": lambda m, s: setattr(s, "time", ONE),
    "time by its handle": lambda m, s: s.variable("time").set(s, CONSTANT),
    "x": lambda m, s: s.continuous_state.set_from_vector(np.ma.zeros(8)),
    "a number of x": lambda m, s: s.continuous_state.__setitem__(0, ONE),
    "some of x": lambda m, s: s.continuous_state.__setitem__(slice(0, 2), MASKED),
    "a list with a masked number": lambda m, s: m.place.set(s, [1.0, CONSTANT]),
    "rows": lambda m, s: setattr(s, "q", (MASKED[0], 1.0, 2.0)),
    "default scale": lambda m, s: setattr(s.system, "default_time_scale", ONE),
    "accuracy": lambda m, s: s.system.project(s, ONE),
    "option of project": lambda m, s: ProjectOptions(accuracy=ONE),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_a_masked_array_is_refused_and_nothing_changes(write: Write) -> None:
    model = Model()
    system = System(model)
    state = system.new_state()
    system.realize(state, Stage.VELOCITY)
    before = state.stage, state.stage_versions, state.time, str(state)
    with pytest.raises(NotANumberError):
        write(model, state)
    assert (state.stage, state.stage_versions, state.time, str(state)) == before


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("table", MASKED),
        ("next_memory", ONE),
        ("rod", MASKED),
        ("rod_jacobian", np.ma.zeros((2, 3))),
        ("inertia", np.ma.ones(2)),
        ("weight", MASKED),
        ("drive", np.ma.masked),
    ],
)
def test_a_masked_array_that_a_computation_returns_is_refused_by_its_name(
    name: str, answer: Any
) -> None:
    model = Model()
    system = System(model)
    model.answers[name] = answer
    state = system.new_state()
    with pytest.raises(NotANumberError, match=name.removeprefix("next_")):
        _compute_all(model, state)


def _compute_all(model: Model, state: State) -> None:
    state.system.realize(state, Stage.ACCELERATION)
    model.table(state)


@pytest.mark.parametrize(
    "declare",
    [
        lambda: parameter(MASKED),
        lambda: q_variable(MASKED),
        lambda: q_variable(np.ma.masked),
        lambda: state_of("arm")[0].allocate_q(MASKED),
        lambda: state_of("arm")[0].allocate_cache_entry(Stage.TIME, value=MASKED),
        lambda: ContinuousState(MASKED, 1, 1),
    ],
)
def test_a_masked_first_value_is_refused(declare: Callable[[], object]) -> None:
    with pytest.raises(NotANumberError, match="masked"):
        declare()


@pytest.mark.parametrize("value", [MASKED, np.ma.masked, [1.0, CONSTANT]])
def test_a_masked_value_of_a_factory_is_refused(value: Any) -> None:
    class Lazy(Subsystem):
        place = q_variable(factory=lambda self, state: value)

    class Late(Subsystem):
        size = parameter(factory=lambda self: value)

    with pytest.raises(NotANumberError, match=r"lazy\.place"):
        System(Lazy()).realize_topology()
    if not isinstance(value, list):  # a list is kept as it is
        with pytest.raises(NotANumberError, match=r"late\.size"):
            System(Late()).realize_topology()


nested = st.recursive(
    st.floats() | st.integers() | st.just(np.zeros(2)),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
)


@given(nested, st.integers(0, 3), st.booleans())
def test_a_masked_array_is_found_at_any_depth_and_nothing_else(
    values: Any, depth: int, is_tuple: bool
) -> None:
    refuse_masked(values, "it")
    found: Any = np.ma.masked
    for _ in range(depth):
        found = (values, found) if is_tuple else [values, found, values]
    with pytest.raises(NotANumberError, match="it: a masked array"):
        refuse_masked(found, "it")


# ---------------------------------------------------------------------- arrays of others


def test_an_array_that_is_required_is_a_private_read_only_one_of_that_shape() -> None:
    given_one = np.array([[1, 2], [3, 4]])
    found = require_array(given_one, (ANY, 2), "points")
    given_one[0, 0] = 9
    assert found.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert found.dtype == float
    assert not found.flags.writeable
    assert require_array(5, (), "one").tolist() == 5.0


@pytest.mark.parametrize(
    ("values", "shape", "error", "text"),
    [
        ([1.0], (2,), ShapeError, r"shape \(2,\)"),
        ([1.0, 2.0], (), ShapeError, "expected: one number"),
        ([[1.0], [1.0, 2.0]], (ANY, 2), ShapeError, r"shape \(n, 2\)"),
        (["a"], (1,), NotANumberError, "not real numbers"),
        ([np.nan], (1,), OutOfRangeError, "not finite"),
        ([np.inf], (1,), OutOfRangeError, "not finite"),
        (MASKED, (2,), NotANumberError, "a masked array"),
    ],
)
def test_an_array_of_something_else_is_refused(
    values: Any, shape: tuple[int, ...], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        require_array(values, shape, "values")


def test_whole_numbers_are_asked_for_where_the_type_says_so() -> None:
    assert require_array([1, 2], (2,), "counts", np.dtype(int)).tolist() == [1, 2]
    with pytest.raises(NotANumberError, match="not whole numbers"):
        require_array([1.5], (1,), "counts", np.dtype(int))


def test_an_array_of_objects_holds_them_as_they_are() -> None:
    items = [Fraction(1, 2), range(3)]
    assert converted(items, np.dtype(object), (2,), "items").tolist() == items
    rows = [[Fraction(1, 2), 1.0], [2, 3.0]]
    assert converted(rows, np.dtype(object), (2, 2), "rows").tolist() == rows
    one = converted(np.array(5.0), np.dtype(object), (), "one").item()
    assert (one, type(one)) == (5.0, float)


def test_texts_and_none_are_objects_too() -> None:
    rows = [["a", None], [None, "b"]]
    assert converted(rows, np.dtype(object), (2, 2), "rows").tolist() == rows
    assert converted([["a"]], np.dtype(object), (1, 1), "rows").tolist() == [["a"]]


def test_no_values_are_values_of_any_type() -> None:
    assert converted([], np.dtype(int), (0,), "nothing").dtype == int


def test_an_array_of_another_shape_is_refused_by_its_shape() -> None:
    with pytest.raises(ShapeError, match=r"\[1.0\], of shape \(1,\)"):
        require_array([1.0], (2,), "values")


def test_masked_numbers_are_missing_values_where_these_may_stand() -> None:
    for values, shape in [(MASKED, (2,)), ([CONSTANT, 2.0], (2,)), ((MASKED, MASKED), (2, 2))]:
        found = require_array(values, shape, "values", may_be_nan=True)
        assert np.isnan(found).any()
        assert (found[~np.isnan(found)] == 2.0).all()
    assert np.isnan(require_array([np.nan], (1,), "values", may_be_nan=True)).all()
    with pytest.raises(OutOfRangeError, match="NaN for missing values"):
        require_array([np.nan, np.inf], (2,), "values", may_be_nan=True)
    assert require_array([1.0, 2.0], (2,), "values", may_be_nan=True).tolist() == [1.0, 2.0]
