import pytest

from stagecache import Stage, State
from stagecache.errors import StageOutOfRangeError
from stagecache.state.stage import check_stage


def test_stages_are_numbered_in_the_order_of_realization() -> None:
    names = "Empty Topology Model Instance Time Position Velocity Dynamics Acceleration Report"
    assert [str(stage) for stage in Stage] == [*names.split(), "Infinity"]
    assert [int(stage) for stage in Stage] == list(range(11))
    assert Stage.TIME < Stage.POSITION
    assert f"{Stage.TIME}" == "Time"


def test_the_runtime_stages_are_model_to_report() -> None:
    assert (Stage.LOWEST_RUNTIME, Stage.HIGHEST_RUNTIME) == (Stage.MODEL, Stage.REPORT)


@pytest.mark.parametrize("stage", list(Stage)[:-1])
def test_next_and_prev_are_inverse(stage: Stage) -> None:
    assert stage.next() == stage + 1
    assert stage.next().prev() is stage


def test_nothing_comes_before_empty_or_after_infinity() -> None:
    with pytest.raises(StageOutOfRangeError, match="before Infinity"):
        Stage.INFINITY.next()
    with pytest.raises(StageOutOfRangeError, match="after Empty"):
        Stage.EMPTY.prev()


@pytest.mark.parametrize("bad", [-1, 11, "Time", None, 3.0, True])
def test_what_is_no_stage_is_refused(bad: object) -> None:
    with pytest.raises(StageOutOfRangeError, match="invalidate_all"):
        State().invalidate_all(bad)  # type: ignore[arg-type]  # is refused


def test_an_integer_does_for_a_stage() -> None:
    state = State()
    state.advance_to_stage(1)  # type: ignore[arg-type]  # is taken as Stage(1)
    assert state.stage is Stage.TOPOLOGY


@pytest.mark.parametrize("number", [2, 5, 9])
def test_integers_from_the_lowest_to_the_highest_stage_are_taken(number: int) -> None:
    assert check_stage(number, Stage.MODEL, Stage.REPORT, "a call") is Stage(number)


@pytest.mark.parametrize("number", [1, 10])
def test_integers_below_the_lowest_and_above_the_highest_stage_are_refused(number: int) -> None:
    with pytest.raises(StageOutOfRangeError, match="from Model to Report"):
        check_stage(number, Stage.MODEL, Stage.REPORT, "a call")


@pytest.mark.parametrize(("got", "shown"), [(Stage.TIME, "Time"), ("Time", "'Time'")])
def test_a_refused_stage_is_shown_by_its_name_and_anything_else_as_it_is_written(
    got: object, shown: str
) -> None:
    with pytest.raises(StageOutOfRangeError) as caught:
        check_stage(got, Stage.EMPTY, Stage.MODEL, "a call")
    assert (caught.value.expected, caught.value.got) == ("a Stage from Empty to Model", shown)


def test_the_only_stage_that_is_taken_is_named_alone() -> None:
    with pytest.raises(StageOutOfRangeError) as caught:
        check_stage(Stage.TIME, Stage.MODEL, Stage.MODEL, "a call")
    assert caught.value.expected == "Stage Model"
