"""The stages of a State and its subsystems, and how often each was left, against plain counting."""

from collections import Counter
from functools import partial
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage, State
from stagecache.state.items.stage_machine import StageMachine
from tests.interrupting import ignore_lost_strikes, plain_only, struck_at
from tests.profiles import examples
from tests.state.realizing import realize, state_of

ADVANCES = ["subsystem", "subsystem", "system", "all at once", "one by one", "one by one"]
OPERATIONS = ["add", *ADVANCES, *["back up"] * 2, "copy", "copy up to Instance"]
GOING_BACK = ["checkpoint", "roll back", "roll back", "assign"]

STAGES = range(Stage.INFINITY + 1)
INSTANCE = Stage.INSTANCE


def programs(*more: str) -> st.SearchStrategy[list[tuple[str, int]]]:
    """Operations, each with a number that says what it is done to."""
    names = st.sampled_from([*OPERATIONS, *more])
    return st.lists(st.tuples(names, st.integers(0, 20)), min_size=30, max_size=60)


class Plain:
    """Stages and counts, without sharing and without counting together."""

    def __init__(self) -> None:
        self.stage = 0
        self.stages: list[int] = []
        self.left: Counter[tuple[int, int]] = Counter()  # by who (-1: the system) and stage

    def seen(self) -> object:
        """All that the machine says, too."""
        return (
            *self.where(),
            [[self.left[x, g] + 1 for g in STAGES] for x in range(-1, len(self.stages))],
        )

    def where(self) -> tuple[int, list[int], int]:
        """Where all are, and the highest of these stages."""
        return self.stage, self.stages.copy(), max([self.stage, *self.stages])

    def back_up(self, stage: int) -> None:
        for g in range(stage + 1, len(STAGES)):
            self.left[-1, g] += g <= self.stage
            for x, at in enumerate(self.stages):
                self.left[x, g] += g <= at
        self.go(stage)

    def leave_all_above(self, stage: int) -> None:
        self.go(stage)
        for x, at in enumerate([self.stage, *self.stages], -1):
            for g in range(at + 1, len(STAGES)):
                self.left[x, g] += 1

    def go(self, stage: int) -> None:
        self.stage = min(self.stage, stage)
        self.stages = [min(at, stage) for at in self.stages]


def seen(machine: StageMachine) -> object:
    return (machine.stage, list(machine.stages), machine.highest, numbers(machine))


def numbers(machine: StageMachine) -> list[list[int]]:
    """Versions of the system, and then of each subsystem."""
    versions = machine.versions
    subsystems = range(len(machine.stages))
    return [
        [versions.in_system(g) for g in STAGES],
        *[[versions.in_subsystem(x, g) for g in STAGES] for x in subsystems],
    ]


class Run:
    """A machine and what it should say; lists and machines that must stay as they are."""

    def __init__(self) -> None:
        self.machine, self.plain = StageMachine(), Plain()
        self.copies: list[tuple[StageMachine, object]] = []
        self.lists: list[tuple[list[int], list[int]]] = []

    def do(self, operation: str, which: int) -> None:
        """Do an operation with both, where it is possible."""
        machine, plain = self.machine, self.plain
        stage, num = plain.stage, len(plain.stages)
        upcoming = stage + 1
        if operation.startswith("copy"):
            self.copies.append((machine, seen(machine)))
            self.machine = machine.copy()
            if operation == "copy up to Instance":
                self.machine.leave_all_above(INSTANCE)
                plain.leave_all_above(INSTANCE)
        elif operation == "add" and not stage and num < 3:
            machine.add_subsystem()
            plain.stages.append(0)
            counts = numbers(machine)[-1]
            if +plain.left:  # else they are all 1
                plain.left.update({(num, g): counts[g] - 1 for g in STAGES})
        elif operation == "back up":
            to = which % upcoming if which % 3 else stage  # where only subsystems may be beyond it
            machine.back_up(to)
            plain.back_up(to)
        elif upcoming > Stage.REPORT:
            return
        elif operation == "subsystem" and num and plain.stages[which % num] <= stage:
            machine.advance_subsystem(which % num, upcoming)
            plain.stages[which % num] = upcoming
        elif operation == "system" and all(at == upcoming for at in plain.stages):
            machine.advance_system(upcoming)
            plain.stage = upcoming
        elif operation == "all at once" and all(at == stage for at in plain.stages):
            machine.prepare(upcoming)
            machine.reach_with_all(upcoming, self.shared([upcoming] * num))
            plain.stage, plain.stages = upcoming, [upcoming] * num
        elif operation == "one by one":
            self.one_by_one(upcoming, which)

    def one_by_one(self, upcoming: int, which: int) -> None:
        """Let subsystems reach a stage as a System does; perhaps an error strikes in a hook."""
        machine, plain = self.machine, self.plain
        num = len(plain.stages)
        machine.prepare(upcoming)
        if machine.is_even:
            machine.begin(upcoming, self.shared(plain.stages.copy()))
        else:
            machine.begin_again(upcoming)
        for x in range(which % (num + 1)):
            machine.put(x, upcoming)
            plain.stages[x] = upcoming
        if which % 2:  # as a hook may do
            machine = self.machine = machine.copy()
        if plain.stages == [upcoming] * num:
            machine.complete(upcoming)
            plain.stage = upcoming
        elif which % 3 or upcoming not in plain.stages:
            machine.recount()

    def shared(self, stages: list[int]) -> list[int]:
        self.lists.append((stages, stages.copy()))
        return stages

    def check(self) -> None:
        machine, plain = self.machine, self.plain
        assert {of_stage[Stage.EMPTY] for of_stage in numbers(machine)} == {1}
        assert (machine.stage, list(machine.stages), machine.highest) == plain.where()
        assert not machine.is_even or {*plain.stages} <= {plain.stage}

    def check_what_stays(self) -> None:
        for machine, before in self.copies:
            assert seen(machine) == before
        for stages, as_given in self.lists:
            assert stages == as_given


@examples(400)
@given(programs())
def test_stages_and_the_times_they_were_left_are_counted(program: list[tuple[str, int]]) -> None:
    run = Run()
    for operation, which in [("add", 0), ("add", 0), *program]:
        run.do(operation, which)
        run.check()
        assert seen(run.machine) == run.plain.seen()
    run.check_what_stays()


class GoingBack(Run):
    """Also goes back to checkpoints; notes which number each reaching of a stage had."""

    def __init__(self) -> None:
        super().__init__()
        self.count = count()
        self.reached: dict[tuple[int, int], int] = {}  # by who and stage: a number of that time
        self.of_number: dict[tuple[int, int, int], int] = {}
        self.of_time: dict[int, int] = {}
        self.marks: list[tuple[StageMachine, StageMachine, list[int], dict[tuple[int, int], int]]]
        self.marks = []
        self.first = [1, 1]  # stage with a number of its own, of the system and of subsystems

    def do(self, operation: str, which: int) -> None:
        machine, plain = self.machine, self.plain
        if operation == "checkpoint":
            stages = [plain.stage, *plain.stages]
            self.marks.append((machine, machine.copy(), stages, self.reached.copy()))
        elif operation == "roll back" and self.marks:
            i = which % len(self.marks)
            self.machine, before, (plain.stage, *plain.stages), reached = self.marks[i]
            if self.machine is not machine:
                self.machine.versions.give_none_of(machine.versions)
            self.machine.restore(before)
            self.reached = reached.copy()
            del self.marks[i + 1 :]
        elif operation == "assign" and (self.copies or self.marks):
            others = [other for other, _ in self.copies] + [mark[1] for mark in self.marks]
            other = others[which % len(others)].copy()
            other.leave_all_above(INSTANCE)
            highest = [
                max(column) for column in zip(*numbers(machine), *numbers(other), strict=True)
            ]
            other.versions.exceed(machine.versions)
            assert all(row[g] > highest[g] for row in numbers(other)[1:] for g in STAGES[1:])
            assert all(numbers(other)[0][g] > highest[g] for g in STAGES[2:])
            self.machine, self.reached = other, {}
            plain.stage, plain.stages = other.stage, list(other.stages)
            self.first[0] = 2  # Topology's is set, by a System
        elif not operation.startswith("copy"):
            super().do(operation, which)
        else:
            self.copies.append((machine.copy(), seen(machine)))

    def check(self) -> None:
        super().check()
        for who, at in enumerate([self.plain.stage, *self.plain.stages]):
            of_stage = numbers(self.machine)[who]
            for g in STAGES[self.first[who > 0] :]:
                if g > at:
                    if self.reached.pop((who, g), None) is not None:  # it is left now
                        assert (who, g, of_stage[g]) not in self.of_number
                    continue
                time = self.reached.setdefault((who, g), next(self.count))
                assert self.of_number.setdefault((who, g, of_stage[g]), time) == time
                assert self.of_time.setdefault(time, of_stage[g]) == of_stage[g]


@examples(600)
@given(programs(*GOING_BACK, *GOING_BACK))
def test_a_number_is_never_given_to_a_second_time_that_a_stage_is_reached(
    program: list[tuple[str, int]],
) -> None:
    run = GoingBack()
    for done, (operation, which) in enumerate([("add", 0), ("add", 0), *program]):
        before = numbers(run.machine)
        run.do(operation, which)
        run.check()
        if operation not in ("roll back", "assign"):
            rows = zip(before, numbers(run.machine), strict=False)  # one more, after "add"
            assert all(a <= b for was, now in rows for a, b in zip(was, now, strict=True))
        assert max(map(max, numbers(run.machine))) <= 2 * (done + 1)  # and numbers remain small
    run.check_what_stays()


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


def test_after_a_rollback_or_an_assignment_the_next_number_is_the_highest_one_plus_1() -> None:
    state = realize(state_of("a", "b"), Stage.TIME)
    other = state.copy()

    def reach_again(times: int) -> set[int]:
        for _ in range(times):
            state.invalidate_all(Stage.TIME)
            realize(state, Stage.TIME)
        return {part.stage_versions[Stage.TIME] for part in (state, *state)}

    mark = state.checkpoint()
    assert reach_again(3) == {4}
    state.rollback(mark)
    assert reach_again(0) == {1}
    assert reach_again(1) == {5}
    state.assign(other)
    realize(state, Stage.TIME)
    assert reach_again(0) == {6}
    mark = state.checkpoint()
    state.rollback(mark)
    assert reach_again(1) == {7}


def test_a_stage_that_is_left_after_a_rollback_does_not_show_a_number_that_it_had_since() -> None:
    state = realize(state_of("a"), Stage.TIME)
    mark = state.checkpoint()
    state.invalidate_all(Stage.TIME)
    realize(state, Stage.TIME)
    noted = state[0].stage_versions
    state.rollback(mark)
    state.invalidate_all(Stage.TIME)
    assert state[0].stage_versions[Stage.TIME] > noted[Stage.TIME]


def test_a_subsystem_that_goes_alone_after_a_rollback_has_a_number_of_its_own() -> None:
    state = realize(state_of("ahead", "behind"), INSTANCE)
    for _ in range(3):
        state.invalidate_all(INSTANCE)
        realize(state, INSTANCE)
    state.invalidate_all(INSTANCE)
    ahead, behind = state
    ahead.advance_to_stage(INSTANCE)
    mark = state.checkpoint()
    seen = []
    for _ in range(2):
        behind.advance_to_stage(INSTANCE)
        seen.append(behind.stage_versions[INSTANCE])
        state.invalidate_all(INSTANCE)
        realize(state, INSTANCE)
        seen.append(behind.stage_versions[INSTANCE])
        assert ahead.stage_versions[INSTANCE] in (6, behind.stage_versions[INSTANCE])
        state.rollback(mark)
    assert seen == [5, 6, 7, 8]


def test_numbers_do_not_double_with_each_rollback() -> None:
    state = realize(state_of("ahead", "behind"), Stage.MODEL)
    other = realize(state.copy(), Stage.TIME)
    state[0].advance_to_stage(INSTANCE)
    mark = state.checkpoint()
    for _ in range(50):
        state[1].advance_to_stage(INSTANCE)
        state.invalidate_all(INSTANCE)
        realize(state, INSTANCE)
        state.rollback(mark)
        state.assign(other)
        state.rollback(mark)
    realize(state, Stage.TIME)
    assert max(max(part.stage_versions) for part in (state, *state)) < 500


def of_time(state: State) -> tuple[int, int]:
    """Versions of Time, of the system and of the first subsystem."""
    return state.stage_versions[Stage.TIME], state[0].stage_versions[Stage.TIME]


@plain_only
@ignore_lost_strikes
def test_a_rollback_beyond_an_assignment_that_is_cut_short_gives_no_number_again() -> None:
    for at in count():
        state = realize(state_of("a"), Stage.TIME)
        mark = state.checkpoint()
        state.assign(state.copy())
        realize(state, Stage.TIME)
        given = of_time(state)
        place = struck_at(at, partial(state.rollback, mark), KeyboardInterrupt)
        if not place:
            break
        for _ in range(max(given)):
            state.rollback(mark)
            state.invalidate_all(Stage.TIME)
            realize(state, Stage.TIME)
            assert min(of_time(state)) > max(given), place


def test_a_subsystem_of_a_state_that_was_cleared_many_times_has_small_numbers() -> None:
    state = State()
    for _ in range(50):
        mark = state.checkpoint()
        state.add_subsystem()
        realize(state, Stage.MODEL)
        state.rollback(mark)
        state.clear()
    state.add_subsystem()
    assert max(state[0].stage_versions) < 500
