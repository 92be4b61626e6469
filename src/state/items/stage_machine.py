"""The stages that a State and its subsystems have reached, and how often each was left.

`StageMachine` alone writes them. It knows no nodes: `Realization` opens and closes these::

              realize -->                     <-- write
    Topology -- Model -- Instance -- Time -- Position -- Velocity -- ... -- Report

The version of a stage is one more than the number of times it was left. Subsystems that are all at
the same stage leave it together, which is counted once for all; what one of them leaves beside that
is counted for itself::

    version of Velocity in subsystem 2  =  left together  +  left alone by 2  +  1

After a rollback the numbers are as before. *Peaks* remember how high they were, so that no
number is given a second time: a stage that is reached or left again gets a higher one.
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
        self.versions.add_subsystem()
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
        """Give stages up to one that are to be reached numbers that they never had.

        Only where there are peaks, after a rollback.
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
        if versions.peaks is not None:
            versions.leave(stage, self.stage, self.highest)
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
        self.highest = stage

    def leave_all_above(self, stage: int) -> None:
        """Count that the system and all subsystems left the stages after one, reached or not."""
        self.stage = min(self.stage, stage)
        self.stages = [min(at, stage) for at in self.stages]
        self._is_shared = False
        self.highest = min(self.highest, stage)
        self.versions.leave_all_above(self.stage, self.stages)

    def count_each(self) -> None:
        """Count subsystems one by one until `recount`, after an error in the middle."""
        self.is_even = False
        del self.versions.alone[len(self.stages) :]

    def recount(self) -> None:
        """Find out how far subsystems are, after an error in the middle."""
        self.highest = max([self.stage, *self.stages])
        self.is_even = self.highest == min([self.stage, *self.stages])

    def restore(self, before: "StageMachine", present: "StageMachine | None") -> None:
        """Be where it was at a checkpoint, without giving a version number again.

        Parameters
        ----------
        before : StageMachine
            A copy, made at the checkpoint.
        present : StageMachine or None
            Its replacement, by an assignment of another State.
        """
        self.versions = before.versions.restored(
            self.versions,
            (self.stage, self.highest),
            None if present is None else present.versions,
        )
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
    floor : int
        No subsystem that is not there any more left a stage more often.
    peaks : tuple of list of int, or None
        The highest that the first two must exceed when a stage is next left, or reached.
    """

    __slots__ = ("alone", "floor", "peaks", "system", "together")

    def __init__(self) -> None:
        self.system: Counts = [0] * len(STAGES)
        self.together: Counts = [0] * len(STAGES)
        self.alone: list[Counts] = []
        self.floor = 0
        self.peaks: tuple[Counts, Counts] | None = None

    def copy(self) -> "StageVersions":
        """Return equal ones. Cost O(subsystems)."""
        twin = StageVersions()
        twin.system = self.system.copy()
        twin.together = self.together.copy()
        twin.alone = self.alone.copy()
        twin.floor = self.floor
        twin.peaks = self.peaks
        return twin

    def in_system(self, stage: int) -> int:
        """Return the version of a stage of the system."""
        return self.system[stage] + 1 if stage else 1

    def in_subsystem(self, subsystem: int, stage: int) -> int:
        """Return the version of a stage of a subsystem."""
        return self.together[stage] + self.alone[subsystem][stage] + 1 if stage else 1

    def add_subsystem(self) -> None:
        """Count for one more subsystem, whose numbers exceed the numbers of all removed ones."""
        self.alone.append([max(0, self.floor - count) for count in self.together])

    def leave_all_above(self, stage: int, stages: list[int]) -> None:
        """Count that the system left all stages after one, and each subsystem those after its."""
        self.system = left_above(self.system, stage, Stage.INFINITY)
        self.alone = [
            left_above(counts, at, Stage.INFINITY)
            for counts, at in zip(self.alone, stages, strict=True)
        ]

    def leave_alone(self, subsystem: int, stage: int, at: int) -> None:
        """Count that a subsystem backs up from a stage to an earlier one, others may not."""
        self.alone[subsystem] = left_above(self.alone[subsystem], stage, at)

    def exceed(self, other: "StageVersions") -> None:
        """Let every number exceed all in both, except for Topology, which the System sets."""
        system = [count + 2 for count in _highest(self._highest()[0], other._highest()[0])]
        system[TOPOLOGY] = self.system[TOPOLOGY]
        self.system = system
        self.floor = max(self._most(), other._most()) + 2
        self.together = [self.floor] * len(STAGES)
        self.alone = [[0] * len(STAGES) for _ in self.alone]

    # ------------------------------------------------------------------ after a rollback

    def restored(
        self, own: "StageVersions", own_stages: tuple[int, int], present: "StageVersions | None"
    ) -> "StageVersions":
        """Return a copy of these, kept at a checkpoint, that gives no number again.

        Parameters
        ----------
        own : StageVersions
            The present state of these.
        own_stages : tuple of int
            The stage at which the system is, and the highest subsystem.
        present : StageVersions or None
            Their replacement, by an assignment of another State.
        """
        system, together = own._highest()
        # A stage that is realized now has a number that it is yet to be left with.
        system = [count + (g <= own_stages[0]) for g, count in enumerate(system)]
        together = [count + (g <= own_stages[1]) for g, count in enumerate(together)]
        twin = self.copy()
        if present is None:
            pairs = zip(own.alone, self.alone, strict=False)
            alone = [max(a - b for a, b in zip(n, k, strict=True)) for n, k in pairs if n is not k]
            extra = max(0, max(alone, default=0))
        else:  # of which any stage may be realized
            system = [count + 1 for count in _highest(system, present._highest()[0])]
            extra = max(present._most(), own._most()) + 1
        if present is not None or len(own.alone) > len(self.alone):
            twin.floor = 1 + max(own._most(), 0 if present is None else present._most())
        twin.peaks = system, [count + extra for count in together]
        return twin

    def reach(self, last: int, stage: int, stages: list[int], highest: int) -> None:
        """Let stages up to one that are to be reached have numbers that they never had.

        Parameters
        ----------
        stage, stages, highest
            Where the system is, the subsystems are, and the highest of these is.
        """
        assert self.peaks is not None
        system, together = self.peaks
        for g in range(stage + 1, last + 1):
            self.system[g] = max(self.system[g], system[g])
            if g > highest:
                self.together[g] = max(self.together[g], together[g])
            elif self.together[g] < together[g]:
                for x, at in enumerate(stages):
                    if at < g:
                        self.reach_alone(x, g, highest)

    def reach_alone(self, subsystem: int, stage: int, highest: int) -> None:
        """Do the same for one subsystem and the next stage that it will reach."""
        if self.peaks is None or self.together[stage] >= self.peaks[1][stage]:
            return
        peak = self.peaks[1][stage]
        if highest < stage:  # nobody has reached it
            self.together[stage] = peak
        else:
            counts = self.alone[subsystem].copy()
            counts[stage] += peak - self.together[stage]
            self.alone[subsystem] = counts

    def reach_system(self, stage: int) -> None:
        """Do the same for the system."""
        if self.peaks is not None:
            self.system[stage] = max(self.system[stage], self.peaks[0][stage])

    def leave(self, stage: int, at: int, highest: int) -> None:
        """Let stages after one, which are to be left, have numbers that they never had."""
        assert self.peaks is not None
        system, together = self.peaks
        for g in range(stage + 1, highest + 1):
            self.together[g] = max(self.together[g], together[g])
            if g <= at:
                self.system[g] = max(self.system[g], system[g] - 1)

    def _highest(self) -> tuple[Counts, Counts]:
        """Return the highest versions of the system, and of all subsystems together."""
        if self.peaks is None:
            return self.system, self.together
        return _highest(self.system, self.peaks[0]), _highest(self.together, self.peaks[1])

    def _most(self) -> int:
        """Return a number that no subsystem exceeds in the times it left a stage."""
        return max(self.floor, max(self._highest()[1]) + max(map(max, self.alone), default=0))


def left_above(counts: Counts, stage: int, at: int) -> Counts:
    """Count how often each stage was left, after backing up to one that is not higher."""
    return [count + (stage < g <= at) for g, count in enumerate(counts)]


def _highest(counts: Counts, others: Counts) -> Counts:
    """Return the higher number of each stage."""
    return [max(one, other) for one, other in zip(counts, others, strict=True)]
