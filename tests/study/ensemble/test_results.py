"""Results as a dataset and as a table: shapes, gaps, grids, trajectories."""

from typing import Any

import numpy as np
import pytest

from stagecache import Simulation, State, System, full_factorial, run_study
from stagecache.errors import DuplicateNameError, NotANumberError, StudyError
from stagecache.study import Member
from tests.study.ensemble.models import SYSTEM, TABLE, Slope, energy, everything

pytest.importorskip("xarray")

GRID = full_factorial({"spring.stiffness": [1.0, 2.0], "spring.place": [0.0, 0.1, 0.2]})


def test_a_dataset_has_parameters_as_coordinates_and_gaps_where_members_failed() -> None:
    dataset = run_study(SYSTEM, TABLE, everything).to_xarray()
    assert dataset.sizes["member"] == 24
    assert dataset["spring.stiffness"].attrs == {"units": "N/m"}
    assert dataset["spring.stiffness"].dims == ("member",)
    assert dataset["table"].dims == ("member", "table.index", "table.index1")
    assert dataset["table"].shape == (24, 3, 2)
    assert np.isnan(dataset["noise"][5]).all()
    assert np.isnan(dataset["index"][5])
    assert np.isnan(dataset["spin"][5])
    assert (float(dataset["is_even"][4]), float(dataset["is_even"][3])) == (1.0, 0.0)
    assert (str(dataset["name"][5].values), str(dataset["name"][4].values)) == ("", "x")
    assert dataset["status"].values.tolist() == ["ok"] * 5 + ["failed"] + ["ok"] * 18
    assert dataset.attrs == {"system": "spring"}


def test_whole_numbers_and_truth_values_stay_what_they_are_without_failures() -> None:
    found = run_study(SYSTEM, GRID, lambda state: {"n": 3, "b": True, "t": "ab"}).to_xarray()
    assert [found[name].dtype.kind for name in ("n", "b", "t")] == ["i", "b", "U"]


def test_vectors_are_parameters_too() -> None:
    members = [{"spring.others": [1.0, 2.0]}, {"spring.label": "b"}]
    dataset = run_study(SYSTEM, members, lambda state: 1.0).to_xarray()
    assert dataset["spring.others"].values.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert dataset["spring.label"].values.tolist() == ["one", "b"]


def test_a_factorial_design_is_a_grid() -> None:
    results = run_study(SYSTEM, GRID, everything)
    flat, grid = results.to_xarray(), results.to_xarray(grid=True)
    assert grid["energy"].dims == ("spring.stiffness", "spring.place")
    assert "member" not in grid.dims
    for index, member in enumerate(GRID):
        if index != 5:
            assert grid.sel(member)["energy"] == flat["energy"][index]
            assert (grid.sel(member)["noise"].values == flat["noise"][index].values).all()
    with pytest.raises(StudyError, match="not a grid"):
        run_study(SYSTEM, TABLE, energy).to_xarray(grid=True)
    with pytest.raises(NotANumberError, match="grid"):
        results.to_xarray(grid="yes")  # type: ignore[arg-type]  # is refused


def test_trajectories_with_the_same_times_share_a_dimension() -> None:
    results = run_study(SYSTEM, GRID, Simulation(0.2, every=0.1))
    dataset = results.to_xarray()
    assert dataset["spring.speed"].dims == ("member", "time")
    assert dataset["time"].values.tolist() == [0.0, 0.1, 0.2]
    expected = results[4].values["trajectory"]["spring.place"]
    assert dataset["trajectory.spring.place"][4].values.tolist() == expected.tolist()
    assert dataset["spring.place"].dims == ("member",)
    assert dataset["trajectory.spring.place"].attrs == {"units": "m"}


def test_trajectories_with_other_times_are_refused_in_a_dataset() -> None:
    def study(state: State, member: Member) -> Any:
        return Simulation(0.2, every=0.1 if member.index else 0.05)(state)

    results = run_study(SYSTEM, GRID, study)
    with pytest.raises(StudyError, match="into=folder"):
        results.to_xarray()


def test_results_of_several_shapes_are_refused_in_a_dataset() -> None:
    results = run_study(SYSTEM, GRID, lambda state, member: np.zeros(member.index % 2 + 1))
    with pytest.raises(StudyError, match="values of one shape"):
        results.to_xarray()
    assert results[1].values["result"].shape == (2,)


def run_of(state: State) -> Any:
    return Simulation(0.2, every=0.1)(state)


@pytest.mark.parametrize(
    ("study", "words"),
    [
        (lambda state: {"time": 1.0, "run": run_of(state)}, "'time'"),
        (lambda state: {"p.index": 1.0, "p": [1.0, 2.0]}, r"'p\.index'"),
        (lambda state: {"p.index": [1.0], "p": [1.0, 2.0]}, r"'p\.index'"),
        (lambda state: {"a": run_of(state), "b": run_of(state), "a.spring.speed": 1.0}, "speed"),
    ],
)
def test_two_things_of_one_name_are_refused_in_a_dataset(study: Any, words: str) -> None:
    with pytest.raises(DuplicateNameError, match=words):
        run_study(SYSTEM, GRID, study).to_xarray()


@pytest.mark.parametrize(
    "returned",
    [{"p[0]": 1.0, "p": [1.0, 2.0]}, {"p": [[1.0, 2.0]], "p[0,1]": [1.0], "p[0,1][0]": 1}],
)
def test_two_columns_of_one_name_are_refused_in_a_table(returned: Any) -> None:
    with pytest.raises(DuplicateNameError, match="two things"):
        run_study(SYSTEM, GRID, lambda state: returned).to_pandas()


def test_a_column_of_a_trajectory_does_not_replace_a_result_of_its_name() -> None:
    results = run_study(SYSTEM, GRID, lambda s: {"spring.speed": 5.0, "run": run_of(s)})
    dataset = results.to_xarray()
    assert dataset["spring.speed"].values.tolist() == [5.0] * 6
    assert dataset["run.spring.speed"].dims == ("member", "time")


def test_a_trajectory_beside_a_number_is_refused_and_not_dropped() -> None:
    results = run_study(SYSTEM, GRID, lambda s, member: {"x": run_of(s) if member.index else 1.0})
    for call in (results.to_xarray, results.to_pandas):
        with pytest.raises(StudyError, match="x: cannot be one variable"):
            call()


@pytest.mark.parametrize("numbers", [[-1, 2**63 + 1], [2**70, 1], [-(2**63), 2**64 - 1]])
def test_integers_of_any_size_stay_exact(numbers: list[int]) -> None:
    results = run_study(SYSTEM, [{}, {}], lambda state, member: numbers[member.index])
    assert results.to_xarray()["result"].values.tolist() == numbers
    assert results.to_pandas()["result"].tolist() == numbers


@pytest.mark.parametrize("returned", [[2**53 + 1, 0.5], [2**53 + 1, None], [2**53 + 1, True]])
def test_integers_that_floats_would_round_are_refused(returned: list[Any]) -> None:
    results = run_study(SYSTEM, [{}, {}], lambda state, member: returned[member.index])
    for call in (results.to_xarray, results.to_pandas):
        with pytest.raises(StudyError, match="integers would be rounded"):
            call()


def test_trajectories_with_other_columns_are_refused() -> None:
    def study(state: State, member: Member) -> Any:
        other = System(Slope(), name="other") if member.index else SYSTEM
        return Simulation(0.2, every=0.1)(other.new_state())

    with pytest.raises(StudyError, match="different columns"):
        run_study(SYSTEM, [{}, {}], study).to_xarray()


def test_a_text_that_ends_with_a_zero_keeps_it() -> None:
    results = run_study(SYSTEM, [{}, {}], lambda state: "a\0")
    assert results.to_xarray()["result"].values.tolist() == ["a\0"] * 2


def test_a_table_has_a_row_for_each_member() -> None:
    frame = run_study(SYSTEM, TABLE, everything).to_pandas()
    assert frame.shape[0] == 24
    assert frame["status"][5] == "failed"
    assert list(frame.columns[:3]) == ["spring.stiffness", "spring.place", "energy"]
    assert "noise[2]" in frame.columns
    assert "table[2,1]" in frame.columns
    assert np.isnan(frame["energy"][5])


def test_statistics_count_members_and_time() -> None:
    found = run_study(SYSTEM, TABLE, everything).statistics
    counts = (found.num_members, found.num_ok, found.num_failed, found.num_missing)
    assert counts == (24, 23, 1, 0)
    assert found.seconds > 0
    assert found.members_a_second == pytest.approx(24 / found.elapsed)


def test_a_result_shows_its_parameters_and_values() -> None:
    results = run_study(SYSTEM, TABLE, everything)
    assert repr(results[5]).startswith("MemberResult(5, {'spring.place': 0.0, 'spring.stiffness': ")
    assert "failed, StagecacheError: " in repr(results[5])
    assert "'energy': " in repr(results[0])
