"""A switch for each item of a prescribed family, and families of many sizes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    strict,
    u_variable,
)
from stagecache.errors import DeclarationError, NotANumberError
from stagecache.state.handles import Vector
from stagecache.system.motion.prescribing import prescribed_udot
from stagecache.testing import check_coherence
from tests.profiles import examples
from tests.system.models import state_of


class Row(Subsystem):
    """Some pairs of q and u; each may be driven, q and u by switches of their own."""

    def __init__(self, count: int = 3, called: list[tuple[str, int]] | None = None) -> None:
        self.count = count
        self.called = [] if called is None else called

    is_placed = parameter(True, count=lambda self: self.count)
    is_spun = parameter(False, count=lambda self: self.count)
    free = q_variable(5.0)
    x = q_variable(
        factory=lambda self, state, i: np.zeros(1 + i % 3), count=lambda self: self.count
    )
    v = u_variable(
        factory=lambda self, state, i: np.zeros(1 + i % 3), count=lambda self: self.count
    )

    @x.prescribed(prerequisites=lambda self, i: (self.time,), enabled=is_placed)
    def place(self, state: State, i: int) -> Vector:
        self.called.append(("q", i))
        return np.full(1 + i % 3, state.time + i)

    @v.prescribed(prerequisites=lambda self, i: (self.time, self.x[i]), enabled=is_spun)
    def spin(self, state: State, i: int) -> Any:
        self.called.append(("u", i))
        return self.x[i](state) * state.time

    @spin.acceleration(prerequisites=lambda self, i: (self.x[i],))
    def spin_rate(self, state: State, i: int) -> Any:
        self.called.append(("udot", i))
        return self.x[i](state)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = 0.0


def flat(lists: list[Any]) -> list[Any]:
    return [value for values in lists for value in values]


rows = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=6)


@examples(50)
@given(rows, st.floats(-3, 3, allow_nan=False))
def test_each_item_is_prescribed_where_its_own_switch_is_true(
    switches: list[tuple[bool, bool]], time: float
) -> None:
    row = Row(len(switches))
    state = state_of(row)
    for i, (is_placed, is_spun) in enumerate(switches):
        row.is_placed[i].set(state, is_placed)
        row.is_spun[i].set(state, is_spun)
    state.time = time
    state.q = np.arange(1.0, 1 + state.nq)
    state.u = -np.arange(1.0, 1 + state.nu)
    q = [[1.0], *(row.x[i](state).tolist() for i in range(row.count))]
    u = [row.v[i](state).tolist() for i in range(row.count)]
    free_q, free_u, udot = [[True]], [], []
    for i, (is_placed, is_spun) in enumerate(switches):
        if is_placed:
            q[1 + i] = [time + i] * len(q[1 + i])
        if is_spun:
            u[i] = [value * time for value in q[1 + i]]
            udot += q[1 + i]
        free_q.append([not is_placed] * len(q[1 + i]))
        free_u.append([not is_spun] * len(u[i]))

    system = state.system
    row.called.clear()
    system.prescribe(state)
    assert state.q.tolist() == flat(q)
    assert state.u.tolist() == flat(u)
    assert system.free_q_index(state).tolist() == np.flatnonzero(flat(free_q)).tolist()
    assert system.free_u_index(state).tolist() == np.flatnonzero(flat(free_u)).tolist()
    system.realize(state, Stage.VELOCITY)
    found, values = prescribed_udot(state)
    assert found.tolist() == np.flatnonzero(~np.array(flat(free_u), bool)).tolist()
    assert values.tolist() == udot
    wanted = {("q", i) for i, (is_placed, _) in enumerate(switches) if is_placed}
    wanted |= {
        (what, i) for i, (_, is_spun) in enumerate(switches) if is_spun for what in ("u", "udot")
    }
    assert set(row.called) == wanted


def test_a_switch_that_is_thrown_again_moves_its_item_only() -> None:
    row = Row()
    state = state_of(row)
    state.time = 2.0
    state.system.prescribe(state)
    row.is_placed[1].set(state, False)
    assert state.stage is Stage.MODEL
    state.time = 4.0
    state.system.prescribe(state)
    assert [row.x[i](state)[0] for i in range(3)] == [4.0, 3.0, 6.0]
    row.is_placed[1].set(state, True)
    state.system.prescribe(state)
    assert [row.x[i](state)[0] for i in range(3)] == [4.0, 5.0, 6.0]


def test_strict_mode_and_the_coherence_check_have_nothing_to_say() -> None:
    row = Row()
    system = System(row)
    state = system.new_state()
    with strict(state):
        for i in range(3):
            row.is_spun[i].set(state, True)
            state.time = float(i)
            system.prescribe(state)
            system.realize(state, Stage.ACCELERATION)
            assert system.free_u_index(state).size == 6 - sum(1 + j % 3 for j in range(i + 1))
    check_coherence(system, settings=examples(10), seed=0)


def test_a_subclass_may_have_one_switch_for_all() -> None:
    class Together(Row):
        is_placed: Any = parameter(False)

    row = Together()
    state = state_of(row)
    state.time = 2.0
    assert not state.system.prescribe(state)
    row.is_placed.set(state, True)
    assert state.system.prescribe(state)
    assert state.system.free_q_index(state).tolist() == [0]


# ---------------------------------------------------------------------- bad input


def test_another_number_of_switches_is_refused_with_both_numbers() -> None:
    class Short(Row):
        is_placed = parameter(True, count=lambda self: self.count - 1)

    with pytest.raises(DeclarationError, match=r"short\.place: has another number") as caught:
        System(Short(4)).realize_topology()
    assert caught.value.expected.startswith("4 switches")
    assert caught.value.got == "3 in short.is_placed"


def test_a_family_of_switches_for_one_variable_is_refused() -> None:
    many: Any = parameter(True, count=2)
    single: Any = q_variable(0.0)
    for decorate in (single.prescribed, position_error):
        with pytest.raises(DeclarationError, match="cannot be enabled by") as caught:
            decorate(enabled=many)
        assert caught.value.got == "a family of switches"


@pytest.mark.parametrize("switches", [parameter(1.0, count=2), q_variable(1.0, count=2)])
def test_a_family_that_holds_no_bools_is_refused(switches: Any) -> None:
    family: Any = q_variable(0.0, count=2)
    with pytest.raises(DeclarationError, match="cannot be enabled by"):
        family.prescribed(enabled=switches)


def test_a_switch_that_holds_no_bool_is_named() -> None:
    row = Row()
    state = state_of(row)
    row.is_placed[1].set(state, "yes")  # type: ignore[arg-type]  # which is the point
    with pytest.raises(NotANumberError, match=r"row\.is_placed\[1\]: not a bool"):
        state.system.realize(state, Stage.TIME)
    row.is_placed[1].set(state, True)
    state.system.prescribe(state)
    assert row.x[1](state).tolist() == [1.0, 1.0]


# ---------------------------------------------------------------------- sizes


def values_of(blocks: Any, state: State, i: int) -> Vector:
    sizes = blocks.sizes(state)
    return np.arange(1.0, 1 + sizes[i]) * (i + 1)


class Blocks(Subsystem):
    """Families whose sizes an option decides, between other blocks."""

    sizes = modeling_option((0, 0, 0, 0))
    first = q_variable((1.0, 2.0))
    many = q_variable(factory=values_of, count=4)
    middle = q_variable((3.0,))
    more = q_variable(factory=lambda self, state, i: -values_of(self, state, 3 - i), count=4)
    last = q_variable((4.0,))


@examples(50)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), max_size=3))
def test_blocks_of_a_family_lie_one_after_the_other_whatever_their_sizes(
    changes: list[tuple[int, int, int, int]],
) -> None:
    blocks = Blocks()
    state = state_of(blocks, stage=Stage.MODEL)
    first = state.copy()
    for sizes in changes:
        blocks.sizes.set(state, sizes)
        state.system.realize(state, Stage.MODEL)
    parts = [np.arange(1.0, 1 + size) * (i + 1) for i, size in enumerate(blocks.sizes(state))]
    wanted = [
        np.array([1.0, 2.0]),
        *parts,
        np.array([3.0]),
        *(-part for part in parts[::-1]),
        np.array([4.0]),
    ]
    assert state.q.tolist() == np.concatenate(wanted).tolist()
    handles = [blocks.first, *blocks.many, blocks.middle, *blocks.more, blocks.last]
    for handle, values in zip(handles, wanted, strict=True):
        assert handle(state).tolist() == values.tolist()
    assert first.q.tolist() == [1.0, 2.0, 3.0, 4.0]
