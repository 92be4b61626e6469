"""What a Subsystem knows of its System: its name, its settings, and handles of time, q, u, z."""

from stagecache.decorations.coordinate_direction import CoordinateDirection
from stagecache.errors import DeclarationError, NotANumberError, OutOfRangeError, short_repr
from stagecache.state.handles import ContinuousVariable, TimeVariable
from stagecache.state.items.realization import new_variables
from stagecache.state.vectors.conversion import FLOAT, converted


class AbstractSystem:
    """A System, as far as its subsystems know it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._up_direction = CoordinateDirection.Y
        self._use_uniform_background = False
        self._default_time_scale = 0.1
        self._default_length_scale = 1.0
        self._has_time_advanced_events = False
        self._variables = new_variables()
        for attribute, handle in self._variables.items():
            handle._declared(self, attribute)

    @property
    def name(self) -> str:
        """The name, by which messages call it."""
        return self._name

    @property
    def time(self) -> TimeVariable:
        """The handle of the time."""
        handle = self._variables["time"]
        assert isinstance(handle, TimeVariable)
        return handle

    @property
    def q(self) -> ContinuousVariable:
        """The handle of the whole q."""
        return self._whole("q")

    @property
    def u(self) -> ContinuousVariable:
        """The handle of the whole u."""
        return self._whole("u")

    @property
    def z(self) -> ContinuousVariable:
        """The handle of the whole z."""
        return self._whole("z")

    def _whole(self, kind: str) -> ContinuousVariable:
        handle = self._variables[kind]
        assert isinstance(handle, ContinuousVariable)
        return handle

    # ------------------------------------------------------------------ settings

    @property
    def up_direction(self) -> CoordinateDirection:
        """Which direction is up, for whoever draws the model; +Y. Setting: a change of topology.

        Raises
        ------
        DeclarationError
            At a value that is no direction.
        """
        return self._up_direction

    @up_direction.setter
    def up_direction(self, direction: CoordinateDirection | str) -> None:
        try:
            direction = CoordinateDirection(direction)
        except ValueError:
            raise DeclarationError(
                "up_direction: is no direction",
                "one of " + ", ".join(map(str, CoordinateDirection)),
                short_repr(direction),
                "write CoordinateDirection.Z, or '+Z'",
            ) from None
        self._require_idle("up_direction")
        self._up_direction = direction
        self._topology_changed("up_direction was set")

    @property
    def use_uniform_background(self) -> bool:
        """Whether to draw the model before nothing, not on a ground; False. As `up_direction`."""
        return self._use_uniform_background

    @use_uniform_background.setter
    def use_uniform_background(self, value: bool) -> None:
        self._set_flag("use_uniform_background", value)

    @property
    def default_time_scale(self) -> float:
        """A time in which the model changes noticeably [s]; 0.1. Setting: a change of topology.

        Raises
        ------
        OutOfRangeError, NotANumberError
            At a value that is not a positive number.
        """
        return self._default_time_scale

    @default_time_scale.setter
    def default_time_scale(self, value: float) -> None:
        self._set_scale("default_time_scale", value)

    @property
    def default_length_scale(self) -> float:
        """A length of the order of the model's parts [m]; 1. As `default_time_scale`."""
        return self._default_length_scale

    @default_length_scale.setter
    def default_length_scale(self, value: float) -> None:
        self._set_scale("default_length_scale", value)

    @property
    def has_time_advanced_events(self) -> bool:
        """Whether subsystems want to know when time has advanced; False. As `up_direction`."""
        return self._has_time_advanced_events

    @has_time_advanced_events.setter
    def has_time_advanced_events(self, value: bool) -> None:
        self._set_flag("has_time_advanced_events", value)

    def _set_flag(self, name: str, value: bool) -> None:
        if not isinstance(value, bool):
            raise NotANumberError(
                f"{name}: is no truth value", "a bool", short_repr(value), "write True or False"
            )
        self._require_idle(name)
        setattr(self, f"_{name}", value)
        self._topology_changed(f"{name} was set")

    def _set_scale(self, name: str, value: float) -> None:
        scale = float(converted(value, FLOAT, (), name))
        if not 0 < scale < float("inf"):
            raise OutOfRangeError(
                f"{name}: is no scale",
                "a positive number",
                short_repr(value),
                "give one in SI units",
            )
        self._require_idle(name)
        setattr(self, f"_{name}", scale)
        self._topology_changed(f"{name} was set")

    def _require_idle(self, what: str) -> None:
        """Refuse a change of topology while something is computed."""
        raise NotImplementedError

    def _topology_changed(self, what: str) -> None:
        """Count a change of topology, of which States of before will tell."""
        raise NotImplementedError
