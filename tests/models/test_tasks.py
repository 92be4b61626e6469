"""Tasks of inverse kinematics in files of OpenSim."""

from math import inf

import pytest

from stagecache.errors import FileFormatError
from stagecache.models import CoordinateTask, read_ik_tasks
from tests.models.conftest import Write

TASKS = """
<IKTaskSet><objects>
  <IKMarkerTask name="Sternum"><apply>true</apply><weight>2</weight></IKMarkerTask>
  <IKMarkerTask name="Toe"><weight>0.5</weight></IKMarkerTask>
  <IKMarkerTask name="Hat"><apply>false</apply><weight>1</weight></IKMarkerTask>
  <IKCoordinateTask name="a"><weight>10</weight><value_type>default_value</value_type>
    <value>3</value></IKCoordinateTask>
  <IKCoordinateTask name="b"><weight>1</weight><value_type>manual_value</value_type>
    <value>0.25</value></IKCoordinateTask>
  <IKCoordinateTask name="c"><weight>1</weight><value_type>from_file</value_type></IKCoordinateTask>
</objects></IKTaskSet>"""
TOOL = f"""<OpenSimDocument Version="30000"><InverseKinematicsTool name="x">{TASKS}
  <constraint_weight>Infinity</constraint_weight><time_range> 0.4 1.6</time_range>
  <coordinate_file>angles.mot</coordinate_file></InverseKinematicsTool></OpenSimDocument>"""


def test_a_set_up_has_weights_targets_and_times(write: Write) -> None:
    tasks = read_ik_tasks(write(TOOL, "setup.xml"))
    assert dict(tasks.markers) == {"Sternum": 2.0, "Toe": 0.5}
    assert tasks.coordinates == (
        CoordinateTask("a", 10.0),
        CoordinateTask("b", 1.0, 0.25),
        CoordinateTask("c", 1.0, is_from_file=True),
    )
    assert (tasks.time_range, tasks.constraint_weight) == ((0.4, 1.6), inf)
    assert tasks.coordinate_file == "angles.mot"


def test_tasks_may_be_alone_in_a_file(write: Write) -> None:
    tasks = read_ik_tasks(write(f"<OpenSimDocument>{TASKS}</OpenSimDocument>", "tasks.xml"))
    assert len(tasks.markers) == 2
    assert tasks.time_range == (-inf, inf)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("OpenSimDocument", "Document", "is not a document of OpenSim"),
        ("IKTaskSet", "Tasks", "has no tasks of inverse kinematics"),
        ("IKMarkerTask", "IKTask", "is not a task of inverse kinematics"),
        ("<weight>2<", "<weight>-2<", "has a negative weight"),
        ("<weight>2<", "<weight>two<", "not 1 number"),
        ("from_file", "from_nowhere", "has an unknown value_type"),
        (" 0.4 1.6", "0.4", "not 2 numbers"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(
    old: str, new: str, told: str, write: Write
) -> None:
    with pytest.raises(FileFormatError, match=told) as caught:
        read_ik_tasks(write(TOOL.replace(old, new), "setup.xml"))
    assert caught.value.what.startswith("setup.xml, line")
