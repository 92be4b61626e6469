"""Studies in this process: results, failures, retries, seeds, threads, and arguments refused."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from pathlib import Path
from typing import Any, overload

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Simulation,
    State,
    Subsystem,
    System,
    cached,
    full_factorial,
    parameter,
    run_study,
    shared_results,
    simulate,
)
from stagecache.errors import (
    ComputeSignatureError,
    DuplicateNameError,
    ForeignStateError,
    NotANumberError,
    OutOfRangeError,
    StudyError,
    UnknownItemError,
    UnknownOptionError,
    UnknownPathError,
    WrongTypeError,
)
from stagecache.sharing.results import Totals, results_in_use
from stagecache.study import Member, StudyResults
from stagecache.study.ensemble.driver import Driver
from stagecache.study.ensemble.pools import AbstractPool
from stagecache.study.ensemble.settings import Settings
from stagecache.study.ensemble.worker import Outcome
from tests.profiles import examples
from tests.study.ensemble.models import (
    SPRING,
    SYSTEM,
    TABLE,
    Counted,
    Spring,
    energy,
    everything,
    slow,
)

MEMBERS = full_factorial({"spring.stiffness": [1.0, 2.0], "spring.place": [0.0, 0.1, 0.2]})


def values_of(results: StudyResults) -> list[Any]:
    return [result.values.get("result") for result in results]


def test_each_member_has_its_values_and_the_state_stays_as_it_is() -> None:
    start = SYSTEM.new_state()
    before = start.y.tobytes()
    results = run_study(SYSTEM, MEMBERS, energy, state=start)
    assert values_of(results) == [
        m["spring.stiffness"] * m["spring.place"] ** 2 / 2 for m in MEMBERS
    ]
    assert [result.parameters for result in results] == list(MEMBERS)
    assert start.y.tobytes() == before
    assert results.units == {"spring.stiffness": "N/m", "spring.place": "m"}
    assert repr(results) == "StudyResults(of 'spring': 6 members, 6 ok)"
    assert results[-1].index == 5


def test_members_that_fail_are_kept_with_their_parameters_and_stop_nothing() -> None:
    def study(state: State, member: Member) -> float:
        if member.index == 2:
            raise ValueError("too stiff")
        return 1.0

    results = run_study(SYSTEM, MEMBERS, study)
    [failure] = results.failures
    assert (failure.index, failure.status, failure.error) == (2, "failed", "ValueError")
    assert failure.message == "too stiff"
    assert failure.parameters == MEMBERS[2]
    assert 'raise ValueError("too stiff")' in failure.traceback
    assert [result.status for result in results].count("ok") == 5
    assert repr(results) == "StudyResults(of 'spring': 6 members, 5 ok, 1 failed)"
    with pytest.raises(StudyError, match="too stiff") as caught:
        results.raise_first()
    assert caught.value.__notes__ == [failure.traceback]
    run_study(SYSTEM, MEMBERS, energy).raise_first()


@pytest.mark.parametrize(("retries", "num_failed"), [(0, 6), (1, 6), (2, 0), (3, 0)])
def test_a_member_that_raises_runs_again(tmp_path: Path, retries: int, num_failed: int) -> None:
    results = run_study(SYSTEM, MEMBERS, Counted(tmp_path, failures=2), retries=retries)
    assert results.statistics.num_failed == num_failed
    assert {result.attempts for result in results} == {min(retries, 2) + 1}


def test_control_c_is_not_a_failure_and_ends_the_study() -> None:
    ran = []

    def study(state: State, member: Member) -> float:
        ran.append(member.index)
        if member.index == 2:
            raise KeyboardInterrupt
        return 1.0

    with pytest.raises(KeyboardInterrupt):
        run_study(SYSTEM, MEMBERS, study, retries=3)
    assert ran == [0, 1, 2]


def test_sys_exit_in_a_member_is_a_failure() -> None:
    def study(state: State) -> float:
        raise SystemExit(3)

    assert {f.error for f in run_study(SYSTEM, MEMBERS, study).failures} == {"SystemExit"}


def test_random_numbers_depend_on_seed_and_index_alone() -> None:
    first, again = (run_study(SYSTEM, MEMBERS, slow, seed=4) for _ in range(2))
    assert values_of(first) == values_of(again)
    assert len(set(values_of(first))) == 6
    assert values_of(run_study(SYSTEM, MEMBERS[:3], slow, seed=4)) == values_of(first)[:3]
    assert values_of(run_study(SYSTEM, MEMBERS, slow, seed=5)) != values_of(first)


def test_a_function_may_take_the_member_or_not() -> None:
    def named(state: State, member: Member | None = None) -> float:
        assert member is not None
        return member.values["spring.place"]  # type: ignore[no-any-return]  # a float

    def optional(state: State, scale: float = 2.0) -> float:
        return scale

    assert values_of(run_study(SYSTEM, MEMBERS, named)) == list(MEMBERS.column("spring.place"))
    assert values_of(run_study(SYSTEM, MEMBERS, optional)) == [2.0] * 6


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "end the function with return"),
        (object(), "is not a result"),
        ({"a": {"b": 1}}, "'a': is not a result"),
        ({3: 1}, "is not a text"),
        ({"": 1}, "is not a text"),
        ({"a\0": 1}, "is not a text"),
        ({"\ud800": 1}, "is not a text"),
        ([[1.0], [1.0, 2.0]], "is not a result"),
        ([1, "a"], "is not a result"),
        ([2**53 + 1, 0.5], "is not a result"),
        ([None, 1.0], "is not a result"),
        (np.ma.array([1.0], mask=[True]), "is not a result"),
    ],
)
def test_a_result_of_another_kind_is_a_failure_of_the_member(returned: Any, words: str) -> None:
    [failure] = run_study(SYSTEM, [{}], lambda state: returned).failures
    assert failure.error == "StudyError"
    assert words in failure.message


@pytest.mark.parametrize("name", ["status", "spring.place", "stagecache.batch"])
def test_a_result_cannot_have_the_name_of_a_parameter_or_a_column(name: str) -> None:
    members = [{"spring.place": 1.0}]
    [failure] = run_study(SYSTEM, members, lambda state: {name: 1.0}).failures
    assert failure.error == DuplicateNameError.__name__


@pytest.mark.parametrize("returned", [[], [[]], (), [True], ["a", "bc"], [1, 2], [1, 2.5], [2**53]])
def test_a_list_is_an_array(returned: Any) -> None:
    found = run_study(SYSTEM, [{}], lambda state: returned)[0].values["result"]
    assert np.array_equal(found, np.array(returned))
    assert found.dtype == np.array(returned).dtype


class Checking:
    """A function with a method whose name means something else."""

    def _check(self) -> None:
        raise AssertionError

    check = _check

    def __call__(self, state: State) -> float:
        """Return a number."""
        return 1.0


def test_methods_of_a_function_are_its_own_business() -> None:
    assert values_of(run_study(SYSTEM, [{}], Checking())) == [1.0]


def test_an_array_that_the_function_changes_later_is_a_copy() -> None:
    buffer = np.zeros(1)

    def study(state: State, member: Member) -> Any:
        buffer[0] = member.index
        return buffer

    results = run_study(SYSTEM, MEMBERS, study)
    assert [float(result.values["result"][0]) for result in results] == list(range(6))
    with pytest.raises(ValueError, match="read-only"):
        results[0].values["result"][0] = 1.0


class Lazy(Sequence[Mapping[str, Any]]):
    """Members that are made when they are asked for."""

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: Any) -> Any:
        return {"spring.place": 0.5 * index}

    def __len__(self) -> int:
        return 4


def test_a_sequence_may_make_its_members_late() -> None:
    results = run_study(SYSTEM, Lazy(), lambda state: state.q[0])
    assert values_of(results) == [0.0, 0.5, 1.0, 1.5]


class Restless(Sequence[Mapping[str, Any]]):
    """Members that are others each time, and count how often they are asked for."""

    def __init__(self) -> None:
        self.asked = 0

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: Any) -> Any:
        self.asked += 1
        return {"spring.place": float(self.asked)}

    def __len__(self) -> int:
        return 4


def test_the_recorded_values_are_those_that_ran(tmp_path: Path) -> None:
    members = Restless()
    results = run_study(SYSTEM, members, lambda state: state.q[0])
    assert [result.parameters["spring.place"] for result in results] == values_of(results)
    assert members.asked == 8  # once for the check, once to run
    with pytest.raises(StudyError, match="member 0 has changed"):
        run_study(SYSTEM, members, lambda state: state.q[0], into=tmp_path)


def test_a_list_that_changes_later_does_not_change_what_is_recorded() -> None:
    weights = [7.0, 8.0, 9.0]
    members = [
        {"spring.weights": weights},
        {"spring.weights": weights},
        {"spring.anything": weights},
    ]

    def study(state: State, member: Member) -> Any:
        values = member.values
        weights[0] = 100.0
        return values["spring.weights"] if member.index < 2 else values["spring.anything"]

    results = run_study(SYSTEM, members, study)
    weights[0] = -1.0
    for result, path in zip(results, ("weights", "weights", "anything"), strict=True):
        recorded = result.parameters[f"spring.{path}"]
        assert list(recorded) == list(result.values["result"])
    assert results[0].parameters["spring.weights"][0] == 7.0
    assert results[1].parameters["spring.weights"][0] == 100.0


def test_a_member_that_names_another_path_than_before_is_refused() -> None:
    class Other(Restless):
        def __getitem__(self, index: Any) -> Any:
            self.asked += 1
            return {"spring.place" if self.asked < 5 else "spring.mass": 1.0}

    with pytest.raises(StudyError, match="member 0 has changed"):
        run_study(SYSTEM, Other(), energy)


def test_a_study_without_members_has_no_results() -> None:
    results = run_study(SYSTEM, [], energy)
    assert (len(results), list(results), results.failures) == (0, [], ())
    with pytest.raises(UnknownItemError, match="member 0"):
        results[0]


# ---------------------------------------------------------------------- threads


class Slow(Subsystem):
    """An entry that takes until somebody else has done something."""

    name_ = parameter(0)

    @cached(prerequisites=(name_,))
    def long(self, state: State) -> int:
        assert ARRIVED.wait(20)
        return self.name_(state)


ARRIVED = threading.Event()


def test_a_long_entry_lets_members_in_other_threads_go_on() -> None:
    part = Slow()
    order: list[int] = []

    def study(state: State, member: Member) -> int:
        if member.index:
            order.append(member.index)
            if len(order) == 5:
                ARRIVED.set()  # all others have passed while member 0 computes
            return member.index
        found = part.long(state)
        order.append(0)
        return found

    with ThreadPoolExecutor(2) as executor:
        results = run_study(System(part), {"slow.name_": list(range(6))}, study, executor=executor)
    assert order == [1, 2, 3, 4, 5, 0]
    assert values_of(results) == list(range(6))


def test_threads_have_the_results_of_one_thread() -> None:
    pytest.importorskip("xarray")
    alone = run_study(SYSTEM, TABLE, everything).to_xarray()
    with ThreadPoolExecutor(3) as executor:
        shared = run_study(SYSTEM, TABLE, everything, executor=executor).to_xarray()
    assert alone.identical(shared)


def test_settings_of_numpy_are_those_of_the_driver_in_every_thread() -> None:
    with ThreadPoolExecutor(2) as executor, np.errstate(divide="raise"):
        results = run_study(SYSTEM, [{}], lambda state: np.ones(1) / 0, executor=executor)
    assert results.failures[0].error == "FloatingPointError"
    with np.errstate(divide="ignore"):
        results = run_study(SYSTEM, [{}], lambda state: np.ones(1) / 0)
    assert not results.failures


def test_settings_stay_installed_until_the_last_thread_has_left() -> None:
    before = results_in_use()
    with shared_results(limit="1 MB") as own:
        settings = Settings.here()
    with shared_results(limit="2 MB") as other_own:
        others = Settings.here()
    assert results_in_use() is before
    one, two, three = ExitStack(), ExitStack(), ExitStack()
    one.enter_context(settings.installed())
    two.enter_context(settings.installed())
    one.close()
    assert results_in_use() is own
    three.enter_context(others.installed())
    two.close()
    assert results_in_use() is other_own
    three.close()
    assert results_in_use() is before


# ---------------------------------------------------------------------- simulations


def test_a_simulation_returns_outputs_or_its_trajectory() -> None:
    study = Simulation(
        0.2, {"last": "spring.place", "energy": SPRING.energy, "rows": len}, every=0.1
    )
    results = run_study(SYSTEM, MEMBERS, study)
    for result, member in zip(results, MEMBERS, strict=True):
        start = SYSTEM.new_state()
        SPRING.stiffness.set(start, member["spring.stiffness"])
        SPRING.place.set(start, member["spring.place"])
        expected = simulate(SYSTEM, start, 0.2, every=0.1)
        assert result.values["last"] == expected["spring.place"][-1]
        assert result.values["energy"] == expected.calc("spring.energy")[-1]
        assert result.values["rows"] == 3
    whole = run_study(SYSTEM, MEMBERS, Simulation(0.2, every=0.1))
    assert whole[1].values["trajectory"].y.shape == (3, 4)
    assert repr(study) == "Simulation(until=0.2, outputs=last, energy, rows)"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Simulation(1.0, {"a": 3}), WrongTypeError),  # type: ignore[dict-item]  # is refused
        (lambda: Simulation(1.0, "energy"), WrongTypeError),  # type: ignore[arg-type]  # is refused
        (lambda: Simulation(1.0, methd="RK45"), UnknownOptionError),
        (lambda: Simulation("long"), NotANumberError),  # type: ignore[arg-type]  # is refused
        (lambda: Simulation(1.0, accuracy=-1.0), OutOfRangeError),
        (
            lambda: run_study(SYSTEM, MEMBERS, Simulation(1.0, {"a": "spring.enrgy"})),
            UnknownPathError,
        ),
        (
            lambda: run_study(SYSTEM, MEMBERS, Simulation(1.0, {"spring.place": "spring.speed"})),
            DuplicateNameError,
        ),
    ],
)
def test_a_wrong_simulation_is_refused_before_anything_runs(
    make: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        make()


# ---------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((3, MEMBERS, energy), {}, WrongTypeError, "not a System"),
        ((SYSTEM, 3, energy), {}, WrongTypeError, "not members"),
        ((SYSTEM, MEMBERS, 3), {}, WrongTypeError, "a function of a State"),
        ((SYSTEM, MEMBERS, lambda: 1), {}, ComputeSignatureError, "other arguments"),
        ((SYSTEM, MEMBERS, lambda a, b, c: 1), {}, ComputeSignatureError, "other arguments"),
        ((SYSTEM, MEMBERS, energy), {"state": 3}, WrongTypeError, "not a State"),
        (
            (SYSTEM, MEMBERS, energy),
            {"state": System(Spring()).new_state()},
            ForeignStateError,
            "not a State of",
        ),
        ((SYSTEM, MEMBERS, energy), {"retries": -1}, OutOfRangeError, "retries"),
        ((SYSTEM, MEMBERS, energy), {"seed": 0.5}, OutOfRangeError, "seed"),
        ((SYSTEM, MEMBERS, energy), {"workers": 0}, OutOfRangeError, "workers"),
        ((SYSTEM, MEMBERS, energy), {"executor": 3}, WrongTypeError, "an Executor"),
        ((SYSTEM, MEMBERS, energy), {"progress": 3}, NotANumberError, "progress"),
        ((SYSTEM, MEMBERS, energy), {"resume": 3}, NotANumberError, "resume"),
        ((SYSTEM, MEMBERS, energy), {"resume": True}, StudyError, "nothing to resume"),
        ((SYSTEM, MEMBERS, energy), {"into": 3}, WrongTypeError, "into"),
        (
            (SYSTEM, MEMBERS, energy),
            {"executor": ThreadPoolExecutor(1), "workers": 2},
            UnknownOptionError,
            "exclude each other",
        ),
    ],
)
def test_a_wrong_argument_is_refused(
    arguments: Any, options: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        run_study(*arguments, **options)


def test_forked_processes_are_refused() -> None:
    multiprocessing = pytest.importorskip("multiprocessing")
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs fork")
    executor = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))
    with executor, pytest.raises(StudyError, match="get_context\\('spawn'\\)"):
        run_study(SYSTEM, MEMBERS, energy, executor=executor)


# ---------------------------------------------------------------------- the driver


class Fickle(AbstractPool):
    """Workers that lose batches as they are told, and answer in any order."""

    def __init__(self, losses: list[bool], num_workers: int | None, deadly: set[int]) -> None:
        self.losses = losses
        self.num_workers = num_workers
        self.most_in_batch = 7
        self.deadly = deadly
        self.knows = False
        self.waiting: list[Any] = []

    @property
    def totals(self) -> Totals:
        return 0, 0, 0.0

    def submit(self, batch: Any, *, with_payload: bool) -> Any:
        self.knows = self.knows or with_payload
        future: Future[Any] = Future()
        is_lost = bool(self.losses) and self.losses.pop()
        if is_lost or any(index in self.deadly for index, _ in batch):
            self.knows = False
            future.set_exception(BrokenProcessPool("killed"))
        else:
            future.set_result(batch if self.knows else None)
        return future

    def outcomes(self, result: Any) -> Any:
        if result is None:
            return None
        return [Outcome(index, 1e-4, 1, {"result": index}) for index, _ in result]

    def renew(self) -> None:
        self.knows = False

    def close(self, *, at_once: bool) -> None:
        pass


@given(
    st.integers(0, 60),
    st.lists(st.booleans(), max_size=12),
    st.sampled_from([None, 1, 3]),
    st.sets(st.integers(0, 60), max_size=3),
)
@examples(100)
def test_whatever_workers_die_each_member_has_one_outcome(
    count: int, losses: list[bool], workers: int | None, deadly: set[int]
) -> None:
    taken: dict[int, str] = {}

    def take(outcome: Any, values: Any) -> None:
        assert outcome.index not in taken
        assert values == {"spring.place": outcome.index}
        taken[outcome.index] = outcome.error

    num_losses = sum(losses)
    pool = Fickle(losses, workers, deadly)
    members: list[tuple[int, dict[str, Any]]] = [
        (index, {"spring.place": index}) for index in range(count)
    ]
    Driver(pool, iter(members), count, take, lambda: None).run()
    assert taken.keys() == set(range(count))
    died = {index for index, error in taken.items() if error}
    assert deadly & set(range(count)) <= died
    if num_losses < 3:  # so that nobody else has lost three workers
        assert died <= deadly


class Growing(Subsystem):
    """A parameter that a function can change in place."""

    items = parameter([1])


def grown(state: State, member: Member) -> int:
    """Change the values of a member in place; the first attempt fails."""
    items = state.system.get(Growing).items(state)
    items.append(9)
    member.values["growing.items"].append(7)
    if len(items) == 2 and not ATTEMPTS.get(member.index):
        ATTEMPTS[member.index] = True
        raise ValueError("again")
    return len(items)


ATTEMPTS: dict[int, bool] = {}


def test_a_function_that_changes_values_in_place_changes_those_of_one_attempt() -> None:
    members = [{"growing.items": [1]}, {"growing.items": [1, 2]}]
    results = run_study(System(Growing()), members, grown, retries=1)
    assert [result.values["result"] for result in results] == [2, 3]
    assert [result.attempts for result in results] == [2, 1]
    assert [result.parameters["growing.items"] for result in results] == [[1], [1, 2]]
    assert members == [{"growing.items": [1]}, {"growing.items": [1, 2]}]
