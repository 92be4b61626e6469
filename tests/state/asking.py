"""Random programs on random Systems, for what a State answers when it is asked."""

from collections.abc import Iterator
from typing import Any

from attrs import frozen
from hypothesis import strategies as st

from stagecache import CacheEntry, State, System
from stagecache.testing import Run, operations, systems
from stagecache.testing.items import TIME, entries_of
from stagecache.testing.programs.operation import AbstractOperation
from stagecache.testing.programs.writes import SetTime, SetVariable, SetVector

Entries = dict[str, CacheEntry[Any]]


@frozen(eq=False)
class Step:
    """An operation that is about to be done."""

    run: Run
    operation: AbstractOperation
    state: State

    @property
    def written(self) -> Any:
        """What it writes, to be asked for; None if it does not write."""
        operation = self.operation
        if isinstance(operation, SetVariable):
            return operation.item.handle(self.state)
        if isinstance(operation, SetTime):
            return TIME.handle(self.state)
        if not isinstance(operation, SetVector):
            return None
        if operation.name in ("q", "u", "z"):
            owner: Any = self.state
            if operation.subsystem is not None:
                owner = self.state[operation.subsystem]
            return owner.variable(operation.name)
        return operation.name

    def do(self) -> None:
        self.run.perform([self.operation])


def random_systems() -> st.SearchStrategy[System]:
    return systems(max_items=8)


def steps(system: System, data: st.DataObject) -> Iterator[Step]:
    """Each operation of a program that can be done, before it is; what looks has to do it."""
    run = Run(system)
    for operation in data.draw(operations(system, max_steps=12)):
        if operation.is_possible(run):
            yield Step(run, operation, run.state(operation.where))


def entries(state: State) -> Entries:
    """All entries, by their paths."""
    return {str(entry): entry for _, entry in entries_of(state)}


def realized(state: State) -> set[str]:
    """The paths of those that are realized."""
    return {path for path, entry in entries(state).items() if entry.is_valid(state)}
