"""Folders of results: the same as in memory, resumed, cut short, damaged, of another study."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stagecache import (
    Simulation,
    State,
    Subsystem,
    System,
    load_study,
    parameter,
    run_study,
)
from stagecache.errors import FileFormatError, StudyError, UnsavableValueError, WrongTypeError
from stagecache.study import Member
from stagecache.study.ensemble import folder as folders
from stagecache.study.ensemble.rows import RowFile
from stagecache.study.trajectory.arrow import END, ArrowFile
from tests.interrupting import strike_after_opening
from tests.study.ensemble.models import SPRING, SYSTEM, TABLE, energy, everything

WHOLE = run_study(SYSTEM, TABLE, everything)


class Stop(BaseException):
    """An interruption."""


class Interrupted:
    """The function `everything`, until some members have run."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, state: State, member: Member) -> Any:
        """Return results, or stop."""
        if self.count == 0:
            raise Stop
        self.count -= 1
        return everything(state, member)

    def __reduce__(self) -> Any:
        """Leave the count out of what makes it another function."""
        return Interrupted, (0,)


def same(one: Any, other: Any) -> bool:
    """Whether two results are the same, bit for bit."""
    names = ("index", "status", "error", "message", "attempts")
    values = [{k: np.asarray(v).tobytes() for k, v in r.values.items()} for r in (one, other)]
    return (
        all(getattr(one, name) == getattr(other, name) for name in names)
        and dict(one.parameters) == dict(other.parameters)
        and values[0] == values[1]
        and all(type(other.values[k]) is type(v) for k, v in one.values.items())
    )


def test_results_in_a_folder_are_those_in_memory(tmp_path: Path) -> None:
    found = run_study(SYSTEM, TABLE, everything, into=tmp_path / "study")
    loaded = load_study(tmp_path / "study")
    assert repr(loaded) == repr(found) == repr(WHOLE)
    for one, other, third in zip(WHOLE, found, loaded, strict=True):
        assert same(one, other)
        assert same(one, third)
    assert loaded[5].traceback == found[5].traceback
    assert loaded.units == WHOLE.units
    assert np.isnan(loaded.statistics.elapsed)


def test_only_missing_members_run_after_an_interruption(tmp_path: Path) -> None:
    path = tmp_path / "study"
    study = Interrupted(7)
    for count in (7, 4):
        study.count = count
        with pytest.raises(Stop):
            run_study(SYSTEM, TABLE, study, into=path, resume=True)
    partly = load_study(path)
    assert partly.missing == tuple(range(11, 24))
    assert partly[20].status == "missing"
    assert repr(partly) == "StudyResults(of 'spring': 24 members, 10 ok, 1 failed, 13 missing)"
    study.count = 13
    results = run_study(SYSTEM, TABLE, study, into=path, resume=True)
    assert study.count == 0
    assert all(same(one, other) for one, other in zip(WHOLE, results, strict=True))
    again = run_study(SYSTEM, TABLE, study, into=path, resume=True)
    assert again.statistics.members_a_second == 0.0
    assert len(list(path.glob("results-*.arrows"))) == 3


def test_whatever_a_kill_leaves_of_a_file_is_cut_and_run_again(tmp_path: Path) -> None:
    study = Interrupted(12)
    path = tmp_path / "study"
    with pytest.raises(Stop):
        run_study(SYSTEM, TABLE, study, into=path)
    [begun] = path.glob("results-*.arrows")
    whole = begun.read_bytes().removesuffix(END)
    batch = whole[ArrowFile(begun).schema_stop :]
    for tail in (b"", b"\0" * 64, batch[:3], batch[:9], batch[:100], batch[:-1]):
        begun.write_bytes(whole + tail)
        assert load_study(path).missing == tuple(range(12, 24))
    (path / ".stagecache-left.tmp").write_bytes(b"half")
    study.count = 12
    results = run_study(SYSTEM, TABLE, study, into=path, resume=True)
    assert all(same(one, other) for one, other in zip(WHOLE, results, strict=True))
    assert not list(path.glob(".stagecache-*"))


def test_no_file_is_left_if_control_c_strikes_when_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "open_beside", strike_after_opening)
    with pytest.raises(KeyboardInterrupt):
        run_study(SYSTEM, TABLE, everything, into=tmp_path / "new")
    assert not list((tmp_path / "new").glob(".stagecache-*"))
    monkeypatch.undo()
    file = by_batches(monkeypatch, tmp_path / "damaged")
    data = bytearray(file.read_bytes())
    data[ArrowFile(file).batches[1].stop - 100] ^= 1
    file.write_bytes(data)
    monkeypatch.setattr(folders, "open_beside", strike_after_opening)
    with pytest.raises(KeyboardInterrupt):
        run_study(SYSTEM, TABLE, everything, into=tmp_path / "damaged", resume=True)
    assert not list((tmp_path / "damaged").glob(".stagecache-*"))
    assert file.read_bytes() == data


@pytest.mark.parametrize("place", [0.2, 0.4, 0.6, 0.8])
def test_a_damaged_file_is_refused_when_it_is_read(tmp_path: Path, place: float) -> None:
    run_study(SYSTEM, TABLE, everything, into=tmp_path)
    [file] = tmp_path.glob("results-*.arrows")
    data = bytearray(file.read_bytes())
    at = int(len(data) * place)
    for k in range(at, at + 40):
        data[k] ^= 0x55
    file.write_bytes(data)
    with pytest.raises(FileFormatError):
        list(load_study(tmp_path))


def test_a_folder_with_results_is_not_overwritten(tmp_path: Path) -> None:
    run_study(SYSTEM, TABLE, everything, into=tmp_path)
    with pytest.raises(StudyError, match="results of 24 members"):
        run_study(SYSTEM, TABLE, everything, into=tmp_path)


def stiffened() -> Any:
    state = SYSTEM.new_state()
    SPRING.mass.set(state, 2.0)
    return state


@pytest.mark.parametrize(
    ("members", "study", "options", "words"),
    [
        ({**TABLE, "spring.place": [0.0] * 24}, everything, {}, "values of members"),
        (
            {path: column[:5] for path, column in TABLE.items()},
            everything,
            {},
            "the number of members",
        ),
        (TABLE, energy, {}, "the function of the study"),
        (TABLE, Simulation(1.0), {}, "the function of the study"),
        (TABLE, everything, {"seed": 1}, "the seed"),
        (TABLE, everything, {"state": stiffened()}, "values of the State"),
    ],
)
def test_another_study_is_not_resumed(
    tmp_path: Path, members: Any, study: Any, options: Any, words: str
) -> None:
    run_study(SYSTEM, TABLE, everything, into=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(StudyError, match=words):
        run_study(SYSTEM, members, study, into=tmp_path, resume=True, **options)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_options_of_a_simulation_are_part_of_the_study(tmp_path: Path) -> None:
    members = {"spring.place": [0.1]}
    outputs = {"place": "spring.place"}
    run_study(SYSTEM, members, Simulation(0.1, outputs), into=tmp_path)
    same_one = Simulation(0.1, {"place": "spring.place"})
    assert len(run_study(SYSTEM, members, same_one, into=tmp_path, resume=True)) == 1
    for other in (Simulation(0.2, outputs), Simulation(0.1, outputs, accuracy=1e-6)):
        with pytest.raises(StudyError, match="the function of the study"):
            run_study(SYSTEM, members, other, into=tmp_path, resume=True)


class Other(Subsystem):
    stiffness = parameter(1.0)


def test_another_model_is_not_resumed(tmp_path: Path) -> None:
    members = {"spring.stiffness": [1.0]}
    run_study(SYSTEM, members, lambda state: 1.0, into=tmp_path)
    other = System(Other(), name="spring")
    members = {"other.stiffness": [1.0]}
    with pytest.raises(StudyError, match="variables or entries of the model"):
        run_study(other, members, lambda state: 1.0, into=tmp_path, resume=True)


def test_trajectories_have_files_of_their_own(tmp_path: Path) -> None:
    members = {"spring.place": [0.1, 0.2]}
    found = run_study(SYSTEM, members, Simulation(0.2), into=tmp_path)
    names = sorted(path.name for path in (tmp_path / "trajectories").iterdir())
    assert names == ["000000.arrows", "000001.arrows"]
    expected = run_study(SYSTEM, members, Simulation(0.2))
    for loaded in (found, load_study(tmp_path), load_study(tmp_path, SYSTEM)):
        for one, other in zip(expected, loaded, strict=True):
            assert other.values["trajectory"].y.tobytes() == one.values["trajectory"].y.tobytes()
    assert load_study(tmp_path, SYSTEM)[1].values["trajectory"].system is SYSTEM


def test_failures_before_the_first_result_do_not_hide_columns(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    count = 1002  # more than are written at once

    def study(state: State, member: Member) -> Any:
        if member.index < 1000:
            raise ValueError
        return {"x": 1.5, "v": np.ones(2)}

    run_study(SYSTEM, {"spring.place": [0.0] * count}, study, into=tmp_path)
    *others, last = sorted(tmp_path.glob("results-*.arrows"))
    table = pyarrow.ipc.open_stream(last).read_all()
    assert table["x"].to_pylist()[-2:] == [1.5, 1.5]
    assert table["v"].to_pylist()[-2:] == [[1.0, 1.0]] * 2
    assert table.schema.field("v").metadata[b"shape"] == b"[2]"
    counts = [pyarrow.ipc.open_stream(file).read_all().num_rows for file in (*others, last)]
    assert others
    assert sum(counts) == count
    assert load_study(tmp_path)[1001].values["x"] == 1.5


def test_results_of_other_forms_are_kept_exactly(tmp_path: Path) -> None:
    found: list[Any] = [
        1.0,
        2,
        True,
        "a",
        2**70,
        float("nan"),
        np.array([1.5], np.float32),
        np.ones((2, 0)),
        1j,
        "\ud800",
    ]
    results = run_study(
        SYSTEM, [{}] * len(found), lambda s, member: found[member.index], into=tmp_path
    )
    for value, result in zip(found, results, strict=True):
        there = result.values["result"]
        assert type(there) is type(value)
        assert np.asarray(there).tobytes() == np.asarray(value).tobytes() or there == value
        assert getattr(there, "dtype", None) == getattr(value, "dtype", None)


@pytest.mark.parametrize("name", ["notes.txt", "study"])
def test_a_folder_with_other_files_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("something else")
    with pytest.raises(StudyError, match="not a folder of a study"):
        run_study(SYSTEM, TABLE, everything, into=tmp_path)
    with pytest.raises(StudyError, match="is a file"):
        run_study(SYSTEM, TABLE, everything, into=tmp_path / name)
    with pytest.raises(StudyError, match="not a folder of a study"):
        load_study(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"stagecache": "study"}', '{"stagecache": "study", "format": 1}'],
)
def test_a_damaged_index_is_refused(tmp_path: Path, text: str) -> None:
    run_study(SYSTEM, TABLE, everything, into=tmp_path)
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(FileFormatError):
        load_study(tmp_path)


def test_values_that_cannot_be_saved_are_refused_before_anything_runs(tmp_path: Path) -> None:
    members = [{}, {"spring.anything": object()}]
    with pytest.raises(UnsavableValueError, match="member 1"):
        run_study(SYSTEM, members, energy, into=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert run_study(SYSTEM, members, energy)[1].status == "ok"


def test_two_studies_do_not_write_one_folder(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    others: list[Any] = [
        (TABLE, everything, {"resume": True}),
        (TABLE, everything, {}),
        ({"spring.mass": [1.0]}, energy, {}),  # which would replace study.json
    ]

    def study(state: State, member: Member) -> Any:
        while others:  # before a row is written
            members, function, options = others.pop()
            with pytest.raises(StudyError, match="is being written"):
                run_study(SYSTEM, members, function, into=tmp_path, **options)
        return everything(state, member)

    results = run_study(SYSTEM, TABLE, study, into=tmp_path)
    assert not others
    assert results.statistics.num_ok == 23
    assert load_study(tmp_path).names == tuple(TABLE)


def test_a_file_of_rows_never_replaces_another_one(tmp_path: Path) -> None:
    other = tmp_path / "results-000.arrows"

    def study(state: State) -> float:
        other.write_bytes(b"of a driver that does not lock")
        return 1.0

    with pytest.raises(FileExistsError):
        run_study(SYSTEM, [{}], study, into=tmp_path)
    assert other.read_bytes() == b"of a driver that does not lock"
    assert not list(tmp_path.glob(".stagecache-*"))


def test_another_study_takes_a_folder_without_results(tmp_path: Path) -> None:
    with pytest.raises(Stop):
        run_study(SYSTEM, TABLE, Interrupted(0), into=tmp_path)
    results = run_study(SYSTEM, {"spring.place": [0.5]}, energy, into=tmp_path)
    assert repr(results) == "StudyResults(of 'spring': 1 member, 1 ok)"


def rows_in(path: Path) -> list[int]:
    """Members in the order of their rows, in all files."""
    files = [RowFile(name) for name in sorted(path.glob("results-*.arrows"))]
    return [row for file in files for n in range(file.num_batches) for row in file.members(n)]


@pytest.mark.parametrize("which", range(1, 8))
@pytest.mark.parametrize("call", ["fsync", "link", "write"])
def test_control_c_while_a_batch_is_written_doubles_and_loses_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, which: int
) -> None:
    monkeypatch.setattr(folders, "FLUSH_SECONDS", 0.0)
    count = 0
    owner, name = (folders, "_write") if call == "write" else (os, call)
    real = getattr(owner, name)
    ended: list[int] = []

    def interrupted(*arguments: Any) -> Any:
        nonlocal count
        found = real(*arguments)
        count += bool(ended)
        if count == which:
            raise KeyboardInterrupt
        return found

    def study(state: State, member: Member) -> int:
        ended.append(member.index)
        return member.index

    monkeypatch.setattr(owner, name, interrupted)
    members = {"spring.place": [0.1] * 6}
    try:
        run_study(SYSTEM, members, study, into=tmp_path)
    except KeyboardInterrupt:
        assert rows_in(tmp_path) == ended
    else:
        assert count < which
    monkeypatch.undo()
    assert rows_in(tmp_path) == [r.index for r in load_study(tmp_path) if r.status == "ok"]


def by_batches(monkeypatch: pytest.MonkeyPatch, path: Path) -> Path:
    """Write a study with several batches; return its file."""
    monkeypatch.setattr(folders, "MOST_ROWS", 6)
    run_study(SYSTEM, TABLE, everything, into=path)
    [file] = path.glob("results-*.arrows")
    assert len(ArrowFile(file).batches) == 4
    return file


@pytest.mark.parametrize("batch", range(4))
def test_members_of_a_damaged_batch_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    file = by_batches(monkeypatch, tmp_path)
    data = bytearray(file.read_bytes())
    data[ArrowFile(file).batches[batch].body + 3] ^= 1  # the validity of a column, or its numbers
    data[ArrowFile(file).batches[batch].stop - 100] ^= 1
    file.write_bytes(data)
    results = run_study(SYSTEM, TABLE, everything, into=tmp_path, resume=True)
    for found in (results, load_study(tmp_path)):
        assert all(same(one, other) for one, other in zip(WHOLE, found, strict=True))
    assert sorted(rows_in(tmp_path)) == list(range(24))
    assert rows_in(tmp_path)[-6:] == list(range(6 * batch, 6 * batch + 6))
    assert file.with_name(f"{file.name}.damaged").read_bytes() == bytes(data)


@pytest.mark.parametrize("place", [0, 20, 300])
def test_a_file_with_a_damaged_schema_is_set_aside(tmp_path: Path, place: int) -> None:
    run_study(SYSTEM, TABLE, everything, into=tmp_path)
    [file] = tmp_path.glob("results-*.arrows")
    data = bytearray(file.read_bytes())
    data[place] ^= 4
    file.write_bytes(data)
    with pytest.raises(FileFormatError, match="results-000"):
        load_study(tmp_path)
    results = run_study(SYSTEM, TABLE, everything, into=tmp_path, resume=True)
    assert all(same(one, other) for one, other in zip(WHOLE, results, strict=True))
    assert sorted(rows_in(tmp_path)) == list(range(24))


def test_a_file_of_another_study_is_refused_and_stays(tmp_path: Path) -> None:
    for name, members in (("one", TABLE), ("other", {"spring.place": [0.1]})):
        run_study(SYSTEM, members, everything, into=tmp_path / name)
    foreign = tmp_path / "one" / "results-001.arrows"
    (tmp_path / "other" / "results-000.arrows").rename(foreign)
    calls: list[Callable[[], Any]] = [
        lambda: load_study(tmp_path / "one"),
        lambda: run_study(SYSTEM, TABLE, everything, into=tmp_path / "one", resume=True),
    ]
    for call in calls:
        with pytest.raises(StudyError, match="belongs to another study"):
            call()
    assert foreign.exists()


def test_damage_of_the_index_is_said_of_the_index(tmp_path: Path) -> None:
    run_study(SYSTEM, TABLE, everything, into=tmp_path)
    index = tmp_path / "study.json"
    text = index.read_text()
    for old, new in (('"seed": 0', '"seed": 1'), ("N/m", "N/n"), ('"members": "', '"members": "a')):
        assert old in text
        index.write_text(text.replace(old, new))
        calls: list[Callable[[], Any]] = [
            lambda: load_study(tmp_path),
            lambda: run_study(SYSTEM, TABLE, everything, into=tmp_path, resume=True),
        ]
        for call in calls:
            with pytest.raises(FileFormatError, match=r"study\.json: is damaged"):
                call()


def test_a_trajectory_may_have_a_long_name(tmp_path: Path) -> None:
    names = ["n" * 300, "n" * 299 + "m", "a/b", "é"]

    def study(state: State) -> Any:
        return {name: Simulation(0.1)(state) for name in names}

    [result] = run_study(SYSTEM, [{}], study, into=tmp_path)
    assert [run.times[-1] for run in result.values.values()] == [0.1] * 4
    assert len(list((tmp_path / "trajectories").iterdir())) == 4


def test_load_study_checks_its_arguments(tmp_path: Path) -> None:
    with pytest.raises(WrongTypeError):
        load_study(3)  # type: ignore[arg-type]  # is refused
    with pytest.raises(WrongTypeError):
        load_study(tmp_path, 3)  # type: ignore[arg-type]  # is refused
    with pytest.raises(FileNotFoundError):
        load_study(tmp_path / "none")
