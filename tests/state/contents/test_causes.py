"""What an explanation says of a State in which an error has cut an operation short."""

from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any

import pytest

from stagecache import Stage
from stagecache.graph.observing import Act
from stagecache.state.contents.observer import Observer, observe
from tests.interrupting import ignore_lost_strikes, plain_only, struck_at
from tests.state.realizing import realize, state_of


class Striking(Observer):
    """Strikes before an entry is discarded."""

    def write(self, cause: object, nodes: Sequence[int], act: Act) -> Any:
        if getattr(cause, "update", None) is not None and len(nodes) == 1:
            raise KeyboardInterrupt
        return act()


def test_a_write_that_was_cut_short_is_not_to_blame_for_what_it_has_not_discarded() -> None:
    state = state_of("a")
    mode = state[0].allocate_auto_update_discrete_variable(Stage.REPORT, 1.0, Stage.TIME)
    other = state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=lambda state: 2.0)
    realize(state, Stage.TIME)
    other(state)
    observe(state._contents, Striking())
    with pytest.raises(KeyboardInterrupt):
        mode.set(state, 2.0)
    observe(state._contents)
    other.invalidate(state)
    assert "discrete variable" not in str(state.explain(other))
    mode.update.set(state, 3.0)
    mode.update.mark_valid(state)
    mode.set(state, 4.0)
    assert "discrete variable 0" in str(state.explain(mode.update))


@plain_only
@ignore_lost_strikes
def test_the_cause_of_a_change_that_was_cut_short_is_not_made_up() -> None:
    for at in count():
        state = state_of("a")
        entry = state[0].allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (state[0].allocate_q([1.0]),), compute=lambda _: 1.0
        )
        realize(state, Stage.TIME)
        entry(state)
        place = struck_at(at, partial(state.invalidate_all, Stage.MODEL), KeyboardInterrupt)
        if not place:
            break
        text = str(state.explain(entry))
        assert ("is valid" in text) == entry.is_valid(state), place
        assert entry.is_valid(state) or "changed" in text or "waits" in text, place
