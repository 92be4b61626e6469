"""An operation on stages or items that an error cuts short, at any line, has happened or not."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import pytest

from stagecache import CacheEntry, Stage, State, Subsystem, System, q_variable
from stagecache.errors import ForeignNodeError, StageTooLowError
from stagecache.graph.kind import NodeKind
from tests.interrupting import ignore_lost_strikes, plain_only, struck_at
from tests.profiles import is_nightly
from tests.state.realizing import realize, state_of

TOPOLOGY, MODEL, INSTANCE, TIME, POSITION = list(Stage)[1:6]
REPORT, INFINITY = Stage.REPORT, Stage.INFINITY

pytestmark = [plain_only, ignore_lost_strikes]


class Built:
    """A State at Position with q = [5, 6] at time 3; the second q is forgotten with Model."""

    def __init__(self, stage: Stage = POSITION) -> None:
        self.state = state = state_of("a", "b")
        a, b = state
        a.allocate_q([1.0])
        self.mode = a.allocate_auto_update_discrete_variable(REPORT, 1, TIME)
        self.plain = a.allocate_discrete_variable(REPORT, 7)
        self.entries: dict[Stage, CacheEntry[float]] = {
            needed: b.allocate_lazy_cache_entry(needed, compute=lambda state: state.time)
            for needed in (TIME, POSITION)
        }
        realize(state, TOPOLOGY)
        self.late = a.allocate_q([2.0])
        b.allocate_lazy_cache_entry(TOPOLOGY, compute=self.late)
        b.allocate_cache_entry_with_prerequisites(
            TOPOLOGY, INFINITY, (self.late,), compute=self.late
        )
        realize(state, stage)
        if stage == POSITION:
            state.q, state.time = [5.0, 6.0], 3.0
            realize(state, stage)
            for entry in self.entries.values():
                entry(state)

    def versions(self) -> dict[str, int]:
        return {name: self.state.variable(name).version(self.state) for name in ("q", "time")}

    def of_stage(self, stage: Stage) -> list[int]:
        """Versions of a stage, of the system and of both subsystems."""
        return [part.stage_versions[stage] for part in (self.state, *self.state)]

    def swap(self) -> None:
        """Update the variable that has an entry for it."""
        self.mode.update.set(self.state, 2)
        self.mode.update.mark_valid(self.state)
        self.state.auto_update_discrete_variables()
        assert (self.mode(self.state), self.plain(self.state)) == (2, 7)


def struck(
    stage: Stage, operate: Callable[[Built], object], every: int
) -> Iterator[tuple[Built, str]]:
    """Strike an operation at each `every`-th step (in the profile `nightly`, at each one)."""
    for at in count(step=1 if is_nightly() else every):
        built = Built(stage)
        place = struck_at(at, partial(operate, built), KeyboardInterrupt)
        if not place:
            break
        yield built, place


@pytest.mark.parametrize("stage", [MODEL, INSTANCE, POSITION])
def test_a_stage_is_left_with_all_that_depends_on_it_or_not_at_all(stage: Stage) -> None:
    before, of_stage = Built().versions(), Built().of_stage(stage)
    num_left = 0
    every = 3 if stage == MODEL else 1
    for built, place in struck(POSITION, lambda built: built.state.invalidate_all(stage), every):
        state = built.state
        is_left = state.stage < stage
        num_left += is_left
        assert {part.stage for part in state} == {state.stage}, place
        assert state.stage == (stage.prev() if is_left else POSITION), place
        assert (state.nq if state.stage >= MODEL else 0) == 2 * (state.stage >= MODEL), place
        if is_left and stage == MODEL:
            with pytest.raises(ForeignNodeError):
                built.late.version(state)
            newer = state[0].allocate_lazy_cache_entry(TOPOLOGY, compute=lambda state: 1)
        realize(state, POSITION)
        assert state.q.tolist() == ([1.0] if is_left and stage == MODEL else [5.0, 6.0]), place
        versions = built.versions()
        assert (versions["q"] > before["q"]) == (is_left and stage == MODEL), place
        assert versions["time"] == before["time"], place
        assert built.entries[POSITION].is_valid(state) == (not is_left), place
        assert built.entries[TIME].is_valid(state) == (not is_left or stage > TIME), place
        risen = [now > old for now, old in zip(built.of_stage(stage), of_stage, strict=True)]
        assert risen == [is_left] * 3, place
        if is_left and stage == MODEL:
            newer(state)
            state.q = [7.0]
            assert newer.is_valid(state), place
    assert num_left > 0


ALLOCATIONS: dict[str, Callable[[Built], object]] = {
    "q": lambda built: built.state[0].allocate_q([3.0]),
    "discrete": lambda built: built.state[0].allocate_discrete_variable(REPORT, 1),
    "auto-update": lambda built: built.state[0].allocate_auto_update_discrete_variable(
        REPORT, 1, TIME
    ),
    "entry": lambda built: built.state[0].allocate_cache_entry_with_prerequisites(
        INSTANCE, POSITION, (built.late,)
    ),
}


def items_of(state: State) -> object:
    """Lists of items, the rows of q, and how many nodes there are of items."""
    text = str(state)  # which mends it
    subsystems = state._contents.realization.layout.subsystems
    structure = state._contents.realization.store.structure
    return (
        text,
        [[len(stack) for stack in part._stacks()] for part in subsystems],
        sum(structure.kinds[node] != NodeKind.STAGE for node in structure),
    )


@pytest.mark.parametrize("name", ALLOCATIONS)
def test_an_item_is_allocated_or_nothing_of_it_is_there(name: str) -> None:
    allocate = ALLOCATIONS[name]
    whole = Built(TOPOLOGY)
    before = items_of(whole.state)
    allocate(whole)
    after = items_of(whole.state)
    every = 2 if name == "entry" else 1
    for built, place in struck(TOPOLOGY, allocate, every):
        assert items_of(built.state) in (before, after), place
        realize(built.state, TIME)
        assert built.state.nq == sum(part.nq for part in built.state), place
        built.swap()


def test_a_subsystem_is_added_or_nothing_of_it_is_there() -> None:
    for at in count():
        state = state_of("a")
        before = items_of(state)
        place = struck_at(at, partial(state.add_subsystem, "b"), KeyboardInterrupt)
        if not place:
            break
        if items_of(state) == before:
            state.add_subsystem("b")
        assert [part.name for part in state] == ["a", "b"], place
        assert items_of(state) == items_of(state_of("a", "b")), place
        assert state[1].stage_versions == (1,) * 11, place
        assert state.copy().num_subsystems == 2, place


def test_a_stage_is_reached_with_its_entries_or_not_at_all() -> None:
    for at in count():
        state = state_of("a")
        entry = state[0].allocate_lazy_cache_entry(POSITION, compute=lambda state: 1)
        presumed = state[0].allocate_cache_entry(POSITION, POSITION, 2)
        realize(state, TIME)
        advance = partial(state[0].advance_to_stage, POSITION)
        place = struck_at(at, advance, KeyboardInterrupt)
        if not place:
            break
        if state[0].stage == TIME:
            for below in (entry, presumed):
                assert not below.is_valid(state), place
                with pytest.raises(StageTooLowError):
                    below(state)
            advance()
        assert (entry(state), presumed(state)) == (1, 2), place


class Cart(Subsystem):
    """Has nothing to do at any stage."""

    position = q_variable(0.5)


def test_a_write_after_stages_were_reached_in_part_takes_all_back() -> None:
    cart = Cart()
    system = System(cart)
    before = system.new_state()
    system.realize(before, TIME)
    for at in count():
        state = before.copy(keep_cache=True)
        place = struck_at(at, partial(system.realize, state, REPORT), KeyboardInterrupt)
        if not place:
            break
        cart.position.set(state, 0.6)
        assert {part.stage for part in (state, *state)} == {TIME}, place
        system.realize(state, REPORT)
        assert {part.stage for part in (state, *state)} == {REPORT}, place
