"""An operation on a State first mends what another one, which was cut short, has left."""

from collections.abc import Callable
from functools import partial
from inspect import Signature, signature
from itertools import count
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State
from tests.graph.check_structure import check_store
from tests.interrupting import ignore_lost_strikes, plain_only, struck_at
from tests.state.test_interrupts import Subject


def tear(subject: Subject) -> None:
    """Leave the State as an error in the middle of a computation may leave it."""
    realization = subject.state._contents.realization
    store = realization.store
    store.live[:] = [False] * len(store.live)  # writes would not see what is computed
    store.is_torn = realization.is_torn = True


class Tearing:
    """Values whose conversion is cut short, and so is what it does with the State."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def __array__(self, *_: object, **__: object) -> Any:
        tear(self._subject)
        return np.array([3.0, 4.0])


class Computing:
    """A compute function, a look at which is cut short, and so is what it does with the State."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def __call__(self, state: State) -> float:
        return 1.0

    @property
    def __signature__(self) -> Signature:
        tear(self._subject)
        return signature(self.__call__)


def freeze_and_unfreeze(subject: Subject) -> None:
    subject.state.freeze()
    subject.state.unfreeze()


OPERATIONS: dict[str, Callable[[Subject], object]] = {
    "write": lambda s: s.q.set(s.state, [3.0, 4.0]),
    "write of what tears it": lambda s: s.q.set(s.state, Tearing(s)),
    "write time and y": lambda s: s.state._contents.write_time_and_y(1.0, np.array([3.0, 4.0])),
    "copy": lambda s: s.state.copy(),
    "copy with values": lambda s: s.state.copy(keep_cache=True),
    "checkpoint": lambda s: s.state.checkpoint(),
    "allocate": lambda s: s.part.allocate_lazy_cache_entry(
        Stage.INSTANCE, compute=lambda state: 1, name="new"
    ),
    "allocate what tears it": lambda s: s.part.allocate_lazy_cache_entry(
        Stage.INSTANCE, compute=Computing(s)
    ),
    "invalidate": lambda s: s.state.invalidate_all(Stage.REPORT),
    "freeze": freeze_and_unfreeze,
    "ask": lambda s: s.weight.is_valid(s.state),
    "look": lambda s: s.state.stage,
    "count": lambda s: s.state.nq,
    "compare": lambda s: s.state._contents.belongs_to(None, 0),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_mends_a_state_in_which_a_computation_was_cut_short(operation: str) -> None:
    subject = Subject(Stage.MODEL)
    state = subject.state
    subject.weight(state)
    realization = state._contents.realization
    store = realization.store
    tear(subject)
    OPERATIONS[operation](subject)
    assert not realization.is_torn
    assert not store.is_torn
    check_store(store)
    assert subject.weight.is_valid(state)
    subject.mass.set(state, 5.0)
    assert not subject.weight.is_valid(state)
    assert subject.weight(state) == 9.81 * 5.0


@plain_only
@ignore_lost_strikes
def test_a_checkpoint_that_is_released_is_first_given_up_by_a_rollback_that_was_cut_short() -> None:
    for at in count():
        subject = Subject(Stage.MODEL)
        state = subject.state
        mark = state.checkpoint()
        subject.mass.set(state, 5.0)
        later = state.checkpoint()
        struck_at(at, partial(state.rollback, mark), KeyboardInterrupt)
        if state._contents.unfinished is not None:
            break
    later.release()
    assert state._contents.unfinished is None
    assert (later.is_released, mark.is_released) == (True, False)
    assert subject.mass(state) == 3.0
    subject.mass.set(state, 6.0)
    state.rollback(mark)
    assert subject.mass(state) == 3.0
