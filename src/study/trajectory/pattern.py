"""Pattern of a trajectory: the System, the items, and their names, common to all rows.

::

    path, handle  ->  Pattern  ->  place in a row
    a row         ->  Pattern  ->  State
"""

from typing import Any, final

from stagecache.errors import NodeKindError, WrongTypeError, short_repr
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    DiscreteVariable,
    Vector,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.values.values import duplicate

MODEL = Stage.MODEL


@final
class Pattern:
    """A State to which others are equal but for the time, y, and discrete variables.

    Parameters
    ----------
    template : State
        At Instance. Nobody else changes it.
    """

    def __init__(self, template: State) -> None:
        self.template = template
        self._paths: NodePaths | None = None

    @classmethod
    def of(cls, state: State) -> "Pattern":
        """Return the pattern of a State, which is copied.

        Raises
        ------
        WrongTypeError, TopologyVersionError
        """
        if not isinstance(state, State):
            raise WrongTypeError(
                f"{short_repr(state)}: cannot be the pattern of a Trajectory",
                "a State of a System",
                f"an object of type {type(state).__name__}",
                "pass a State: system.realize_topology(), for instance",
            )
        if state.system is None:
            raise WrongTypeError(
                f"{state!r}: cannot be the pattern of a Trajectory",
                "a State of a System, which can make others",
                "a State that was made by hand",
                "write the model as Subsystems of a System",
            )
        state.system._require_own(state)
        template = state.copy()
        state.system.realize(template, Stage.INSTANCE)
        return cls(template)

    def __reduce__(self) -> Any:
        return Pattern, (self.template,)

    # ------------------------------------------------------------------ items

    @property
    def paths(self) -> NodePaths:
        """Names of the items."""
        if self._paths is None:
            self._paths = NodePaths(self.template._contents)
        return self._paths

    @property
    def discrete(self) -> list[list[DiscreteVariable[Any]]]:
        """The discrete variables, by subsystem."""
        return [s.discrete for s in self.template._contents.realization.layout.subsystems]

    @property
    def blocks(self) -> list[str]:
        """Paths of the variables in y that are not empty."""
        subsystems = self.template._contents.realization.layout.subsystems
        blocks = [b for kind in ("q", "u", "z") for s in subsystems for b in s.blocks[kind]]
        places = map(self.place, blocks)
        return [
            self.paths.of[block._node]
            for block, place in zip(blocks, places, strict=True)
            if place.start < place.stop
        ]

    def place(self, variable: AbstractContinuousVariable) -> slice:
        """Return the place of a variable in y."""
        return self.template._contents.place(variable)

    def handle(self, path: str) -> AbstractHandle:
        """Return the handle of a path that `path_of` has returned."""
        keys = self.template._contents.realization.store.keys
        found = keys[self.paths.node[path]]
        assert isinstance(found, AbstractHandle)
        return found

    def path_of(self, item: object) -> str:
        """Return the path of a handle, or a path in its full form.

        Raises
        ------
        UnknownPathError, WrongTypeError, ForeignNodeError
        NodeKindError
            The path of a stage, or of weights.
        """
        node = self.paths.find(item)
        path = self.paths.of[node]
        if isinstance(self.template._contents.realization.store.keys[node], AbstractHandle):
            return path
        raise NodeKindError(
            f"{path}: has no values in a trajectory",
            "the time, a variable, or a cache entry",
            "a stage, or weights",
            "trajectory.columns are some that have; state.graph shows all items",
        )

    # ------------------------------------------------------------------ States

    def state(self, time: float, y: Vector, discrete: list[list[Any]], stage: Stage) -> State:
        """Return a new State that has these values, realized to a stage.

        Raises
        ------
        TopologyVersionError
        Exception
            Any exception of a hook or an entry.
        """
        system = self.template.system
        system._require_own(self.template)
        state = self.template.copy()
        state.time = time
        for is_option in (True, False):  # after options are written, q, u and z begin anew
            _write(state, discrete, is_option=is_option)
            system.realize(state, MODEL)
        state.y = y
        system.realize(state, stage)
        return state


def _write(state: State, discrete: list[list[Any]], *, is_option: bool) -> None:
    """Write the discrete variables that have other values; options, or all others."""
    contents = state._contents
    layout, values = contents.realization.layout, contents.realization.store.values
    for subsystem, wanted in zip(layout.subsystems, discrete, strict=True):
        for variable, value in zip(list(subsystem.discrete), wanted, strict=True):
            has_turn = (variable.invalidates == MODEL) is is_option
            if has_turn and value is not values[variable._node]:
                contents.set_discrete(variable, duplicate(value))
