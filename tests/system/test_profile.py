"""Profiles: who costs most, who is computed in vain, and what is suggested."""

import io
import json
import re
from time import sleep
from typing import Any, ClassVar

import pytest
from rich.console import Console

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    parameter,
    profile,
    q_variable,
    run_study,
    simulate,
)
from stagecache.assembly import Assembler, QValue
from stagecache.errors import WrongTypeError
from stagecache.examples import four_bar, pendulum
from stagecache.system import Profile
from stagecache.system.profile import Adviser


class Contact(Subsystem):
    """Entries that are declared well, too coarsely, or in excess."""

    depth = q_variable(0.1)
    offset = q_variable(0.2)
    stiffness = parameter(100.0)
    title = parameter("contact")

    @cached(available_from=Stage.POSITION)
    def by_stage(self, state: State) -> float:
        return self.stiffness(state) * self.depth(state)

    @cached(prerequisites=(depth, stiffness, title))
    def in_excess(self, state: State) -> float:
        return self.stiffness(state) * self.depth(state)

    @cached(prerequisites=(depth,))
    def sign(self, state: State) -> bool:
        return self.depth(state) > 0

    @cached(prerequisites=(sign,))
    def force(self, state: State) -> float:
        return 1.0 if self.sign(state) else 0.0

    @cached(prerequisites=(depth,), available_from=Stage.POSITION)
    def with_stage(self, state: State) -> float:
        return self.depth(state)

    @cached(available_from=Stage.VELOCITY)
    def of_rates(self, state: State) -> float:
        return float(state.qdot.sum())


def profiled(step: Any, stage: Stage = Stage.VELOCITY) -> Profile:
    contact = Contact()
    system = System(contact)

    def run(state: State) -> None:
        for number in range(20):
            step(contact, state, number)
            system.realize(state, stage)
            for entry in (contact.by_stage, contact.in_excess, contact.force, contact.with_stage):
                entry(state)

    return profile(system, run)


def suggestion_for(found: Profile, entry: str) -> str:
    return next(e.suggestion for e in found.entries if e.entry == entry)


def write_time(contact: Contact, state: State, number: int) -> None:
    state.time = float(number)


def write_title(contact: Contact, state: State, number: int) -> None:
    contact.title.set(state, f"contact {number}")


def write_depth(contact: Contact, state: State, number: int) -> None:
    contact.depth.set(state, 0.1 + number)


def write_all_q(contact: Contact, state: State, number: int) -> None:
    state.q = [0.1, float(number)]


def test_an_entry_that_names_a_stage_is_told_what_to_name() -> None:
    found = profiled(write_time)
    entry = next(e for e in found.entries if e.entry == "contact.by_stage")
    assert (entry.computed, entry.recomputed, entry.unchanged) == (20, 19, 19)
    assert entry.changed == {"time": 19}
    assert entry.suggestion == (
        "contact.by_stage was recomputed 19 times and came out the same every time; 19 of them "
        "only time had changed. It read nothing but contact.stiffness, contact.depth: if it never "
        "does, name that as prerequisites=(...), not the stage"
    )
    (write,) = found.writes
    assert (write.variable, write.writes, write.invalidated) == ("time", 20, 38)
    assert "prerequisites, in place of a stage" in write.suggestion


def test_a_stage_beside_prerequisites_is_told_to_be_left_away() -> None:
    assert suggestion_for(profiled(write_time), "contact.with_stage").endswith(
        "if it never reads anything but its prerequisites, leave available_from away"
    )


def test_a_prerequisite_that_is_not_read_is_named() -> None:
    assert suggestion_for(profiled(write_title), "contact.in_excess").endswith(
        "It did not read contact.title: if it never does, do not name that as a prerequisite"
    )


def test_what_comes_out_equal_is_told_to_be_compared() -> None:
    found = profiled(write_depth)
    assert suggestion_for(found, "contact.sign").endswith(
        "Declare it with equal=..., so that what depends on it is not computed again"
    )


@pytest.mark.parametrize(("share", "advice"), [(0.1, ""), (0.5, "contact.in_excess took 50% of")])
def test_what_costs_most_and_changes_each_time_is_told_to_be_faster(
    share: float, advice: str
) -> None:
    contact = Contact()
    state = System(contact).new_state()
    with state.trace() as trace:
        for number in range(3):
            write_depth(contact, state, number)
            contact.in_excess(state)
    found = Adviser(trace._log, state).about_entry("contact.in_excess", share)
    assert found.startswith(advice)
    assert bool(found) == bool(advice)


def test_a_whole_that_is_written_is_told_to_be_written_in_blocks() -> None:
    found = profiled(write_all_q)
    (write,) = found.writes
    assert write.suggestion.endswith("write the blocks that do, each by its handle")
    assert suggestion_for(found, "contact.force").endswith("write it only where it changes")


def test_what_has_no_handle_is_told_to_be_apart() -> None:
    contact = Contact()
    system = System(contact)

    def run(state: State) -> None:
        for number in range(5):
            state.time = float(number)
            system.realize(state)
            contact.of_rates(state)

    text = suggestion_for(profile(system, run), "contact.of_rates")
    assert "It reads qdot, for which it may need stage Velocity" in text


# ---------------------------------------------------------------------- what would be wrong


class Tricky(Subsystem):
    """Entries of which a hasty suggestion would make a wrong value, or no difference."""

    depth = q_variable(0.1)
    offset = q_variable(0.2)
    title = parameter("tricky")

    @cached(prerequisites=(depth,), available_from=Stage.POSITION)
    def total(self, state: State) -> float:
        return self.depth(state) + self.offset(state)

    @cached(available_from=Stage.POSITION)
    def slope(self, state: State) -> float:
        return float(state.copy().q[0])

    @cached(available_from=Stage.POSITION)
    def number(self, state: State) -> int:
        return state.nq

    @cached(available_from=Stage.POSITION)
    def is_written(self, state: State) -> bool:
        return self.offset.version(state) > 0

    @cached(prerequisites=(total,))
    def twice(self, state: State) -> float:
        return 2 * self.total(state)

    @cached(prerequisites=(depth,))
    def sign(self, state: State) -> bool:
        return self.depth(state) > 0

    @cached(prerequisites=(sign, depth))
    def force(self, state: State) -> float:
        return self.depth(state) if self.sign(state) else 0.0

    @cached(prerequisites=(depth,))
    def log(self, state: State) -> list[float]:
        self._log.append(self.depth(state))
        return self._log

    _log: ClassVar[list[float]] = []


def suggested(entry: str, write: Any) -> str:
    tricky = Tricky()
    system = System(tricky)

    def run(state: State) -> None:
        for number in range(5):
            write(tricky, state, number)
            system.realize(state, Stage.POSITION)
            getattr(tricky, entry)(state)

    return suggestion_for(profile(system, run), f"tricky.{entry}")


def test_what_is_read_under_a_stage_is_to_be_named_before_that_is_left_away() -> None:
    assert suggested("total", write_time).endswith(
        "name tricky.offset as prerequisites, too, and leave available_from away"
    )


@pytest.mark.parametrize(
    ("entry", "read"), [("slope", "a copy of the State"), ("number", "the number of q")]
)
def test_a_read_of_what_cannot_be_named_is_none_of_nothing(entry: str, read: str) -> None:
    assert f"It reads {read}, for which it may need" in suggested(entry, write_time)


def test_the_version_of_a_variable_is_read_as_the_variable() -> None:
    assert "It read nothing but tricky.offset" in suggested("is_written", write_time)


def test_no_stage_is_told_to_be_left_away_that_comes_from_a_prerequisite() -> None:
    assert suggested("twice", write_time) == ""


def test_no_comparison_is_suggested_that_would_save_nothing() -> None:
    assert "equal=" not in suggested("sign", write_depth)


def test_what_may_have_been_changed_in_place_is_not_said_to_be_the_same() -> None:
    assert suggested("log", write_depth) == ""


class Dynamic(Subsystem):
    """Allocates its entries when its Model stage is realized."""

    stiffness = parameter(100.0)
    entries: ClassVar[list[Any]] = []

    def realize_model(self, state: State) -> None:
        mine = state[self]
        options = (Stage.TOPOLOGY, Stage.INFINITY)
        first = mine.allocate_cache_entry_with_prerequisites(
            *options, (self.stiffness,), compute=lambda s: 1.0, name="first"
        )
        second = mine.allocate_cache_entry_with_prerequisites(
            *options, (first,), compute=first, name="second"
        )
        self.entries[:] = [first, second]


@pytest.mark.parametrize("last", [Stage.REPORT, Stage.MODEL])
def test_entries_may_be_forgotten_by_the_run(last: Stage) -> None:
    dynamic = Dynamic()
    system = System(dynamic)

    def run(state: State) -> None:
        for number in range(8):
            if number % 4 == 0:
                state.invalidate_all(Stage.MODEL)
                system.realize(state)
            dynamic.stiffness.set(state, float(number))
            for entry in dynamic.entries:
                entry(state)
        state.invalidate_all(last)

    found = profile(system, run)
    assert [(e.entry, e.computed) for e in sorted(found.entries, key=lambda e: e.entry)] == [
        ("dynamic.first", 8),
        ("dynamic.second", 8),
    ]
    assert bool(suggestion_for(found, "dynamic.first")) == (last == Stage.REPORT)
    (write,) = [write for write in found.writes if write.writes]
    assert "invalidates=" not in write.suggestion  # it is a prerequisite of the one, and of both


def test_nothing_is_suggested_where_nothing_was_written() -> None:
    def roll_back(tricky: Tricky, state: State, number: int) -> None:
        if number:
            state.rollback(state.checkpoint())
        tricky.sign.invalidate(state)

    assert suggested("sign", roll_back) == ""


def test_it_prints_and_goes_to_json() -> None:
    found = profiled(write_time)
    text = str(found)
    assert text.index("What costs most") < text.index("Computed again in vain")
    assert text.index("What makes entries stale") < text.index("Suggestions")
    plain = json.loads(json.dumps(found.as_dict()))
    assert plain["suggestions"] == list(found.suggestions)
    assert plain["entries"][0]["hit_rate"] == found.entries[0].hit_rate
    assert found._repr_html_().count("<li>") == len(found.suggestions)
    assert str(profile(System(), lambda state: None)) == "no entry was read"


def test_what_is_no_system_or_cannot_be_called_is_refused() -> None:
    with pytest.raises(WrongTypeError):
        profile(Contact(), print)  # type: ignore[arg-type]  # is refused
    with pytest.raises(WrongTypeError):
        profile(System(), 3)  # type: ignore[arg-type]  # is refused


def test_what_a_run_raises_is_raised() -> None:
    def run(state: State) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        profile(System(), run)


# ---------------------------------------------------------------------- what runs in copies


def drive(state: State) -> None:
    assert state.system is not None
    simulate(state.system, state, 0.5)


def drive_a_new_state(state: State) -> None:
    assert state.system is not None
    simulate(state.system, state.system.new_state(), 0.5)


def study(state: State) -> None:
    assert state.system is not None
    run_study(state.system, {"pendulum.length": [1.0, 2.0, 3.0]}, drive)


@pytest.mark.parametrize("run", [drive, drive_a_new_state, study])
def test_what_a_run_computes_in_copies_is_in_its_profile(run: Any) -> None:
    found = profile(pendulum.system(), run)
    computed = {entry.entry: entry.computed for entry in found.entries}
    assert computed["pendulum.tip"] > (30 if run is study else 10)
    assert "no entry was read" not in str(found)


def test_what_track_all_computes_is_in_the_profile() -> None:
    system = four_bar.system()
    crank = system.get(four_bar.Gauge).bars[0]

    def run(state: State) -> None:
        state.q = four_bar.POOR_START
        assembler = Assembler(system)
        target = assembler.add_goal(QValue(crank, 0, 0.0))
        assembler.track_all([0.0, 1.0, 2.0], {target: [0.0, 0.1, 0.2]}, state=state)

    found = {entry.entry: entry.computed for entry in profile(system, run).entries}
    assert found["matter.tree_poses"] >= 3


def test_a_profile_says_that_other_processes_are_not_in_it() -> None:
    system = pendulum.system()

    def run(state: State) -> None:
        run_study(system, {"pendulum.length": [1.0, 2.0]}, length_of, state=state, workers=1)

    found = profile(system, run)
    text = "not traced: 2 members of run_study() in other processes"
    assert str(found).endswith(text)
    assert text in found._repr_html_()
    assert found.as_dict()["untraced"] == [text]


def length_of(state: State) -> float:
    assert state.system is not None
    return state.system.get(pendulum.Pendulum).length(state)


def test_nothing_observes_the_default_state_after_a_profile() -> None:
    system = pendulum.system()
    profile(system, drive)
    assert system.default_state._contents.observers == ()
    with pytest.raises(ZeroDivisionError):
        profile(system, lambda state: 1 / 0)
    assert system.default_state._contents.observers == ()


def test_a_long_profile_shows_the_number_of_events() -> None:
    shown = io.StringIO()
    contact = Contact()

    def run(state: State) -> None:
        for _ in range(1000):
            contact.depth.set(state, 0.1)
        sleep(1.1)
        for _ in range(100):
            contact.depth.set(state, 0.1)

    console = Console(file=shown, force_terminal=True, width=100)
    profile(System(contact), run, progress=console)
    assert re.search(r" 1,\d{3} events ", shown.getvalue())
