"""Trajectories as Parquet, netCDF, Zarr and datasets of xarray."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from attrs import asdict

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    TerminationReason,
    Trajectory,
    cached,
    discrete,
    load_trajectory,
    parameter,
    q_variable,
    simulate,
    u_variable,
    z_variable,
)
from stagecache.errors import FileFormatError, MissingExtraError, NotANumberError, StudyError
from stagecache.study import IntegratorStatistics
from stagecache.study.ending import Ending
from stagecache.study.trajectory.stored import open_trajectory
from tests.study.trajectory.test_stored import RECORD, Ball, check_same, recorded

COUNTS = asdict(IntegratorStatistics())
COUNTED = {"reason": "REACHED_FINAL_TIME", "statistics": COUNTS}
FORMATS = {
    "parquet": ("pyarrow",),
    "netcdf": ("xarray", "netCDF4"),
    "zarr": ("xarray", "zarr"),
}
"""Formats, and the packages that they need, of the extra files."""


def require(form: str) -> None:
    """Skip the test of a format if a package is not installed."""
    for package in FORMATS.get(form, ()):
        pytest.importorskip(package, reason=f"needs {package}, of the extra files")


def steps() -> list[dict[str, Any]]:
    """Writes of values that stand in columns, and of others."""
    rows: list[dict[str, Any]] = [{"y": [k, -k, 0.1 * k, 3.0, np.nan, 5.0]} for k in range(6)]
    rows[1] |= {"count": 3, "is_up": True, "levels": np.array([1, 2]), "mass": 3.0}
    rows[3] |= {"count": 2**80, "levels": np.zeros(3), "anything": ["a", 1]}
    rows[4] |= {"count": 4, "table": np.array([np.inf, 0.0, 1.0])}
    return rows


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_loaded_is_what_was_written(form: str, tmp_path: Path) -> None:
    require(form)
    ball = Ball()
    system = System(ball)
    trajectory = recorded(ball, system.new_state(), steps())
    path = tmp_path / "run"
    write: Callable[[Path], None] = getattr(trajectory, f"to_{form}")
    write(path)
    write(path)  # the older file is replaced
    assert [*tmp_path.iterdir()] == [path]
    for loaded in (load_trajectory(path), load_trajectory(path, system)):
        check_same(trajectory, loaded, ball)
        check_same(trajectory[::-2], loaded[::-2], ball)
    assert (loaded.record, loaded.units) == (RECORD, trajectory.units)
    getattr(loaded, f"to_{form}")(tmp_path / "again")
    files = [open_trajectory(tmp_path / name) for name in ("run", "again")]
    assert [*files[0].changes(0)] == [*files[1].changes(0)]
    check_same(trajectory, load_trajectory(tmp_path / "again", system), ball)


class Falling(Subsystem):
    height = q_variable(1.0)
    speed = u_variable(0.0)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -9.81


@pytest.mark.parametrize("form", ["save", *FORMATS])
def test_the_end_of_a_simulation_is_kept(form: str, tmp_path: Path) -> None:
    require(form)
    system = System(Falling())
    trajectory = simulate(system, system.new_state(), 1.0, every=0.5)
    write: Callable[[Path], None] = getattr(trajectory, form if form == "save" else f"to_{form}")
    write(tmp_path / "run")
    loaded = load_trajectory(tmp_path / "run")
    assert loaded.termination_reason is TerminationReason.REACHED_FINAL_TIME
    assert loaded.statistics is not None
    assert loaded.statistics == trajectory.statistics


@pytest.mark.parametrize(
    "ending",
    [
        *(None, 3, [], {}, {"reason": "REACHED_FINAL_TIME"}, {"reason": [], "statistics": {}}),
        {"reason": "REACHED_FINAL_TIME", "statistics": {"num_steps_taken": 1}},
        *(COUNTED | {"reason": reason} for reason in ("NO_REASON", None, 3)),
        *(COUNTED | {"statistics": COUNTS | {"num_steps_taken": n}} for n in (-1, 0.5, "1", True)),
    ],
)
def test_an_end_that_says_something_else_is_refused(ending: Any) -> None:
    with pytest.raises(FileFormatError, match="has no end of a simulation"):
        Ending.of_json(ending, "a file")
    assert Ending.of_json(COUNTED, "a file").to_json() == COUNTED


@pytest.mark.parametrize("form", FORMATS)
def test_a_damaged_file_is_refused(form: str, tmp_path: Path) -> None:
    require(form)
    ball = Ball()
    trajectory = recorded(ball, System(ball).new_state(), steps())
    path = tmp_path / "run"
    getattr(trajectory, f"to_{form}")(path)
    if path.is_dir():
        (path / ".zattrs").unlink()
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(FileFormatError, match="run: is"):
        load_trajectory(path)


def test_each_subsystem_keeps_its_values_in_any_order_of_columns() -> None:
    pytest.importorskip("xarray", reason="needs xarray, of the extra labels")
    a, b = LivingRoom(), LivingRoom()
    system = System(a=a, b=b)
    state = system.new_state()
    trajectory = Trajectory(state, record=("b.walls[north]", "a.walls[north]"))
    a.heat.set(state, 1.0)
    b.heat.set(state, 2.0)
    trajectory.append(state)
    for paths in (
        ("b.heat", "a.heat", "a.place", "b.place"),
        ("a.place", "b.place", "b.heat", "a.heat"),
    ):
        found = trajectory.to_xarray(*paths)
        assert [found.heat.sel(living_room=name).item() for name in "ab"] == [1.0, 2.0]


def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    require("zarr")
    trajectory = recorded(ball := Ball(), System(ball).new_state(), steps())
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("text")
    for write in (trajectory.to_zarr, trajectory.to_netcdf):
        with pytest.raises(StudyError, match="would replace"):
            write(precious)
    assert (precious / "file").read_text() == "text"


@pytest.mark.parametrize("form", FORMATS)
def test_a_byte_that_has_changed_is_told_or_changes_no_value(form: str, tmp_path: Path) -> None:
    require(form)
    ball = Ball()
    trajectory = recorded(ball, System(ball).new_state(), steps())
    path = tmp_path / "run"
    getattr(trajectory, f"to_{form}")(path)
    files = [p for p in sorted([path, *path.rglob("*")]) if p.is_file()]
    random = Random(1)
    refused = 0
    for _ in range(60):
        file = random.choice(files)
        whole = file.read_bytes()
        data = bytearray(whole)
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        file.write_bytes(data)
        try:
            check_same(trajectory, load_trajectory(path), ball)
        except FileFormatError:
            refused += 1
        file.write_bytes(whole)
    assert refused > 5


@pytest.mark.parametrize("form", FORMATS)
def test_a_missing_package_is_named_with_its_extra(form: str, tmp_path: Path) -> None:
    ball = Ball()
    trajectory = recorded(ball, System(ball).new_state(), steps())
    with (
        patch.dict("sys.modules", dict.fromkeys(FORMATS[form])),
        pytest.raises(MissingExtraError, match=r"stagecache\[files\]"),
    ):
        getattr(trajectory, f"to_{form}")(tmp_path / "run")
    assert [*tmp_path.iterdir()] == []


class LivingRoom(Subsystem):
    heat = z_variable(20.0, unit="degC")
    place = q_variable((1.0, 2.0))
    walls = parameter(1.0, count=("north", "south"))
    doors = discrete(0, invalidates=Stage.REPORT, count=2)


class Sensor(Subsystem):
    heat = z_variable(0.0, count=("low", "high"))

    @cached(prerequisites=(heat,))
    def label(self, state: State) -> str:
        return "warm"


def test_columns_that_belong_together_are_one_variable_with_their_names() -> None:
    xarray = pytest.importorskip("xarray", reason="needs xarray, of the extra labels")
    system = System(kitchen=LivingRoom(), bath=LivingRoom(), sensor=(sensor := Sensor()))
    trajectory = Trajectory(system.new_state(), record=(sensor.label,))
    state = system.new_state()
    for k in range(3):
        state.time = float(k)
        state.y = np.arange(state.ny) + 10.0 * k
        trajectory.append(state)
    data = trajectory.to_xarray()
    assert {name: data[name].dims for name in data.data_vars} == {
        "heat": ("time", "living_room"),
        "place": ("time", "living_room", "place.index"),
        "doors": ("time", "living_room", "doors.item"),
        "sensor.heat": ("time", "sensor.heat.item"),
        "sensor.label": ("time",),
    }
    assert data["heat"].attrs == {"kind": "z", "units": "degC"}
    for room in ("kitchen", "bath"):
        assert (data["heat"].sel(living_room=room) == trajectory[f"{room}.heat"]).all()
        assert (data["place"].sel(living_room=room) == trajectory[f"{room}.place"]).all()
    assert list(data["sensor.heat.item"].values) == ["low", "high"]
    assert (
        data["sensor.heat"].sel({"sensor.heat.item": "high"}) == trajectory["sensor.heat[high]"]
    ).all()
    assert set(trajectory.to_xarray(together=False).data_vars) == set(trajectory.columns)
    only = trajectory.to_xarray("kitchen.heat", "bath.place")
    assert set(only.data_vars) == {"kitchen.heat", "bath.place"}
    assert isinstance(only, xarray.Dataset)
    with pytest.raises(NotANumberError, match="together"):
        trajectory.to_xarray(together=1)  # type: ignore[arg-type]  # is refused


class Heat(Subsystem):
    heat = z_variable(0.0)
    time_ = z_variable(0.0)


class Time(Subsystem):
    span = z_variable(0.0)


def test_a_dimension_does_not_hide_a_variable() -> None:
    pytest.importorskip("xarray", reason="needs xarray, of the extra labels")
    system = System(a=Heat(), b=Heat(), c=Time(), d=Time())
    trajectory = Trajectory(system.new_state())
    trajectory.append(system.new_state())
    data = trajectory.to_xarray()
    assert set(data.data_vars) == {"a.heat", "b.heat", "time_", "c.span", "d.span"}
