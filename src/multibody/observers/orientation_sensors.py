"""Orientation sensors: frames on bodies that are to be turned as they were observed."""

from collections.abc import Callable, Iterable
from typing import Final, SupportsIndex, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from stagecache.decorations.decorations import AbstractDecoration, DecorativeFrame
from stagecache.errors import OutOfRangeError
from stagecache.multibody.checks import checked_rotation
from stagecache.multibody.geometry.rotation_vectors import (
    rotation_vector_bends,
    rotation_vector_jacobians,
    rotation_vectors,
)
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.matter import MobilizedBody
from stagecache.multibody.matter.named_things import AbstractThing
from stagecache.multibody.observers.observations import Frame
from stagecache.multibody.observers.observer import AbstractObserver, FrameTables
from stagecache.multibody.tree.poses import TreePoses
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.state import State

TOLERANCE: Final = 1e-6
"""By how much an observation may differ from a rotation: files have few digits."""


@final
@frozen(eq=False)
class OrientationSensor(AbstractThing):
    """A frame on a body. It is const, and equal to itself only.

    Attributes
    ----------
    name : str
    index : int
        Of the sensors that it is one of.
    body : MobilizedBody
    rotation : ndarray of shape (3, 3)
        Its axes as columns, in the frame of the body.
    """

    rotation: Array = field(repr=False)

    def __str__(self) -> str:
        return f"sensor {self.name!r}"


@final
class OrientationSensors(AbstractObserver[OrientationSensor]):
    """Sensors on bodies, and the orientations in ground that they have told.

    As a goal, it is half the weighted mean of the squares of the angles [rad^2] by which sensors
    have to be turned. As an error, it has three rows for each sensor that is observed: its rotation
    vector [rad]. At half a turn, these jump. Left out are sensors that are missing in a frame,
    those of weight 0, those without an observation, and those on the ground.

    Parameters
    ----------
    name : str

    Raises
    ------
    InvalidNameError

    Examples
    --------
    >>> from stagecache import Assembler
    >>> from stagecache.multibody import Ball, MultibodySystem, OrientationSensors
    >>> system = MultibodySystem()
    >>> head = system.matter.add_body("head", system.matter.ground, Ball())
    >>> state = system.new_state()
    >>> assembler = Assembler(system, accuracy=1e-6)
    >>> sensors = assembler.add_goal(OrientationSensors())
    >>> sensor = sensors.add_sensor(head)
    >>> sensors.move_all_observations([[[0, -1, 0], [1, 0, 0], [0, 0, 1]]])
    >>> result = assembler.assemble(state)
    >>> abs(head.q(state).round(4))
    array([0.7071, 0.    , 0.    , 0.7071])
    """

    _kind = "sensor"
    _shape = (3, 3)

    def __init__(self, name: str = "orientation sensors") -> None:
        super().__init__(name)

    # ------------------------------------------------------------------ sensors

    @property
    def sensors(self) -> tuple[OrientationSensor, ...]:
        """All sensors."""
        return self._observations.things

    def add_sensor(
        self,
        body: MobilizedBody,
        rotation: ArrayLike | None = None,
        weight: float = 1.0,
        name: str = "",
    ) -> OrientationSensor:
        """Add a sensor. The order of observations is forgotten, and all of them are missing then.

        Parameters
        ----------
        body : MobilizedBody
            All are on bodies of one matter.
        rotation : (3, 3) array_like, optional
            Its axes as columns, in the frame of the body. The default are those of the body.
        weight : float
            How much it counts, 0 or more.
        name : str
            Of its own; the default is "sensor 3" for the one of index 3.

        Returns
        -------
        OrientationSensor
            To name it by.

        Raises
        ------
        UnknownBodyError, ShapeError, NotANumberError, OutOfRangeError, InvalidNameError,
        DuplicateNameError
        ConditionError
            The body is not of the System of the Assembler.
        """
        name = self._observations.named.new_name(name)
        what = f"sensor {name!r}"
        owner = self._owner(body, what)
        given = np.eye(3) if rotation is None else rotation
        axes = checked_rotation(given, f"the rotation of {what} of {self}")
        checked = self._observations.checked_weight(weight, f"{what} of {self}")
        sensor = OrientationSensor(name, len(self.sensors), owner, axes)
        self._add(sensor, checked)
        return sensor

    def sensor(self, which: OrientationSensor | str | SupportsIndex) -> OrientationSensor:
        """The sensor of a name or an index.

        Raises
        ------
        UnknownMarkerError
        """
        return self.sensors[self._index(which)]

    def current_orientations(self, state: State | None = None) -> Array:
        """How all sensors are oriented in ground, (number of sensors, 3, 3).

        Parameters
        ----------
        state : State, optional
            At Model or further. The default is the internal State of the Assembler.

        Raises
        ------
        StudyError
            No State is given, and there is no Assembler.
        StageTooLowError, WrongTypeError, ForeignStateError, KinematicsError
        """
        return self._frames(state)[:, :3, :3]

    def calc_decorations(
        self, state: State | None = None, *, axis_length: float = 0.1
    ) -> list[AbstractDecoration]:
        """The axes of sensors at the origins of their bodies, and those observed, paler.

        Parameters
        ----------
        state : State, optional
            As of `current_orientations`.
        axis_length : float
            [m]
        """
        frames = self._frames(state)
        found: list[AbstractDecoration] = [
            DecorativeFrame(
                axis_length, rotation=pose[:3, :3], translation=pose[:3, 3], label=sensor.name
            )
            for sensor, pose in zip(self.sensors, frames, strict=True)
        ]
        for sensor, rotation in zip(self.observation_order, self.observations, strict=True):
            if sensor is not None and not np.isnan(rotation).any():
                there = frames[sensor.index, :3, 3]
                found.append(
                    DecorativeFrame(
                        1.5 * axis_length, rotation=rotation, translation=there, opacity=0.4
                    )
                )
        return found

    def _frames(self, state: State | None) -> Array:
        """The poses of frames of all sensors, at the origins of their bodies: (n, 4, 4)."""
        if not self.sensors:
            return np.empty((0, 4, 4))
        state = self._state_or_internal(state)
        found: Array = self._matter.tree_poses(state).bodies[self._table(state).rows]
        found[:, :3, :3] = found[:, :3, :3] @ self._rotations
        return found

    # ------------------------------------------------------------------ duties

    def _check_values(self, values: Array, label: Callable[[int], str]) -> None:
        """Refuse what is no rotation, where it is not missing."""
        with np.errstate(all="ignore"):
            gaps = np.abs(values.swapaxes(1, 2) @ values - np.eye(3)).max(axis=(1, 2))
            determinants = np.linalg.det(values)
        is_missing = np.isnan(values).any(axis=(1, 2))
        is_wrong = ~(is_missing | ((gaps <= TOLERANCE) & (determinants > 0.0)))
        for index in np.flatnonzero(is_wrong).tolist():
            raise OutOfRangeError(
                f"{label(index)}: is no rotation",
                f"R' R = 1 within {TOLERANCE}, and det R = 1; or NaN for what is missing",
                f"R' R - 1 up to {gaps[index]:.3g}, det R = {determinants[index]:.6g}",
                "give it through scipy.spatial.transform.Rotation, whose as_matrix() is one",
            )

    @property
    def _rotations(self) -> Array:
        return np.array([sensor.rotation for sensor in self.sensors])

    def _stations_of(self, things: Iterable[OrientationSensor]) -> Array:
        return np.zeros((len(tuple(things)), 3))

    def _targets_of(self, frame: Frame) -> Array:
        """R_BS R_OG: from the ground, by the observed axes, to the body."""
        found: Array = self._rotations[frame.things] @ frame.targets.swapaxes(1, 2)
        return found

    def _places_of(self, tables: FrameTables, poses: TreePoses) -> Array:
        rotations = poses.bodies[tables.plain.rows, :3, :3]
        return rotation_vectors(rotations @ tables.targets)

    def _deviations_of(self, tables: FrameTables, places: Array) -> Array:  # noqa: ARG002  # they are
        return places

    def _jacobian_of(self, table: StationTable, places: Array, axes: Array) -> Array:
        found: Array = rotation_vector_jacobians(places) @ axes[:, :3].T
        found *= table.moves
        return found

    def _bends_of(
        self, table: StationTable, places: Array, axes: Array, jacobian: Array, factors: Array
    ) -> Array:
        """The change of factors . J a_i along J a_j, where q j does not turn the axis a_i."""
        bends = rotation_vector_bends(places, factors)
        axes_moved = (table.moves != 0.0) * axes[:, :3].T
        size = (-1, len(axes)) if len(axes) else (3 * len(places), 0)
        found: Array = (bends @ axes_moved).reshape(size).T @ jacobian.reshape(size)
        return found
