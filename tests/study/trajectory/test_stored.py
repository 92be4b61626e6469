"""Trajectories in files: what is loaded is what was saved, whole, by name, or it is told."""

import pickle
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    Trajectory,
    cached,
    discrete,
    load_state,
    load_trajectory,
    modeling_option,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    FileFormatError,
    LayoutMismatchError,
    StudyError,
    UnknownPathError,
    UnsavableValueError,
    WrongTypeError,
)
from stagecache.study.trajectory.rows import Rows
from stagecache.study.trajectory.stream import TrajectoryWriter, shorten
from tests.interrupting import ignore_lost_strikes, strike_after_opening, strikes
from tests.profiles import examples


@frozen
class Label:
    text: str
    size: float


class Ball(Subsystem):
    parts = modeling_option(2)
    mass = parameter(2.0, unit="kg")
    table = parameter(np.zeros(3))
    place = q_variable((1.0, 2.0), unit="m")
    angle = q_variable(0.5)
    speed = u_variable(0.0)
    heat = z_variable(factory=lambda self, state: np.ones(self.parts(state)))
    count = discrete(0, invalidates=Stage.POSITION)
    is_up = discrete(False, invalidates=Stage.REPORT)
    levels = discrete(np.zeros(2, int), invalidates=Stage.REPORT)
    label = discrete(Label("a", 1.0), invalidates=Stage.REPORT)
    anything: Any = discrete(None, invalidates=Stage.REPORT)

    @cached(prerequisites=(place,))
    def height(self, state: State) -> Any:
        return np.sin(self.place(state))[0]

    @cached(prerequisites=(place, angle))
    def matrix(self, state: State) -> Any:
        return np.outer(self.place(state), self.place(state)) * self.angle(state)

    @cached(prerequisites=(count,))
    def named(self, state: State) -> Any:
        return ("ball", self.count(state))

    @cached(prerequisites=(count,))
    def mixed(self, state: State) -> Any:
        return self.count(state) if self.count(state) % 2 else "even"


RECORD = ("ball.height", "ball.matrix", "ball.named", "ball.mixed", "ball.mass")
VARIABLES = ("mass", "table", "count", "is_up", "levels", "label", "anything")

FLOATS = st.floats(allow_nan=True)
WRITES = {
    "mass": FLOATS,
    "table": st.tuples(FLOATS, FLOATS, FLOATS).map(np.array),
    "count": st.integers(-5, 5) | st.just(2**80) | st.just(1.5),
    "is_up": st.booleans() | st.just(1),
    "levels": st.integers(0, 9).map(lambda n: np.array([n, -n])) | st.just(np.zeros(3)),
    "label": st.builds(Label, st.text(), FLOATS),
    "anything": st.none() | st.integers() | st.lists(st.text()) | st.just(np.float32(2.5)),
}


@st.composite
def steps(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Writes between rows, by variable."""
    names = st.lists(st.sampled_from(list(WRITES)), unique=True, max_size=3)
    return [
        {name: draw(WRITES[name]) for name in draw(names)}
        | {"y": draw(st.lists(FLOATS, min_size=6, max_size=6))}
        for _ in range(draw(st.integers(1, 7)))
    ]


def recorded(ball: Ball, state: State, program: list[dict[str, Any]]) -> Trajectory:
    trajectory = Trajectory(state, RECORD)
    for row, writes in enumerate(program):
        state.time = row / 4
        for name, value in writes.items():
            if name == "y":
                state.y = value
            else:
                getattr(ball, name).set(state, value)
        trajectory.append(state)
    return trajectory


def same(one: Any, other: Any) -> bool:
    """Return True if two values are the same, of the same type, with NaN equal to NaN."""
    if isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray)
        if one.dtype == object:
            return len(one) == len(other) and all(map(same, one, other))
        is_same = one.dtype == other.dtype and one.shape == other.shape
        return is_same and one.tobytes() == other.tobytes()
    return type(one) is type(other) and repr(one) == repr(other)


def check_same(trajectory: Trajectory, loaded: Trajectory, ball: Ball) -> None:
    assert len(loaded) == len(trajectory)
    assert same(loaded.times, trajectory.times)
    assert same(loaded.y, trajectory.y)
    for path in ("ball.place", "ball.angle", "q", "u", "z", "ball.q", "time", "y", *RECORD):
        assert same(loaded[path], trajectory[path]), path
    for name in VARIABLES:
        assert same(loaded[f"ball.{name}"], trajectory[f"ball.{name}"]), name
    if loaded.system is not None:
        for one, other in zip(trajectory, loaded, strict=True):
            assert same(one.y, other.y)
            for name in VARIABLES:
                handle = getattr(ball, name)
                assert same(handle(one), handle(other)), name


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@given(program=steps(), size=st.integers(1, 7), which=st.slices(7))
@examples(40)
def test_what_is_loaded_is_what_was_saved(
    program: list[dict[str, Any]],
    size: int,
    which: slice,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """In batches of any size, with the model or without it, and any rows of it."""
    path = tmp_path_factory.mktemp("files") / "a.arrows"
    ball = Ball()
    system = System(ball)
    trajectory = recorded(ball, system.new_state(), program)
    rows = trajectory._kept
    writer = TrajectoryWriter(path, trajectory.record)
    for start in range(0, len(trajectory), size):
        writer.write(rows.in_memory(range(start, min(start + size, len(trajectory)))))
    writer.close()
    for loaded in (load_trajectory(path), load_trajectory(path, system)):
        check_same(trajectory, loaded, ball)
        if len(trajectory[which]):  # without rows, some forms are not known
            check_same(trajectory[which], loaded[which], ball)
    loaded.save(path.with_name("b.arrows"))
    check_same(trajectory, load_trajectory(path.with_name("b.arrows"), system), ball)


PROGRAM: list[dict[str, Any]] = [
    {"y": [k, 2 * k, 0.1, 3.0, 4.0, 5.0 * k], "count": k // 2, "label": Label("b", k // 3)}
    for k in range(8)
]


@pytest.fixture
def ball() -> Ball:
    return Ball()


@pytest.fixture
def system(ball: Ball) -> System:
    return System(ball)


@pytest.fixture
def trajectory(ball: Ball, system: System) -> Trajectory:
    return recorded(ball, system.new_state(), PROGRAM)


@pytest.fixture
def path(trajectory: Trajectory, tmp_path: Path) -> Path:
    """A file of three batches."""
    writer = TrajectoryWriter(tmp_path / "a.arrows", trajectory.record)
    for rows in (range(3), range(3, 6), range(6, 8)):
        writer.write(trajectory._kept.in_memory(rows))
    writer.close()
    return tmp_path / "a.arrows"


@ignore_lost_strikes
def test_no_file_is_left_beside_one_that_is_shortened_wherever_an_error_strikes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a"

    def prepare() -> Path:
        path.write_bytes(b"whole")
        return path

    for _, what in strikes(prepare, lambda path: shorten(path, 2), every=1):
        assert [name.name for name in tmp_path.iterdir()] == ["a"], what
        assert path.read_bytes() in (b"whole", b"wh"), what


def test_no_file_is_left_if_control_c_strikes_when_it_is_opened(
    trajectory: Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stagecache.study.trajectory.stream.open_beside", strike_after_opening)
    with pytest.raises(KeyboardInterrupt):
        trajectory.save(tmp_path / "a.arrows")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_cut_anywhere_has_its_whole_batches(
    path: Path, trajectory: Trajectory, tmp_path: Path
) -> None:
    data, cut = path.read_bytes(), tmp_path / "cut"
    found: set[int | None] = set()
    for length in range(0, len(data), 7):
        cut.write_bytes(data[:length])
        try:
            loaded = load_trajectory(cut)
        except FileFormatError:
            assert found <= {None}  # only before the end of the first batch
            found.add(None)
        else:
            found.add(len(loaded))
            assert same(loaded.times, trajectory.times[: len(loaded)])
            assert same(loaded["ball.label"], trajectory[: len(loaded)]["ball.label"])
    assert found == {None, 3, 6, 8}


def test_zeros_at_the_end_are_what_a_crash_may_leave(path: Path, trajectory: Trajectory) -> None:
    path.write_bytes(path.read_bytes()[:-8] + bytes(100))
    assert len(load_trajectory(path)) == len(trajectory)


def test_a_byte_that_is_flipped_is_told_or_does_not_matter(
    path: Path, trajectory: Trajectory, ball: Ball, tmp_path: Path
) -> None:
    data, flipped = path.read_bytes(), tmp_path / "flipped"
    told = 0
    for place in range(0, len(data), 5):
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        flipped.write_bytes(changed)
        try:
            check_same(trajectory, load_trajectory(flipped), ball)
        except FileFormatError:
            told += 1
    assert told > len(data) / 10  # others are padding, and names that nobody reads


def test_states_need_the_model(path: Path) -> None:
    loaded = load_trajectory(path)
    assert (loaded.system, loaded.units["ball.mass"], loaded.record) == (None, "kg", RECORD)
    with pytest.raises(StudyError, match=r"load_trajectory\(path, system\)"):
        loaded[-1]
    with pytest.raises(UnknownPathError, match=r"did you mean 'ball\.place'"):
        loaded["ball.plase"]
    with pytest.raises(WrongTypeError, match="without the System"):
        loaded[Ball().place]


def test_with_the_model_everything_is_as_in_memory(
    path: Path, trajectory: Trajectory, ball: Ball, system: System
) -> None:
    loaded = load_trajectory(path, system)
    assert (loaded.system, repr(loaded)) == (system, repr(trajectory))
    assert (loaded.columns, loaded.units) == (trajectory.columns, trajectory.units)
    assert same(loaded[ball.count], trajectory[ball.count])
    assert same(loaded["ball.place[1]"], trajectory["ball.place[1]"])
    assert same(loaded.calc(ball.height), trajectory["ball.height"])
    tables = [StringIO(), StringIO()]
    for rows, table in zip((loaded, trajectory), tables, strict=True):
        rows[2:].to_csv(table, "ball.place", "ball.count")
    assert tables[0].getvalue() == tables[1].getvalue()
    assert loaded._repr_html_() == trajectory._repr_html_()


def test_rows_cannot_be_added_to_a_file(path: Path, system: System) -> None:
    loaded = load_trajectory(path, system)
    with pytest.raises(StudyError, match="is a file"):
        loaded.append(system.new_state())


def test_a_loaded_trajectory_can_be_pickled(
    path: Path, trajectory: Trajectory, ball: Ball, system: System
) -> None:
    loaded = load_trajectory(path, system)[1:5]
    check_same(trajectory[1:5], pickle.loads(pickle.dumps(loaded)), ball)
    check_same(trajectory[1:5], pickle.loads(pickle.dumps(load_trajectory(path)[1:5])), ball)


def test_an_empty_trajectory_is_not_saved(system: System, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="nothing to write"):
        Trajectory(system.new_state()).save(tmp_path / "a")
    assert [*tmp_path.iterdir()] == []


def test_what_cannot_be_saved_is_refused_by_path_and_leaves_the_old_file(
    path: Path, ball: Ball, system: System
) -> None:
    before, state = path.read_bytes(), system.new_state()
    ball.anything.set(state, [print])
    trajectory = Trajectory(state)
    trajectory.append(state)
    with pytest.raises(UnsavableValueError, match=r"ball\.anything\[0\]: cannot be saved"):
        trajectory.save(path)
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


def test_recorded_values_stay_as_they_are_when_they_are_saved_again(tmp_path: Path) -> None:
    class Odd(Subsystem):
        x = discrete(0.5, invalidates=Stage.POSITION)

        @cached(prerequisites=(x,))
        def value(self, state: State) -> Any:
            return self.x(state)

    system = System(odd := Odd())
    state = system.new_state()
    trajectory = Trajectory(state, record=("odd.value",))
    values: list[Any] = [0.5, 2**53 + 1, [], False, None, "a"]
    for value in values:
        odd.x.set(state, value)
        trajectory.append(state)
    trajectory.save(tmp_path / "a")
    load_trajectory(tmp_path / "a", system).save(tmp_path / "b")
    again = load_trajectory(tmp_path / "b", system)
    assert repr(again._kept.in_memory(range(6)).entries["odd.value"]) == repr(values)


def test_a_copy_of_rows_whose_file_was_replaced_is_refused(
    path: Path, system: System, trajectory: Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_trajectory(path, system)
    data = pickle.dumps(loaded)
    monkeypatch.chdir("/")
    assert pickle.loads(data).y.tobytes() == loaded.y.tobytes()
    trajectory[:2].save(path)
    with pytest.raises(StudyError, match="is another trajectory now"):
        pickle.loads(data)


def test_other_files_are_refused(path: Path, system: System, tmp_path: Path) -> None:
    state = system.new_state()
    state.save(tmp_path / "state")
    with pytest.raises(FileFormatError, match="load_state"):
        load_trajectory(tmp_path / "state")
    with pytest.raises(FileFormatError, match="load_trajectory"):
        load_state(path, system)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(FileFormatError, match="not a trajectory"):
        load_trajectory(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        load_trajectory(tmp_path / "none")
    with pytest.raises(WrongTypeError):
        load_trajectory(path, "system")  # type: ignore[call-overload]  # is refused


class Later(Subsystem):
    """The ball of a later version: one variable has another name, and one is new."""

    parts = modeling_option(2)
    weight = parameter(2.0, unit="kg")
    table = parameter(np.zeros(3))
    extra = q_variable(7.0)
    place = q_variable((1.0, 2.0), unit="m")
    angle = q_variable(0.5)
    speed = u_variable(0.0)
    heat = z_variable(factory=lambda self, state: np.ones(self.parts(state)))
    count = discrete(0, invalidates=Stage.POSITION)


def test_a_later_model_is_matched_by_name(path: Path, trajectory: Trajectory) -> None:
    later = Later()
    system = System(sphere=later)
    names = {"ball": "sphere", "ball.mass": "sphere.weight"}
    with pytest.raises(LayoutMismatchError, match=r"sphere\.extra is new"):
        load_trajectory(path, system, renamed=names)
    found: Any = load_trajectory(path, system, strict=False, renamed=names)
    loaded, report = found
    assert {d.path for d in report.differences} >= {"sphere.extra", "sphere.label"}
    assert same(loaded["sphere.place"], trajectory["ball.place"])
    assert same(loaded["sphere.height"], trajectory["ball.height"])
    assert loaded["sphere.extra"].tolist() == [7.0] * len(trajectory)
    assert loaded.y.shape == (8, 7)
    state: State = loaded.state(5)
    assert (later.count(state), later.extra(state), later.weight(state)) == (2, 7.0, 2.0)
    assert same(later.place(state), trajectory["ball.place"][5])
    assert same(later.heat(state), trajectory["ball.heat"][5])


def test_rows_in_memory_are_the_same_as_those_of_the_file(
    path: Path, trajectory: Trajectory, ball: Ball, system: System
) -> None:
    rows = load_trajectory(path, system)._kept.in_memory(range(2, 7))
    assert isinstance(rows, Rows)
    check_same(trajectory[2:7], Trajectory._of(rows, trajectory.record, None), ball)


class Growing(Subsystem):
    count = discrete(2, invalidates=Stage.POSITION)

    @cached(prerequisites=(count,))
    def numbers(self, state: State) -> Any:
        return np.arange(float(self.count(state)))


def test_an_entry_may_have_another_shape_in_a_later_batch(tmp_path: Path) -> None:
    system = System(growing := Growing())
    state = system.new_state()
    writer = TrajectoryWriter(tmp_path / "a", ["growing.numbers"])
    for count in (2, 3):
        growing.count.set(state, count)
        trajectory = Trajectory(state, ["growing.numbers"])
        trajectory.append(state)
        assert isinstance(trajectory._kept, Rows)
        writer.write(trajectory._kept)
    writer.close()
    found = load_trajectory(tmp_path / "a")["growing.numbers"]
    assert [values.tolist() for values in found] == [[0.0, 1.0], [0.0, 1.0, 2.0]]
