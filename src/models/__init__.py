"""Models of other programs, OpenSim and URDF, and inverse kinematics of their data."""

from stagecache.models.functions import PiecewiseLinear, SimmSpline
from stagecache.models.inverse_kinematics import IKResult, inverse_kinematics
from stagecache.models.model import LeftOut, Model, ModelMarker, ModelWarning
from stagecache.models.osim import load_osim
from stagecache.models.storage import read_mot, read_sto, write_mot, write_sto
from stagecache.models.table import Table
from stagecache.models.tasks import CoordinateTask, IKTasks, read_ik_tasks
from stagecache.models.trc import read_trc
from stagecache.models.urdf import load_urdf

__all__ = [
    "CoordinateTask",
    "IKResult",
    "IKTasks",
    "LeftOut",
    "Model",
    "ModelMarker",
    "ModelWarning",
    "PiecewiseLinear",
    "SimmSpline",
    "Table",
    "inverse_kinematics",
    "load_osim",
    "load_urdf",
    "read_ik_tasks",
    "read_mot",
    "read_sto",
    "read_trc",
    "write_mot",
    "write_sto",
]
