"""The stages that a State and its subsystems have reached, and how often each was left.

`StageMachine` alone writes them. It knows no nodes: `Realization` opens and closes these::

              realize -->                     <-- write
    Topology -- Model -- Instance -- Time -- Position -- Velocity -- ... -- Report

The version of a stage is one more than the number of times it was left. Subsystems that are all at
the same stage leave it together, which is counted once for all; what one of them leaves beside that
is counted for itself::

    version of Velocity in subsystem 2  =  left together  +  left alone by 2  +  1

After a rollback the numbers are as before. The *peak* exceeds all that were given until then: a
stage that is left or reached again gets it, or a higher one, so that no number is given a second
time. It is the highest number plus 1, and never a sum of several, so that numbers remain small.
"""

from typing import Final

from stagecache.state.stage import Stage

STAGES: Final = tuple(Stage)

# Numbers of the stages, as literals, which compiled code need not look up.
EMPTY: Final = 0
TOPOLOGY: Final = 1
MODEL: Final = 2
INSTANCE: Final = 3
TIME: Final = 4
POSITION: Final = 5
VELOCITY: Final = 6
DYNAMICS: Final = 7
ACCELERATION: Final = 8
REPORT: Final = 9
INFINITY: Final = 10

Counts = list[int]


class StageMachine:
    """The stages of one State.

    A system whose subsystems are all where it is itself, the usual case, is *even*: these then
    leave a stage together, and their number does not matter.

    Attributes
    ----------
    stage : int
        Stage of the system.
    stages : list of int
        Stage of each subsystem. The list may be shared, also with other machines, until it is
        changed: so that reaching and leaving a stage costs the same for any number of subsystems.
    highest : int
        Highest of all these stages.
    is_even : bool
        True if all subsystems are at the stage of the system; if not, they may be.
    versions : StageVersions
        How often stages were left.
    """

    __slots__ = ("_all_at", "_is_shared", "highest", "is_even", "stage", "stages", "versions")

    def __init__(self) -> None:
        self.stage: int = EMPTY
        self.stages: list[int] = []
        self.highest: int = EMPTY
        self.is_even = True
        self.versions = StageVersions()
        self._is_shared = False
        self._all_at: list[list[int]] = [[] for _ in STAGES]  # by stage: `stages` with all there

    def copy(self) -> "StageMachine":
        """Return an equal one. Cost O(subsystems)."""
        twin = StageMachine()
        twin.stage = self.stage
        twin._is_shared = self._is_shared = True
        twin.stages = self.stages
        twin._all_at = self._all_at.copy()
        twin.highest = self.highest
        twin.is_even = self.is_even
        twin.versions = self.versions.copy()
        return twin

    def add_subsystem(self) -> None:
        """Add a subsystem, which is Empty."""
        self.versions.add_subsystem(len(self.stages))
        self._own_stages().append(EMPTY)  # last: from here on it is there

    def _own_stages(self) -> list[int]:
        """Return `stages`, to be changed."""
        if self._is_shared:
            self.stages = self.stages.copy()
            self._is_shared = False
        return self.stages

    # ------------------------------------------------------------------ forwards

    def advance_subsystem(self, subsystem: int, stage: int) -> None:
        """Let a subsystem reach the stage after its present one."""
        if self.versions.peak:
            self.versions.reach_alone(subsystem, stage, self.highest)
        self.is_even = False
        self.highest = max(self.highest, stage)
        self._own_stages()[subsystem] = stage

    def advance_system(self, stage: int) -> None:
        """Let the system reach the stage after its present one."""
        self.versions.reach_system(stage)
        self.highest = max(self.highest, stage)
        self.stage = stage
        self.is_even = self.highest == stage

    def prepare(self, last: int) -> None:
        """Give stages up to one that are not reached numbers that they never had.

        Only where there is a peak, after a rollback.
        """
        self.versions.reach(last, self.stage, self.stages, self.highest)

    def reach_with_all(self, stage: int, stages: list[int]) -> None:
        """Reach a stage at which no subsystem has anything to do; the list is shared."""
        self._is_shared = True  # first: a shared list must never pass for its own
        self.stages = stages
        self.highest = self.stage = stage

    def begin(self, stage: int, stages: list[int]) -> None:
        """Begin to reach a stage, with subsystems where the list says, which is copied."""
        self.is_even = False
        self.highest = stage
        self.stages = stages.copy()
        self._is_shared = False

    def begin_again(self, stage: int) -> None:
        """Begin to reach a stage, with subsystems where they are."""
        self.is_even = False
        self.highest = stage

    def put(self, subsystem: int, stage: int) -> None:
        """Let a subsystem be at a stage: reached, or not reached after all."""
        self._own_stages()[subsystem] = stage

    def complete(self, stage: int) -> None:
        """Let the system reach the stage that all subsystems have reached."""
        self.stage = stage
        self.is_even = True

    def pretend(self, stage: int) -> None:
        """Let the system pass for being at a stage, until this is called with its own."""
        self.stage = stage

    # ------------------------------------------------------------------ backwards

    def back_up(self, stage: int) -> None:
        """Let the system and all subsystems that are beyond a stage go back to it."""
        versions = self.versions
        left = versions.system
        together = versions.together
        if self.is_even:
            for g in range(stage + 1, self.highest + 1):
                together[g] += 1
                if g <= self.stage:
                    left[g] += 1
            everywhere = self._all_at[stage]
            if len(everywhere) != len(self.stages):
                everywhere = self._all_at[stage] = [stage] * len(self.stages)
            self._is_shared = True
            self.stages = everywhere
        else:
            for g in range(stage + 1, self.stage + 1):
                left[g] += 1
            stages = self._own_stages()
            for x, at in enumerate(stages):
                if at > stage:
                    versions.leave_alone(x, stage, at)
                    stages[x] = stage
        self.stage = min(self.stage, stage)
        if versions.peak:
            versions.reach(self.highest, self.stage, self.stages, stage)
        self.highest = stage

    def leave_all_above(self, stage: int) -> None:
        """Count that the system and all subsystems left the stages after one, reached or not."""
        self.stage = min(self.stage, stage)
        self.stages = [min(at, stage) for at in self.stages]
        self.highest = min(self.highest, stage)
        self.versions.leave_all_above(self.stage, self.stages, self.highest)

    def recount(self) -> None:
        """Find out how far subsystems are, after an error in the middle."""
        self.highest = max([self.stage, *self.stages])
        self.is_even = self.highest == min([self.stage, *self.stages])

    def restore(self, before: "StageMachine") -> None:
        """Be where it was when the other one was copied from it; give no version number again."""
        self.versions = before.versions.restored(self.versions)
        self.stage = before.stage
        self.highest = before.highest
        self.is_even = before.is_even
        self._is_shared = before._is_shared = True
        self.stages = before.stages


class StageVersions:
    """The numbers of one State, by stage.

    Attributes
    ----------
    system : list of int
        How often the system left it.
    together : list of int
        How often all subsystems left it together.
    alone : list of list of int
        By subsystem: how often it left it beside that. These lists are replaced, never changed.
    most_alone : list of int
        No subsystem left it more often beside that. Replaced, never changed.
    peak : int
        No stage must be reached with a lower count, after a rollback; 0 before the first one.
    """

    __slots__ = ("alone", "most_alone", "peak", "system", "together")

    def __init__(self) -> None:
        self.system: Counts = [0] * len(STAGES)
        self.together: Counts = [0] * len(STAGES)
        self.alone: list[Counts] = []
        self.most_alone: Counts = [0] * len(STAGES)
        self.peak = 0

    def copy(self) -> "StageVersions":
        """Return equal ones. Cost O(subsystems)."""
        twin = StageVersions()
        twin.system = self.system.copy()
        twin.together = self.together.copy()
        twin.alone = self.alone.copy()
        twin.most_alone = self.most_alone
        twin.peak = self.peak
        return twin

    def in_system(self, stage: int) -> int:
        """Return the version of a stage of the system."""
        return self.system[stage] + 1 if stage else 1

    def in_subsystem(self, subsystem: int, stage: int) -> int:
        """Return the version of a stage of a subsystem."""
        return self.together[stage] + self.alone[subsystem][stage] + 1 if stage else 1

    def add_subsystem(self, subsystem: int) -> None:
        """Count for one more subsystem, whose numbers exceed the numbers of all removed ones."""
        counts = [max(0, self.peak - count) for count in self.together]
        self.alone[subsystem:] = [counts]  # in place of one that an error has kept away
        self.most_alone = _highest(self.most_alone, counts)

    def leave_all_above(self, stage: int, stages: list[int], highest: int) -> None:
        """Count that the system left all stages after one, and each subsystem those after its."""
        self.system = left_above(self.system, stage, INFINITY)
        self.together = left_above(self.together, highest, INFINITY)
        for x, at in enumerate(stages):
            if at < highest:
                self.leave_alone(x, at, highest)

    def leave_alone(self, subsystem: int, stage: int, at: int) -> None:
        """Count that a subsystem backs up from a stage to an earlier one, others may not."""
        self._replace(subsystem, left_above(self.alone[subsystem], stage, at))

    def renumber(self, system: Counts, together: Counts, alone: list[Counts]) -> None:
        """Take other counts, but for Topology's of the system, which the System sets."""
        system[TOPOLOGY] = self.system[TOPOLOGY]
        self.system = system
        self.together = together
        self.alone = alone
        self.most_alone = [0] * len(STAGES)
        for counts in alone:
            self.most_alone = _highest(self.most_alone, counts)

    def exceed(self, other: "StageVersions") -> None:
        """Let every number exceed all in both, except for Topology, which the System sets."""
        count = max(self._most(), other._most()) + 1
        same = [count] * len(STAGES)
        self.renumber(same, same.copy(), [[0] * len(STAGES) for _ in self.alone])

    # ------------------------------------------------------------------ after a rollback

    def give_none_of(self, present: "StageVersions") -> None:
        """Count the numbers of a State that was assigned as given, to go back beyond that."""
        self.peak = max(self.peak, present._most())

    def restored(self, own: "StageVersions") -> "StageVersions":
        """Return a copy of these, kept at a checkpoint, that gives no number of `own` again."""
        twin = self.copy()
        twin.peak = own._most() + 1
        return twin

    def reach(self, last: int, stage: int, stages: list[int], highest: int) -> None:
        """Let stages up to one that are not reached have numbers that they never had.

        Parameters
        ----------
        stage, stages, highest
            Where the system is, the subsystems are, and the highest of these is.
        """
        for g in range(stage + 1, last + 1):
            self.reach_system(g)
            if g > highest:
                self._reach_together(g)
            else:
                for x, at in enumerate(stages):
                    if at < g:
                        self.reach_alone(x, g, highest)

    def reach_alone(self, subsystem: int, stage: int, highest: int) -> None:
        """Do the same for one subsystem and the next stage that it will reach."""
        if highest < stage:  # nobody has reached it
            self._reach_together(stage)
        elif self.together[stage] + self.alone[subsystem][stage] < self.peak:
            counts = self.alone[subsystem].copy()
            counts[stage] = self.peak - self.together[stage]
            self._replace(subsystem, counts)

    def reach_system(self, stage: int) -> None:
        """Do the same for the system."""
        self.system[stage] = max(self.system[stage], self.peak)

    def _reach_together(self, stage: int) -> None:
        """Do the same for all subsystems, none of which has reached the stage."""
        if self.together[stage] >= self.peak:
            return
        most = self.most_alone[stage]
        self.together[stage] = max(self.peak, self.together[stage] + most)
        if most:  # is in the sum, and would be added again and again
            self.alone = [_without(c, stage) if c[stage] else c for c in self.alone]
            self.most_alone = _without(self.most_alone, stage)

    def _replace(self, subsystem: int, counts: Counts) -> None:
        self.most_alone = _highest(self.most_alone, counts)  # first: never too low
        self.alone[subsystem] = counts

    def _most(self) -> int:
        """Return a count that none of these exceeds."""
        in_subsystems = [self.together[g] + self.most_alone[g] for g in STAGES]
        return max(self.peak, *self.system, *in_subsystems)


def left_above(counts: Counts, stage: int, at: int) -> Counts:
    """Count how often each stage was left, after backing up to one that is not higher."""
    return [count + (stage < g <= at) for g, count in enumerate(counts)]


def _highest(counts: Counts, others: Counts) -> Counts:
    """Return the higher number of each stage."""
    return [max(one, other) for one, other in zip(counts, others, strict=True)]


def _without(counts: Counts, stage: int) -> Counts:
    """Return the same numbers, but 0 for a stage."""
    return [0 if g == stage else count for g, count in enumerate(counts)]
