"""Orientation sensors: frames on bodies, and their observed orientations."""

from collections.abc import Callable, Iterable
from typing import Final, SupportsIndex, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from stagecache.decorations.decorations import AbstractDecoration, DecorativeFrame
from stagecache.errors import OutOfRangeError
from stagecache.multibody.checks import checked_rotation
from stagecache.multibody.geometry.orientation import (
    rotation_vector_bends,
    rotation_vector_jacobians,
    rotation_vectors,
)
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.observers.observations import AbstractThing, Frame
from stagecache.multibody.observers.observer import AbstractObserver, FrameTables
from stagecache.multibody.tree.poses import TreePoses
from stagecache.multibody.tree.stations import StationTable
from stagecache.state.state import State

TOLERANCE: Final = 1e-6
"""The deviation of an observation from a rotation that is accepted: files have few digits."""


@final
@frozen(eq=False)
class OrientationSensor(AbstractThing):
    """A frame on a body. It is const, and equal to itself only.

    Attributes
    ----------
    name : str
    index : int
        Sensors are numbered as they were added.
    body : MobilizedBody
    rotation : ndarray of shape (3, 3)
        Its axes as columns, in the frame of the body.
    """

    rotation: Array = field(repr=False)

    def __str__(self) -> str:
        return f"sensor {self.name!r}"


@final
class OrientationSensors(AbstractObserver[OrientationSensor]):
    """Sensors on bodies, and their observed orientations in ground.

    As a goal, it is half the weighted mean of the squares of the angles [rad^2] by which sensors
    differ from their observations. As an error, it has three rows for each sensor that is observed:
    its rotation vector [rad]. At half a turn, these jump. Sensors are left out that are missing in
    a frame, have weight 0 or no observation, or are on the ground.

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
            All sensors are on bodies of one matter.
        rotation : (3, 3) array_like, optional
            Its axes as columns, in the frame of the body. The default are the axes of the body.
        weight : float
            0 or more.
        name : str
            The name of no other sensor; the default is "sensor 3" for index 3.

        Returns
        -------
        OrientationSensor
            The sensor, for other methods.

        Raises
        ------
        UnknownBodyError, ShapeError, NotANumberError, OutOfRangeError, InvalidNameError,
        DuplicateNameError
        ConditionError
            The body is not of the System of the Assembler.
        """

        def make(name: str, index: int, owner: MobilizedBody) -> OrientationSensor:
            given = np.eye(3) if rotation is None else rotation
            axes = checked_rotation(given, f"the rotation of sensor {name!r} of {self}")
            return OrientationSensor(name, index, owner, axes)

        return self._add(make, body, weight, name)

    def sensor(self, which: OrientationSensor | str | SupportsIndex) -> OrientationSensor:
        """Return the sensor of a name or an index.

        Raises
        ------
        UnknownMarkerError
        """
        return self.sensors[self._observations.index_of(which)]

    def current_orientations(self, state: State | None = None) -> Array:
        """Return the orientations of all sensors in ground, (number of sensors, 3, 3).

        Parameters
        ----------
        state : State, optional
            At Model or further. The default is the internal State of the Assembler.

        Raises
        ------
        StudyError
            A State is missing, and an Assembler, too.
        StageTooLowError, WrongTypeError, ForeignStateError, KinematicsError
        """
        return self._frames(state)[:, :3, :3]

    def calc_decorations(
        self, state: State | None = None, *, axis_length: float = 0.1
    ) -> list[AbstractDecoration]:
        """Return the axes of sensors at the origins of their bodies, and the observed ones, paler.

        Parameters
        ----------
        state : State, optional
            Same as for `current_orientations`.
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
        """Return the poses of all sensors, at the origins of their bodies: (n, 4, 4)."""
        if not self.sensors:
            return np.empty((0, 4, 4))
        state = self._state_or_internal(state)
        found: Array = self._matter.tree_poses(state).bodies[self._table(state).rows]
        found[:, :3, :3] = found[:, :3, :3] @ self._rotations
        return found

    # ------------------------------------------------------------------ duties

    def _check_values(self, values: Array, label: Callable[[int], str]) -> None:
        """Refuse matrices that are neither rotations nor missing."""
        with np.errstate(all="ignore"):
            gaps = np.abs(values.swapaxes(1, 2) @ values - np.eye(3)).max(axis=(1, 2))
            determinants = np.linalg.det(values)
        is_missing = np.isnan(values).any(axis=(1, 2))
        is_wrong = ~(is_missing | ((gaps <= TOLERANCE) & (determinants > 0.0)))
        for index in np.flatnonzero(is_wrong).tolist():
            raise OutOfRangeError(
                f"{label(index)}: not a rotation",
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
        """Return R_BS R_OG: from the ground, by the observed axes, to the body."""
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
        """Return the change of factors . J a_i along J a_j, where q j does not turn axis a_i."""
        bends = rotation_vector_bends(places, factors)
        axes_moved = (table.moves != 0.0) * axes[:, :3].T
        size = (-1, len(axes)) if len(axes) else (3 * len(places), 0)
        found: Array = (bends @ axes_moved).reshape(size).T @ jacobian.reshape(size)
        return found
