"""Trajectories: rows, columns, States on demand, and what tables and pictures are made of them."""

import csv
import io
import pickle
import sys
from pathlib import Path
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
    cached,
    discrete,
    modeling_option,
    parameter,
    q_variable,
    simbody,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    ForeignNodeError,
    ForeignStateError,
    InvalidNameError,
    MissingExtraError,
    NodeKindError,
    NotANumberError,
    ShapeError,
    StageOutOfRangeError,
    TopologyVersionError,
    UnknownItemError,
    UnknownPathError,
    WrongTypeError,
)
from stagecache.state.handles import Vector
from stagecache.study.trajectory.trajectory import Trajectory
from tests.profiles import examples


class Chain(Subsystem):
    """Something of every kind."""

    count = modeling_option(2)
    mass = parameter(1.5)
    clicks = discrete(0, invalidates=Stage.REPORT)
    wind = discrete(factory=lambda self: np.zeros(2), invalidates=Stage.DYNAMICS)
    mood = discrete("calm", invalidates=Stage.TIME)
    marks = discrete(factory=lambda self: [1], invalidates=Stage.REPORT)
    angles = q_variable(factory=lambda self, state: np.zeros(self.count(state)))
    lift = q_variable(0.5)
    rate = u_variable(0.25)
    heat = z_variable((0.0, 1.0, 2.0))

    @cached(prerequisites=(lift, mass))
    def weight(self, state: State) -> float:
        return 10 * self.mass(state) * self.lift(state)

    @cached(prerequisites=(angles,))
    def tips(self, state: State) -> Any:
        return np.outer(self.angles(state), [1.0, -1.0])

    @cached(available_from=Stage.VELOCITY)
    def label(self, state: State) -> str:
        return f"{self.rate(state):g}"

    @cached(count=2, prerequisites=lambda self, i: (self.heat,))
    def warm(self, state: State, i: int) -> float:
        return float(self.heat(state)[i]) + 1

    @cached(prerequisites=(lift,))
    def root(self, state: State) -> float:
        if self.lift(state) < 0:
            raise ValueError("the root of a negative number")
        return float(np.sqrt(self.lift(state)))

    @cached(prerequisites=(clicks,))
    def row(self, state: State) -> Vector:
        return np.arange(1.0 + self.clicks(state))


class Other(Subsystem):
    angle = q_variable(7.0)


def started() -> tuple[Chain, State]:
    """A new model and a State of it."""
    chain = Chain()
    return chain, System(chain, other=Other()).new_state()


def moved(chain: Chain, state: State, k: int) -> None:
    """Write all that varies, as it is to be in row k."""
    state.time = 0.1 * k
    state.y = np.arange(8.0) + 10 * k
    chain.clicks.set(state, k // 2)
    chain.wind.set(state, np.array([k, -k]) / 2)
    chain.mood.set(state, "wild" if k % 3 else "calm")
    chain.marks.upd(state).append(k)


def filled(rows: int = 5, record: Any = ()) -> tuple[Chain, Trajectory]:
    """A trajectory with that many rows."""
    chain, state = started()
    trajectory = Trajectory(state, record)
    for k in range(rows):
        moved(chain, state, k)
        trajectory.append(state)
    return chain, trajectory


# ---------------------------------------------------------------------- columns


def test_columns_have_what_the_states_had() -> None:
    chain, trajectory = filled(5, ("chain.weight", "chain.tips"))
    k = np.arange(5)
    assert len(trajectory) == 5
    assert trajectory.times.tolist() == pytest.approx(0.1 * k)
    y = np.arange(8.0) + 10 * k[:, None]
    assert (trajectory.y == y).all()
    assert (trajectory.q == y[:, :4]).all()
    assert (trajectory.u == y[:, 4:5]).all()
    assert (trajectory.z == y[:, 5:]).all()
    assert (trajectory["chain.angles"] == y[:, :2]).all()
    assert (trajectory["chain.lift"] == y[:, 2]).all()
    assert (trajectory[chain.rate] == y[:, 4]).all()
    assert trajectory["chain.clicks"].tolist() == [0, 0, 1, 1, 2]
    assert (trajectory["chain.wind"] == np.outer(k, [0.5, -0.5])).all()
    assert trajectory["chain.mood"].tolist() == ["calm", "wild", "wild", "calm", "wild"]
    assert trajectory[chain.marks].tolist() == [[1, *range(k + 1)] for k in range(5)]
    assert (trajectory["chain.mass"] == 1.5).all()
    assert (trajectory["chain.weight"] == 15 * y[:, 2]).all()
    assert trajectory[chain.tips].shape == (5, 2, 2)
    assert (trajectory[chain.tips][:, :, 1] == -y[:, :2]).all()


def test_wholes_are_columns_and_so_is_one_number_of_a_vector() -> None:
    _, trajectory = filled()
    assert (trajectory["time"] == trajectory.times).all()
    for whole in ("y", "q", "u", "z"):
        assert (trajectory[whole] == getattr(trajectory, whole)).all()
    assert (trajectory["chain.q"] == trajectory.q[:, :3]).all()
    assert (trajectory["other/angle"] == trajectory.q[:, 3]).all()
    assert (trajectory["chain.angles[1]"] == trajectory.y[:, 1]).all()
    assert (trajectory["chain.wind[1]"] == trajectory["chain.wind"][:, 1]).all()


def test_members_of_families_are_recorded_by_name_or_handle() -> None:
    chain, state = started()
    trajectory = Trajectory(state, (chain.warm[1], "chain.warm[0]"))
    trajectory.append(state)
    assert trajectory.record == ("chain.warm[1]", "chain.warm[0]")
    assert trajectory["chain.warm[1]"].tolist() == [2.0]
    assert trajectory[chain.warm[0]].tolist() == [1.0]


def test_one_number_of_a_variable_is_recorded_as_the_variable_is() -> None:
    chain, state = started()
    trajectory = Trajectory(state, (chain.angles[1], chain.angles))
    assert trajectory.record == ("chain.angles",)
    trajectory.append(state)
    assert trajectory[chain.angles[1]].tolist() == [chain.angles(state)[1]]


def test_what_is_read_cannot_be_written_and_stays_when_rows_are_added() -> None:
    chain, state = started()
    trajectory = Trajectory(state)
    trajectory.append(state)
    before = (trajectory.y, trajectory["chain.lift"], trajectory["chain.mass"])
    copies = [column.copy() for column in before]
    for k in range(200):
        moved(chain, state, k)
        trajectory.append(state)
    for column, copy in zip(before, copies, strict=True):
        assert (column == copy).all()
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 3.0
    assert len(trajectory) == 201
    assert (trajectory.y[1:] == np.arange(8.0) + 10 * np.arange(200)[:, None]).all()


def test_the_columns_of_tables_are_numbers_that_vary_and_what_was_recorded() -> None:
    _, trajectory = filled(3, ("chain.mass", "chain.label", "chain.rate"))
    assert trajectory.columns == (
        "chain.angles",
        "chain.lift",
        "other.angle",
        "chain.rate",
        "chain.heat",
        "chain.clicks",
        "chain.wind",
        "chain.mass",
        "chain.label",
    )


def test_what_was_not_recorded_can_be_computed() -> None:
    chain, trajectory = filled()
    with pytest.raises(
        UnknownPathError, match=r"not recorded(.|\n)*trajectory.calc\('chain.weight"
    ):
        trajectory["chain.weight"]
    assert (trajectory.calc("chain.weight") == 15 * trajectory["chain.lift"]).all()
    assert trajectory.calc(chain.label).tolist() == ["4", "14", "24", "34", "44"]
    assert (trajectory.calc("chain.lift") == trajectory["chain.lift"]).all()
    _, recorded = filled(3, ("chain.weight",))
    assert (recorded.calc("chain.weight") == recorded["chain.weight"]).all()


@pytest.mark.parametrize(
    ("path", "error", "hint"),
    [
        ("chain.lfit", UnknownPathError, "did you mean 'chain.lift'"),
        ("lift", UnknownPathError, "did you mean 'chain.lift'"),
        ("chain.angles[2]", UnknownPathError, ""),
        ("chain.lift[0]", UnknownPathError, "did you mean 'chain.lift'"),
        ("chain.tips[0]", UnknownPathError, ""),
        ("stage Time", NodeKindError, "trajectory.columns"),
        ("u_weights", NodeKindError, "trajectory.columns"),
    ],
)
def test_paths_that_have_no_column_are_refused(
    path: str, error: type[Exception], hint: str
) -> None:
    _, trajectory = filled()
    for ask in (trajectory.__getitem__, trajectory.plot, trajectory.to_xarray):
        with pytest.raises(error) as caught:
            ask(path)
        assert hint in str(caught.value)


def test_handles_of_other_systems_are_refused() -> None:
    _, trajectory = filled()
    with pytest.raises(ForeignNodeError):
        trajectory[Chain().lift]
    with pytest.raises(ForeignNodeError):
        trajectory[started()[0].lift]


# ---------------------------------------------------------------------- States


def test_a_row_becomes_a_state_with_the_same_values() -> None:
    chain, trajectory = filled()
    for row in range(-5, 5):
        k = row % 5
        state = trajectory[row]
        assert state.system is trajectory.system
        assert state.stage == Stage.INSTANCE
        assert state.time == trajectory.times[k]
        assert (state.y == trajectory.y[k]).all()
        assert chain.clicks(state) == k // 2
        assert chain.wind(state).tolist() == [k / 2, -k / 2]
        assert chain.mood(state) == ("wild" if k % 3 else "calm")
        assert chain.marks(state) == [1, *range(k + 1)]
        assert chain.weight(state) == pytest.approx(15 * (10 * k + 2))


def test_states_are_realized_as_far_as_is_asked() -> None:
    chain, trajectory = filled(2)
    assert trajectory.state(-1, Stage.POSITION).stage == Stage.POSITION
    stages = [state.stage for state in trajectory.states(Stage.VELOCITY)]
    assert stages == [Stage.VELOCITY] * 2
    assert chain.label(trajectory.state(1, Stage.VELOCITY)) == "14"
    with pytest.raises(StageOutOfRangeError):
        trajectory.state(0, Stage.MODEL)


def test_a_state_is_for_who_asked_for_it() -> None:
    chain, trajectory = filled(2)
    state = trajectory[0]
    chain.marks.upd(state).append(99)
    chain.wind.upd(state)[:] = 9.0
    state.q = [9.0] * 4
    chain.mass.set(state, 9.0)
    again = trajectory[0]
    assert chain.marks(again) == [1, 0]
    assert chain.wind(again).tolist() == [0.0, 0.0]
    assert again.q.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert chain.mass(again) == 1.5


def test_later_changes_of_the_state_do_not_change_the_rows() -> None:
    chain, state = started()
    trajectory = Trajectory(state)
    trajectory.append(state)
    chain.marks.upd(state).append(5)
    chain.wind.upd(state)[:] = 5.0
    chain.mass.set(state, 5.0)
    state.q = [5.0] * 4
    assert trajectory["chain.marks"].tolist() == [[1]]
    assert (trajectory["chain.wind"] == 0).all()
    assert trajectory["chain.mass"].tolist() == [1.5]
    assert trajectory.q.tolist() == [[0.0, 0.0, 0.5, 7.0]]
    trajectory.append(state)
    assert trajectory["chain.marks"].tolist() == [[1], [1, 5]]
    assert trajectory["chain.mass"].tolist() == [1.5, 5.0]
    assert chain.mass(trajectory[1]) == 5.0


def test_an_option_that_is_written_keeps_q() -> None:
    class Optional(Subsystem):
        is_round = modeling_option(False)
        place = q_variable(1.0)

    model = Optional()
    system = System(model)
    state = system.new_state()
    trajectory = Trajectory(state)
    model.is_round.set(state, True)
    system.realize_model(state)
    model.place.set(state, 3.0)
    trajectory.append(state)
    assert model.is_round(trajectory[0]) is True
    assert model.place(trajectory[0]) == 3.0


def test_rows_that_are_not_there_are_refused() -> None:
    _, trajectory = filled(3)
    which: list[Any] = [3, -4, 1.0, None, True]
    for row in which:
        with pytest.raises(UnknownItemError) as caught:
            trajectory[row]
        asks_for_a_handle = "for a column pass a handle, as pendulum.angle" in caught.value.hint
        assert asks_for_a_handle == (type(row) is not int)
        with pytest.raises(IndexError):
            trajectory.state(row)
    assert trajectory[np.int64(2)].time == pytest.approx(0.2)
    _, empty = filled(0)
    with pytest.raises(UnknownItemError, match="append a State first"):
        empty[0]
    assert list(empty) == []


# ---------------------------------------------------------------------- slices and copies


@examples(60)
@given(
    st.integers(0, 12),
    st.slices(12),
)
def test_a_slice_is_the_trajectory_of_these_rows(rows: int, which: slice) -> None:
    record = ("chain.weight", "chain.label")
    _, trajectory = filled(rows, record)
    part = trajectory[which]
    assert len(part) == len(range(rows)[which])
    for path in ("time", "y", "chain.clicks", "chain.mood", "chain.marks", *record):
        assert part[path].tolist() == trajectory[path][which].tolist()
    for state, row in zip(part, range(rows)[which], strict=True):
        assert (state.y == trajectory.y[row]).all()
        assert str(state) == str(trajectory[row])


def test_a_slice_is_independent() -> None:
    chain, trajectory = filled(4)
    part = trajectory[1:3]
    state = trajectory[0]
    moved(chain, state, 7)
    part.append(state)
    assert part["chain.clicks"].tolist() == [0, 1, 3]
    assert len(trajectory) == 4
    trajectory.append(state)
    assert trajectory["chain.clicks"].tolist() == [0, 0, 1, 1, 3]
    assert len(part) == 3


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_it_can_be_pickled(protocol: int) -> None:
    chain, trajectory = filled(4, ("chain.weight",))
    twin = pickle.loads(pickle.dumps(trajectory, protocol))
    assert repr(twin) == repr(trajectory)
    assert twin.system is trajectory.system
    for path in (*trajectory.columns, "chain.mood", "chain.marks"):
        assert twin[path].tolist() == trajectory[path].tolist()
    assert chain.marks(twin[2]) == [1, 0, 1, 2]
    assert chain.weight(twin[2]) == chain.weight(trajectory[2])
    state = trajectory[3]
    for each in (twin, trajectory):
        each.append(state)
    assert twin[chain.weight].tolist() == trajectory[chain.weight].tolist()
    assert len(twin) == 5


# ---------------------------------------------------------------------- adding rows


def test_recorded_entries_are_computed_when_a_row_is_added() -> None:
    chain, state = started()
    trajectory = Trajectory(state, (chain.label,))
    stages = [state.stage]
    trajectory.append(state)
    stages.append(state.stage)
    assert trajectory["chain.label"].tolist() == ["0.25"]
    plain = Trajectory(state)
    state.invalidate_all(Stage.INSTANCE)
    plain.append(state)
    stages.append(state.stage)
    assert stages == [Stage.MODEL, Stage.VELOCITY, Stage.MODEL]


def test_an_entry_that_raises_adds_no_row() -> None:
    chain, state = started()
    trajectory = Trajectory(state, (chain.weight, chain.root))
    trajectory.append(state)
    chain.lift.set(state, -1.0)
    chain.clicks.set(state, 5)
    with pytest.raises(ValueError, match="negative") as caught:
        trajectory.append(state)
    assert "row 1 was added" in caught.value.__notes__[-1]
    assert len(trajectory) == len(trajectory["chain.weight"]) == len(trajectory["chain.root"]) == 1
    chain.lift.set(state, 4.0)
    trajectory.append(state)
    assert trajectory["chain.root"].tolist() == [np.sqrt(0.5), 2.0]
    assert trajectory["chain.clicks"].tolist() == [0, 5]


def test_values_are_kept_as_they_were_also_those_that_can_be_changed_and_none() -> None:
    class Listing(Subsystem):
        choice = discrete(None, invalidates=Stage.REPORT)
        place = q_variable(1.0)

        @cached(prerequisites=(place,))
        def listed(self, state: State) -> list[float]:
            return [self.place(state)]

    model = Listing()
    state = System(model).new_state()
    trajectory = Trajectory(state, (model.listed,))
    trajectory.append(state)
    model.listed(state).append(9.0)
    assert trajectory["listing.listed"].tolist() == [[1.0]]
    assert trajectory["listing.choice"].tolist() == [None]
    assert model.choice(trajectory[0]) is None


def test_rows_are_moved_to_a_larger_array_seldom() -> None:
    _, state = started()
    trajectory = Trajectory(state)
    arrays = []
    for _ in range(3000):
        trajectory.append(state)
        arrays.append(trajectory.y.base)
    assert len({id(array) for array in arrays}) <= 8


def test_a_state_of_another_size_adds_no_row() -> None:
    chain, state = started()
    trajectory = Trajectory(state)
    trajectory.append(state)
    chain.count.set(state, 3)
    state.system.realize_model(state)
    with pytest.raises(ShapeError, match=r"8 continuous(.|\n)*9 continuous"):
        trajectory.append(state)
    assert len(trajectory) == 1
    assert Trajectory(state).q.shape == (0, 5)


def test_only_states_of_its_system_are_rows() -> None:
    _, trajectory = filled(2)
    wrong: list[tuple[Any, type[Exception]]] = [
        (started()[1], ForeignStateError),
        ("state", WrongTypeError),
        (State(), ForeignStateError),
    ]
    for state, error in wrong:
        with pytest.raises(error):
            trajectory.append(state)
    state = trajectory[0]
    state.system.add(Other(), "another")
    with pytest.raises(TopologyVersionError):
        trajectory.append(state)
    with pytest.raises(TopologyVersionError):
        trajectory[0]
    assert len(trajectory) == 2
    assert trajectory["chain.clicks"].tolist() == [0, 0]


def test_its_pattern_is_a_state_of_a_system() -> None:
    with pytest.raises(WrongTypeError):
        Trajectory("state")  # type: ignore[arg-type]  # is refused
    with pytest.raises(WrongTypeError):
        Trajectory(State())


def test_what_is_to_be_recorded_has_to_be_there() -> None:
    _, state = started()
    wrong: list[tuple[Any, type[Exception]]] = [
        (("chain.wieght",), UnknownPathError),
        (("stage Time",), NodeKindError),
        ((3,), WrongTypeError),
        ("chain.weight", WrongTypeError),
        (3, WrongTypeError),
        ((started()[0].weight,), ForeignNodeError),
    ]
    for record, error in wrong:
        with pytest.raises(error):
            Trajectory(state, record)
    items = [(state.system["chain"].weight, "write record=(chain.weight,)")]  # type: ignore[union-attr]  # of this model
    items += [("chain.weight", "write record=('chain.weight',)")]
    for record, hint in items:
        with pytest.raises(WrongTypeError) as caught:
            Trajectory(state, record)
        assert caught.value.hint == hint
    hints = [
        (["chain.weight"], "one by one"),
        (lambda state: 1.0, "@cached"),
        (3, "without calling"),
    ]
    for item, hint in hints:
        with pytest.raises(WrongTypeError) as refused:
            Trajectory(state, (item,))  # type: ignore[arg-type]  # is refused
        assert hint in refused.value.hint


def test_items_may_lie_elsewhere_in_the_next_state() -> None:
    """What is allocated when Model is realized is allocated anew with it."""

    class Dynamic(Subsystem):
        first = modeling_option(1)
        place = q_variable(0.0)

        def realize_topology(self, state: State) -> None:
            part = state[self]
            self.late = part.allocate_discrete_variable(Stage.DYNAMICS, 3)

        def realize_model(self, state: State) -> None:
            part = state[self]
            for k in range(self.first(state)):
                part.allocate_cache_entry(Stage.TIME, Stage.INFINITY, k)
            part.allocate_discrete_variable(Stage.DYNAMICS, 10 * self.first(state))

    model = Dynamic()
    state = System(model).new_state()
    trajectory = Trajectory(state)
    trajectory.append(state)
    model.first.set(state, 4)
    state.system.realize_model(state)
    trajectory.append(state)
    simbody.set_discrete_variable(state[model], 2, 55)
    trajectory.append(state)
    pattern = trajectory._kept.pattern
    assert pattern is not None
    late, later = pattern.discrete[1][-2:]
    assert trajectory[late].tolist() == [3, 3, 3]
    assert trajectory[later].tolist() == [10, 40, 55]
    assert [model.first(state) for state in trajectory] == [1, 4, 4]
    assert [simbody.get_discrete_variable(state[model], 2) for state in trajectory] == [10, 40, 55]


# ---------------------------------------------------------------------- against a plain list


@st.composite
def writes(draw: st.DrawFn) -> list[tuple[str, int]]:
    """What is done with a State: what is written, and with which number."""
    names = ["y", "clicks", "wind", "mood", "marks", "mass", "same", "copy", "append", "time"]
    return draw(st.lists(st.tuples(st.sampled_from(names), st.integers(0, 3)), max_size=25))


def read(chain: Chain, state: State) -> list[Any]:
    """All that a row has."""
    variables = (chain.clicks, chain.mood, chain.mass)
    numbers = (state.time, state.y.tolist(), chain.wind(state).tolist(), list(chain.marks(state)))
    return [*numbers, *[variable(state) for variable in variables]]


@given(writes())
def test_rows_are_what_copies_of_the_states_would_be(done: list[tuple[str, int]]) -> None:
    chain, state = started()
    trajectory, copies = Trajectory(state, (chain.weight,)), []
    for what, n in done:
        if what == "y":
            state.y = np.full(8, n)
        elif what == "clicks":
            chain.clicks.set(state, n)
        elif what == "wind":
            chain.wind.upd(state)[:] = n
        elif what == "mood":
            chain.mood.set(state, "abcd"[n])
        elif what == "marks":
            chain.marks.upd(state).append(n)
        elif what == "mass":
            chain.mass.set(state, float(n))
        elif what == "time":
            state.time = n
        elif what == "same":
            chain.marks.set(state, chain.marks(state))
        elif what == "copy":
            state = state.copy()
        else:
            trajectory.append(state)
            copies.append(state.copy())
    assert len(trajectory) == len(copies)
    for row, copy in enumerate(copies):
        assert read(chain, trajectory[row]) == read(chain, copy)
        assert trajectory[chain.weight][row] == chain.weight(copy)
    for column, variable in (("chain.wind", chain.wind), ("chain.mass", chain.mass)):
        expected = [np.asarray(variable(copy)).tolist() for copy in copies]
        assert trajectory[column].tolist() == expected
    assert trajectory["chain.marks"].tolist() == [chain.marks(copy) for copy in copies]


# ---------------------------------------------------------------------- tables


def test_a_table_has_the_numbers_as_they_are(tmp_path: Path) -> None:
    _, trajectory = filled(4, ("chain.tips",))
    file = tmp_path / "table.csv"
    trajectory.to_csv(file)
    with file.open(newline="", encoding="utf-8") as opened:
        head, *rows = csv.reader(opened)
    assert head[:4] == ["time", "chain.angles[0]", "chain.angles[1]", "chain.lift"]
    assert head[-4:] == [f"chain.tips[{i},{j}]" for i in (0, 1) for j in (0, 1)]
    assert [float(row[0]) for row in rows] == trajectory.times.tolist()
    numbers = np.array(rows, float)
    assert (numbers[:, 1:3] == trajectory["chain.angles"]).all()
    assert (numbers[:, head.index("chain.clicks")] == trajectory["chain.clicks"]).all()
    assert (numbers[:, -4:] == trajectory["chain.tips"].reshape(4, 4)).all()


def test_a_table_can_have_chosen_columns_and_go_to_a_file_that_is_open() -> None:
    chain, trajectory = filled(2)
    out = io.StringIO()
    trajectory.to_csv(out, "time", chain.lift, "chain.wind[1]")
    assert out.getvalue().split() == [
        "time,chain.lift,chain.wind[1]",
        "0.0,2.0,0.0",
        "0.1,12.0,-0.5",
    ]


@pytest.mark.parametrize(
    ("path", "got"),
    [
        ("chain.mood", "'calm' in row 0"),
        ("chain.marks", "[1, 0] in row 0"),
        ("chain.label", "'4' in row 0"),
        ("chain.row", "shapes (1,) and (2,)"),
    ],
)
def test_what_is_no_number_leaves_the_file_as_it_was(path: str, got: str, tmp_path: Path) -> None:
    _, trajectory = filled(3, ("chain.label", "chain.row"))
    file = tmp_path / "table.csv"
    file.write_text("before")
    with pytest.raises(NotANumberError) as caught:
        trajectory.to_csv(file, "chain.lift", path)
    assert path in caught.value.what
    assert caught.value.got == got
    assert file.read_text() == "before"


def test_truth_values_are_numbers_in_a_table() -> None:
    class Switch(Subsystem):
        is_on = discrete(True, invalidates=Stage.DYNAMICS)

    switch = Switch()
    state = System(switch).new_state()
    trajectory = Trajectory(state)
    trajectory.append(state)
    switch.is_on.set(state, False)
    trajectory.append(state)
    out = io.StringIO()
    trajectory.to_csv(out)
    assert out.getvalue().split() == ["time,switch.is_on", "0.0,1", "0.0,0"]


def test_labelled_arrays_have_coordinates_names_and_units() -> None:
    pytest.importorskip("xarray", reason="needs xarray, of the extra labels")
    _, trajectory = filled(4, ("chain.tips", "chain.label"))
    data = trajectory.to_xarray(units={"chain.lift": "m"})
    assert set(data.data_vars) == set(trajectory.columns)
    assert (data.time == trajectory.times).all()
    assert data.time.attrs["units"] == "s"
    assert data["chain.lift"].attrs == {"kind": "q", "units": "m"}
    assert (data["chain.lift"] == trajectory["chain.lift"]).all()
    assert data["chain.angles"].dims == ("time", "chain.angles.index")
    assert list(data["chain.angles.index"].values) == ["chain.angles[0]", "chain.angles[1]"]
    assert (
        data["chain.angles"].sel({"chain.angles.index": "chain.angles[1]"}) == trajectory.y[:, 1]
    ).all()
    assert data["chain.tips"].shape == (4, 2, 2)
    assert data["chain.label"].values.tolist() == trajectory["chain.label"].tolist()
    assert data["chain.clicks"].attrs == {"kind": "discrete variable"}
    data["chain.lift"][0] = 5.0
    assert trajectory["chain.lift"][0] == 2.0
    assert set(trajectory.to_xarray("chain.mood", "time").data_vars) == {"chain.mood"}


def test_a_dataframe_has_a_column_for_each_number_and_the_index_is_the_time() -> None:
    pytest.importorskip("pandas", reason="needs pandas, of the extra labels")
    chain, trajectory = filled(4, ("chain.tips",))
    frame = trajectory.to_dataframe()
    assert frame.index.name == "time"
    assert frame.index.tolist() == trajectory.times.tolist()
    out = io.StringIO()
    trajectory.to_csv(out)
    assert ["time", *frame.columns] == next(csv.reader(out.getvalue().splitlines()))
    assert (frame["chain.angles[1]"] == trajectory["chain.angles[1]"]).all()
    assert (frame["chain.tips[0,1]"] == trajectory["chain.tips"][:, 0, 1]).all()
    assert frame["chain.clicks"].dtype == trajectory["chain.clicks"].dtype
    frame.loc[0.0, "chain.lift"] = 5.0
    assert trajectory["chain.lift"][0] == 2.0
    assert list(trajectory.to_dataframe("time", chain.lift).columns) == ["chain.lift"]
    with pytest.raises(NotANumberError, match=r"chain\.mood"):
        trajectory.to_dataframe("chain.mood")


def test_units_of_what_is_no_column_are_refused() -> None:
    pytest.importorskip("xarray", reason="needs xarray, of the extra labels")
    _, trajectory = filled(1)
    with pytest.raises(UnknownPathError, match=r"did you mean 'chain\.lift'"):
        trajectory.to_xarray(units={"chain.lifts": "m"})
    for bad, error in (({"chain.lift": 3}, InvalidNameError), (["m"], WrongTypeError)):
        with pytest.raises(error, match="units="):
            trajectory.to_xarray(units=bad)  # type: ignore[arg-type]  # is refused


class Car(Subsystem):
    """With units, but for one variable."""

    place = q_variable((1.0, 2.0), unit="m")
    speeds = u_variable(0.0, count=2, unit="m/s")
    wear = z_variable(0.0)
    price = discrete(3.0, invalidates=Stage.REPORT, unit="$")

    @cached(prerequisites=(place,), unit="m²")
    def area(self, state: State) -> float:
        return float(self.place(state).prod())


CAR_UNITS = {
    "car.place": "m",
    "car.speeds[0]": "m/s",
    "car.speeds[1]": "m/s",
    "car.price": "$",
    "car.area": "m²",
}


def driven() -> Trajectory:
    """A trajectory of a car, with one row."""
    state = System(Car()).new_state()
    trajectory = Trajectory(state, ("car.area",))
    trajectory.append(state)
    return trajectory


def test_labelled_arrays_have_declared_units_unless_others_are_given() -> None:
    pytest.importorskip("xarray", reason="needs xarray, of the extra labels")
    trajectory = driven()
    assert trajectory.units == trajectory.system.units == CAR_UNITS

    def units(*paths: str, **given: Any) -> dict[Any, str]:
        dataset = trajectory.to_xarray(*paths, together=False, **given)
        found = dataset.data_vars.items()
        return {path: array.attrs["units"] for path, array in found if "units" in array.attrs}

    assert units() == CAR_UNITS
    assert units(units={"car.place": "km", "car.wear": "1"}) == CAR_UNITS | {
        "car.place": "km",
        "car.wear": "1",
    }
    assert units("car.place[1]", "car.wear", "car.q") == {"car.place[1]": "m"}


def test_tables_in_notebooks_have_declared_units() -> None:
    shown = driven()._repr_html_()
    for head in ("car.place[0] [m]", "car.place[1] [m]", "car.speeds[1] [m/s]", "car.wear"):
        assert f">{head}</th>" in shown


def test_units_of_a_trajectory_stay_when_the_model_changes() -> None:
    trajectory = driven()
    trajectory.system.subsystem("car").owner = "nobody"
    assert trajectory[:1].units == CAR_UNITS


@pytest.mark.parametrize(
    ("module", "method"),
    [("pandas", "to_dataframe"), ("xarray", "to_xarray"), ("matplotlib.pyplot", "plot")],
)
def test_without_the_package_the_extra_is_named(
    module: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, trajectory = filled(1)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'stagecache\["):
        getattr(trajectory, method)()


# ---------------------------------------------------------------------- texts


def test_its_repr_says_how_much_there_is() -> None:
    _, trajectory = filled(5, ("chain.weight", "chain.mass"))
    shown = "Trajectory(of 'system': 5 rows, t=0 to 0.4, ny=8, records chain.weight, chain.mass)"
    assert repr(trajectory) == shown
    _, one = filled(1)
    assert repr(one) == "Trajectory(of 'system': 1 row, t=0 to 0, ny=8)"
    _, none = filled(0)
    assert repr(none) == "Trajectory(of 'system': 0 rows, ny=8)"
    assert bool(none) is True


def test_notebooks_show_the_first_and_the_last_rows() -> None:
    _, trajectory = filled(50, ("chain.label", "chain.tips"))
    shown = trajectory._repr_html_()
    assert shown.count("<tr") == 1 + 5 + 1 + 5
    assert ">chain.angles[1]</th>" in shown
    assert ">4.9</td>" in shown
    assert ">2.5</td>" not in shown
    assert "... and 3 more columns" in shown
    assert "chain.label" not in shown.partition("<table>")[2]
    _, none = filled(0)
    assert none._repr_html_().count("<tr") == 1
