"""What is measured of the State is what the rows say, and a missing Simbody is not passed over."""

from pathlib import Path

import pytest

from benchmarks.errors import FailedProgramError, NotInstalledError, WrongValidityError
from benchmarks.forms import form_here
from benchmarks.limits import OfPeer
from benchmarks.peers import OWN, load_peer
from benchmarks.probes import Prepared
from benchmarks.report import tabulate
from benchmarks.rows import SECTIONS, STATE, Row, Section
from benchmarks.rows.state import read
from benchmarks.runner import Effort, measure
from benchmarks.simbody import SIMBODY, program, simbody
from benchmarks.states import Subject, advancing, allocating, copying, writing
from stagecache import Stage

ONCE = Effort(repetitions=1, budget=1e-4, patience=0.0, fewest=1, short=True)
STATE_ROWS = [row for group in STATE.groups for row in group]


@pytest.mark.parametrize("dependents", [0, 3, 20])
def test_a_write_of_q_makes_its_dependents_invalid_and_nothing_else(dependents: int) -> None:
    subject = Subject()
    subject.fill_below(20, dependents)
    subject.fill_lazy(20, dependents)
    entries = [*subject.others, *subject.dependents]
    assert len(entries) == 40
    assert len(subject.dependents) == 2 * dependents
    subject.mark_all()
    assert subject.state.stage == Stage.REPORT
    assert all(entry.is_valid(subject.state) for entry in entries)
    subject.state.upd_q()
    assert not any(entry.is_valid(subject.state) for entry in subject.dependents)
    assert all(entry.is_valid(subject.state) for entry in subject.others)


@pytest.mark.parametrize("cold", [False, True])
@pytest.mark.parametrize("dependents", [2, 20])
def test_before_each_write_everything_is_marked(dependents: int, cold: bool) -> None:
    prepare, write = writing(20, dependents, cold=cold)  # raises if it is not
    for number in range(3):
        prepare(number)
        write(number)


def test_writes_of_z_in_between_leave_the_entries_valid() -> None:
    subject = Subject()
    subject.fill_below(4, 2)
    subject.fill_lazy(4, 2)
    subject.mark_all()
    subject.write_beside()
    assert subject.state.stage == Stage.REPORT
    subject.require([*subject.others, *subject.dependents], True, "after writes of z")


def test_a_wrong_validity_is_not_passed_over() -> None:
    subject = Subject()
    subject.fill_below(4, 2)
    with pytest.raises(WrongValidityError, match=r"here: .*\n.*2 of 2 entries\n.*0 of 2 entries"):
        subject.require(subject.dependents, True, "here")


@pytest.mark.parametrize("workload", [copying, allocating, advancing])
def test_a_workload_can_be_sampled_again_and_again(workload: object) -> None:
    assert callable(workload)
    prepare, call = workload(5)
    for number in range(3):
        prepare(number)
        call(number)


def test_a_prepared_call_is_divided_by_its_operations() -> None:
    calls: list[int] = []

    def call(number: int) -> None:
        calls.append(number)
        sum(range(20_000))

    def sampled(operations: int) -> float:
        probe = Prepared(lambda _: None, call, operations=operations)
        probe.calibrate(1e-4)
        return probe.sample()

    assert 0 < sampled(1_000_000) < sampled(1)
    assert calls


def test_names_of_rows_are_unique_in_all_sections() -> None:
    names = [row.name for section in SECTIONS for group in section.groups for row in group]
    assert len(set(names)) == len(names)


def test_limits_of_the_state_are_kept_or_missed_by_columns_that_are_measured() -> None:
    for row in STATE_ROWS:
        for limit in row.limits:
            if isinstance(limit, OfPeer):
                assert limit.column in row.beside


def test_a_row_says_where_simbody_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(program, "INCLUDE", tmp_path)
    limit = OfPeer(1, SIMBODY)
    row = Row("read", read, limits=[limit], beside={SIMBODY: simbody("read")})
    section = Section("State", ((row,),), peers=(OWN,), columns=(SIMBODY,))
    peers = [load_peer(OWN)]
    measured = measure(section, peers, ONCE, lambda _: None)
    table = tabulate(section, peers, measured, [form_here()])
    assert table.lines[0][2] == "[1]"
    assert table.notes == ["[1] Simbody is not installed: the package libsimbody-dev of Debian"]
    assert limit.judge("read", measured.figures).met is None


def test_a_missing_compiler_is_told_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "SimTKcommon.h").touch()
    monkeypatch.setattr(program, "INCLUDE", tmp_path)
    monkeypatch.setattr(program, "COMPILER", "no-such-compiler")
    with pytest.raises(NotInstalledError, match="compiler no-such-compiler"):
        simbody("read")()


def test_a_failing_program_is_not_passed_over() -> None:
    with pytest.raises(FailedProgramError, match=r"exit code 3\n.*\n.*broken"):
        program._run(["sh", "-c", "echo broken >&2; exit 3"])
