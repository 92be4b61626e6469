"""Tasks of inverse kinematics, as OpenSim's set-up files have them.

::

    <InverseKinematicsTool>            or only    <IKTaskSet>
        <IKTaskSet>
            <IKMarkerTask name="Sternum">      apply, weight
            <IKCoordinateTask name="knee_r">   apply, weight, value_type, value
        <time_range> <accuracy> <constraint_weight>
"""

from collections.abc import Iterator, Mapping
from math import inf
from os import PathLike
from types import MappingProxyType
from typing import Any, Final, final

from attrs import field, frozen

from stagecache.checks import require_path
from stagecache.models.xml import Element, read_xml, shown_tags

DEFAULT: Final = "default_value"
MANUAL: Final = "manual_value"
FROM_FILE: Final = "from_file"


@final
@frozen
class CoordinateTask:
    """A coordinate that is to stay near a value.

    Attributes
    ----------
    name : str
    weight : float
        Of half the square of the difference [rad or m], beside half the weighted mean of squares of
        the distances of markers [m].
    value : float or None
        [rad or m]. None: the default of the model, or the values of a file.
    is_from_file : bool
        True if the values come from a file.
    """

    name: str
    weight: float
    value: float | None = None
    is_from_file: bool = False


def _frozen(weights: Mapping[str, float]) -> Mapping[str, float]:
    return MappingProxyType(dict(weights))


@final
@frozen(eq=False)
class IKTasks:
    """Weights of markers and coordinates; a marker that is not named does not count.

    Attributes
    ----------
    markers : mapping
        Weights of markers.
    coordinates : tuple of CoordinateTask
    time_range : (float, float)
        Frames to use [s]; infinite if the file does not say it.
    constraint_weight : float
        Infinity: constraints are satisfied.
    coordinate_file : str
        The name of a file with values of coordinates; "" without one. It is not opened.
    """

    markers: Mapping[str, float] = field(converter=_frozen)
    coordinates: tuple[CoordinateTask, ...] = ()
    time_range: tuple[float, float] = (-inf, inf)
    constraint_weight: float = inf
    coordinate_file: str = ""

    def __reduce__(self) -> Any:
        parts = self.coordinates, self.time_range, self.constraint_weight, self.coordinate_file
        return IKTasks, (dict(self.markers), *parts)


def read_ik_tasks(path: str | PathLike[str]) -> IKTasks:
    """Read the tasks of a set-up of OpenSim's inverse kinematics, or of a file of tasks alone.

    Tasks with ``apply`` false are left out.

    Parameters
    ----------
    path : str or os.PathLike
        A file .xml.

    Raises
    ------
    FileFormatError
        It is not such a file. The message has the line.
    WrongTypeError, OSError
    """
    root = read_xml(require_path(path, "read_ik_tasks(path)"))
    if root.tag != "OpenSimDocument":
        raise root.bad("is not a document of OpenSim", "<OpenSimDocument>", f"<{root.tag}>")
    tool = root.child("InverseKinematicsTool")
    tasks = (root if tool is None else tool).child("IKTaskSet")
    if tasks is None:
        expected = "<InverseKinematicsTool> with <IKTaskSet>, or <IKTaskSet>"
        raise root.bad("has no tasks of inverse kinematics", expected, shown_tags(tool or root))
    found = list(_applied(tasks))
    markers = {t.name: _weight(t) for t in found if t.tag == "IKMarkerTask"}
    coordinates = tuple(_coordinate(t) for t in found if t.tag == "IKCoordinateTask")
    if tool is None:
        return IKTasks(markers, coordinates)
    start, end = tool.numbers_of("time_range", 2, (-inf, inf), finite=False)
    return IKTasks(
        markers,
        coordinates,
        (start, end),
        tool.number_of("constraint_weight", inf, finite=False),
        tool.text_of("coordinate_file").replace("Unassigned", ""),
    )


def _applied(tasks: Element) -> Iterator[Element]:
    for task in tasks.child("objects") or ():
        if task.tag not in ("IKMarkerTask", "IKCoordinateTask") or not task.name:
            expected = "<IKMarkerTask name=...> or <IKCoordinateTask name=...>"
            raise task.bad("is not a task of inverse kinematics", expected, f"<{task.tag}>")
        if task.flag_of("apply", default=True):
            yield task


def _weight(task: Element) -> float:
    found = task.number_of("weight", 1.0)
    if found < 0.0:
        raise task.bad("has a negative weight", "0 or more", f"{found:g}")
    return found


def _coordinate(task: Element) -> CoordinateTask:
    kind = task.text_of("value_type") or MANUAL
    if kind not in (DEFAULT, MANUAL, FROM_FILE):
        expected = f"{DEFAULT}, {MANUAL} or {FROM_FILE}"
        raise task.bad("has an unknown value_type", expected, kind)
    value = task.number_of("value", 0.0) if kind == MANUAL else None
    return CoordinateTask(task.name, _weight(task), value, kind == FROM_FILE)
