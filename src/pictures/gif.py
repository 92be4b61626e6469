"""GIFs that keep colours: one palette for all frames, with the most frequent colours as they are.

A palette has 256 colours. A method that divides the space of colours by the number of pixels, as
Pillow's does for each frame, gives nearly all of them to what is large, and a thin axis or a small
point gets another colour. Here half of the palette are the colours with the most pixels. To these,
the colour that is farthest from the palette is added again and again, however few pixels have it.
"""

from collections.abc import Iterable, Sequence
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.checks import require_extra

Pixels = NDArray[np.uint8]

COLOURS: Final = 256
EXACT: Final = COLOURS // 2
"""Colours that a palette has as they are, if there are more than fit."""


def write_gif(frames: Sequence[Pixels], milliseconds: Iterable[int], file: IO[bytes]) -> None:
    """Write frames as a GIF that is repeated for ever.

    Parameters
    ----------
    frames : sequence of ndarray of shape (height, width, 3)
        At least one, all of one size. Equal frames are stored once, and shown for longer.
    milliseconds : iterable of int
        How long each frame is shown; a GIF has hundredths of a second.
    file : binary file
    """
    image = require_extra("PIL.Image", "viz", "a GIF")
    packed = [_packed(frame) for frame in frames]
    numbers, counts = _distinct(packed)
    palette, index = _palette(_unpacked(numbers), counts)
    table = np.zeros(2**24, np.uint8)
    table[numbers] = index
    found = []
    for frame in packed:
        picture = image.fromarray(table[frame])
        picture.putpalette(palette.astype(np.uint8).tobytes())
        found.append(picture)
    options = {"append_images": found[1:], "duration": list(milliseconds), "loop": 0}
    found[0].save(file, "GIF", save_all=True, **options)


def _packed(frame: Pixels) -> NDArray[np.int32]:
    """Return colours as numbers of 24 bits."""
    red, green, blue = np.moveaxis(frame.astype(np.int32), -1, 0)
    found: NDArray[np.int32] = (red << 16) | (green << 8) | blue
    return found


def _unpacked(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return red, green and blue of colours, (n, 3)."""
    return np.stack([numbers >> 16, (numbers >> 8) & 255, numbers & 255], axis=-1)


def _distinct(frames: list[NDArray[np.int32]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return all colours, and the number of pixels of each."""
    each = [np.unique(frame, return_counts=True) for frame in frames]
    numbers, where = np.unique(np.concatenate([found for found, _ in each]), return_inverse=True)
    counts = np.bincount(where, np.concatenate([found for _, found in each])).astype(np.int64)
    return numbers, counts


def _palette(
    colors: NDArray[np.int32], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return a palette, (n, 3), and for each colour the index of the nearest one there."""
    frequent = np.argsort(-counts, kind="stable")
    chosen: list[int] = []
    index = np.zeros(len(colors), np.uint8)
    distance = np.full(len(colors), 2**31 - 1)
    while len(chosen) < COLOURS and distance.any():
        exact = len(chosen) < EXACT or len(colors) <= COLOURS
        chosen.append(int(frequent[len(chosen)] if exact else distance.argmax()))
        own = ((colors - colors[chosen[-1]]) ** 2).sum(axis=1)
        is_closer = own < distance
        index[is_closer] = len(chosen) - 1
        distance[is_closer] = own[is_closer]
    return colors[chosen], index
