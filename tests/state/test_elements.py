"""Handles of one number of a continuous variable."""

from pickle import dumps, loads
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, Subsystem, System, cached, q_variable, u_variable
from stagecache.errors import (
    NotANumberError,
    OutOfRangeError,
    UnknownItemError,
    WrongTypeError,
)


class Chain(Subsystem):
    angles = q_variable([0.1, 0.2, 0.3])
    speeds = u_variable([0.0, 0.0, 0.0])

    @cached(prerequisites=lambda self: (self.angles[1], self.angles[2]))
    def tip(self, state: Any) -> float:
        return float(sum(self.angles(state)[1:]))


def made() -> tuple[System, Chain, Any]:
    system = System(chain := Chain())
    return system, chain, system.new_state()


def test_a_number_is_read_and_written_alone() -> None:
    _, chain, state = made()
    middle = chain.angles[1]
    assert middle(state) == 0.2
    version = chain.speeds.version(state)
    middle.set(state, 5.0)
    assert chain.angles(state).tolist() == [0.1, 5.0, 0.3]
    assert chain.speeds.version(state) == version
    assert middle.place(state) == slice(1, 2)
    assert str(middle) == "chain.angles[1]"
    assert repr(middle) == "ContinuousElement('chain.angles[1]')"


def test_it_is_a_prerequisite_as_its_variable_is() -> None:
    _, chain, state = made()
    assert chain.tip(state) == pytest.approx(0.5)
    chain.angles[1].set(state, 1.0)
    assert not chain.tip.is_valid(state)
    assert chain.tip(state) == pytest.approx(1.3)
    assert [str(item) for item in chain.angles.dependents(state)] == ["chain.tip"]


def test_a_write_invalidates_what_a_write_of_the_variable_does() -> None:
    system, chain, state = made()
    for index, value in enumerate((1.0, 2.0, 3.0)):
        system.realize(state, Stage.ACCELERATION)
        chain.angles[index].set(state, value)
        assert state.stage is Stage.TIME


def test_wrong_numbers_leave_it_as_it_was() -> None:
    _, chain, state = made()
    before = chain.angles.version(state)
    for value, error in (("x", NotANumberError), (np.nan, OutOfRangeError)):
        with pytest.raises(error, match=r"chain.angles\[1\]"):
            chain.angles[1].set(state, value)  # type: ignore[arg-type]
    assert chain.angles.version(state) == before


@pytest.mark.parametrize("index", [-1, 1.5, "first", None])
def test_wrong_indices(index: Any) -> None:
    _, chain, _ = made()
    with pytest.raises(UnknownItemError):
        chain.angles[index]


def test_an_index_beyond_the_end_is_found_in_the_state() -> None:
    _, chain, state = made()
    with pytest.raises(UnknownItemError, match="0 to 2"):
        chain.angles[3](state)
    with pytest.raises(UnknownItemError):
        chain.angles[3].set(state, 1.0)


def test_a_variable_cannot_be_iterated() -> None:
    _, chain, _ = made()
    with pytest.raises(WrongTypeError, match="iterated"):
        list(chain.angles)


def test_equal_ones_and_pickles() -> None:
    system, chain, _ = made()
    assert chain.angles[1] == chain.angles[1] != chain.angles[2]
    assert len({chain.angles[1], chain.angles[1]}) == 1
    again, element = loads(dumps((system, chain.angles[1])))
    assert element(again.new_state()) == 0.2
