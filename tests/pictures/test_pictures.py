"""Pictures and animations of any System: what is in them, and what is refused."""

import io
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rich.console import Console
from scipy.spatial.transform import Rotation

from stagecache import (
    DecorativeBrick,
    DecorativeCylinder,
    DecorativeFrame,
    DecorativeLine,
    DecorativeMesh,
    DecorativePoint,
    DecorativeSphere,
    DecorativeText,
    Stage,
    State,
    Subsystem,
    System,
    Trajectory,
    animate,
    draw,
    progress,
    q_variable,
    u_variable,
)
from stagecache.decorations import (
    AbstractDecoration,
)
from stagecache.errors import (
    ForeignStateError,
    MissingExtraError,
    NotANumberError,
    OutOfRangeError,
    PictureError,
    StageOutOfRangeError,
    WrongTypeError,
)
from stagecache.pictures.parts import AROUND, PictureParts

UP = np.array([0.0, 0.0, 1.0])
RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
lengths = st.floats(0.01, 100.0)
seeds = st.integers(0, 2**32 - 1)


def parts_of(*decorations: AbstractDecoration) -> PictureParts:
    return PictureParts(decorations, "these", UP)


def random_pose(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    rotation = Rotation.random(random_state=rng).as_matrix()
    return {"rotation": rotation, "translation": rng.normal(size=3)}


def volume_of(decoration: AbstractDecoration) -> float:
    """That within its faces, if their corners are counterclockwise as seen from outside."""
    (faces,) = parts_of(decoration).faces
    a, b, c, d = np.moveaxis(faces - decoration.translation, 1, 0)
    doubled = np.cross(b, c) + np.cross(c, d)
    return float(np.einsum("ij,ij->", a, doubled)) / 6


# ---------------------------------------------------------------------- faces, lines, points


@given(st.tuples(lengths, lengths, lengths), seeds)
def test_a_brick_is_closed_and_has_its_volume(half: tuple[float, ...], seed: int) -> None:
    decoration = DecorativeBrick(half, **random_pose(seed))
    assert volume_of(decoration) == pytest.approx(8 * np.prod(half), rel=1e-9)
    corners = (parts_of(decoration).corners() - decoration.translation) @ decoration.rotation
    np.testing.assert_allclose(np.abs(corners).max(0), half, rtol=1e-9)


@given(lengths, lengths, seeds)
def test_a_cylinder_is_a_prism_along_y_with_many_sides(
    radius: float, half_height: float, seed: int
) -> None:
    decoration = DecorativeCylinder(radius, half_height, **random_pose(seed))
    base = AROUND / 2 * np.sin(2 * np.pi / AROUND) * radius**2
    assert volume_of(decoration) == pytest.approx(base * 2 * half_height, rel=1e-9)
    corners = (parts_of(decoration).corners() - decoration.translation) @ decoration.rotation
    assert np.abs(corners[:, 1]).max() == pytest.approx(half_height)
    assert np.hypot(corners[:, 0], corners[:, 2]).max() == pytest.approx(radius)


@given(lengths, seeds)
def test_a_sphere_has_its_corners_at_its_radius_and_nearly_its_volume(
    radius: float, seed: int
) -> None:
    decoration = DecorativeSphere(radius, **random_pose(seed))
    corners = parts_of(decoration).corners() - decoration.translation
    np.testing.assert_allclose(np.linalg.norm(corners, axis=1), radius)
    assert 0.93 < volume_of(decoration) / (4 / 3 * np.pi * radius**3) < 1.0


@given(seeds)
def test_a_mesh_line_point_frame_and_text_are_where_their_frame_is(seed: int) -> None:
    pose = random_pose(seed)
    points = np.random.default_rng(seed + 1).normal(size=(4, 3))
    where = points @ pose["rotation"].T + pose["translation"]
    parts = parts_of(
        DecorativeMesh(points, [[0, 1, 2], [1, 2, 3]], **pose),
        DecorativeLine(points[0], points[1], line_width=2.5, **pose),
        DecorativePoint(points[2], color=RED, opacity=0.5, **pose),
        DecorativeText("here", **pose),
        DecorativeFrame(2.0, **pose),
    )
    (faces,) = parts.faces
    np.testing.assert_allclose(faces[:, :3], where[[[0, 1, 2], [1, 2, 3]]])
    np.testing.assert_allclose(parts.lines[0][0], where[:2])
    assert parts.lines[0][2] == 2.5
    ((point, color, _),) = parts.points
    np.testing.assert_allclose(point, where[2])
    assert color == (*RED, 0.5)
    ((place, text, _),) = parts.texts
    assert (place.tolist(), text) == (pose["translation"].tolist(), "here")
    for axis, (ends, _, _) in enumerate(parts.lines[1:]):
        np.testing.assert_allclose(ends[1] - ends[0], 2.0 * pose["rotation"][:, axis])


def test_a_label_is_written_where_its_decoration_is() -> None:
    places = {"sphere": [1, 0, 0], "line": [0, 1.5, 0], "point": [0, 0, 2]}
    parts = parts_of(
        DecorativeSphere(0.1, translation=[1, 0, 0], label="sphere"),
        DecorativeLine([0, 1, 0], [0, 2, 0], label="line"),
        DecorativePoint([0, 0, 2], label="point"),
    )
    assert {text: place.tolist() for place, text, _ in parts.texts} == places


@given(st.sampled_from(["x", "y", "z"]), st.sampled_from([1.0, -1.0]))
def test_the_side_that_is_upwards_is_the_brightest(axis: str, sign: float) -> None:
    up = np.zeros(3)
    up["xyz".index(axis)] = sign
    parts = PictureParts([DecorativeBrick([1, 1, 1], color=RED, opacity=0.25)], "it", up)
    middles, colors = parts.faces[0].mean(axis=1), parts.face_colors[0]
    assert (colors[:, 0] > 0).all()
    assert (colors <= 1).all()
    assert (colors[:, 3] == 0.25).all()
    assert (colors[:, 1:3] == 0.0).all()
    assert middles[colors[:, 0].argmax()] @ up == 1.0
    assert colors[(middles @ -up).argmax(), 0] < colors[:, 0].max() / 1.5


def test_an_empty_mesh_has_no_faces_and_no_corners() -> None:
    parts = parts_of(DecorativeMesh(np.empty((0, 3)), np.empty((0, 3), int)))
    assert parts.corners().shape == (0, 3)
    assert parts.faces == []


# ---------------------------------------------------------------------- a System to draw


class Cart(Subsystem):
    """A blue ball at its place, on a red rail that is there from the beginning."""

    place = q_variable(0.0)
    speed = u_variable(0.0)

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        if stage is Stage.TOPOLOGY:
            geometry.append(DecorativeBrick([0.2, 0.2, 0.2], color=RED, translation=[-2, 0, 0]))
        if stage is Stage.POSITION:
            here = [self.place(state), 0, 0]
            geometry.append(DecorativeSphere(0.3, color=BLUE, translation=here))
        if stage is Stage.VELOCITY:
            geometry.append(DecorativeText(f"speed {self.speed(state):g}"))


def cart() -> tuple[System, State]:
    system = System(Cart(), name="cart")
    return system, system.new_state()


@pytest.fixture
def matplotlib() -> Any:
    found = pytest.importorskip("matplotlib", reason="matplotlib is in the extra viz")
    found.use("agg")
    yield found
    import_module("matplotlib.pyplot").close("all")


def pixels_of(ax: Any) -> NDArray[Any]:
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())[:, :, :3].astype(int)


def of_color(pixels: NDArray[Any], color: tuple[float, ...]) -> NDArray[np.bool_]:
    """Which pixels have nothing of the other colours."""
    others = [index for index in range(3) if not color[index]]
    strongest = pixels.max(axis=2)
    found: NDArray[np.bool_] = (pixels[:, :, others].max(axis=2) < 30) & (strongest > 60)
    return found


# ---------------------------------------------------------------------- stills


def test_what_there_is_to_be_drawn_is_seen(matplotlib: Any) -> None:
    system, state = cart()
    pixels = pixels_of(draw(system, state))
    assert of_color(pixels, RED).sum() > 100
    assert of_color(pixels, BLUE).sum() > 100
    pixels = pixels_of(draw(system, state, stage=Stage.TOPOLOGY))
    assert of_color(pixels, RED).sum() > 100
    assert not of_color(pixels, BLUE).any()


def test_a_state_is_realized_to_the_stage_and_no_further(matplotlib: Any) -> None:
    system, state = cart()
    assert not draw(system, state).texts
    assert stage_of(state) is Stage.POSITION
    assert [text.get_text() for text in draw(system, state, stage=Stage.VELOCITY).texts] == [
        "speed 0"
    ]
    assert stage_of(state) is Stage.VELOCITY
    assert not draw(system, state).texts
    assert stage_of(state) is Stage.VELOCITY


def stage_of(state: State) -> Stage:
    """A call, whose result a type checker takes for another one each time."""
    return state.stage


def test_given_axes_are_drawn_on_and_returned(matplotlib: Any) -> None:
    ax = import_module("matplotlib.figure").Figure().add_subplot(projection="3d")
    assert draw(*cart(), ax) is ax
    assert len(ax.collections) == 1


@pytest.mark.parametrize("up", ["+X", "+Y", "+Z", "-X", "-Y", "-Z"])
@pytest.mark.parametrize("view", [None, (0, 0), (90, -90), (35, 120)])
def test_lengths_are_the_same_in_all_directions_and_up_is_up(
    up: str, view: tuple[float, float] | None, matplotlib: Any
) -> None:
    system, _ = cart()
    system.up_direction = up
    ax = draw(system, system.new_state(), view=view)
    right, above = ax.get_proj()[:2, :3]
    assert np.linalg.norm(right) == pytest.approx(np.linalg.norm(above))
    assert right @ above == pytest.approx(0.0, abs=1e-9)
    seen = above / np.linalg.norm(above) @ system.up_direction.vector
    assert seen == pytest.approx(np.cos(np.radians((view or (20, 0))[0])), abs=1e-3)
    for low, high, axis in zip(
        *np.transpose([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()]), range(3), strict=True
    ):
        shown = [[-2.2, 0.3], [-0.3, 0.3], [-0.3, 0.3]][axis]
        assert low < shown[0] < shown[1] < high


@pytest.mark.parametrize("view", [None, (0.0, 0.0), (90.0, 0.0), (20.0, 45.0)])
@pytest.mark.parametrize("half", [(1, 1, 1), (1, 0.01, 1), (0.01, 1, 0.01), (9, 1, 1), (1, 2, 0.1)])
def test_all_of_a_picture_is_on_it(
    half: tuple[float, ...], view: tuple[float, float] | None, matplotlib: Any
) -> None:
    """Also the numbers and names along the axes."""
    system, state = cart()
    ax = draw(system, state, extra=returning([DecorativeBrick(half)]), view=view)
    ax.figure.canvas.draw()
    there, whole = ax.get_tightbbox(), ax.figure.bbox
    assert (there.min >= 0).all()
    assert (there.max <= whole.size).all()
    assert max(there.size) > 0.7 * max(whole.size)


def test_an_axis_that_is_seen_end_on_has_no_name(matplotlib: Any) -> None:
    system, state = cart()
    assert [axis.get_label_text() for axis in axes_of(draw(system, state))] == [
        "x [m]",
        "y [m]",
        "z [m]",
    ]
    assert [axis.get_label_text() for axis in axes_of(draw(system, state, view=(0, 0)))] == [
        "x [m]",
        "y [m]",
        "",
    ]


def axes_of(ax: Any) -> list[Any]:
    return [ax.xaxis, ax.yaxis, ax.zaxis]


def test_before_a_uniform_background_no_axes_are_shown(matplotlib: Any) -> None:
    system, _ = cart()
    system.use_uniform_background = True
    pixels = pixels_of(draw(system, system.new_state()))
    assert (pixels[5, 5] == 255).all()
    shown = of_color(pixels, RED) | of_color(pixels, BLUE) | (pixels.min(axis=2) > 250)
    assert shown.mean() > 0.99


def test_a_system_with_nothing_to_be_drawn_has_axes_all_the_same(matplotlib: Any) -> None:
    system = System(Subsystem())
    ax = draw(system, system.new_state())
    assert not ax.collections
    low, high = ax.get_xlim()
    assert low < -1 < 1 < high


def test_more_can_be_drawn_for_a_state(matplotlib: Any) -> None:
    system, state = cart()
    ax = draw(system, state, extra=lambda s: [DecorativeText(f"t = {s.time:g} $")])
    assert [text.get_text() for text in ax.texts] == ["t = 0 $"]
    pixels_of(ax)  # a dollar begins no formula


def test_points_and_lines_are_drawn_over_faces(matplotlib: Any) -> None:
    system, state = cart()
    behind = [
        DecorativePoint([0, 0, -5], color=(0, 1, 0), line_width=3),
        DecorativeLine([-2, 0, -5], [2, 0, -5], color=(0, 1, 0), line_width=3),
    ]
    pixels = pixels_of(draw(system, state, view=(0, 0), extra=lambda _: behind))
    assert of_color(pixels, (0, 1, 0)).sum() > 100
    assert of_color(pixels, BLUE).any()


def test_a_frozen_state_is_drawn_as_it_is(matplotlib: Any) -> None:
    system, state = cart()
    system.realize(state, Stage.POSITION)
    assert len(draw(system, state.frozen()).collections) == 1


# ---------------------------------------------------------------------- animations


def frames_of(path: Path) -> tuple[list[NDArray[Any]], list[int]]:
    """The pixels of the frames of a GIF, and for how many milliseconds they are shown."""
    image = import_module("PIL.Image")
    frames, durations = [], []
    with image.open(path) as gif:
        for number in range(gif.n_frames):
            gif.seek(number)
            frames.append(np.asarray(gif.convert("RGB")).astype(int))
            durations.append(gif.info["duration"])
    return frames, durations


def moving(state: State, places: tuple[float, ...] = (0.0, 1.0, 3.0)) -> Iterator[State]:
    """One State, which is changed again and again."""
    for place in places:
        state.q = [place]
        yield state


def test_what_moves_moves_and_the_rest_stays_where_it_is(matplotlib: Any, tmp_path: Path) -> None:
    system, state = cart()
    path = animate(
        system, moving(state), str(tmp_path / "cart.gif"), frames_per_second=10, pixels=200
    )
    assert path == tmp_path / "cart.gif"
    frames, durations = frames_of(path)
    assert [frame.shape for frame in frames] == [(200, 200, 3)] * 3
    assert durations == [100] * 3
    rails = [np.argwhere(of_color(frame, RED)).mean(axis=0) for frame in frames]
    balls = [np.argwhere(of_color(frame, BLUE)).mean(axis=0)[1] for frame in frames]
    np.testing.assert_allclose(rails, rails[:1] * 3, atol=0.5)
    assert balls[2] - balls[1] == pytest.approx(2 * (balls[1] - balls[0]), rel=0.1)
    assert balls[1] - balls[0] > 10


def test_a_list_and_a_trajectory_give_the_same_frames(matplotlib: Any, tmp_path: Path) -> None:
    system, state = cart()
    trajectory = Trajectory(state)
    states = []
    for now in moving(state):
        trajectory.append(now)
        states.append(now.copy())
    animate(system, states, tmp_path / "list.gif", pixels=100)
    animate(system, trajectory, tmp_path / "trajectory.gif", pixels=100)
    assert (tmp_path / "list.gif").read_bytes() == (tmp_path / "trajectory.gif").read_bytes()


def test_a_title_and_more_decorations_are_those_of_each_state(
    matplotlib: Any, tmp_path: Path
) -> None:
    system, state = cart()
    seen: list[float] = []

    def extra(now: State) -> list[AbstractDecoration]:
        seen.append(now.q[0])
        return []

    names = iter("ab")
    path = animate(
        *(system, [state, state], tmp_path / "cart.GIF"),
        extra=extra,
        title=lambda _: next(names),
        pixels=100,
    )
    assert seen == [0.0, 0.0]
    frames, _ = frames_of(path)
    assert len(frames) == 2  # frames that look the same would be one


def test_a_bar_counts_the_frames(
    matplotlib: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    console = Console(file=io.StringIO(), record=True, force_terminal=True, width=100)
    system, state = cart()
    animate(system, moving(state), tmp_path / "cart.gif", pixels=64, progress=console)
    shown = console.export_text()
    assert "writing cart.gif" in shown
    assert "frame = 3 of 3" in shown


def test_the_style_of_matplotlib_is_kept_and_so_is_the_size(
    matplotlib: Any, tmp_path: Path
) -> None:
    system, state = cart()
    style = import_module("matplotlib.style")
    with style.context(["dark_background", {"savefig.bbox": "tight"}]):
        animate(system, moving(state), tmp_path / "cart.gif", pixels=100, title=returning("cart"))
    frames, _ = frames_of(tmp_path / "cart.gif")
    assert {frame.shape for frame in frames} == {(100, 100, 3)}
    for frame in frames:
        assert frame[0, 0].max() < 10
        assert frame[:12].max() > 200  # the title


def losing(state: State) -> Iterator[State]:
    yield state
    yield state
    raise ValueError("lost")


def test_if_a_state_fails_nothing_is_written_and_a_note_says_which(
    matplotlib: Any, tmp_path: Path
) -> None:
    system, state = cart()
    path = tmp_path / "cart.gif"
    path.write_bytes(b"before")
    with pytest.raises(ForeignStateError) as caught:
        animate(system, [state, cart()[1]], path)
    assert caught.value.__notes__ == ["in frame 1 of an animation, counted from 0"]
    with pytest.raises(WrongTypeError):
        animate(system, [state], path, extra=returning(["ball"]))
    with pytest.raises(ZeroDivisionError):
        animate(system, [state], path, title=lambda _: str(1 / 0))
    with pytest.raises(ValueError, match="lost") as lost:
        animate(system, losing(state), path)
    assert lost.value.__notes__ == ["in frame 2 of an animation, counted from 0"]
    broken = patch.object(progress.ProgressBar, "show", side_effect=KeyboardInterrupt)
    with broken, pytest.raises(KeyboardInterrupt):
        animate(system, [state], path)
    assert path.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["cart.gif"]


# ---------------------------------------------------------------------- what is refused


NOTHING: Any = "nothing"


def returning(value: Any) -> Callable[[State], Any]:
    return lambda _: value


Call = Callable[[System, State, Path], object]


def both(what: str, error: type[Exception], **options: Any) -> list[Any]:
    """Cases of what both functions refuse."""
    return [
        pytest.param(lambda s, x, p: draw(s, x, **options), error, what, id=f"draw {what}"),
        pytest.param(
            lambda s, x, p: animate(s, [x], p / "a.gif", **options), error, what, id=f"gif {what}"
        ),
    ]


def gif(what: str, error: type[Exception], states: Any = None, **options: Any) -> Any:
    def call(system: System, state: State, folder: Path) -> object:
        given = [state] if states is None else states
        return animate(system, given, **({"path": folder / "a.gif"} | options))

    return pytest.param(call, error, what, id=f"gif {what} {options}"[:60])


REFUSED = [
    *both("extra=.* cannot be called", WrongTypeError, extra=[DecorativeSphere(1.0)]),
    *both("view=.* not a pair of angles", PictureError, view=(1.0, 2.0, 3.0)),
    *both("view=.* not a pair of angles", PictureError, view=(1.0, float("nan"))),
    *both("view=.* not a pair of angles", PictureError, view="above"),
    *both("view=.* not a pair of angles", PictureError, view="12"),
    *both("too large", PictureError, extra=lambda _: [DecorativePoint([1e200, 0, 0])]),
    *both("view=.* not a pair of angles", PictureError, view=30.0),
    *both(r"stage=", StageOutOfRangeError, stage=Stage.EMPTY),
    *both(r"stage=", StageOutOfRangeError, stage="position"),
    pytest.param(lambda _, x, p: draw(NOTHING, x), WrongTypeError, r"draw\(\)", id="no System"),
    pytest.param(lambda s, _, p: draw(s, NOTHING), WrongTypeError, "State", id="no State"),
    pytest.param(
        lambda s, x, p: draw(s, cart()[1]), ForeignStateError, "State", id="State of another System"
    ),
    pytest.param(lambda s, x, p: draw(s, x, "ax"), PictureError, "not axes in three", id="no axes"),
    pytest.param(
        lambda s, x, p: draw(s, x, extra=returning(DecorativeSphere(1.0))),
        WrongTypeError,
        r"extra=\.\.\. returns: not a list",
        id="one decoration",
    ),
    pytest.param(
        lambda s, x, p: draw(s, x, extra=returning([DecorativeSphere(1.0), [0, 0, 0]])),
        WrongTypeError,
        r"extra=\.\.\. returns: item 1 is not a decoration",
        id="no decoration",
    ),
    pytest.param(
        lambda s, x, p: animate(s, x, p / "a.gif"), WrongTypeError, "has no States", id="a State"
    ),
    gif("has no States", PictureError, states=()),
    gif("has no States", WrongTypeError, states=3),
    gif("State", WrongTypeError, states=["x"]),
    gif("writes GIFs only", PictureError, path="a.mp4"),
    gif("writes GIFs only", PictureError, path=""),
    gif("writes GIFs only", PictureError, path=None),
    gif("cannot write a.gif", PictureError, path="no folder/a.gif"),
    gif("title=.* cannot be called", WrongTypeError, title="cart"),
    gif("frames_per_second=.* not a number", NotANumberError, frames_per_second="fast"),
    gif("frames_per_second=.* not a number", NotANumberError, frames_per_second=True),
    gif("frames_per_second=.* out of range", OutOfRangeError, frames_per_second=0),
    gif("frames_per_second=.* out of range", OutOfRangeError, frames_per_second=101),
    gif("frames_per_second=.* out of range", OutOfRangeError, frames_per_second=float("nan")),
    gif("pixels=.* out of range", OutOfRangeError, pixels=10),
    gif("pixels=.* not a number", NotANumberError, pixels=None),
    gif("progress=", NotANumberError, progress="yes"),
]


@pytest.mark.parametrize(("call", "error", "what"), REFUSED)
def test_bad_input_is_refused_and_nothing_is_written(
    call: Call, error: type[Exception], what: str, matplotlib: Any, tmp_path: Path
) -> None:
    pyplot = import_module("matplotlib.pyplot")
    system, state = cart()
    with pytest.raises(error, match=what):
        call(system, state, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert pyplot.get_fignums() == []


def test_a_folder_is_no_file_to_write_to(matplotlib: Any, tmp_path: Path) -> None:
    system, state = cart()
    (tmp_path / "folder.gif").mkdir()
    with pytest.raises(PictureError, match=r"folder\.gif") as caught:
        animate(system, [state], tmp_path / "folder.gif")
    assert "which is a folder" in caught.value.got


def test_flat_axes_are_refused(matplotlib: Any) -> None:
    ax = import_module("matplotlib.figure").Figure().add_subplot()
    with pytest.raises(PictureError, match="not axes in three"):
        draw(*cart(), ax)
    assert not ax.collections


def test_without_matplotlib_the_extra_is_named_and_the_state_is_left_alone(tmp_path: Path) -> None:
    system, state = cart()
    before = state.stage
    hidden = ("matplotlib", "matplotlib.pyplot", "matplotlib.figure", "matplotlib.animation")
    with patch.dict(sys.modules, dict.fromkeys(hidden)):
        with pytest.raises(MissingExtraError, match=r"pip install 'stagecache\[viz\]'"):
            draw(system, state)
        with pytest.raises(MissingExtraError, match=r"pip install 'stagecache\[viz\]'"):
            animate(system, [state], tmp_path / "cart.gif")
    assert state.stage is before
    assert list(tmp_path.iterdir()) == []
