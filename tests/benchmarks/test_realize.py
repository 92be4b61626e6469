"""What is measured of realizing is what the rows say: each hook runs once, each entry of Drake."""

from typing import Any

import pytest

from benchmarks.models import STAGES, Computed, Hooked, Model, Scalar, Tuned
from benchmarks.peers import OWN, load_peer
from benchmarks.probes import Prepared, Repeated
from benchmarks.rows import REALIZE, Row
from benchmarks.rows.realize import (
    DRAKE_EVALUATE_ALL,
    DRAKE_TUNE,
    DRAKE_UPDATE,
    DRAKE_WRITE,
    DRAKE_WRITE_ONE,
    INSTANCE_REALIZATION,
    REALIZATION,
    UPDATE,
    WRITE,
    WRITE_PARAMETER,
)
from stagecache import Stage

ROWS = {row.name: row for group in REALIZE.groups for row in group}
NAMED = {stage: f"realize_{stage.name.lower()}" for stage in STAGES}
Calls = list[tuple[int, Stage]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Which hooks run from now on: the index of the subsystem, and the stage."""
    noted: Calls = []
    for stage, hook in NAMED.items():

        def note(self: Hooked, state: object, stage: Stage = stage) -> None:
            noted.append((self.index, stage))

        monkeypatch.setattr(Hooked, hook, note)
    return noted


def sample_once(row: Row, calls: Calls) -> Calls:
    """The hooks that run in one sample of as few turns as there can be."""
    probe = row.build(load_peer(OWN))
    calls.clear()
    assert probe.sample() > 0
    return calls


def test_the_hooks_are_overridden() -> None:
    assert set(NAMED.values()) <= vars(Hooked).keys()
    assert [name for name in vars(Computed) if name.startswith("realize")] == []
    assert [name for name in vars(Scalar) if name.startswith("realize")] == []


@pytest.mark.parametrize(
    ("name", "subsystems"),
    [
        ("1 subsystem: write q and u, realize 4 stages, in all", 1),
        ("10 subsystems: write q and u, realize 4 stages, ÷ 40", 10),
        ("50 subsystems: write q and u, realize 4 stages, ÷ 200", 50),
        ("1 subsystem: upd_q(), upd_u(), realize 4 stages, in all", 1),
    ],
)
def test_each_hook_runs_once_in_each_subsystem_but_the_default_one(
    name: str, subsystems: int, calls: Calls
) -> None:
    everything = [(x, stage) for stage in STAGES for x in range(1, subsystems + 1)]
    assert sample_once(ROWS[name], calls) == everything


def test_no_hook_runs_where_nothing_was_written(calls: Calls) -> None:
    assert sample_once(ROWS["1 subsystem: realize, nothing was written"], calls) == []


@pytest.mark.parametrize("subsystems", [10, 50])
def test_a_figure_is_divided_by_what_the_row_says(subsystems: int) -> None:
    pairs = len(STAGES) * subsystems
    row = ROWS[f"{subsystems} subsystems: write q and u, realize 4 stages, ÷ {pairs}"]
    probe = row.build(load_peer(OWN))
    assert isinstance(probe, Repeated)
    assert probe._operations == pairs


@pytest.mark.parametrize("peer", [OWN, "drake"])
@pytest.mark.parametrize("subsystems", [100, 1_000])
def test_adding_is_divided_by_the_number_of_subsystems(subsystems: int, peer: str) -> None:
    if peer != OWN:
        pytest.importorskip("pydrake", reason="pydrake is in the extra: pip install '.[bench]'")
    probe = ROWS[f"add {subsystems:,} subsystems, each"].build(load_peer(peer))
    assert isinstance(probe, Prepared)
    assert probe._operations == subsystems
    assert probe.sample() > 0


def test_no_other_figure_is_divided() -> None:
    for name in {name for name in ROWS if "÷" not in name and "each" not in name.split(", ")}:
        probe = ROWS[name].build(load_peer(OWN))
        assert isinstance(probe, Repeated)
        assert probe._operations == (10 if "nothing" in name else 1)  # as often as it is unrolled


@pytest.mark.parametrize("write", [WRITE, UPDATE])
def test_all_four_stages_and_no_others_are_realized(write: str) -> None:
    model = Model(Hooked(), Hooked())
    assert 0.3 not in model.state.q
    assert 0.4 not in model.state.u
    statistics = model.system.statistics
    statistics.reset()
    exec(f"{write}\n{REALIZATION}", model.names())
    assert [stage for stage in Stage if statistics.num_realizations(stage)] == list(STAGES)
    assert list(model.state.q) == [0.3, 0.3]
    assert list(model.state.u) == [0.4, 0.4]


def test_an_entry_at_each_stage_is_computed_by_it() -> None:
    part = Computed()
    model = Model(part)
    entries = [part.at_position, part.at_velocity, part.at_dynamics, part.at_acceleration]
    assert [entry.computed_by for entry in entries] == list(STAGES)
    exec(WRITE, model.names())
    assert not any(entry.is_valid(model.state) for entry in entries)
    exec(REALIZATION, model.names())
    assert all(entry.is_valid(model.state) for entry in entries)


def test_setting_one_q_makes_the_entry_below_it_invalid() -> None:
    part = Scalar()
    state = Model(part).state
    part.below_position(state)
    part.position.set(state, 0.3)
    assert not part.below_position.is_valid(state)
    assert state.stage == Stage.TIME
    part.below_position(state)
    assert part.below_position.is_valid(state)


def test_a_parameter_takes_the_state_back_to_model_and_instance_is_realized_again() -> None:
    part = Tuned()
    model = Model(part, Tuned())
    names = {**model.names(), "gain": part.gain}
    exec(WRITE_PARAMETER, names)
    stages = [model.state.stage]
    exec(INSTANCE_REALIZATION, names)
    stages.append(model.state.stage)
    assert stages == [Stage.MODEL, Stage.INSTANCE]
    assert part.gain(model.state) == 1.5


def test_a_parameter_of_drake_makes_the_entry_below_it_out_of_date_and_no_other() -> None:
    pytest.importorskip("pydrake", reason="pydrake is in the extra: pip install '.[bench]'")
    from benchmarks.peers.drake_model import DrakeModel  # noqa: PLC0415

    model = DrakeModel(2)
    names: dict[str, Any] = model.names()
    pairs = list(zip(model.leaves, model.contexts, strict=True))
    exec(DRAKE_TUNE, names)
    assert [leaf.tuned.is_out_of_date(context) for leaf, context in pairs] == [True, False]
    assert not any(e.is_out_of_date(context) for leaf, context in pairs for e in leaf.entries)
    exec("evaluate_tuned(context)", names)
    assert not model.leaves[0].tuned.is_out_of_date(model.contexts[0])
    exec(DRAKE_WRITE_ONE, names)
    assert [leaf.entries[0].is_out_of_date(context) for leaf, context in pairs] == [True, False]


@pytest.mark.parametrize("name", [name for name in ROWS if "5,000" not in name])
def test_every_row_can_be_measured_on_drake(name: str) -> None:
    pytest.importorskip("pydrake", reason="pydrake is in the extra: pip install '.[bench]'")
    assert ROWS[name].build(load_peer("drake")).sample() > 0


@pytest.mark.parametrize("write", [DRAKE_WRITE, DRAKE_UPDATE])
@pytest.mark.parametrize("subsystems", [1, 3])
def test_all_entries_of_drake_are_computed_anew(subsystems: int, write: str) -> None:
    pytest.importorskip("pydrake", reason="pydrake is in the extra: pip install '.[bench]'")
    from benchmarks.peers.drake_model import DrakeModel  # noqa: PLC0415

    model = DrakeModel(subsystems)

    def out_of_date() -> list[bool]:
        return [
            entry.is_out_of_date(context)
            for leaf, context in zip(model.leaves, model.contexts, strict=True)
            for entry in leaf.entries
        ]

    names: dict[str, Any] = model.names()
    assert out_of_date() == [False] * 4 * subsystems
    exec(write, names)
    assert out_of_date() == [True] * 4 * subsystems
    assert list(model.context.get_continuous_state_vector().CopyToVector()) == list(model.x)
    exec(DRAKE_EVALUATE_ALL, names)
    assert out_of_date() == [False] * 4 * subsystems
