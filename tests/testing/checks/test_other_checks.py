"""check_precision, check_strict, check_pickle, check_threads, and all of them."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from stagecache import State, System, cached
from stagecache.errors import (
    ImpreciseError,
    MutatedValueError,
    ThreadedReadError,
    UndeclaredPrerequisiteError,
    UnfaithfulPickleError,
)
from stagecache.examples.every_declaration import Observer, Rope
from stagecache.testing import (
    CheckResult,
    check_all,
    check_pickle,
    check_precision,
    check_strict,
    check_threads,
    over_declared,
)
from tests.testing.models import Appending, Excessive, Forgetful, Fragile, Lever, system_of

FEW = settings(max_examples=10)
SOME = settings(max_examples=40)


def rope_system() -> System:
    rope = Rope(4)
    return System(rope, observer=Observer(rope))


# ---------------------------------------------------------------------- precision


def test_a_superfluous_prerequisite_is_named() -> None:
    with pytest.raises(ImpreciseError) as caught:
        check_precision(system_of(Excessive()), settings=SOME)
    assert caught.value.suspects == ("lever.mass",)
    assert "lever.mass by lever.end" in caught.value.got
    with pytest.raises(AssertionError):
        exec(caught.value.program, {"system": system_of(Excessive())})
    exec(caught.value.program.replace("lever.mass", "lever.length"), {"system": system_of(Lever())})


def test_what_is_over_declared_is_returned_on_request() -> None:
    lever = Excessive()
    (found,) = over_declared(system_of(lever), settings=SOME)
    assert (found.entry, found.prerequisite) == (lever.end, lever.mass)
    assert over_declared(system_of(Lever()), settings=SOME) == ()


def test_what_was_hardly_computed_is_not_judged() -> None:
    assert over_declared(system_of(Excessive()), settings=settings(max_examples=1)) == ()


# ---------------------------------------------------------------------- strict


def test_an_undeclared_read_is_told_with_its_program() -> None:
    with pytest.raises(UndeclaredPrerequisiteError) as caught:
        check_strict(system_of(Forgetful()))
    (note,) = caught.value.__notes__
    assert "with strict():" in note
    with pytest.raises(UndeclaredPrerequisiteError):
        exec(note, {"system": system_of(Forgetful())})
    exec(note, {"system": system_of(Lever())})


def test_a_change_in_place_is_found_by_strict_mode() -> None:
    with pytest.raises(MutatedValueError):
        check_strict(system_of(Appending()))


def test_a_change_in_place_is_told_by_precision_as_shortly() -> None:
    with pytest.raises(MutatedValueError) as caught:
        check_precision(system_of(Appending()))
    (note,) = caught.value.__notes__
    assert len(note.splitlines()) <= 10
    with pytest.raises(MutatedValueError):
        exec(note, {"system": system_of(Appending())})


# ---------------------------------------------------------------------- pickle


class Losing(Lever):
    """It loses an attribute on the way."""

    def __init__(self) -> None:
        self.factor = 3.0

    @cached(prerequisites=(Lever.mass,))
    def weight(self, state: State) -> float:
        factor: float = self.__dict__.get("factor", 1.0)
        return factor * self.mass(state)

    def __getstate__(self) -> dict[str, Any]:
        found = super().__getstate__()
        del found["factor"]
        return found


def test_an_attribute_that_is_lost_is_found() -> None:
    with pytest.raises(UnfaithfulPickleError) as caught:
        check_pickle(system_of(Losing()))
    assert caught.value.suspects == ("lever.weight",)
    with pytest.raises(AssertionError):
        exec(caught.value.program, {"system": system_of(Losing())})


def test_a_model_that_cannot_be_pickled_is_found() -> None:
    class Local(Lever):
        pass

    with pytest.raises(UnfaithfulPickleError, match="cannot be pickled"):
        check_pickle(system_of(Local()))


def test_the_system_is_still_the_one_that_pickle_knows() -> None:
    system = system_of(Lever())
    check_pickle(system, settings=FEW)
    assert pickle.loads(pickle.dumps(system)) is system


# ---------------------------------------------------------------------- threads


class Sharing(Lever):
    """All computations use one array for what they have in between."""

    def __init__(self) -> None:
        self.scratch = np.zeros(1000)

    @cached(prerequisites=(Lever.mass,))
    def sum(self, state: State) -> float:
        return self._sum_of(self.mass(state))

    @cached(prerequisites=(Lever.length,))
    def other_sum(self, state: State) -> float:
        return self._sum_of(self.length(state))

    def _sum_of(self, value: float) -> float:
        for i in range(len(self.scratch)):
            self.scratch[i] = value
        return float(self.scratch.sum())


def test_an_array_that_computations_share_is_found() -> None:
    with pytest.raises(ThreadedReadError) as caught:
        check_threads(system_of(Sharing()))
    assert set(caught.value.suspects) <= {"lever.sum", "lever.other_sum"}


# ---------------------------------------------------------------------- all


CHECKS: list[Callable[..., CheckResult]] = [
    check_precision,
    check_strict,
    check_pickle,
    check_threads,
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "make", [rope_system, lambda: system_of(Lever()), lambda: system_of(Fragile()), System]
)
def test_sound_models_pass(make: type[System], check: Callable[..., CheckResult]) -> None:
    done: list[int] = []
    options = {} if check is check_precision else {"settings": FEW}
    result = check(make(), seed=3, progress=done.append, **options)
    assert done == list(range(1, result.examples + 1))


def test_all_checks_are_run_one_after_the_other() -> None:
    results = check_all(system_of(Lever()), settings=FEW)
    names = [result.name for result in results]
    assert names == ["strict", "coherence", "precision", "pickle", "threads"]
    assert all(result.examples == 10 for result in results)
