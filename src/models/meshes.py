r"""Meshes of files: Wavefront .obj, .stl, and .vtp of VTK, as triangles.

::

    .obj    v x y z, f 1 2 3 ...              polygons are fans of triangles
    .stl    of text, or binary: 80 bytes, a count, 50 bytes for each triangle
    .vtp    XML: Points, Polys, Strips, as text

A file is looked for by its name alone, in given folders.
"""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stagecache.models.reading import bad, number, read_bytes, read_lines, whole
from stagecache.models.xml import Element, read_xml
from stagecache.multibody.geometry.spatial import Array

Faces = NDArray[np.int64]

SPACE: Final = 3
MOST_CORNERS: Final = 1_000_000_000
MOST_BYTES: Final = 64 * 1024 * 1024
ENDINGS: Final = (".obj", ".stl", ".vtp")
STL_TRIANGLE: Final = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
STL_HEADER: Final = 84  # bytes


def find_mesh(name: str, folders: Iterable[Path]) -> Path | None:
    """Return the file of a mesh in one of some folders, or None. Folders in the name do not count.

    Another known ending counts as well: pelvis.stl for pelvis.vtp.
    """
    wanted = Path(name.replace("\\", "/").rpartition("/")[2])
    if not wanted.name or wanted.name in (".", ".."):
        return None
    for folder in folders:
        for path in (folder / wanted.name, *(folder / (wanted.stem + end) for end in ENDINGS)):
            if path.suffix.lower() in ENDINGS and path.is_file():
                return path
    return None


def read_mesh(path: Path) -> tuple[Array, Faces]:
    """Return vertices (n, 3) and triangles (m, 3) of a file.

    Raises
    ------
    FileFormatError
        It is not such a file. The message has the line, if it is a text.
    OSError
    """
    reader = {".obj": _obj, ".stl": _stl, ".vtp": _vtp}.get(path.suffix.lower())
    if reader is None:
        raise bad(path.name, "is not a mesh", "a file " + ", ".join(ENDINGS), repr(path.suffix))
    vertices, faces = reader(path)
    if np.size(vertices) % SPACE:
        raise bad(path.name, "has half a point", "three numbers for each point", "others")
    points = np.array(vertices, np.float64).reshape(-1, 3)
    triangles = np.array(faces, np.int64).reshape(-1, 3)
    if triangles.size and not 0 <= triangles.min() <= triangles.max() < len(points):
        raise bad(
            path.name,
            "has a corner that does not exist",
            f"0 to {len(points) - 1}",
            f"{triangles.min()} to {triangles.max()}",
        )
    if not np.isfinite(points).all():
        raise bad(path.name, "has a point that is not finite", "finite numbers", "NaN or infinity")
    return points, triangles


def _fan(corners: list[int]) -> list[list[int]]:
    """Return the triangles of a polygon."""
    return [[corners[0], a, b] for a, b in pairwise(corners[1:])]


# ---------------------------------------------------------------------- Wavefront


def _obj(path: Path) -> tuple[list[list[float]], list[list[int]]]:
    vertices: list[list[float]] = []
    faces: list[list[int]] = []
    for line, text in enumerate(read_lines(path), 1):
        kind, *words = text.split() or [""]
        where = f"{path.name}, line {line}"
        if kind == "v":
            found = [x for x in map(number, words[:3]) if x is not None]
            if len(found) != 3:
                raise bad(where, "is not a vertex", "v and three numbers", repr(text[:40]))
            vertices.append(found)
        elif kind == "f":
            corners = [_corner(word, len(vertices), where) for word in words]
            if len(corners) < 3:
                raise bad(where, "is not a face", "f and three corners or more", repr(text[:40]))
            faces += _fan(corners)
    return vertices, faces


def _corner(word: str, count: int, where: str) -> int:
    """Return the index of a vertex from 0: "7/1/2" is the seventh, "-1" the last."""
    text = word.partition("/")[0]
    found = whole(text.removeprefix("-"))
    if not found or found > MOST_CORNERS:
        raise bad(where, "has a corner that is not a number", "7, 7/1/2 or -1", repr(word[:40]))
    return count - found if text.startswith("-") else found - 1


# ---------------------------------------------------------------------- STL


def _stl(path: Path) -> tuple[Array | list[list[float]], Faces | list[list[int]]]:
    data = read_bytes(path, MOST_BYTES)
    count = int.from_bytes(data[80:STL_HEADER], "little") if len(data) >= STL_HEADER else -1
    if len(data) == STL_HEADER + STL_TRIANGLE.itemsize * count:
        corners = np.frombuffer(data, STL_TRIANGLE, count, STL_HEADER)["corners"].reshape(-1, 3)
        return _merged(corners.astype(np.float64))
    if data.lstrip()[:5] != b"solid":
        expected = f"{STL_HEADER} bytes and {STL_TRIANGLE.itemsize} for each triangle, or a text"
        raise bad(path.name, "is not a mesh .stl", expected, f"{len(data)} bytes")
    vertices = []
    for line, text in enumerate(read_lines(path), 1):
        words = text.split()
        if words[:1] == ["vertex"]:
            found = [x for x in map(number, words[1:]) if x is not None]
            if len(found) != 3:
                where = f"{path.name}, line {line}"
                raise bad(where, "is not a vertex", "vertex and three numbers", repr(text[:40]))
            vertices.append(found)
    if len(vertices) % 3:
        raise bad(path.name, "is cut short", "three vertices for each facet", f"{len(vertices)}")
    return _merged(np.array(vertices, np.float64).reshape(-1, 3))


def _merged(corners: Array) -> tuple[Array, Faces]:
    """Return vertices, once each, and the triangles of corners (3 m, 3)."""
    vertices, places = np.unique(corners, axis=0, return_inverse=True)
    return vertices, places.reshape(-1, 3).astype(np.int64)


# ---------------------------------------------------------------------- VTK


def _vtp(path: Path) -> tuple[list[float], list[list[int]]]:
    root = read_xml(path)
    data = root.child("PolyData")
    if root.tag != "VTKFile" or data is None:
        raise root.bad("is not a mesh of VTK", "<VTKFile> with <PolyData>", f"<{root.tag}>")
    points: list[float] = []
    faces: list[list[int]] = []
    for piece in data:
        if piece.tag == "Piece":
            start = len(points) // 3
            points += _numbers(piece.require("Points"), None)
            for tag in ("Polys", "Strips"):
                faces += [[start + i for i in face] for face in _polygons(piece, tag)]
    return points, faces


def _numbers(owner: Element, name: str | None) -> list[float]:
    """Return the numbers of an array, by its name, or the only one."""
    for array in owner:
        if array.tag == "DataArray" and name in (None, array.attributes.get("Name")):
            form = array.attributes.get("format", "ascii")
            if form != "ascii":
                raise array.bad(
                    "has a form that is not read",
                    "numbers as text, format ascii",
                    form,
                    "write the mesh again as text, or as .stl",
                )
            found = [number(word) for word in array.text.split()]
            good = [x for x in found if x is not None]
            if len(good) != len(found):
                raise array.bad("has words that are not numbers", "numbers", "others")
            return good
    return []


def _indices(owner: Element, name: str) -> list[int]:
    """Return the numbers of an array, which are counts."""
    found = _numbers(owner, name)
    if not all(0 <= i <= MOST_CORNERS and i == int(i) for i in found):
        raise owner.bad("has numbers that are not indices", "whole numbers from 0", "others")
    return [int(i) for i in found]


def _polygons(piece: Element, tag: str) -> list[list[int]]:
    """Return the triangles of polygons, or of strips."""
    holder = piece.child(tag)
    if holder is None:
        return []
    corners, ends = _indices(holder, "connectivity"), _indices(holder, "offsets")
    faces, start = [], 0
    for end in ends:
        if not start <= end <= len(corners):
            raise holder.bad("has offsets that do not fit", f"up to {len(corners)}", str(end))
        own = corners[start:end]
        if tag == "Polys":
            faces += _fan(own) if len(own) > 2 else []
        else:
            faces += [
                own[i : i + 3] if i % 2 == 0 else [own[i + 1], own[i], own[i + 2]]
                for i in range(len(own) - 2)
            ]
        start = end
    return faces
