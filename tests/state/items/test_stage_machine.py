"""The stages of a State and its subsystems, and how often each was left, against plain counting."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage
from stagecache.state.items.stage_machine import StageMachine
from tests.profiles import examples

OPERATIONS = st.sampled_from(
    ["add", "subsystem", "subsystem", "system", "all at once", "one by one", "back up", "copy"]
)


class Plain:
    """Stages and counts, without sharing and without counting together."""

    def __init__(self) -> None:
        self.stage = 0
        self.stages: list[int] = []
        self.left: Counter[tuple[int | None, int]] = Counter()

    def seen(self) -> object:
        """All that the machine says, too."""
        return (
            self.stage,
            self.stages.copy(),
            max([self.stage, *self.stages]),
            [self.left[None, g] + 1 for g in range(11)],
            [[self.left[x, g] + 1 for g in range(11)] for x in range(len(self.stages))],
        )

    def back_up(self, stage: int) -> None:
        for g in range(stage + 1, 11):
            self.left[None, g] += g <= self.stage
            for x, at in enumerate(self.stages):
                self.left[x, g] += g <= at
        self.stage = min(self.stage, stage)
        self.stages = [min(at, stage) for at in self.stages]


def seen(machine: StageMachine) -> object:
    versions = machine.versions
    return (
        machine.stage,
        list(machine.stages),
        machine.highest,
        [versions.in_system(g) for g in range(11)],
        [[versions.in_subsystem(x, g) for g in range(11)] for x in range(len(machine.stages))],
    )


def advance(machine: StageMachine, plain: Plain, operation: str, which: int) -> None:
    """Do an operation with both, where it is possible."""
    stage, count = plain.stage, len(plain.stages)
    upcoming = stage + 1
    are_level = all(at == stage for at in plain.stages)
    if operation == "add" and not stage and count < 3 and not +plain.left:  # later, counts go on
        machine.add_subsystem()
        plain.stages.append(0)
    elif operation == "back up":
        to = which % upcoming if which % 3 else stage  # where only subsystems may be beyond it
        machine.back_up(to)
        plain.back_up(to)
    elif upcoming > Stage.REPORT:
        return
    elif operation == "subsystem" and count and plain.stages[which % count] <= stage:
        machine.advance_subsystem(which % count, upcoming)
        plain.stages[which % count] = upcoming
    elif operation == "system" and all(at == upcoming for at in plain.stages):
        machine.advance_system(upcoming)
        plain.stage = upcoming
    elif operation == "all at once" and are_level:
        machine.reach_with_all(upcoming, [upcoming] * count)
        plain.stage, plain.stages = upcoming, [upcoming] * count
    elif operation == "one by one" and are_level:
        at_start = [stage] * count
        machine.begin(upcoming, at_start)
        for x in range(count):
            machine.put(x, upcoming)
        machine.complete(upcoming)
        assert at_start == [stage] * count
        plain.stage, plain.stages = upcoming, [upcoming] * count


@examples(400)
@given(st.lists(st.tuples(OPERATIONS, st.integers(0, 20)), max_size=60))
def test_stages_and_the_times_they_were_left_are_counted(operations: list[tuple[str, int]]) -> None:
    machine, plain = StageMachine(), Plain()
    copies: list[tuple[StageMachine, object]] = []
    for operation, which in [("add", 0), ("add", 0), *operations]:
        if operation == "copy":
            copies.append((machine, plain.seen()))
            machine = machine.copy()
        advance(machine, plain, operation, which)
        assert seen(machine) == plain.seen()
        assert not machine.is_even or {*plain.stages} <= {plain.stage}
    for other, before in copies:
        assert seen(other) == before


def test_stages_are_even_as_soon_as_all_are_at_the_same_one() -> None:
    machine = StageMachine()
    machine.add_subsystem()
    machine.add_subsystem()
    assert machine.is_even
    for x in (0, 1):
        machine.advance_subsystem(x, 1)
        assert not machine.is_even
    machine.advance_system(1)
    assert machine.is_even
    machine.begin_again(2)
    assert not machine.is_even
    machine.put(0, 2)
    machine.put(1, 2)
    machine.complete(2)
    assert machine.is_even
