"""A small State whose operations are cut short, or visited by a finalizer, at every step.

Some stages have an entry that is presumed computed as soon as the stage is reached, so what is
valid tells whether stages are open where the State says it is::

    state.stage is Time    <=>    entries of Instance and Time are valid, others are not

`tests/state/test_interrupts.py` has a larger one, and strikes at fewer steps.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from itertools import count
from math import isnan
from typing import Any

import numpy as np
import pytest

from stagecache import CacheEntry, Checkpoint, Stage, State
from stagecache.errors import NodeInUseError
from stagecache.state.contents.contents import Contents
from stagecache.state.state import _binder
from tests.graph.check_structure import check_store
from tests.interrupting import ignore_lost_strikes, plain_only, struck_at, visits
from tests.profiles import is_nightly
from tests.state.realizing import realize, state_of

TOPOLOGY, MODEL, INSTANCE, TIME, POSITION, VELOCITY = list(Stage)[1:7]
REPORT, INFINITY = Stage.REPORT, Stage.INFINITY
PRESUMED = (INSTANCE, TIME, POSITION, VELOCITY)

Seen = tuple[Stage, float, list[float], float]
"""Stage, time, q and mass."""


class Ladder:
    """A State at Report, and handles that its copies have as well."""

    def __init__(self) -> None:
        self.state = state_of("a", "b")
        part = self.state[0]
        self.q = part.allocate_q([1.0, 2.0])
        self.mass = part.allocate_discrete_variable(POSITION, 3.0)
        self.note = part.allocate_discrete_variable(REPORT, 4.0)
        self.presumed = [part.allocate_cache_entry(stage, stage) for stage in PRESUMED]
        above = (self.state.variable("time"), self.q, self.mass)
        self.total: CacheEntry[float] = part.allocate_cache_entry_with_prerequisites(
            INSTANCE, INFINITY, above, compute=self.sum
        )
        realize(self.state, REPORT)
        self.total(self.state)

    def sum(self, state: State) -> float:
        return float(state.time + self.q(state).sum() + self.mass(state))

    def seen(self, state: State) -> Seen:
        return state.stage, state.time, self.q(state).tolist(), self.mass(state)

    def check(self, state: State) -> None:
        """Assert that stages are open as far as the State says, and that what is valid is right."""
        for entry in self.presumed:
            assert entry.is_valid(state) == (state[0].stage >= entry.computed_by), entry.computed_by
        assert state.stage <= min(part.stage for part in state)
        if self.total.is_valid(state):
            assert self.total(state) == self.sum(state)

    def check_on(self, state: State) -> None:
        """Assert that all goes on to work, and that another error can be mended."""
        check_store(state._contents.realization.store)
        state._contents.realization.is_torn = True  # as by an error that strikes where none can be
        assert self.total(realize(state, TIME)) == self.sum(state)
        self.check(state)
        self.mass.set(state, 7.0)
        self.check(realize(state, POSITION))
        assert self.total(state) == self.sum(state)


LADDER = Ladder()
"""It is only copied."""


class Subject:
    """A copy of the State, with a checkpoint and with another copy, both of other values."""

    def __init__(self) -> None:
        self.state = LADDER.state.copy(keep_cache=True)
        self.mark: Checkpoint | None = None
        self.other: Contents | None = None

    @classmethod
    def to_go_back(cls, *, has_assigned: bool = False) -> "Subject":
        subject = cls()
        subject.mark = subject.state.checkpoint()
        if has_assigned:
            subject.state.assign(cls().state)
        LADDER.q.set(subject.state, [8.0, 9.0])
        realize(subject.state, TIME)
        return subject

    @classmethod
    def to_assign(cls) -> "Subject":
        subject = cls()
        other = subject.state.copy()
        other.time = 5.0
        LADDER.mass.set(other, 6.0)
        LADDER.q.set(other, [8.0, 9.0])
        subject.other = other._contents.copy(_binder(subject.state))
        return subject

    def go_back(self) -> None:
        assert self.mark is not None
        self.state.rollback(self.mark)

    def assign(self) -> None:
        assert self.other is not None
        contents = self.state._contents
        contents.finish(partial(contents.assign, self.other), "assign()")  # as State.assign does


Case = tuple[int, Callable[[], Subject], Callable[[Subject], object]]
"""A case strikes at each n-th step (in `nightly` at each), of an operation on what is prepared."""

CASES: dict[str, Case] = {
    "write": (1, Subject, lambda s: LADDER.mass.set(s.state, 5.0)),
    "write of time and y": (
        1,
        Subject,
        lambda s: s.state._contents.write_time_and_y(5.0, np.array([8.0, 9.0])),
    ),
    "invalidation of Instance": (1, Subject, lambda s: s.state.invalidate_all(INSTANCE)),
    "rollback": (2, Subject.to_go_back, Subject.go_back),
    "rollback beyond an assignment": (
        2,
        partial(Subject.to_go_back, has_assigned=True),
        Subject.go_back,
    ),
    "assignment": (1, Subject.to_assign, Subject.assign),
}


def is_between(seen: Seen, before: Seen, after: Seen) -> bool:
    """Return True if each of these is as before or as after."""
    return all(x in (b, a) for x, b, a in zip(seen, before, after, strict=True))


def struck(case: Case) -> Iterator[tuple[Subject, str]]:
    every, prepare, operate = case
    for at in count(step=1 if is_nightly() else every):
        subject = prepare()
        place = struck_at(at, partial(operate, subject), KeyboardInterrupt)
        if not place:
            return
        yield subject, place


@plain_only
@ignore_lost_strikes
@pytest.mark.parametrize("name", CASES)
def test_what_is_cut_short_anywhere_has_happened_or_not(name: str) -> None:
    _, prepare, operate = CASES[name]
    whole = prepare()
    before = LADDER.seen(whole.state)
    operate(whole)
    after = LADDER.seen(whole.state)
    LADDER.check_on(whole.state)
    for subject, place in struck(CASES[name]):
        try:
            LADDER.check(subject.state)
            assert is_between(LADDER.seen(subject.state), before, after)
            LADDER.check_on(subject.state)
        except BaseException as error:
            error.add_note(place)
            raise


def look(subject: Subject) -> None:
    """Look at a State, as a finalizer may, which is refused where nothing fits together."""
    with suppress(NodeInUseError):
        LADDER.check(subject.state)
        if subject.state[0].stage >= INSTANCE:
            assert LADDER.total(subject.state) == LADDER.sum(subject.state)


@plain_only
@pytest.mark.parametrize("name", CASES)
def test_a_look_in_the_middle_finds_what_fits_together_or_is_refused(name: str) -> None:
    every, prepare, operate = CASES[name]
    for subject, place in visits(prepare, operate, look, every):
        try:
            LADDER.check(subject.state)
            LADDER.check_on(subject.state)
        except BaseException as error:
            error.add_note(place)
            raise


# ---------------------------------------------------------------------- what is done next


@cache
def step_of_backing_up() -> int:
    """Return the step at which an invalidation of Instance begins to close stages."""
    return next(
        at for at in count() if "back_up" in struck_at(at, partial(tear, Subject()), SystemError)
    )


def tear(subject: Subject) -> None:
    subject.state.invalidate_all(INSTANCE)


def torn(subject: Subject | None = None) -> Subject:
    """Cut an invalidation short where its entries are stale, and no stage is closed yet."""
    subject = subject or Subject()
    struck_at(step_of_backing_up(), partial(tear, subject), KeyboardInterrupt)
    return subject


class Tearing:
    """Values of q in whose conversion an operation is cut short."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def __array__(self, *_: object, **__: object) -> Any:
        torn(self._subject)
        return np.array([8.0, 9.0])


NEXT: dict[str, Callable[[], Subject]] = {
    "write of what tears it": Subject,
    "write of time and y": torn,
}


@plain_only
@pytest.mark.parametrize("name", NEXT)
def test_a_write_first_completes_what_was_cut_short(name: str) -> None:
    subject = NEXT[name]()
    state = subject.state
    if name == "write of time and y":
        state._contents.write_time_and_y(5.0, np.array([8.0, 9.0]))
    else:
        LADDER.q.set(state, Tearing(subject))
    assert state.stage is MODEL
    assert LADDER.q(state).tolist() == [8.0, 9.0]
    LADDER.check(state)
    LADDER.check_on(state)


@plain_only
def test_a_look_while_a_state_is_mended_finds_what_fits_together_or_is_refused() -> None:
    for subject, _ in visits(torn, lambda subject: subject.state.stage, look, every=2):
        assert subject.state.stage is MODEL
        LADDER.check(subject.state)


@plain_only
@ignore_lost_strikes
def test_what_is_dropped_with_topology_is_dropped_even_if_that_is_cut_short() -> None:
    for at in count(step=1 if is_nightly() else 3):
        state = LADDER.state.copy(keep_cache=True)
        view = state.upd_q()
        place = struck_at(at, partial(state.invalidate_all, TOPOLOGY), KeyboardInterrupt)
        if not place:
            break
        is_left = state.stage is Stage.EMPTY
        assert isnan(state.variable("time")(state)) == is_left, place
        assert view.flags.writeable != is_left, place
        if is_left:
            assert not any(part._layout.items() for part in state), place
