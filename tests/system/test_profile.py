"""Profiles: who costs most, who is computed in vain, and what is suggested."""

import json
from typing import Any

import pytest

from stagecache import (
    Profile,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    parameter,
    profile,
    q_variable,
)
from stagecache.errors import NotASystemError, NotCallableError


class Contact(Subsystem):
    """Entries that are declared well, too coarsely, or in excess."""

    depth = q_variable(0.1)
    offset = q_variable(0.2)
    stiffness = parameter(100.0)
    title = parameter("contact")

    @cached(depends_on=Stage.POSITION)
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

    @cached(prerequisites=(depth,), depends_on=Stage.POSITION)
    def with_stage(self, state: State) -> float:
        return self.depth(state)

    @cached(depends_on=Stage.VELOCITY)
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
        "contact.by_stage was recomputed 19 times and came out the same 19 times; 19 of them only "
        "time had changed. It reads nothing but contact.stiffness, contact.depth: name that as "
        "prerequisites=(...), not the stage"
    )
    (write,) = found.writes
    assert (write.variable, write.writes, write.invalidated) == ("time", 20, 38)
    assert "prerequisites, in place of a stage" in write.suggestion


def test_a_stage_beside_prerequisites_is_told_to_be_left_away() -> None:
    assert suggestion_for(profiled(write_time), "contact.with_stage").endswith(
        "leave depends_on away, so that its prerequisites alone decide"
    )


def test_a_prerequisite_that_is_not_read_is_named() -> None:
    assert suggestion_for(profiled(write_title), "contact.in_excess").endswith(
        "It did not read contact.title: do not name that as a prerequisite"
    )


def test_what_comes_out_equal_is_told_to_be_compared() -> None:
    found = profiled(write_depth)
    assert suggestion_for(found, "contact.sign").endswith(
        "Declare it with equal=..., so that what depends on it is not computed again"
    )
    assert suggestion_for(found, "contact.in_excess") == ""


def test_a_whole_that_is_written_is_told_to_be_written_in_blocks() -> None:
    found = profiled(write_all_q)
    (write,) = found.writes
    assert write.suggestion.endswith("write only the blocks that change, each by its handle")
    assert suggestion_for(found, "contact.force").endswith("Write that only where it changes")


def test_what_has_no_handle_is_told_to_be_apart() -> None:
    contact = Contact()
    system = System(contact)

    def run(state: State) -> None:
        for number in range(5):
            state.time = float(number)
            system.realize(state)
            contact.of_rates(state)

    text = suggestion_for(profile(system, run), "contact.of_rates")
    assert "It reads qdot, for which it needs stage Velocity" in text


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
    with pytest.raises(NotASystemError):
        profile(Contact(), print)  # type: ignore[arg-type]  # is refused
    with pytest.raises(NotCallableError):
        profile(System(), 3)  # type: ignore[arg-type]  # is refused


def test_what_a_run_raises_is_raised() -> None:
    def run(state: State) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        profile(System(), run)
