"""Reads of realizations: those of threads, too, belong to what waits for them."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State, Subsystem, System, cached, linearize, z_variable


def in_a_thread(read: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = Thread(target=lambda: found.append(read()))
    thread.start()
    thread.join()
    return found[0]


class Source(Subsystem):
    x = z_variable((0.3, 0.4))

    @cached(prerequisites=(x,))
    def second(self, state: State) -> float:
        return float(self.x(state)[1])

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[:] = -self.x(state)


READS: dict[str, Callable[[Source, State], Any]] = {
    "a variable": lambda source, state: source.x(state)[1],
    "an entry": lambda source, state: source.second(state),
    "a vector": lambda _source, state: state.z[1],
    "a copy": lambda source, state: source.x(state.copy())[1],
    "a thread of its own": lambda source, state: in_a_thread(lambda: source.x(state)[1]),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("reader", ["hook", "entry", "entry in a hook"])
def test_reads_in_threads_belong_to_what_waits_for_them(
    read: Callable[[Source, State], Any], reader: str
) -> None:
    """The row knows y[0], which shares a group with x[0]; so y[1] with x[1]."""
    source = Source()

    class Reader(Subsystem):
        y = z_variable((0.5, 0.6, 0.7))

        @cached(available_from=Stage.DYNAMICS)
        def total(self, state: State) -> float:
            return self.value(state)

        def value(self, state: State) -> float:
            return float(self.y(state)[0] * 10 + 3 * in_a_thread(lambda: read(source, state)))

        def realize_dynamics(self, state: State) -> None:
            state[self].upd_zdot()[:] = self.y(state)
            if reader == "hook":
                state[self].upd_zdot()[0] = self.value(state)

        def realize_acceleration(self, state: State) -> None:
            if reader == "entry in a hook":
                state[self].upd_zdot()[0] = self.total(state)

    system = System(source, Reader())
    outputs = ("reader.total",) if reader == "entry" else ()
    model = linearize(system, system.new_state(), outputs=outputs)
    row = model.C[0] if outputs else model.A[2]
    np.testing.assert_allclose(row, [0, 3, 10, 0, 0], atol=1e-5)
