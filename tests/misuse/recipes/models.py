"""Valid calls of what reads and writes files of other programs, and of inverse kinematics."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from stagecache.models import (
    Model,
    PiecewiseLinear,
    SimmSpline,
    Table,
    inverse_kinematics,
    load_osim,
    load_urdf,
    read_ik_tasks,
    read_mot,
    read_sto,
    read_trc,
    write_mot,
    write_sto,
)
from tests.misuse.recipe import Recipe, Recipes, call, item
from tests.misuse.world import World
from tests.models.small_models import SMALL

TRC: Final = (
    "PathFileType\t4\t(X/Y/Z)\ta.trc\nNumFrames\tNumMarkers\tUnits\n1\t1\tm\n"
    "Frame#\tTime\thip\n\t\tX1\tY1\tZ1\n1\t0\t1\t2\t3\n"
)
STO: Final = "a\nnRows=1\nnColumns=2\nendheader\ntime\tknee\n0\t1\n"
TASKS: Final = "<OpenSimDocument><IKTaskSet><objects/></IKTaskSet></OpenSimDocument>"
ROBOT: Final = "<robot name='a'><link name='base'/></robot>"
DAMAGED: Final = ["<a", "", "no such file", 3, None]


def text(w: World, name: str, content: str) -> Path:
    """Return a file with a text."""
    return w.file(name, lambda path: path.write_text(content, encoding="utf-8"))


def model(w: World) -> Model:
    """Return a small model."""
    path = text(w, "small.osim", SMALL["PinJoint"])
    return w.keep("model", lambda: load_osim(path))  # type: ignore[no-any-return]  # it is one


def angles() -> Table:
    """Return a table of columns."""
    return Table([0.0, 1.0], ["hip", "knee"], np.ones((2, 2)), ["rad", "m"])


def markers() -> Table:
    """Return a table of one marker."""
    return Table([0.0], ["b_marker"], np.ones((1, 1, 3)), ["m"])


def reading(function: Any, name: str, content: str, **but: object) -> Recipe:
    """Return a recipe of a function that reads a file."""
    return lambda w: call(function, text(w, name, content)).but(
        path=[text(w, "damaged", "<a"), "no such file"], **but
    )


def writing(function: Any) -> Recipe:
    """Return a recipe of a function that writes a table."""
    return lambda w: call(function, w.folder / "written", angles()).but(
        table=[markers(), "table", None]
    )


RECIPES: Final[Recipes] = {
    "load_osim": reading(load_osim, "small.osim", SMALL["PinJoint"]),
    "load_urdf": reading(load_urdf, "robot.urdf", ROBOT),
    "read_trc": reading(read_trc, "a.trc", TRC, unit=["mile", 3], model=["model", 3]),
    "read_mot": reading(read_mot, "a.mot", STO, model=["model", 3]),
    "read_sto": reading(read_sto, "a.sto", STO, model=["model", 3]),
    "read_ik_tasks": reading(read_ik_tasks, "tasks.xml", TASKS),
    "write_mot": writing(write_mot),
    "write_sto": writing(write_sto),
    "Table": lambda _: call(Table, [0.0, 1.0], ["hip"], [[1.0], [2.0]], ["rad"]).but(
        times=[[1.0, 0.0], [0.0]], labels=[["hip", "knee"], [""]], units=[["m", "m"]]
    ),
    "Table[...]": lambda _: item(angles(), "hip"),
    "Table.unit": lambda _: call(angles().unit, "hip").but(label=["toe", 3]),
    "Table.between": lambda _: call(angles().between, 0.0, 0.5),
    "Table.columns": lambda _: call(angles().columns, ["hip"]).but(labels=[["toe"], 3]),
    "Table.turned": lambda _: call(markers().turned, np.eye(3)).but(rotation=2.0 * np.eye(3)),
    "Model.new_markers": lambda w: call(model(w).new_markers, {"b_marker": 1.0}).but(
        weights=[{"hat": 1.0}, {"b_marker": -1.0}, {3: 1.0}]
    ),
    "Model.marker_positions": lambda w: call(
        model(w).marker_positions, model(w).system.new_state()
    ),
    "inverse_kinematics": lambda w: call(
        inverse_kinematics, model(w), markers(), weights={"b_marker": 1.0}
    ).but(
        model=[w.system, None],
        markers=[angles(), None],
        weights=[{"hat": 1.0}, 3],
        accuracy=[-1.0, 1.0],
        on_failure="never",
        progress=3,
    ),
    "SimmSpline": lambda _: call(SimmSpline, [0.0, 1.0], [1.0, 2.0]).but(x=[[1.0, 0.0], [0.0]]),
    "PiecewiseLinear": lambda _: call(PiecewiseLinear, [0.0, 1.0], [1.0, 2.0]).but(
        x=[[1.0, 0.0], [0.0]]
    ),
}
