"""Pages: an animation in three dimensions as one file of HTML, which a browser shows offline.

The package viser draws the decorations, by WebGL, with a bar to stop and to seek. A decoration is
sent once, and then its pose in each frame; again only if its shape changes:

::

    /0 DecorativeFrame with label     the pose of the first decoration
        line0, line1, line2           its axes
        text0                         its label
    /1 DecorativeSphere
        shape

Points are small spheres, and the width of lines is in pixels.
"""

import socket
from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, Final, final

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from stagecache.checks import require_extra
from stagecache.decorations.decorations import (
    AbstractDecoration,
    DecorativeBrick,
    DecorativeCylinder,
    DecorativeFrame,
    DecorativeLine,
    DecorativeMesh,
    DecorativePoint,
    DecorativeSphere,
)
from stagecache.pictures.parts import (
    STROKE,
    SURFACE,
    Color,
    PictureParts,
    color_of,
    segments_of,
    texts_of,
)
from stagecache.pictures.scene import View, angles_of, box_of, directions_of
from stagecache.system.core.system import System

Array = NDArray[np.float64]

FIELD_OF_VIEW: Final = float(np.radians(30.0))  # so narrow that parallels look nearly parallel
LOOPBACK: Final = "127.0.0.1"
STEEPEST: Final = 89.9  # degrees; exactly from above, a camera that keeps upright cannot turn

_ROOM: Final = 0.95  # of the distance from which a sphere around all is seen
_PIXELS: Final = 2.0  # width of a line of width 1
_POINT: Final = 0.007  # radius of a point of width 1, by the longest side
_CELLS: Final = 10  # of the grid along the longest side, or up to 2.5 times as many
_GRID: Final = (0.82, 0.84, 0.86)
_FROM_Z_TO_Y: Final = (0.5**0.5, -(0.5**0.5), 0.0, 0.0)  # of the axis of a cylinder
_POSE: Final = ("rotation", "translation")


def write_page(
    system: System,
    frames: Sequence[tuple[PictureParts, str]],
    path: Path,
    view: View | None,
    rate: float,
    show: Callable[[int], object],
) -> None:
    """Write a page.

    Parameters
    ----------
    system : System
    frames : sequence of (PictureParts, str)
        Parts and title of each frame.
    path : Path
    view : (float, float) or None
    rate : float
        Frames per second.
    show : callable
        Called with the number of frames that are done.

    Raises
    ------
    MissingExtraError
        viser is not installed.
    OSError
        The file cannot be written, or there is no loopback interface.
    """
    viser = require_extra("viser", "viewer", "a page of animate()")
    socket.create_server((LOOPBACK, 0)).close()  # viser would wait for ever if it cannot have one
    console = import_module("rich").get_console()
    was_quiet, console.quiet = console.quiet, True  # viser prints its address
    try:
        server = viser.ViserServer(host=LOOPBACK, port=0, verbose=False)
        try:
            html = _recorded(server, system, frames, view, rate, show)
        finally:
            server.stop()
    finally:
        console.quiet = was_quiet
    title = f"<title>{escape(system.name)}</title>"
    path.write_text(html.replace("<title>Viser</title>", title, 1), encoding="utf-8")


def _recorded(
    server: Any,
    system: System,
    frames: Sequence[tuple[PictureParts, str]],
    view: View | None,
    rate: float,
    show: Callable[[int], object],
) -> str:
    """Show all frames, and return the page of what was shown."""
    middle, sides = box_of(np.concatenate([parts.corners() for parts, _ in frames]))
    _look(server, system, view, middle, sides)
    if not system.use_uniform_background:
        _add_grid(server.scene, system, middle, sides)
    stage = _Stage(server.scene, _POINT * float(sides.max()))
    above = middle + system.up_direction.vector * (np.abs(system.up_direction.vector) @ sides) / 2.0
    for parts, _ in frames:
        stage.prepare(parts.decorations)
    recording = title = None
    for number, (parts, text) in enumerate(frames, 1):
        stage.show(parts.decorations)
        if text and title is None:
            title = server.scene.add_label(
                "/title", text, position=above, anchor="bottom-center", font_screen_scale=1.3
            )
        elif title is not None and title.text != text:
            title.text = text
        if recording is None:
            recording = server.get_scene_serializer()
        if len(frames) > 1:
            recording.insert_sleep(1.0 / rate)
        show(number)
    assert recording is not None
    return str(recording.as_html())


def _look(server: Any, system: System, view: View | None, middle: Array, sides: Array) -> None:
    """Set the camera so that it sees all."""
    elevation, azimuth = angles_of(system, view)
    steepest = float(np.clip(elevation, -STEEPEST, STEEPEST))
    _, _, towards = directions_of(system, (steepest, azimuth))
    distance = _ROOM * float(np.linalg.norm(sides)) / 2.0 / np.sin(FIELD_OF_VIEW / 2.0)
    server.scene.set_up_direction(system.up_direction.vector)
    camera = server.initial_camera
    camera.position = middle + distance * towards
    camera.look_at = middle
    camera.fov = FIELD_OF_VIEW
    camera.near, camera.far = distance / 100.0, 100.0 * distance


def _add_grid(scene: Any, system: System, middle: Array, sides: Array) -> None:
    """Add a grid under all, with the length of its cells."""
    up = system.up_direction.vector
    axis = int(np.abs(up).argmax())
    right, forth = [other for other in range(3) if other != axis]
    rough = float(sides.max()) / _CELLS
    power = 10.0 ** np.floor(np.log10(rough))
    cell = float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= rough * 1.0001))
    place = np.round(middle / cell) * cell
    place[axis] = middle[axis] - up[axis] * sides[axis] / 2.0
    width, height = (2.0 * np.ceil(sides[[right, forth]] / 2.0 / cell) * cell).tolist()
    color = _bytes(_GRID)
    scene.add_grid(
        "/grid",
        width,
        height,
        plane="xyz"[right] + "xyz"[forth],
        position=place,
        cell_size=cell,
        section_size=cell,
        cell_color=color,
        section_color=color,
        fade_distance=1e3 * float(sides.max()),
    )
    corner = place.copy()
    corner[[right, forth]] += np.array([width, height]) / 2.0
    scene.add_label("/grid/size", f"grid {cell:g} m", position=corner - place)


@final
class _Stage:
    """The scene of viser, with the decorations that it shows now.

    It has all of them from the beginning, and hides those that are not shown. When a page begins
    again, its first messages then come after all others, and there is nothing that they leave out.

    Parameters
    ----------
    scene : viser.SceneApi
    point : float
        Radius of a point of width 1 [m].
    """

    def __init__(self, scene: Any, point: float) -> None:
        self._scene = scene
        self._point = point
        self._shown: dict[str, AbstractDecoration] = {}  # the last one of each name
        self._poses: dict[str, Any] = {}  # handles

    def prepare(self, decorations: Sequence[AbstractDecoration]) -> None:
        """Add decorations that it does not have, hidden."""
        for name, decoration in _named(decorations).items():
            if name not in self._poses:
                look = {"show_axes": False, "visible": False}
                self._poses[name] = self._scene.add_frame(name, **look, **_pose_of(decoration))
                self._fill(name, decoration)

    def show(self, decorations: Sequence[AbstractDecoration]) -> None:
        """Show these decorations instead of earlier ones; move decorations of equal shapes."""
        named = _named(decorations)
        for name, pose in self._poses.items():
            pose.visible = name in named
        for name, decoration in named.items():
            if not _is_same_shape(self._shown[name], decoration):
                self._fill(name, decoration)
            for part, value in _pose_of(decoration).items():
                setattr(self._poses[name], part, value)

    def _fill(self, name: str, decoration: AbstractDecoration) -> None:
        """Add the parts of a decoration under its pose, in the place of those that are there."""
        self._shown[name] = decoration
        scene, width = self._scene, decoration.line_width
        look = _look_of(color_of(decoration, SURFACE))
        shape = f"{name}/shape"
        match decoration:
            case DecorativePoint():
                look = _look_of(color_of(decoration, STROKE))
                place, radius = decoration.point, self._point * width
                scene.add_icosphere(shape, radius, position=place, cast_shadow=False, **look)
            case DecorativeLine() | DecorativeFrame():
                for index, (ends, color) in enumerate(segments_of(decoration)):
                    scene.add_line_segments(
                        f"{name}/line{index}",
                        ends[None],
                        _over_white(color),
                        thickness=_PIXELS * width,
                        thickness_units="screen",
                    )
            case DecorativeSphere():
                scene.add_icosphere(shape, decoration.radius, **look)
            case DecorativeBrick():
                scene.add_box(shape, dimensions=2.0 * decoration.half_lengths, **look)
            case DecorativeCylinder():
                height = 2.0 * decoration.half_height
                scene.add_cylinder(shape, decoration.radius, height, wxyz=_FROM_Z_TO_Y, **look)
            case DecorativeMesh():
                scene.add_mesh_simple(
                    shape,
                    decoration.vertices,
                    decoration.faces,
                    flat_shading=True,
                    side="double",
                    **look,
                )
        for index, (place, text) in enumerate(texts_of(decoration)):
            scene.add_label(f"{name}/text{index}", text, position=place)


def _has_same_parts(one: AbstractDecoration, other: AbstractDecoration) -> bool:
    """Return True if two decorations have parts of the same names."""
    return type(one) is type(other) and bool(one.label) is bool(other.label)


def _named(decorations: Sequence[AbstractDecoration]) -> dict[str, AbstractDecoration]:
    """Return decorations by names of their nodes: decorations of one name have the same parts."""
    return {
        f"/{number} {type(one).__name__}{' with label' if one.label else ''}": one
        for number, one in enumerate(decorations)
    }


def _is_same_shape(one: AbstractDecoration, other: AbstractDecoration) -> bool:
    """Return True if two decorations of one class differ in nothing but their poses."""
    names = [field.name for field in attrs.fields(type(one)) if field.name not in _POSE]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _pose_of(decoration: AbstractDecoration) -> dict[str, Array]:
    """Return the pose of a decoration as viser takes it; quaternions are (w, x, y, z)."""
    quaternion = np.roll(Rotation.from_matrix(decoration.rotation).as_quat(), 1)
    return {"wxyz": quaternion, "position": decoration.translation}


def _bytes(color: Color) -> tuple[int, ...]:
    """Return red, green and blue from 0 to 255."""
    return tuple(round(255.0 * part) for part in color[:3])


def _over_white(color: Color) -> tuple[int, ...]:
    """Return the color of something transparent before a white background."""
    opacity = color[3]
    return _bytes(tuple(opacity * part + 1.0 - opacity for part in color[:3]))


def _look_of(color: Color) -> dict[str, Any]:
    """Return color and opacity as viser takes them."""
    opacity = color[3]
    return {"color": _bytes(color), "opacity": None if opacity == 1.0 else opacity}
