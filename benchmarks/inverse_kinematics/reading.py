"""Problems are read from JSON files, plain or compressed by xz, in the format of the README."""

import json
import lzma
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.inverse_kinematics.fields import Field
from benchmarks.inverse_kinematics.frame_fields import frames_of, runs_of, targets_of
from benchmarks.inverse_kinematics.problem import KnownPoses, Link, Problem
from benchmarks.inverse_kinematics.tree_fields import (
    aim_of,
    closure_of,
    constraints_of,
    links_of,
    markers_of,
    number_of,
    transform_of,
)

COMPRESSED: Final = b"\xfd7zXZ\x00"
"""With what a file begins that xz has written."""

DEFAULT_ACCURACY: Final = 1e-3


def read_problem(path: str | Path) -> Problem:
    """Read a problem. Its poses are not checked here, but where the System is made.

    Raises
    ------
    ProblemFileError
        It cannot be read, or a field is missing or wrong; the field is named.
    ShapeError, NotANumberError, OutOfRangeError
        Numbers in a field are wrong; the field is named.
    """
    name = Path(path).name
    top = Field(_content(Path(path)), f"{name}: ")
    links = links_of(top)
    num_q = sum(link.num_q for link in links)
    if (told := top.get("nq")) is not None:
        told.whole(num_q, num_q)
    markers = markers_of(top, len(links))
    goal = top.get("goal")
    frames = frames_of(top, goal, len(markers)) if markers else targets_of(top, goal)
    accuracy = number_of(top, "accuracy", DEFAULT_ACCURACY)
    tolerance = number_of(top, "tolerance", accuracy / 10)
    description = top.get("description")
    return Problem(
        name,
        links,
        top["q_initial"].array((num_q,)),
        frames,
        tuple(closure_of(field, len(links)) for field in constraints_of(top)),
        markers,
        None if goal is None else aim_of(goal, links),
        runs_of(top, len(frames), accuracy, tolerance),
        known=_known(top, links, num_q),
        description="" if description is None else description.text(),
        accuracy=accuracy,
        tolerance=tolerance,
    )


def _content(path: Path) -> object:
    """What is in a file."""
    whole = Field(None, path.name)
    try:
        data = path.read_bytes()
        data = lzma.decompress(data) if data.startswith(COMPRESSED) else data
    except (OSError, lzma.LZMAError) as error:
        expected = "a file, plain or compressed by xz"
        raise whole.wrong("cannot be read", expected, str(error), "name another file") from None
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise whole.wrong("is no JSON", "one object", str(error), "name another file") from None


def _known(top: Field, links: tuple[Link, ...], num_q: int) -> KnownPoses | None:
    """The poses at the true q of the first frame, if the file has them."""
    poses = top.get("check_poses_at_frame0_q_true")
    if poses is None:
        return None
    fields = poses.items()
    if len(fields) != len(links):
        expected = f"{len(links)}, one for each body"
        raise poses.wrong("has another length", expected, f"{len(fields)}")
    first = top["frames"].items()[0]
    matrices = np.array([transform_of(field).matrix for field in fields])
    return KnownPoses(poses.path, first["q_true"].array((num_q,)), matrices)
