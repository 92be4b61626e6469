"""An observer that overrides nothing sees all and changes nothing."""

from stagecache import Stage
from stagecache.state.contents.observer import Observer, observe
from tests.state.test_interrupts import Subject


def outcomes(subject: Subject) -> list[object]:
    """What operations of each kind return, and what a State shows at the end."""
    state = subject.state
    mark = state.checkpoint()
    found: list[object] = [subject.weight(state), subject.weight(state)]
    subject.mass.set(state, 5.0)
    found += [str(state.explain(subject.weight)), subject.weight(state)]
    subject.q.set(state, [3.0, 4.0])
    subject.q.upd(state)[0] = 5.0
    for stage in list(Stage)[Stage.INSTANCE : Stage.INFINITY]:
        subject.advance(stage)
    subject.swap()
    for stage in list(Stage)[Stage.VELOCITY : Stage.INFINITY]:
        subject.advance(stage)
    found += [list(state.q), list(state.ydot), subject.grip(state), state.stage]
    twin = state.copy()
    found += [subject.weight(twin), twin._contents.observers]
    state.rollback(mark)
    return [*found, subject.mass(state), subject.weight.is_valid(state), str(state)]


def test_a_state_with_an_observer_that_overrides_nothing_is_as_one_without() -> None:
    alone, observed = Subject(Stage.MODEL), Subject(Stage.MODEL)
    observe(observed.state._contents, Observer())
    assert list(map(str, outcomes(observed))) == list(map(str, outcomes(alone)))
