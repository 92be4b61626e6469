"""GIFs: what is decoded has the colours that were drawn."""

import io
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stagecache.pictures.gif import COLOURS, EXACT, write_gif

pytest.importorskip("PIL", reason="Pillow comes with matplotlib, in the extra viz")

Pixels = NDArray[np.uint8]
seeds = st.integers(0, 2**32 - 1)


def decoded(frames: list[Pixels], milliseconds: list[int] | None = None) -> list[Any]:
    """What a reader sees of these frames."""
    file = io.BytesIO()
    write_gif(frames, milliseconds or [100] * len(frames), file)
    found = []
    with import_module("PIL.Image").open(file) as gif:
        for number in range(gif.n_frames):
            gif.seek(number)
            found.append(np.asarray(gif.convert("RGB")))
    return found


@given(seeds, st.integers(1, 4), st.integers(1, COLOURS))
def test_as_many_colours_as_a_palette_has_are_kept_exactly(
    seed: int, num_frames: int, num_colours: int
) -> None:
    rng = np.random.default_rng(seed)
    colours = rng.integers(0, 256, (num_colours, 3), np.uint8)
    frames = list(colours[rng.integers(0, num_colours, (num_frames, 9, 7))])
    different = [0, *[k for k in range(1, num_frames) if (frames[k] != frames[k - 1]).any()]]
    found = decoded(frames)
    assert len(found) == len(different)
    for number, frame in zip(different, found, strict=True):
        np.testing.assert_array_equal(frame, frames[number])


@given(seeds)
def test_of_many_colours_the_most_frequent_and_the_rarest_are_exact(
    seed: int,
) -> None:
    """A method that counts pixels gives a colour of six pixels away."""
    rng = np.random.default_rng(seed)
    ramp = np.arange(256, dtype=np.uint8)
    frame = np.zeros((100, 256, 3), np.uint8)
    frame[:, :, 2] = ramp
    frame[:, :, 0] = rng.integers(0, 40, (100, 1), np.uint8)  # thousands of blues
    frame[:20] = (250, 250, 250)
    frame[20:30] = (3, 200, 90)
    rare = [(230, 128, 26), (51, 148, 64), (204, 56, 51)]
    for number, colour in enumerate(rare):
        frame[50 + 10 * number, 3:9] = colour
    (found,) = decoded([frame])
    np.testing.assert_array_equal(found[:30], frame[:30])
    for number, colour in enumerate(rare):
        assert (found[50 + 10 * number, 3:9] == colour).all()
    assert np.abs(found.astype(int) - frame).max() <= 16


def test_a_palette_is_that_of_all_frames() -> None:
    """A colour that only the last frame has is exact there."""
    frames = [np.full((4, 4, 3), shade, np.uint8) for shade in (0, 90, 250)]
    frames[2][0, 0] = (230, 128, 26)
    for frame, shown in zip(frames, decoded(frames), strict=True):
        np.testing.assert_array_equal(shown, frame)


def test_half_of_the_palette_is_exact() -> None:
    frames = []
    for number in range(3 * EXACT):
        frames.append(np.full((2, 2, 3), number // 2, np.uint8))
        frames[-1][..., 0] = 255 * (number % 2)
    frames += frames[:EXACT] * 2  # which are more frequent
    found = decoded(frames)
    for frame, shown in zip(frames[:EXACT], found, strict=False):
        np.testing.assert_array_equal(shown, frame)


def test_frames_are_shown_as_long_as_is_said() -> None:
    frames = [np.full((2, 2, 3), shade, np.uint8) for shade in (0, 90, 250)]
    file = io.BytesIO()
    write_gif(frames, [100, 20, 300], file)
    with import_module("PIL.Image").open(file) as gif:
        durations = []
        for number in range(gif.n_frames):
            gif.seek(number)
            durations.append(gif.info["duration"])
        assert gif.info["loop"] == 0
    assert durations == [100, 20, 300]
