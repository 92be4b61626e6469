"""Finalizers that run in the middle of an operation on a State, and use the State.

As in `tests/graph/test_finalizers.py`: what they read is right or refused by an error of the
library, and afterwards nothing stale counts as valid.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from stagecache import Stage
from stagecache.errors import NodeInUseError, StagecacheError
from tests.interrupting import collections, plain_only, visits
from tests.system.test_interrupts import (
    OPERATIONS,
    Subject,
    anchor,
    check,
    check_values,
    pendulum,
)


def unless_refused(*calls: Callable[[], object]) -> None:
    for call in calls:
        with suppress(StagecacheError):
            call()


def read(subject: Subject) -> None:
    state = subject.state
    entries = (anchor.pull, pendulum.is_far, pendulum.height, pendulum.momentum, pendulum.stored)
    unless_refused(*[partial(entry, state) for entry in entries])
    unless_refused(
        lambda: state.q, lambda: state.qerr, lambda: state.udot, lambda: state.event_triggers
    )


def copy(subject: Subject) -> None:
    for keep_cache in (False, True):
        unless_refused(lambda: check(subject.state.copy(keep_cache=keep_cache)))  # noqa: B023  # called at once


def write(subject: Subject) -> None:
    unless_refused(lambda: pendulum.mass.set(subject.state, 2.5))


def read_and_write(subject: Subject) -> None:
    read(subject)
    write(subject)
    read(subject)


def copy_and_read(subject: Subject) -> None:
    """Copy it, and compute in the copy what needs no stage.

    To realize it would enter `numpy.errstate`. Python 3.11 crashed at the end of one, with the
    library in plain Python, too, if a finalizer in the middle of it had entered another one.
    """
    for keep_cache in (False, True):
        with suppress(StagecacheError):
            twin = subject.state.copy(keep_cache=keep_cache)
            if twin.stage >= Stage.MODEL:
                check_values(twin)


ACTS = {act.__name__: act for act in (read, copy, write, read_and_write)}
COLLECTED = {act.__name__: act for act in (read, copy_and_read, write, read_and_write)}


def histories(operation: str) -> list[str]:
    return ["marked"] if operation in ("rollback", "release") else ["new", "written", "marked"]


@plain_only
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_finalizer_does_in_the_middle_leaves_nothing_stale(operation: str, act: str) -> None:
    every = 397 if act == "copy" else 197
    for history in histories(operation):
        for subject, what in visits(
            partial(Subject, history), OPERATIONS[operation], ACTS[act], every
        ):
            try:
                check(subject.state)
            except BaseException as error:
                error.add_note(f"{operation}, {history}: {what}")
                raise


@pytest.mark.parametrize("act", COLLECTED)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_finalizers_that_the_collector_runs_leave_nothing_stale(operation: str, act: str) -> None:
    for history in histories(operation)[-1:]:
        for subject, what in collections(
            partial(Subject, history), OPERATIONS[operation], COLLECTED[act], every=61
        ):
            try:
                check(subject.state)
            except BaseException as error:
                error.add_note(f"{operation}, {history}: {what}")
                raise


@plain_only
def test_a_use_of_a_state_in_the_middle_of_a_write_says_what_to_do() -> None:
    refused = []

    def act(subject: Subject) -> None:
        try:
            pendulum.mass.set(subject.state, 2.5)
        except NodeInUseError as error:
            refused.append(error)

    for _ in visits(partial(Subject, "written"), OPERATIONS["write of a q"], act, every=3):
        pass
    assert {error.hint for error in refused} == {
        "let the finalizer note what to do, and do it after the operation"
    }
