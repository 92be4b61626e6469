"""Frozen States: nothing is written, nothing computed, and any number of threads may read."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State, simbody
from stagecache.errors import CacheEntryOutOfDateError, ReadOnlyError, StageTooLowError
from tests.oracle.observation import observe
from tests.state.realizing import realize, state_of, upd
from tests.state.test_checkpoint import Pendulum

FOREVER = (Stage.TOPOLOGY, Stage.INFINITY)
Try = Callable[[Pendulum, State], Any]

PARTS = (
    *("q", "u", "z", "u_weights", "z_weights", "qerr_weights", "uerr_weights"),
    *("qdot", "udot", "zdot", "qdotdot", "qerr", "uerr", "udoterr", "multipliers"),
)


def assigning(vector: str) -> Try:
    return lambda p, s: setattr(s, vector, getattr(s, vector))


def changing(vector: str, part: int | None) -> Try:
    return lambda p, s: upd(s if part is None else s[part], vector)


WRITES: dict[str, Try] = {
    "set": lambda p, s: p.length.set(s, 1.0),
    "upd": lambda p, s: p.length.upd(s),
    "part.set": lambda p, s: p.length.set(s, 1.0),
    "set auto-update": lambda p, s: p.mode.set(s, 1.0),
    "upd auto-update": lambda p, s: p.mode.upd(s),
    "set update": lambda p, s: p.mode.update.set(s, 1.0),
    "upd update": lambda p, s: p.mode.update.upd(s),
    "mark update": lambda p, s: p.mode.update.mark_valid(s),
    "auto-update": lambda p, s: s.auto_update_discrete_variables(),
    "block": lambda p, s: p.angle.set(s, [1.0]),
    "block.upd": lambda p, s: p.angle.upd(s),
    "whole": lambda p, s: s.variable("q").set(s, [1.0]),
    "time": lambda p, s: s.variable("time").set(s, 1.0),
    "state.time": lambda p, s: setattr(s, "time", 1.0),
    "entry": lambda p, s: p.force.set(s, 1.0),
    "upd entry": lambda p, s: p.force.upd(s),
    "mark": lambda p, s: p.force.mark_valid(s),
    "unmark": lambda p, s: p.tip.invalidate(s),
    "part.unmark": lambda p, s: p.tip.invalidate(s),
    "advance": lambda p, s: s.advance_to_stage(Stage.VELOCITY),
    "part.advance": lambda p, s: s[0].advance_to_stage(Stage.VELOCITY),
    "invalidate": lambda p, s: s.invalidate_all(Stage.TIME),
    "invalidate cache": lambda p, s: simbody.invalidate_all_cache_at_or_above(s, Stage.TIME),
    "topology version": lambda p, s: setattr(s, "topology_version", 7),
    "assign": lambda p, s: s.assign(State()),
    "clear": lambda p, s: s.clear(),
    "subsystems": lambda p, s: simbody.set_num_subsystems(s, 2),
    "add": lambda p, s: s.add_subsystem("new"),
    "name": lambda p, s: simbody.initialize_subsystem(s, 0, "new", ""),
    "checkpoint": lambda p, s: s.checkpoint(),
    "triggers": lambda p, s: simbody.upd_event_triggers(s),
    "part triggers": lambda p, s: s[0].upd_event_triggers_by_stage(Stage.TIME),
    **{f"{v} =": assigning(v) for v in ("y", "q", "u", "z", "u_weights", "qerr_weights")},
    **{f"upd_{v}": changing(v, None) for v in ("y", *PARTS, "ydot", "yerr")},
    **{f"part.upd_{v}": changing(v, 0) for v in PARTS},
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_refused_and_changes_nothing(name: str) -> None:
    p = Pendulum()
    p.tip(p.state)
    p.force.mark_valid(p.state)
    p.mode.update.mark_valid(p.state)
    frozen = p.state.frozen()
    first, p.state = p.state, frozen
    before = repr(p.observe())
    with pytest.raises(ReadOnlyError):
        WRITES[name](p, frozen)
    assert repr(p.observe()) == before
    assert frozen.is_frozen
    if name not in ("add", "advance"):  # which need another stage
        WRITES[name](p, first)


ALLOCATIONS: dict[str, Callable[[State], Any]] = {
    "q": lambda s: s[0].allocate_q([1.0]),
    "u": lambda s: s[0].allocate_u([1.0]),
    "z": lambda s: s[0].allocate_z([1.0]),
    "qerr": lambda s: s[0].allocate_qerr(1),
    "uerr": lambda s: s[0].allocate_uerr(1),
    "udoterr": lambda s: s[0].allocate_udoterr(1),
    "triggers": lambda s: s[0].allocate_event_trigger(Stage.TIME, 1),
    "discrete": lambda s: s[0].allocate_discrete_variable(Stage.TIME, 1),
    "auto": lambda s: s[0].allocate_auto_update_discrete_variable(Stage.POSITION, 1, Stage.TIME),
    "entry": lambda s: s[0].allocate_cache_entry(Stage.TIME),
    "lazy": lambda s: s[0].allocate_lazy_cache_entry(Stage.TIME, compute=lambda s: 1),
    "above": lambda s: s[0].allocate_cache_entry_with_prerequisites(*FOREVER, (s.variable("q"),)),
}


@pytest.mark.parametrize("name", ALLOCATIONS)
def test_an_allocation_is_refused_and_changes_nothing(name: str) -> None:
    state = state_of("a")
    frozen = state.frozen()
    with pytest.raises(ReadOnlyError):
        ALLOCATIONS[name](frozen)
    assert repr(observe(frozen, is_full=True)) == repr(observe(state, is_full=True))
    ALLOCATIONS[name](state)


def test_what_is_realized_is_read_and_what_is_not_raises() -> None:
    p = Pendulum()
    frozen = p.state.frozen()
    with pytest.raises(CacheEntryOutOfDateError, match="an entry that was valid when frozen"):
        p.tip(frozen)
    with pytest.raises(CacheEntryOutOfDateError):
        simbody.get_cache_entry(frozen[0], p.tip)
    with pytest.raises(StageTooLowError):
        frozen.qdot  # noqa: B018
    assert p.calls == 0
    p.tip(p.state)
    frozen = p.state.frozen()
    assert (p.tip(frozen), p.length(frozen), frozen.q.tolist()) == (1.0, 2.0, [0.5])
    assert p.calls == 1


def test_an_entry_below_a_cut_is_not_verified() -> None:
    state = state_of("a")
    part = state[0]
    number = part.allocate_discrete_variable(Stage.REPORT, 1)
    odd = part.allocate_cache_entry_with_prerequisites(
        *FOREVER, (number,), compute=lambda state: number(state) % 2, equal=True
    )
    below = part.allocate_cache_entry_with_prerequisites(*FOREVER, (odd,), compute=odd)
    realize(state, Stage.INSTANCE)
    below(state)
    number.set(state, 3)
    frozen = state.frozen()
    with pytest.raises(CacheEntryOutOfDateError):
        below(frozen)
    assert below(state) == 1
    assert below(state.frozen()) == 1


def test_the_state_itself_stays_free() -> None:
    p = Pendulum()
    frozen = p.state.frozen()
    p.length.set(p.state, 3.0)
    assert (p.length(p.state), p.length(frozen)) == (3.0, 2.0)
    assert (p.state.is_frozen, frozen.is_frozen, frozen.frozen().is_frozen) == (False, True, True)


def test_any_number_of_threads_read_it() -> None:
    state = state_of("a")
    part = state[0]
    variables = [part.allocate_discrete_variable(Stage.REPORT, float(i)) for i in range(50)]
    entries = [
        part.allocate_cache_entry_with_prerequisites(*FOREVER, (v,), compute=v) for v in variables
    ]
    part.allocate_q(np.arange(3.0))
    realize(state, Stage.POSITION)
    for entry in entries[::2]:
        entry(state)
    frozen = state.frozen()

    def read(me: int) -> list[object]:
        found: list[object] = [frozen.q.tolist(), frozen.time]
        for entry in entries[me:] + entries[:me]:
            try:
                found.append(entry(frozen))
            except CacheEntryOutOfDateError:
                found.append(None)
        return found[:2] + found[2 + len(entries) - me :] + found[2 : 2 + len(entries) - me]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(read, range(40)))
    expected = [float(i) if i % 2 == 0 else None for i in range(50)]
    assert results == [[[0.0, 1.0, 2.0], 0.0, *expected]] * 40
