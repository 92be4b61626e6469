"""Strict mode on States that are made by hand: what is covered, what is refused, what is free."""

import asyncio
import gc
import pickle
import threading
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stagecache import (
    CacheEntry,
    DiscreteVariable,
    Stage,
    State,
    simbody,
    strict,
    verify,
)
from stagecache.errors import (
    CycleError,
    MutatedValueError,
    StageTooLowError,
    StaleValueError,
    UndeclaredPrerequisiteError,
    UnknownChoiceError,
    WrongTypeError,
)
from stagecache.inspection import (
    ReadLog,
)
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.observer import Observer, observe
from stagecache.state.handles import AbstractHandle
from tests.state.realizing import realize, state_of

Compute = Callable[[State], Any]


class Fixture:
    """Two subsystems with one of everything, and one entry that computes what it is told to."""

    def __init__(self, earliest: Stage = Stage.TOPOLOGY, *named: str) -> None:
        self.state = state_of("a", "b")
        a, b = self.state
        self.items: dict[str, AbstractHandle] = {
            "block": a.allocate_q([1.0, 2.0], name="block"),
            "other": a.allocate_q([3.0], name="other"),
            "far": b.allocate_q([4.0], name="far"),
            "rate": a.allocate_u([5.0], name="rate"),
            "fill": b.allocate_z([6.0], name="fill"),
            "mass": a.allocate_discrete_variable(Stage.INSTANCE, 7.0, name="mass"),
            "pull": a.allocate_discrete_variable(Stage.DYNAMICS, 8.0, name="pull"),
            "notes": a.allocate_discrete_variable(Stage.INSTANCE, ["x"], name="notes"),
            "latch": a.allocate_auto_update_discrete_variable(
                Stage.POSITION, 9.0, Stage.TIME, name="latch"
            ),
            "q": self.state.variable("q"),
            "u": self.state.variable("u"),
            "z": self.state.variable("z"),
            "time": self.state.variable("time"),
            "q of a": a.variable("q"),
            "q of b": b.variable("q"),
        }
        for name, stage, above in (
            ("length", Stage.TOPOLOGY, "mass"),
            ("tip", Stage.POSITION, "block"),
            ("work", Stage.POSITION, "pull"),
            ("span", Stage.TOPOLOGY, "length"),
        ):
            self.items[name] = self.entry(stage, name, (above,), self.items[above])
        a.allocate_qerr(1)
        a.allocate_event_trigger(Stage.VELOCITY, 1)
        self.compute: Compute = lambda state: None  # which is replaced
        self.reader = self.entry(earliest, "reader", named, lambda state: self.compute(state))  # noqa: PLW0108
        realize(self.state, Stage.REPORT)

    def entry(
        self, earliest: Stage, name: str, named: tuple[str, ...], compute: Compute
    ) -> CacheEntry[Any]:
        return self.state[0].allocate_cache_entry_with_prerequisites(
            earliest,
            Stage.INFINITY,
            [self.items[n] for n in named],
            compute=compute,
            name=name,
        )

    def add(self, name: str, named: tuple[str, ...], compute: Compute) -> CacheEntry[Any]:
        self.state.invalidate_all(Stage.INSTANCE)
        entry = self.entry(Stage.TOPOLOGY, name, named, compute)
        realize(self.state, Stage.REPORT)
        return entry

    def reads(self, compute: Compute) -> ReadLog:
        self.compute = compute
        with strict(self.state, undeclared="record") as reads:
            self.reader(self.state)
        return reads


def read(name: str) -> Callable[[Fixture], Compute]:
    def of(fixture: Fixture) -> Compute:
        return fixture.items[name]

    return of


def whole(function: Compute) -> Callable[[Fixture], Compute]:
    return lambda fixture: function


READS: dict[str, tuple[Callable[[Fixture], Compute], str]] = {
    "a block": (read("block"), "block"),
    "a scalar of a partition": (whole(lambda s: s[0].q[0]), "q of a"),
    "a whole": (whole(lambda s: s.q), "q"),
    "u": (whole(lambda s: s.u), "u"),
    "z": (whole(lambda s: s.z), "z"),
    "a whole by its handle": (read("q"), "q"),
    "a continuous state": (whole(lambda s: s.continuous_state[0]), "q"),
    "the time": (whole(lambda s: s.time), "time"),
    "the time by its handle": (read("time"), "time"),
    "a discrete variable": (read("mass"), "mass"),
    "a discrete variable by its index": (
        whole(lambda s: simbody.get_discrete_variable(s[0], 0)),
        "mass",
    ),
    "when it was written": (
        whole(lambda s: simbody.discrete_variable_last_update_time(s[0], 0)),
        "mass",
    ),
    "a version": (whole(lambda s: s.variable("q").version(s)), "q"),
    "an auto-update variable": (read("latch"), "latch"),
    "an entry": (read("length"), "length"),
    "an entry that is realized already": (read("length"), "length"),
}


@pytest.mark.parametrize("case", READS)
def test_an_undeclared_read_is_refused_and_a_declared_one_is_not(case: str) -> None:
    reading, name = READS[case]
    fixture = Fixture(Stage.MODEL)
    fixture.items["length"](fixture.state)
    fixture.compute = reading(fixture)
    with (
        strict(fixture.state) as reads,
        pytest.raises(UndeclaredPrerequisiteError, match="cache entry 'reader'"),
    ):
        fixture.reader(fixture.state)
    assert [r.item for r in reads.undeclared] == [fixture.items[name]]
    assert not fixture.reader.is_valid(fixture.state)

    declared = Fixture(Stage.MODEL, name)
    found = declared.reads(reading(declared))
    assert found.undeclared == ()
    assert declared.items[name] in found.of(declared.reader)
    assert found.over_declared() == ()


STAGES: dict[str, tuple[Compute, Stage]] = {
    "u_weights": (lambda s: s.u_weights, Stage.REPORT),
    "z_weights": (lambda s: s.z_weights, Stage.REPORT),
    "qerr_weights": (lambda s: s[0].qerr_weights, Stage.POSITION),
    "uerr_weights": (lambda s: s.uerr_weights, Stage.VELOCITY),
    "qdot": (lambda s: s.qdot, Stage.VELOCITY),
    "qdot of a part": (lambda s: s[0].qdot, Stage.VELOCITY),
    "udot": (lambda s: s.udot, Stage.ACCELERATION),
    "ydot": (lambda s: s.ydot, Stage.ACCELERATION),
    "derivatives": (lambda s: s.continuous_derivatives[4], Stage.ACCELERATION),
    "qerr": (lambda s: s.qerr, Stage.POSITION),
    "yerr": (lambda s: s.yerr, Stage.VELOCITY),
    "triggers": (lambda s: s.event_triggers_by_stage(Stage.VELOCITY), Stage.VELOCITY),
    "early triggers": (lambda s: s.event_triggers_by_stage(Stage.TIME), Stage.TIME),
    "all triggers": (lambda s: s.event_triggers, Stage.ACCELERATION),
    "nq": (lambda s: s.nq, Stage.MODEL),
    "u_start": (lambda s: s[1].u_start, Stage.MODEL),
    "a place": (lambda s: s.variable("q").place(s), Stage.MODEL),
    "nqerr": (lambda s: s.nqerr, Stage.INSTANCE),
    "number of triggers": (lambda s: s.num_event_triggers, Stage.INSTANCE),
    "number of some": (
        lambda s: simbody.num_event_triggers_by_stage(s, Stage.TIME),
        Stage.INSTANCE,
    ),
    "start of some": (
        lambda s: simbody.event_trigger_start_by_stage(s, Stage.TIME),
        Stage.INSTANCE,
    ),
    "q": (lambda s: s.q, Stage.POSITION),
    "u": (lambda s: s.u, Stage.VELOCITY),
    "y": (lambda s: s.y, Stage.DYNAMICS),
    "time": (lambda s: s.time, Stage.TIME),
}


@pytest.mark.parametrize("case", STAGES)
def test_a_stage_covers_what_becomes_stale_with_it_and_the_stage_before_does_not(case: str) -> None:
    compute, stage = STAGES[case]
    assert Fixture(stage).reads(compute).undeclared == ()
    early = Fixture(max(stage.prev(), Stage.TOPOLOGY))
    found = early.reads(compute)
    assert found.undeclared
    if isinstance(found.undeclared[0].item, Stage):
        assert {r.item for r in found.undeclared} == {max(stage, found.undeclared[0].item)}
        assert f"available_from=Stage.{found.undeclared[0].item.name}" in found.undeclared[0].hint


COVERED: dict[str, tuple[Stage, tuple[str, ...], str, bool]] = {
    # what is declared, what is read, whether that is covered
    "a block of a declared part": (Stage.TOPOLOGY, ("q of a",), "block", True),
    "a block of a declared whole": (Stage.TOPOLOGY, ("q",), "block", True),
    "a part of a declared whole": (Stage.TOPOLOGY, ("q",), "q of b", True),
    "a part of which all blocks are": (Stage.TOPOLOGY, ("block", "other"), "q of a", True),
    "a part of which one block is not": (Stage.TOPOLOGY, ("block",), "q of a", False),
    "a whole of which all parts are": (Stage.TOPOLOGY, ("q of a", "q of b"), "q", True),
    "a whole of blocks and parts": (Stage.TOPOLOGY, ("block", "other", "q of b"), "q", True),
    "a whole of which one block is not": (Stage.TOPOLOGY, ("block", "q of b"), "q", False),
    "a block of another part": (Stage.TOPOLOGY, ("q of b",), "block", False),
    "u, of which q is declared": (Stage.TOPOLOGY, ("q",), "u", False),
    "a block, by Position": (Stage.POSITION, (), "block", True),
    "a block, by Time": (Stage.TIME, (), "block", False),
    "a variable, by its stage": (Stage.INSTANCE, (), "mass", True),
    "a variable of a later stage": (Stage.VELOCITY, (), "pull", False),
    "an auto-update variable, by no stage": (Stage.REPORT, (), "latch", False),
    "an entry, by its stage": (Stage.POSITION, (), "tip", True),
    "an entry of an entry, by its stage": (Stage.INSTANCE, (), "span", True),
    "an entry of a later stage": (Stage.INSTANCE, ("block",), "tip", False),
    "an entry with a later variable": (Stage.VELOCITY, (), "work", False),
    "an entry upstream of what is declared": (Stage.TOPOLOGY, ("length",), "mass", False),
}


@pytest.mark.parametrize("case", COVERED)
def test_coverage(case: str) -> None:
    earliest, named, item, is_covered = COVERED[case]
    fixture = Fixture(earliest, *named)
    found = fixture.reads(fixture.items[item])
    assert (found.undeclared == ()) == is_covered


VECTORS = ("block", "other", "far", "rate", "fill", "q of a", "q of b", "q", "u", "z")


def elements(fixture: Fixture, name: str) -> set[int]:
    """Return places in y."""
    place = state_variable(fixture, name).place(fixture.state)
    return set(range(place.start, place.stop))


@example(read="block", named={"other"})
@given(read=st.sampled_from(VECTORS), named=st.sets(st.sampled_from(VECTORS), max_size=4))
def test_a_read_of_vectors_is_covered_if_all_its_elements_are_declared(
    read: str, named: set[str]
) -> None:
    fixture = Fixture(Stage.TOPOLOGY, *sorted(named))
    found = fixture.reads(fixture.items[read])
    here = elements(fixture, read)
    of = {name: elements(fixture, name) for name in sorted(named)}
    assert (found.undeclared == ()) == (here <= set[int]().union(*of.values()))
    over = {str(declared.prerequisite) for declared in found.over_declared()}
    assert over == {str(fixture.items[name]) for name in of if not here & of[name]}


def test_numbers_of_q_are_covered_by_a_declared_block() -> None:
    fixture = Fixture(Stage.TOPOLOGY, "block")
    assert fixture.reads(lambda state: (state.nq, state[1].u_start)).undeclared == ()


def test_the_update_entry_covers_its_variable() -> None:
    state = state_of("a")
    latch = state[0].allocate_auto_update_discrete_variable(Stage.POSITION, 1.0, Stage.TIME)
    plain = state[0].allocate_cache_entry(Stage.REPORT, Stage.REPORT, 0.0)
    realize(state, Stage.REPORT)
    with strict(state) as reads:
        latch.update.mark_valid(state)
        assert latch.update(state) == 1.0
        assert plain(state) == 0.0
    assert reads.undeclared == ()


def test_an_error_says_who_what_where_and_the_hint() -> None:
    fixture = Fixture(Stage.TOPOLOGY, "block")

    def compute(state: State) -> object:
        return (
            fixture.items["mass"](state)  # here
        )

    here = compute.__code__.co_firstlineno + 2
    fixture.compute = compute
    with strict(fixture.state) as reads, pytest.raises(UndeclaredPrerequisiteError) as caught:
        fixture.reader(fixture.state)
    assert str(caught.value).splitlines() == [
        "cache entry 'reader' of subsystem 0 'a': reads discrete variable 'mass' of subsystem 0 "
        "'a', which it does not declare",
        "  expected: reads of its prerequisites (block of subsystem 0), and of what Topology "
        "guarantees",
        f"  got:      a read in {__file__}:{here}",
        "  hint:     allocate it with the prerequisites (block, mass)",
    ]
    (found,) = reads.undeclared
    assert (found.entry, found.item) == (fixture.reader, fixture.items["mass"])
    assert (found.file, found.line) == (__file__, here)
    assert found.hint == caught.value.hint


def test_the_cure_names_what_has_no_name_by_how_it_is_got() -> None:
    fixture = Fixture()
    for compute, what in (
        (lambda state: state[1].q, "q of subsystem 1 'b'"),
        (lambda state: state.q, "q"),
        (fixture.items["block"], "q block 'block' of subsystem 0 'a'"),
    ):
        fixture.compute = compute
        with (
            strict(fixture.state),
            pytest.raises(UndeclaredPrerequisiteError, match=f"reads {what}, which"),
        ):
            fixture.reader(fixture.state)
    hints = [r.hint for r in fixture.reads(lambda s: (s.q, s[1].q, s.time, s.y, s.qdot)).undeclared]
    assert hints[0] == 'allocate it with the prerequisites (state.variable("q"),)'
    assert hints[1] == 'allocate it with the prerequisites (state[1].variable("q"),)'
    assert hints[2] == 'allocate it with the prerequisites (state.variable("time"),)'
    assert 'variable("q"), state.variable("u"), state.variable("z")' in hints[3]
    assert hints[-1] == "allocate it with available_from=Stage.VELOCITY"


def test_the_cure_does_not_invent_an_expression_for_what_was_allocated_without_a_name() -> None:
    state = state_of("a")
    block = state[0].allocate_q([1.0])
    mass = state[0].allocate_discrete_variable(Stage.INSTANCE, 1.0)
    reader = state[0].allocate_lazy_cache_entry(
        Stage.TOPOLOGY, compute=lambda state: (block(state), mass(state))
    )
    realize(state, Stage.MODEL)
    with strict(state, undeclared="record") as reads:
        reader(state)
    assert [read.hint for read in reads.undeclared] == [
        "allocate it with the prerequisites (<q block 0 of subsystem 0>,)",
        "allocate it with the prerequisites (<discrete variable 0 of subsystem 0>,)",
    ]


def test_an_entry_that_is_only_readable_because_the_state_is_further_takes_a_later_stage() -> None:
    fixture = Fixture(Stage.INSTANCE)
    (found,) = fixture.reads(fixture.items["tip"]).undeclared
    assert found.hint == (
        "allocate it with the prerequisites (tip,), "
        "and allocate it with available_from=Stage.POSITION"
    )
    further = Fixture(Stage.POSITION)
    (found,) = further.reads(further.items["work"]).undeclared
    assert found.hint == "allocate it with the prerequisites (work,)"


# ---------------------------------------------------------------------- what is no read


def test_reads_outside_of_computations_and_showing_a_state_are_none() -> None:
    fixture = Fixture()
    assert fixture.state.q[0] == 1.0
    found = fixture.reads(lambda s: (str(s), repr(s), s.cache_to_string(), s._repr_html_()))
    assert found.undeclared == ()
    assert found.of(fixture.reader) == frozenset()


class Reading:
    """Reads a variable, and no more of it."""

    def __init__(self, variable: AbstractHandle) -> None:
        self.variable: Any = variable

    def __call__(self, state: State) -> int:
        self.variable(state)
        return 1


def plus_one(above: CacheEntry[int]) -> Callable[[State], int]:
    return lambda state: above(state) + 1


def test_computing_what_is_declared_before_it_is_read_is_none() -> None:
    state = state_of("a")
    entry = state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=lambda state: 0)
    links = [entry]
    for _ in range(200):
        entry = state[0].allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (entry,), compute=plus_one(entry)
        )
        links.append(entry)
    realize(state, Stage.MODEL)
    with strict(state) as reads:
        assert entry(state) == 200
    assert all(reads.of(below) == {above} for above, below in pairwise(links))


# ---------------------------------------------------------------------- what is free


def test_when_off_everything_is_as_if_it_had_never_been_on() -> None:
    fixture = Fixture(Stage.TOPOLOGY, "block")
    state = fixture.state
    contents = state._contents
    store = state._contents.visible
    functions = contents.realization.evaluator.functions
    bind = contents.realization.evaluator._bind
    calls = [type(handle).__call__ for handle in fixture.items.values()]
    slots = {name: getattr(contents, name) for name in ("realization", "pools", "observers")}
    with strict(state), strict(state), verify(state):
        assert state._contents.observers
        assert state.is_strict
        state[0].q = [1.0, 2.0, 3.0]
        realize(state, Stage.REPORT)
        fixture.items["tip"](state)
        assert contents.realization.evaluator._bind is not bind
    assert contents.observers == ()
    assert state._contents is contents
    assert contents.visible is store is contents.realization.store
    assert (
        contents.realization.evaluator.functions
        is functions
        is contents.realization.layout.functions
    )
    assert contents.realization.evaluator._bind is bind
    assert [type(handle).__call__ for handle in fixture.items.values()] == calls
    assert {name: getattr(contents, name) for name in slots} == slots
    assert slots["observers"] == ()
    assert not state.is_strict


def test_a_rollback_to_a_block_that_has_ended_does_not_turn_it_on_again() -> None:
    fixture = Fixture()
    fixture.compute = fixture.items["mass"]
    state = fixture.state
    evaluator = state._contents.realization.evaluator
    bind = evaluator._bind
    with strict(state, undeclared="record"):
        fixture.reader(state)
        mark = state.checkpoint()
        state.clear()
    state.rollback(mark)
    fixture.reader.invalidate(state)
    assert fixture.reader(state) == 7.0
    assert not state.is_strict
    assert state._contents.realization.evaluator is evaluator
    assert evaluator._bind is bind


# ---------------------------------------------------------------------- blocks


def test_blocks_nest_and_the_innermost_says_what_is_raised() -> None:
    fixture = Fixture()
    fixture.compute = fixture.items["mass"]
    state = fixture.state
    with strict(state) as outer:
        with strict(state, undeclared="record") as inner:
            assert fixture.reader(state) == 7.0
        assert state.is_strict
        fixture.reader.invalidate(state)
        with pytest.raises(UndeclaredPrerequisiteError):
            fixture.reader(state)
    assert not state.is_strict
    assert len(inner.undeclared) == 1
    assert outer.undeclared == inner.undeclared
    assert outer.of(fixture.reader) == {fixture.items["mass"]}


def change_and_fail(notes: list[str]) -> None:
    notes.append("changed in place")
    raise ZeroDivisionError


def make_and_fail(made: list[State]) -> None:
    made.append(State())
    raise ZeroDivisionError


def test_a_block_that_raises_leaves_nothing_behind() -> None:
    fixture = Fixture()
    with pytest.raises(ZeroDivisionError), strict(fixture.state):
        change_and_fail(state_variable(fixture, "notes")(fixture.state))
    assert fixture.state._contents.observers == ()
    made: list[State] = []
    with pytest.raises(ZeroDivisionError), strict():
        make_and_fail(made)
    assert not made[0].is_strict


def test_a_computation_that_raises_leaves_nothing_behind() -> None:
    fixture = Fixture(Stage.TOPOLOGY, "mass")

    def fail(state: State) -> object:
        fixture.items["mass"](state)
        raise ZeroDivisionError

    fixture.compute = fail
    state = fixture.state
    for mode in (strict, verify):
        with mode(state) as reads:
            with pytest.raises(ZeroDivisionError):
                fixture.reader(state)
            fixture.compute = lambda state: 1
            assert fixture.reader(state) == 1
            fixture.reader.invalidate(state)
            fixture.compute = fail
        assert not state._contents.realization.evaluator.running
        assert reads.undeclared == ()


def test_an_error_that_a_computation_catches_is_raised_by_the_outermost_read() -> None:
    fixture = Fixture(Stage.TOPOLOGY, "length", "notes")
    mass, notes = fixture.items["mass"], state_variable(fixture, "notes")
    state = fixture.state

    def catch(state: State) -> float:
        with suppress(Exception):
            return float(mass(state))
        return 0.0

    def change(state: State) -> int:
        notes(state).append("y")
        with suppress(Exception):
            notes(state)
        return 0

    for compute, error in ((catch, UndeclaredPrerequisiteError), (change, MutatedValueError)):
        fixture.compute = compute
        fixture.reader.invalidate(state)
        with strict(state):
            with pytest.raises(error, match="reader"):
                fixture.reader(state)
            assert fixture.items["tip"](state) is not None


def test_a_block_can_be_entered_again_and_decorate_a_function() -> None:
    fixture = Fixture()
    fixture.compute = fixture.items["mass"]
    mode = strict(fixture.state, undeclared="record")
    logs = []
    for _ in range(2):
        fixture.reader.invalidate(fixture.state)
        with mode as reads, mode:
            fixture.reader(fixture.state)
        logs.append(reads)
        assert not fixture.state.is_strict
    assert logs[0] is not logs[1]
    assert [len(log.undeclared) for log in logs] == [1, 1]

    @strict()  # type: ignore[operator]  # it says no more than that it is a context manager
    def make() -> bool:
        return State().is_strict

    assert make()
    assert make()
    assert not State().is_strict


class Interrupted(BaseException):
    """Stands for Control-C."""


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupted_switch_is_undone(
    count: int, is_done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = Fixture().state

    def interrupted_observe(contents: Contents, *observers: Observer) -> None:
        nonlocal count
        count -= 1
        if count != 0 or is_done:
            observe(contents, *observers)
        if count == 0:
            raise Interrupted

    module = import_module("stagecache.inspection.subject")
    monkeypatch.setattr(module, "observe", interrupted_observe)
    with pytest.raises(Interrupted), strict(state):
        pass
    assert state._contents.visible is state._contents.realization.store
    assert not state.is_strict


def test_a_block_that_cannot_be_entered_again_still_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    state = Fixture().state

    def interrupted_begin(state: State, log: ReadLog) -> None:
        raise Interrupted

    mode = strict(state)
    with mode:
        module = import_module("stagecache.inspection.strict.strict")
        monkeypatch.setattr(module, "begin_watching", interrupted_begin)
        with pytest.raises(Interrupted), mode:
            pass
        assert state.is_strict
    assert not state.is_strict


def test_a_block_that_ends_in_another_context_ends_in_the_first_one_too() -> None:
    async def block() -> AsyncGenerator[State]:
        with strict():
            yield State()

    async def main() -> tuple[bool, bool, bool]:
        blocks = block()
        state = await anext(blocks)
        inside = state.is_strict
        await asyncio.create_task(blocks.aclose())
        return inside, state.is_strict, State().is_strict

    assert asyncio.run(main()) == (True, False, False)


def test_what_is_forgotten_is_not_kept_by_a_state_that_is_strict_for_good() -> None:
    class Value:
        pass

    def handles() -> int:
        gc.collect()
        return sum(isinstance(thing, DiscreteVariable) for thing in gc.get_objects())

    state = State(strict=True)
    part = state[state.add_subsystem()]
    sized = part.allocate_cache_entry_with_prerequisites(
        Stage.MODEL, Stage.INFINITY, (), compute=lambda state: state.nq
    )
    realize(state, Stage.MODEL)
    assert sized(state) == 0
    state.invalidate_all(Stage.MODEL)
    values = []
    before = handles()
    for _ in range(500):
        value = Value()
        values.append(weakref.ref(value))
        variable = part.allocate_discrete_variable(Stage.POSITION, value)
        entry = part.allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (variable,), compute=Reading(variable)
        )
        assert entry(state) == 1
        refused = part.allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=Reading(variable))
        with pytest.raises(UndeclaredPrerequisiteError):
            refused(state)
        realize(state, Stage.MODEL)
        state.invalidate_all(Stage.MODEL)
    del value
    assert handles() - before < 250
    assert sum(value() is not None for value in values) < 250


def test_blocks_for_all_states_nest_and_leave_nothing_behind() -> None:
    with strict() as outer:
        with strict() as inner:
            made = State()
        assert made.is_strict
        assert State().is_strict
    assert not State().is_strict
    logs = [weakref.ref(outer), weakref.ref(inner)]
    del outer, inner
    gc.collect()
    assert [log() for log in logs] == [None, None]


def test_states_made_in_a_block_are_strict_until_it_ends() -> None:
    before = State()
    with strict() as reads:
        made = State()
        copied = before.copy()
        again = copied.copy(keep_cache=True)
        assert made.is_strict
        assert copied.is_strict
        assert again.is_strict
        assert not before.is_strict
        x = made[made.add_subsystem()]
        mass = x.allocate_discrete_variable(Stage.INSTANCE, 1.0)
        entry = x.allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=mass)
        realize(made, Stage.TOPOLOGY)
        with pytest.raises(UndeclaredPrerequisiteError):
            entry(made)
    assert reads.of(entry) == {mass}
    assert not made.is_strict
    assert entry(made) == 1.0


def test_a_state_can_be_strict_for_good_and_so_are_its_copies() -> None:
    state = State(strict=True)
    x = state[state.add_subsystem()]
    mass = x.allocate_discrete_variable(Stage.INSTANCE, 1.0)
    entry = x.allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=mass)
    realize(state, Stage.TOPOLOGY)
    for twin in (state, state.copy(), state.copy().copy(keep_cache=True)):
        assert twin.is_strict
        with pytest.raises(UndeclaredPrerequisiteError):
            entry(twin)
        with strict(twin, undeclared="record"):
            assert entry(twin) == 1.0
        assert twin.is_strict
    with strict(State()) as _:
        plain = State()
    with strict(plain):
        assert not plain.copy().is_strict


def test_a_strict_state_is_assigned_cleared_and_rolled_back_as_any_other() -> None:
    state = Fixture().state
    other = Fixture(Stage.TOPOLOGY, "block")
    other.compute = other.items["mass"]
    with strict(state):
        mark = state.checkpoint()
        state.q = [0.0, 0.0, 0.0, 0.0]
        assert state.variable("q").version(state) == 2
        state.rollback(mark)
        assert list(state.q) == [1.0, 2.0, 3.0, 4.0]
        state.assign(other.state)
        assert state.is_strict
        assert other.items["block"](state)[0] == 1.0
        with pytest.raises(UndeclaredPrerequisiteError):
            other.reader(state)
        state.clear()
        assert state.num_subsystems == 0
    assert state._contents.visible is state._contents.realization.store


def test_partitions_and_live_vectors_made_before_are_watched() -> None:
    fixture = Fixture()
    part = fixture.state[0]
    live = fixture.state.continuous_state
    fixture.items["length"](fixture.state)
    found = fixture.reads(lambda state: (part.q, simbody.get_cache_entry(part, 1), live[0]))
    items = found.of(fixture.reader)
    assert items >= {fixture.items[name] for name in ("q of a", "q", "length")}


def test_threads_write_into_one_log() -> None:
    state = state_of("a")
    variables = [state[0].allocate_discrete_variable(Stage.INSTANCE, i) for i in range(50)]
    entries = [
        state[0].allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (v,), compute=v
        )
        for v in variables
    ]
    realize(state, Stage.TOPOLOGY)
    start = threading.Barrier(4)
    found: list[list[int]] = []

    def work() -> None:
        start.wait()
        found.append([entry(state) for entry in entries])

    for mode in (strict, verify):
        for v in variables:
            v.set(state, v(state))
        with mode(state) as reads:
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert all(reads.of(e) == {v} for e, v in zip(entries, variables, strict=True))
        assert reads.undeclared == ()
    assert found == [list(range(50))] * 8


def test_what_is_no_state_and_no_mode_is_refused() -> None:
    for mode in (strict, verify):
        with pytest.raises(WrongTypeError):
            mode(State()._contents)  # type: ignore[arg-type]  # is refused
    with pytest.raises(UnknownChoiceError):
        strict(State(), undeclared="ignore")  # type: ignore[call-overload]  # is refused
    with pytest.raises(WrongTypeError):
        strict(None)  # type: ignore[call-overload]  # is refused


def test_a_stage_that_is_too_low_is_said_first() -> None:
    fixture = Fixture()
    fixture.state.invalidate_all(Stage.VELOCITY)
    fixture.compute = lambda state: state.qdot
    with strict(fixture.state), pytest.raises(StageTooLowError):
        fixture.reader(fixture.state)


# ---------------------------------------------------------------------- over-declared


def test_prerequisites_that_no_computation_has_read_are_listed() -> None:
    fixture = Fixture(Stage.TOPOLOGY, "mass", "block", "q of b", "u")
    found = fixture.reads(
        lambda state: (fixture.items["block"](state), fixture.items["far"](state))
    )
    assert [(o.entry, o.prerequisite) for o in found.over_declared()] == [
        (fixture.reader, fixture.items["mass"]),
        (fixture.reader, fixture.items["u"]),
    ]
    assert Fixture(Stage.TOPOLOGY, "block").reads(lambda s: s.q).over_declared() == ()


def below_and_unread(
    above: AbstractHandle, unread: AbstractHandle, compute: Compute, state: State, **options: Any
) -> CacheEntry[Any]:
    return state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (above, unread), compute=compute, **options
    )


def test_entries_computed_deep_in_a_chain_are_listed() -> None:
    state = state_of("a")
    unread = state[0].allocate_discrete_variable(Stage.INSTANCE, 1.0)
    links: list[Any] = [state[0].allocate_discrete_variable(Stage.INSTANCE, 0)]
    for _ in range(100):
        links.append(below_and_unread(links[-1], unread, plus_one(links[-1]), state))
    realize(state, Stage.TOPOLOGY)
    with strict(state) as reads:
        assert links[-1](state) == 100
    assert {o.entry for o in reads.over_declared()} == set(links[1:])
    assert {o.prerequisite for o in reads.over_declared()} == {unread}


def test_entries_that_compare_their_values_are_listed_whoever_asks_for_them() -> None:
    state = state_of("a")
    mass = state[0].allocate_discrete_variable(Stage.INSTANCE, 1.0)
    unread = state[0].allocate_discrete_variable(Stage.INSTANCE, 1.0)
    sign = below_and_unread(mass, unread, lambda s: mass(s) > 0, state, equal=True)
    below = below_and_unread(sign, unread, sign, state)
    realize(state, Stage.TOPOLOGY)
    below(state)
    for first in (below, sign):
        mass.set(state, mass(state) + 1)
        with strict(state) as reads:
            first(state)
        assert [(o.entry, o.prerequisite) for o in reads.over_declared()] == [(sign, unread)]


def test_a_computation_that_raises_is_not_listed_but_what_it_has_computed_is() -> None:
    state = state_of("a")
    variable = state[0].allocate_discrete_variable(Stage.INSTANCE, 0)
    unread = state[0].allocate_discrete_variable(Stage.INSTANCE, 0)
    first = below_and_unread(variable, unread, variable, state)
    link = below_and_unread(first, unread, lambda state: 1 // 0, state)
    for _ in range(100):
        link = below_and_unread(link, unread, plus_one(link), state)
    realize(state, Stage.TOPOLOGY)
    with strict(state) as reads, pytest.raises(ZeroDivisionError):
        link(state)
    assert [(o.entry, o.prerequisite) for o in reads.over_declared()] == [(first, unread)]


# ---------------------------------------------------------------------- changed in place


def test_a_computation_deep_in_a_chain_that_changes_what_it_reads_is_found() -> None:
    state = state_of("a")
    notes = state[0].allocate_discrete_variable(Stage.INSTANCE, [0])
    unread = state[0].allocate_discrete_variable(Stage.INSTANCE, 1.0)

    def change(state: State) -> int:
        notes(state).append(1)
        return 0

    entry = below_and_unread(notes, unread, change, state, name="bad")
    for _ in range(100):
        entry = below_and_unread(entry, unread, plus_one(entry), state)
    realize(state, Stage.TOPOLOGY)
    with strict(state), pytest.raises(MutatedValueError, match="'bad'"):
        entry(state)


def test_a_computation_that_changes_what_it_reads_is_found_when_it_ends() -> None:
    fixture = Fixture(Stage.INSTANCE)
    fixture.compute = lambda state: fixture.items["notes"](state).append("y")
    with strict(fixture.state), pytest.raises(MutatedValueError) as caught:
        fixture.reader(fixture.state)
    assert "discrete variable 'notes'" in caught.value.what
    assert (
        caught.value.expected == "['x'], as it was read by cache entry 'reader' of subsystem 0 'a'"
    )
    assert "['x', 'y']" in caught.value.got


def test_a_change_is_told_rather_than_the_error_to_which_it_leads() -> None:
    fixture = Fixture(Stage.INSTANCE, "notes", "block")
    notes = state_variable(fixture, "notes")
    change = fixture.add("change", ("notes",), lambda s: notes(s).remove(notes(s).pop()))

    def compute(state: State) -> object:
        with suppress(ValueError):
            change(state)
        fixture.items["block"](state)
        return 1 // 0

    fixture.compute = compute
    with (
        strict(fixture.state, undeclared="record"),
        pytest.raises(MutatedValueError, match="as it was read by cache entry 'change'"),
    ):
        fixture.reader(fixture.state)


def test_a_variable_changed_outside_is_found_at_the_next_read_and_at_the_end() -> None:
    fixture = Fixture()
    notes, state = fixture.items["notes"], fixture.state
    with strict(state):
        notes(state).append("y")
        with pytest.raises(MutatedValueError, match="outside of computations") as caught:
            notes(state)
    assert f"write by {notes}.set(state, value)" in caught.value.hint
    with pytest.raises(MutatedValueError), verify(state):
        notes(state).append("z")
    assert not state.is_strict


def test_upd_and_set_are_no_changes_in_place() -> None:
    fixture = Fixture(Stage.INSTANCE)
    notes: Any = fixture.items["notes"]
    state = fixture.state
    with strict(state):
        handed = notes.upd(state)
        handed.append("y")
        assert len(notes(state)) == 2
        handed.append("z")
        assert len(notes(state)) == 3
        notes.set(state, handed)
        realize(state, Stage.REPORT)
        fixture.compute = lambda state: len(notes(state))
        assert fixture.reader(state) == 3
        handed.append("too late")
        with pytest.raises(MutatedValueError):
            notes(state)


def test_a_cached_list_changed_by_who_reads_it_is_found() -> None:
    fixture = Fixture()
    fixture.compute = lambda state: [np.zeros(2)]
    state = fixture.state
    with strict(state):
        fixture.reader(state)[0][0] = 1.0
        with pytest.raises(MutatedValueError, match="cache entry 'reader'") as caught:
            fixture.reader(state)
    assert "copy it first" in caught.value.hint


def test_views_handed_out_before_the_block_may_be_changed_until_a_computation() -> None:
    fixture = Fixture()
    state, array = fixture.state, state_variable(fixture, "mass")
    array.set(state, np.zeros(3))
    views = [state.upd_q(), array.upd(state)]
    with strict(state):
        for view, item in zip(views, (fixture.items["block"], array), strict=True):
            for value in (1.0, 2.0):
                view[0] = value
                assert item(state)[0] == value


def test_a_value_of_an_entry_that_is_replaced_or_handed_out_is_not_changed_in_place() -> None:
    state = state_of("a")
    entry = state[0].allocate_cache_entry(Stage.TOPOLOGY, Stage.INFINITY, [1])
    realize(state, Stage.TOPOLOGY)
    entry.mark_valid(state)
    with strict(state):
        assert entry(state) == [1]
        entry.upd(state).append(2)
        assert entry(state) == [1, 2]
    with strict(state):
        assert entry(state) == [1, 2]
        entry.set(state, [3])
        assert entry(state) == [3]


def test_a_slice_that_was_kept_of_a_view_is_found() -> None:
    fixture = Fixture()
    state = fixture.state
    array = simbody.discrete_variable_info(state[0], 2)
    array.set(state, np.zeros(3))
    kept = [state.upd_q()[:1], array.upd(state)[:1]]
    with strict(state):
        fixture.reader(state)
        for i, item in enumerate((fixture.items["block"], array)):
            item(state)
            kept[i][0] = 100.0
            with pytest.raises(MutatedValueError):
                item(state)


class Keyed:
    """Equal to all others, whatever it remembers."""

    def __init__(self) -> None:
        self.memory: dict[str, int] | None = None
        self.size = 1

    @cached_property
    def area(self) -> int:
        return self.size**2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keyed)

    def __hash__(self) -> int:
        return 0


class Unloadable:
    """Can be pickled, but what pickle makes of it cannot be restored."""

    def __init__(self) -> None:
        self.items = [1]

    def __reduce__(self) -> tuple[Any, ...]:
        return fail_to_load, (self.items,)


def fail_to_load(items: list[int]) -> None:
    raise ZeroDivisionError(items)


def test_a_change_that_does_not_count_for_equality_is_found_and_shown() -> None:
    fixture = Fixture()
    state, notes = fixture.state, state_variable(fixture, "notes")
    notes.set(state, Keyed())
    with strict(state):
        notes(state).memory = {}
        with pytest.raises(MutatedValueError) as caught:
            notes(state)
    assert caught.value.expected.startswith("Keyed(memory=None), as")
    assert caught.value.got.startswith("Keyed(memory={}), in")


def test_a_difference_that_does_not_count_for_equality_is_found_by_verify() -> None:
    fixture = Fixture()
    size = [1]

    def compute(state: State) -> Keyed:
        made = Keyed()
        made.size = size[0]
        return made

    fixture.compute = compute
    with verify(fixture.state):
        fixture.reader(fixture.state)
        size[0] = 2
        with pytest.raises(StaleValueError, match=r"Keyed\(size=2\), as it is computed now"):
            fixture.reader(fixture.state)


class Box:
    """Refers to something; equal to itself only."""

    def __init__(self, content: object) -> None:
        self.content = content


def in_array(content: object) -> object:
    array = np.array([None])
    array[0] = content
    return array


def test_a_change_deep_in_a_value_is_found_also_if_pickle_cannot_take_it() -> None:
    class Local(Box):
        pass

    fixture = Fixture()
    state, notes = fixture.state, state_variable(fixture, "notes")
    for wrap in (in_array, Box, Local):
        content: list[Any] = [[1]]
        notes.set(state, wrap(content))
        with strict(state):
            notes(state)
            content[0].append(lambda: 1)
            with pytest.raises(MutatedValueError):
                notes(state)


def test_what_an_object_remembers_of_itself_or_cannot_be_compared_is_left_alone() -> None:
    fixture = Fixture()
    state, notes = fixture.state, state_variable(fixture, "notes")
    others = [(i for i in range(3)), threading.Lock(), lambda: 1, {Box(1)}]
    with strict(state):
        for value in (Keyed(), Unloadable(), *others):
            notes.set(state, value)
            found = notes(state)
            if isinstance(found, Keyed):
                assert found.area == 1
            if isinstance(found, Unloadable):
                found.items.append(2)
            assert notes(state) is found


def state_variable(fixture: Fixture, name: str) -> Any:
    return fixture.items[name]


# ---------------------------------------------------------------------- verify


def test_a_missing_prerequisite_is_found_by_verify() -> None:
    fixture = Fixture(Stage.TOPOLOGY, "block")
    mass = state_variable(fixture, "mass")
    fixture.compute = lambda state: mass(state) + state_variable(fixture, "block")(state)[0]
    state = fixture.state
    with verify(state) as reads:
        assert fixture.reader(state) == 8.0
        mass.set(state, 10.0)
        with pytest.raises(StaleValueError) as caught:
            fixture.reader(state)
    error = caught.value
    assert error.suspects == ("mass of subsystem 0",)
    assert "11.0" in error.expected
    assert "8.0" in error.got
    assert error.hint == "allocate it with the prerequisites (block, mass)"
    assert reads.undeclared
    twin = pickle.loads(pickle.dumps(error))
    assert (twin.suspects, str(twin)) == (error.suspects, str(error))


def test_of_several_undeclared_reads_the_one_that_was_written_since_is_suspected() -> None:
    fixture = Fixture()
    mass, pull = state_variable(fixture, "mass"), state_variable(fixture, "pull")
    fixture.compute = lambda state: mass(state) + pull(state) + state.nq
    state = fixture.state
    mass.set(state, 2.0)
    with verify(state):
        fixture.reader(state)
        pull.set(state, 1.0)
        with pytest.raises(StaleValueError) as caught:
            fixture.reader(state)
    assert caught.value.suspects == ("pull of subsystem 0",)
    with verify(state), pytest.raises(StaleValueError) as caught:  # nobody saw the first reads
        fixture.reader(state)
    assert caught.value.suspects == ("mass of subsystem 0", "pull of subsystem 0", "Model")


def test_what_is_read_for_the_first_time_is_not_suspected_where_another_has_changed() -> None:
    fixture = Fixture()
    mass, pull = state_variable(fixture, "mass"), state_variable(fixture, "pull")
    read = [pull]
    fixture.compute = lambda state: [item(state) for item in read]
    state = fixture.state
    with verify(state):
        fixture.reader(state)
        read.append(mass)
        pull.set(state, 1.0)
        with pytest.raises(StaleValueError) as caught:
            fixture.reader(state)
    assert caught.value.suspects == ("pull of subsystem 0",)


def test_an_entry_that_is_read_and_not_declared_is_verified_too() -> None:
    fixture = Fixture()
    pull = state_variable(fixture, "pull")
    values = [1.0]
    hidden = fixture.add("hidden", ("fill",), lambda state: values[0])
    fixture.compute = lambda state: (hidden(state), pull(state))
    state = fixture.state
    hidden(state)
    state_variable(fixture, "fill").set(state, [1.0])
    with verify(state) as reads:
        fixture.reader(state)
        pull.set(state, 1.0)
        with pytest.raises(StaleValueError, match="'reader'") as caught:
            fixture.reader(state)
        assert caught.value.suspects == ("pull of subsystem 0",)
        values[0] = 2.0
        with pytest.raises(StaleValueError, match="'hidden'"):
            fixture.reader(state)
    assert reads.of(fixture.reader) == {hidden, pull}


def test_what_is_stale_and_read_for_a_verification_is_computed_as_ever() -> None:
    fixture = Fixture()
    pull, length = state_variable(fixture, "pull"), fixture.items["length"]
    hidden = fixture.add("hidden", ("pull", "length"), pull)
    fixture.compute = lambda state: (hidden(state), fixture.items["mass"](state))
    state = fixture.state
    with verify(state):
        fixture.reader(state)
        pull.set(state, 1.0)
        with verify(state) as reads, pytest.raises(StaleValueError, match="'reader'") as caught:
            fixture.reader(state)
    assert caught.value.suspects == ("hidden of subsystem 0",)
    assert [(o.entry, o.prerequisite) for o in reads.over_declared()] == [(hidden, length)]


def test_a_value_stored_by_hand_is_not_computed_again() -> None:
    state = state_of("a")
    stored = state[0].allocate_cache_entry(Stage.TOPOLOGY, Stage.INFINITY, 1.0)
    below = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (stored,), compute=stored
    )
    realize(state, Stage.TOPOLOGY)
    stored.mark_valid(state)
    below(state)
    with verify(state) as reads:
        assert below(state) == stored(state) == 1.0
    assert reads.of(below) == {stored}


def test_a_global_is_found_by_verify() -> None:
    fixture = Fixture()
    values = [1.0, float("nan")]
    fixture.compute = lambda state: {"a": (np.array(values), 2)}
    with verify(fixture.state):
        fixture.reader(fixture.state)
        fixture.reader(fixture.state)
        values[0] = 2.0
        with pytest.raises(StaleValueError, match="not in the State"):
            fixture.reader(fixture.state)
        with pytest.raises(StaleValueError):
            simbody.get_cache_entry(fixture.state[0], fixture.reader)


def test_the_entry_at_fault_is_named_not_one_below_it() -> None:
    fixture = Fixture()
    values = [1.0]
    fixture.compute = lambda state: values[0]
    state = state_of("a")
    above = state[0].allocate_lazy_cache_entry(
        Stage.TOPOLOGY, compute=lambda _: values[0], name="above"
    )
    below = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (above,), compute=lambda s: above(s) > 0, name="below"
    )
    realize(state, Stage.TOPOLOGY)
    with verify(state):
        below(state)
        values[0] = 2.0
        with pytest.raises(StaleValueError, match="'above'"):
            below(state)


def test_each_entry_upstream_is_verified_once_at_a_read() -> None:
    state = state_of("a")
    calls: list[int] = []
    links: list[CacheEntry[int]] = []

    def noted_sum(i: int) -> Callable[[State], int]:
        def compute(state: State) -> int:
            calls.append(i)
            return sum(entry(state) for entry in links[max(i - 2, 0) : i]) % 7 + 1

        return compute

    for i in range(60):  # each reads the two before it
        links.append(
            state[0].allocate_cache_entry_with_prerequisites(
                Stage.TOPOLOGY, Stage.INFINITY, links[-2:], compute=noted_sum(i)
            )
        )
    realize(state, Stage.TOPOLOGY)
    links[-1](state)
    calls.clear()
    with verify(state):
        links[-1](state)
    assert calls == list(range(60))


def test_a_computation_that_raises_when_it_is_repeated_is_found() -> None:
    fixture = Fixture()
    values = [1.0]
    fixture.compute = lambda state: values[0]
    with verify(fixture.state):
        fixture.reader(fixture.state)
        values.clear()
        with pytest.raises(StaleValueError, match="IndexError") as caught:
            fixture.reader(fixture.state)
    assert isinstance(caught.value.__cause__, IndexError)


def test_values_of_any_kind_that_come_out_the_same_pass() -> None:
    class Plain:
        def __init__(self) -> None:
            self.array = np.array([1.0, np.nan])
            self.me = self

    def values() -> list[object]:
        one = 1.5
        return [
            *(1, 1.5, float("nan"), complex("nan"), "x", None, {1, 2}, frozenset({1})),
            *({"a": np.zeros(2)}, [(np.nan,)], Plain(), lambda: one, [].append, print, Plain),
            *(iter([]), threading.Lock(), np.array([{}, None], object)),
            *(np.zeros(2, [("a", float)]), np.float64("nan"), np.datetime64("NaT"), range(3)),
            object(),
        ]

    for i in range(len(values())):
        fixture = Fixture()
        fixture.compute = lambda state: values()[i]  # noqa: B023  # while it is that
        with verify(fixture.state):
            fixture.reader(fixture.state)
            fixture.reader(fixture.state)


def test_a_cycle_is_a_cycle_in_strict_mode() -> None:
    fixture = Fixture()
    fixture.compute = fixture.reader
    for mode in (strict, verify):
        with mode(fixture.state), pytest.raises((CycleError, UndeclaredPrerequisiteError)):
            fixture.reader(fixture.state)


def test_an_entry_that_compares_its_values_is_verified_by_its_own_comparison() -> None:
    state = state_of("a")
    values = [1.0]
    entry = state[0].allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY,
        Stage.INFINITY,
        (),
        compute=lambda state: values[0],
        equal=lambda a, b: abs(a - b) < 0.1,
    )
    realize(state, Stage.TOPOLOGY)
    with verify(state):
        entry(state)
        values[0] = 1.01
        assert entry(state) == 1.0
        values[0] = 2.0
        with pytest.raises(StaleValueError):
            entry(state)


def test_a_frozen_state_is_read_under_verify_without_computing() -> None:
    fixture = Fixture(Stage.TOPOLOGY, "block")
    fixture.compute = lambda state: 1
    fixture.reader(fixture.state)
    frozen = fixture.state.frozen()
    fixture.compute = lambda state: 2
    with verify(frozen), strict(frozen):
        assert fixture.reader(frozen) == 1


def test_a_log_says_how_much_is_in_it() -> None:
    found = Fixture().reads(lambda state: (state.q, state.time))
    assert repr(found) == "ReadLog(1 entry computed, 2 undeclared reads)"
