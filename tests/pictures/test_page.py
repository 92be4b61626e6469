"""Pages of animations: what is in them, read by the format of viser, and what a browser shows."""

import io
import os
import re
import sys
import threading
from base64 import b64decode
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from time import sleep
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
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
    animate,
    q_variable,
)
from stagecache.decorations import AbstractDecoration
from stagecache.errors import MissingExtraError
from stagecache.pictures.scene import angles_of, directions_of
from tests.browser import chromium, requests_of
from tests.pictures.test_pictures import RED, cart, moving, random_pose

Messages = list[tuple[float, dict[str, Any]]]


@pytest.fixture(autouse=True)
def viser() -> Any:
    return pytest.importorskip("viser", reason="viser is in the extra: pip install '.[viewer]'")


class Shapes(Subsystem):
    """The decorations of a frame, by its number."""

    number = q_variable(0.0)

    def __init__(self, frames: list[list[AbstractDecoration]]) -> None:
        super().__init__()
        self.frames = frames

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        if stage is Stage.POSITION:
            geometry += self.frames[round(self.number(state))]


def page_of(path: Path, *frames: list[AbstractDecoration], **options: Any) -> str:
    """The page of some frames."""
    system = System(shapes := Shapes(list(frames)), name="these & those")

    def states() -> Iterator[State]:
        state = system.new_state()
        for number in range(len(frames)):
            shapes.number.set(state, float(number))
            yield state

    return animate(system, states(), path / "page.html", **options).read_text(encoding="utf-8")


def messages_of(page: str) -> tuple[Messages, list[Any]]:
    """What a page plays, with the time of each message, and its arrays."""
    (data,) = re.findall(r'__VISER_EMBED_DATA__="([^"]*)"', page)
    packed = b64decode(data)[8:]
    content = import_module("zstandard").ZstdDecompressor().decompressobj().decompress(packed)
    size = int.from_bytes(content[:8], "little")
    found = import_module("msgspec").msgpack.decode(content[8 : 8 + size])
    return [(time, message) for time, message in found["messages"]], found["binaryBufferLengths"]


def of_kind(messages: Messages, kind: str, name: str = "") -> list[tuple[float, dict[str, Any]]]:
    return [(time, m) for time, m in messages if m["type"] == kind and m["name"].startswith(name)]


# ---------------------------------------------------------------------- what is in a page


def test_every_kind_of_decoration_is_a_node_with_its_label(tmp_path: Path) -> None:
    look: dict[str, Any] = {"label": "L", "opacity": 0.5}
    triangle = ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    messages, _ = messages_of(
        page_of(
            tmp_path,
            [
                DecorativePoint([1, 2, 3], **look),
                DecorativeLine([0, 0, 0], [1, 0, 0], **look),
                DecorativeSphere(0.1, **look),
                DecorativeBrick([1, 2, 3], **look),
                DecorativeCylinder(0.1, 2.0, **look),
                DecorativeFrame(0.5, **look),
                DecorativeMesh(*triangle, **look),
                DecorativeText("T", **look),
            ],
        )
    )
    kinds = {m["name"]: m["type"] for _, m in messages if "props" in m}
    assert {name.partition(" ")[2]: kind for name, kind in kinds.items() if "with" in name} == {
        "DecorativePoint with label": "FrameMessage",
        "DecorativePoint with label/shape": "IcosphereMessage",
        "DecorativePoint with label/text0": "LabelMessage",
        "DecorativeLine with label": "FrameMessage",
        "DecorativeLine with label/line0": "LineSegmentsMessage",
        "DecorativeLine with label/text0": "LabelMessage",
        "DecorativeSphere with label": "FrameMessage",
        "DecorativeSphere with label/shape": "IcosphereMessage",
        "DecorativeSphere with label/text0": "LabelMessage",
        "DecorativeBrick with label": "FrameMessage",
        "DecorativeBrick with label/shape": "BoxMessage",
        "DecorativeBrick with label/text0": "LabelMessage",
        "DecorativeCylinder with label": "FrameMessage",
        "DecorativeCylinder with label/shape": "CylinderMessage",
        "DecorativeCylinder with label/text0": "LabelMessage",
        "DecorativeFrame with label": "FrameMessage",
        "DecorativeFrame with label/line0": "LineSegmentsMessage",
        "DecorativeFrame with label/line1": "LineSegmentsMessage",
        "DecorativeFrame with label/line2": "LineSegmentsMessage",
        "DecorativeFrame with label/text0": "LabelMessage",
        "DecorativeMesh with label": "FrameMessage",
        "DecorativeMesh with label/shape": "MeshMessage",
        "DecorativeMesh with label/text0": "LabelMessage",
        "DecorativeText with label": "FrameMessage",
        "DecorativeText with label/text0": "LabelMessage",
        "DecorativeText with label/text1": "LabelMessage",
    }
    texts = [m["props"]["text"] for _, m in of_kind(messages, "LabelMessage")]
    assert sorted(texts) == ["L"] * 8 + ["T", "grid 0.5 m"]


@pytest.mark.parametrize("seed", range(3))
def test_a_shape_is_sent_once_and_its_pose_in_each_frame(seed: int, tmp_path: Path) -> None:
    poses = [random_pose(10 * seed + k) for k in range(4)]
    frames: list[list[AbstractDecoration]] = [
        [DecorativeBrick([1, 2, 3], color=RED, **pose)] for pose in poses
    ]
    page = page_of(tmp_path, *frames, frames_per_second=10.0)
    messages, _ = messages_of(page)
    assert len(of_kind(messages, "BoxMessage")) == 1
    (name,) = {m["name"] for _, m in of_kind(messages, "FrameMessage", "/0")}
    for kind, field in (("SetPositionMessage", "position"), ("SetOrientationMessage", "wxyz")):
        found = [(t, m[field]) for t, m in of_kind(messages, kind) if m["name"] == name]
        assert [time for time, _ in found] == pytest.approx([0.0, 0.1, 0.2, 0.3])
        for (_, value), pose in zip(found, poses, strict=True):
            if field == "position":
                np.testing.assert_allclose(value, pose["translation"])
            else:
                turned = Rotation.from_quat(np.roll(value, -1)).as_matrix()
                np.testing.assert_allclose(turned, pose["rotation"], atol=1e-12)


def test_a_shape_that_changes_is_sent_again_and_one_that_goes_is_hidden(tmp_path: Path) -> None:
    """All nodes are there from the beginning."""
    one, other = DecorativeSphere(0.1), DecorativeSphere(0.2)
    line = DecorativeLine([0, 0, 0], [1, 0, 0])
    page = page_of(
        tmp_path, [one, line], [other, line], [other], [line], [one, line], frames_per_second=1.0
    )
    messages, _ = messages_of(page)
    radii = [(t, m["props"]["radius"]) for t, m in of_kind(messages, "IcosphereMessage")]
    assert radii == [(0.0, 0.1), (1.0, 0.2), (4.0, 0.1)]
    assert {t for t, _ in of_kind(messages, "FrameMessage")} == {0.0}
    changes: dict[str, list[tuple[float, bool]]] = {}
    for time, message in of_kind(messages, "SetSceneNodeVisibilityMessage"):
        if message["name"].count("/") == 1 and " " in message["name"]:
            changes.setdefault(message["name"], []).append((time, message["visible"]))
    assert changes == {
        "/0 DecorativeSphere": [(0.0, True), (3.0, False), (4.0, True)],
        "/1 DecorativeLine": [(0.0, True), (2.0, False), (4.0, True)],
        "/0 DecorativeLine": [(0.0, False), (3.0, True), (4.0, False)],
    }


def test_a_page_has_the_title_of_each_frame_and_the_name_of_the_system(tmp_path: Path) -> None:
    names = iter(["a", "a", "<b>"])
    frames: list[list[AbstractDecoration]] = [[DecorativeSphere(1.0)]] * 3
    page = page_of(tmp_path, *frames, title=lambda _: next(names), frames_per_second=1.0)
    assert "<title>these &amp; those</title>" in page
    messages, _ = messages_of(page)
    ((time, first),) = of_kind(messages, "LabelMessage", "/title")
    assert (time, first["props"]["text"]) == (0.0, "a")
    updates = of_kind(messages, "SceneNodeUpdateMessage", "/title")
    assert [(t, m["updates"]) for t, m in updates] == [(2.0, {"text": "<b>"})]


def test_before_a_uniform_background_there_is_no_grid(tmp_path: Path) -> None:
    system, _ = cart()
    system.use_uniform_background = True
    page = animate(system, [system.new_state()], tmp_path / "page.html").read_text("utf-8")
    messages, _ = messages_of(page)
    assert of_kind(messages, "IcosphereMessage")
    assert not of_kind(messages, "GridMessage")


@pytest.mark.parametrize("up", ["+X", "+Y", "+Z", "-X", "-Y", "-Z"])
@pytest.mark.parametrize("view", [None, (0, 0), (90, -90), (-35, 120)])
def test_the_camera_stands_where_draw_looks_from_and_sees_all(
    up: str, view: tuple[float, float] | None, tmp_path: Path
) -> None:
    system, _ = cart()
    system.up_direction = up
    page = animate(system, [system.new_state()], tmp_path / "page.html", view=view)
    messages, _ = messages_of(page.read_text("utf-8"))
    found = {m["type"]: m for _, m in messages if m["type"].startswith("SetCamera")}
    middle = np.array(found["SetCameraLookAtMessage"]["look_at"])
    towards = np.array(found["SetCameraPositionMessage"]["position"]) - middle
    distance = float(np.linalg.norm(towards))
    right, above, expected = directions_of(system, angles_of(system, view))
    np.testing.assert_allclose(np.cross(right, above), expected, atol=1e-12)
    assert towards / distance @ expected > 0.99999
    seen = above @ system.up_direction.vector
    assert seen == pytest.approx(np.cos(np.radians((view or (20, 0))[0])), abs=1e-9)
    corners = np.array([[-2.2, 0, 0], [0.3, 0, 0]])
    half = found["SetCameraFovMessage"]["fov"] / 2.0
    for corner in corners - middle:
        across = corner - (corner @ towards) * towards / distance**2
        assert np.linalg.norm(across) < np.tan(half) * distance


def test_nothing_is_printed_and_no_thread_is_left(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = threading.active_count()
    page_of(tmp_path, [DecorativeSphere(1.0)])
    assert capfd.readouterr() == ("", "")
    assert threading.active_count() == before
    assert not import_module("rich").get_console().quiet


def test_a_frame_adds_little_to_a_page(tmp_path: Path) -> None:
    """A mesh with 1,000 corners is in it once."""
    rng = np.random.default_rng(1)
    mesh = rng.normal(size=(1000, 3)), rng.integers(0, 1000, (2000, 3))
    sizes = []
    for count in (1, 50):
        frames: list[list[AbstractDecoration]] = [
            [DecorativeMesh(*mesh, **random_pose(k))] for k in range(count)
        ]
        sizes.append(len(page_of(tmp_path, *frames)))
    assert sizes[1] - sizes[0] < 50 * 200


def test_an_error_on_the_way_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("before")
    system, state = cart()
    with pytest.raises(ZeroDivisionError):
        animate(system, [state], path, title=lambda _: str(1 / 0))
    with (
        patch("stagecache.pictures.page._Stage.show", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        animate(system, [state], path)
    assert path.read_text() == "before"
    assert not import_module("rich").get_console().quiet


def test_without_viser_the_extra_is_named(tmp_path: Path) -> None:
    system, state = cart()
    with (
        patch.dict(sys.modules, {"viser": None}),
        pytest.raises(
            MissingExtraError, match=r"pip install 'stagecache\[viewer\]', or write a GIF"
        ),
    ):
        animate(system, [state], tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------- in a browser


@pytest.fixture
def driver() -> Iterator[Any]:
    """Chromium, with WebGL by software."""
    by_software = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
    with chromium("--window-size=900,700", *by_software) as found:
        yield found


def pictures(driver: Any, seconds: float = 60.0) -> Iterator[Any]:
    """What is on the page, again and again, as soon as there is something red and blue."""
    image = import_module("PIL.Image")
    for _ in range(round(seconds / 0.5)):
        shown = image.open(io.BytesIO(driver.get_screenshot_as_png()))
        pixels = np.asarray(shown.convert("RGB")).astype(int)
        if reddish(pixels).sum() > 200 and blueish(pixels).sum() > 200:
            yield pixels
        sleep(0.5)


def reddish(pixels: Any) -> Any:
    red, green, blue = np.moveaxis(pixels, -1, 0)
    return (red > 100) & (red > 2 * green) & (red > 2 * blue)


def blueish(pixels: Any) -> Any:
    red, green, blue = np.moveaxis(pixels, -1, 0)
    return (blue > 100) & (blue > 2 * green) & (blue > 2 * red)


@pytest.mark.browser
def test_a_browser_shows_a_page_that_moves_and_asks_for_nothing_else(
    driver: Any, tmp_path: Path
) -> None:
    pytest.importorskip("PIL", reason="Pillow comes with matplotlib, in the extra viz")
    system, state = cart()
    places = tuple(np.linspace(0.0, 3.0, 100))
    path = animate(
        system, moving(state, places), tmp_path / "page.html", title=lambda s: f"x = {s.q[0]:.1f} m"
    )
    driver.get("about:blank")
    driver.get_log("performance")
    driver.get(path.as_uri())
    shown = pictures(driver)
    rails, balls = [], []
    settled = pairwise(np.argwhere(reddish(pixels)).mean(axis=0) for pixels in shown)
    next(0 for before, after in settled if np.abs(after - before).max() < 3.0)  # the camera stands
    for _, pixels in zip(range(8), shown, strict=False):
        rails.append(np.argwhere(reddish(pixels)).mean(axis=0))
        balls.append(np.argwhere(blueish(pixels)).mean(axis=0)[1])
    assert len(rails) == 8
    np.testing.assert_allclose(rails, rails[:1] * 8, atol=3.0)
    assert max(balls) - min(balls) > 50
    if folder := os.environ.get("STAGECACHE_SCREENSHOTS"):
        driver.save_screenshot(f"{folder}/page_of_animation.png")
    outside = [url for url in requests_of(driver) if not url.startswith(("data:", "blob:"))]
    assert outside == [path.as_uri()]
    assert not [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
