"""What was written in a State since some moment, also where all was realized again since."""

from typing import final

from stagecache.state.stage import Stage
from stagecache.state.state import State

LOWEST = Stage.MODEL


@final
class StateChanges:
    """Tells what is written in a State from now on.

    Each write raises the version of the variable, and that of the stage which it invalidates; these
    never go back. Cost O(variables).
    """

    __slots__ = ("_stages", "_state", "_variables", "_versions")

    def __init__(self, state: State) -> None:
        self._state = state
        self._stages = self._versions_of_stages()
        self._variables = self._versions_of_variables()
        self._versions = state.stage_versions

    @property
    def any(self) -> bool:
        """Whether anything was written."""
        return (
            self.lowest_stage < Stage.INFINITY or self._variables != self._versions_of_variables()
        )

    @property
    def lowest_stage(self) -> Stage:
        """The lowest stage that was invalidated; Infinity if none was."""
        now = self._versions_of_stages()
        changed = (
            stage
            for stage, before, after in zip(Stage, self._stages, now, strict=True)
            if stage >= LOWEST and before != after
        )
        left = max(LOWEST, self._state.lowest_stage_difference(self._versions))
        return min(next(changed, Stage.INFINITY), left)

    def _versions_of_stages(self) -> list[int]:
        realization = self._state._contents.realization
        versions = realization.store.versions
        return [versions[node] if node >= 0 else 0 for node in realization.layout.stages]

    def _versions_of_variables(self) -> list[int]:
        realization = self._state._contents.realization
        layout, versions = realization.layout, realization.store.versions
        nodes = [*layout.variable_nodes("y", None), *layout.weights.values()]
        for subsystem in layout.subsystems:
            nodes += [variable._node for variable in subsystem.discrete]
        return [versions[node] for node in nodes]
