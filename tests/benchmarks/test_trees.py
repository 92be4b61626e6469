"""What is measured of trees of bodies is what the rows say, here and in the other libraries."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.errors import NotInstalledError
from benchmarks.kinematics import TWINS, AbstractTwin, load_twin
from benchmarks.peers import OWN, load_peer
from benchmarks.probes import AbstractProbe, Repeated
from benchmarks.rows import MULTIBODY, Row, Section
from benchmarks.rows.multibody import (
    JACOBIANS,
    MOTIONS,
    POSES,
    POSITIONS,
    REALIZE,
    UDOT,
    WRITE_ALL,
    WRITE_ONE,
    WRITE_U,
    statement,
)
from benchmarks.runner import QUICK, measure
from benchmarks.trees import MARKERS, Measured, bushy, chain, falling, person

ROWS = {row.name: row for group in MULTIBODY.groups for row in group}

each_twin = pytest.mark.parametrize(
    "name",
    [
        pytest.param("mujoco", marks=pytest.mark.mujoco),
        pytest.param("pinocchio", marks=pytest.mark.pinocchio),
    ],
)
each_tree = pytest.mark.parametrize(
    "make", [lambda: chain(10), lambda: bushy(20), person], ids=["chain", "bushy", "person"]
)


def twin_of(name: str, measured: Measured) -> AbstractTwin:
    try:
        kind = load_twin(name)
    except NotInstalledError as error:
        pytest.skip(str(error))
    twin = kind(measured.system.matter, measured.markers)
    twin.place(measured.state)
    return twin


def test_trees_are_as_large_as_the_rows_say() -> None:
    measured = person()
    assert measured.state.nu == 31
    assert len(measured.markers) == MARKERS == 40
    assert len(chain(30).bodies) == len(bushy(30).bodies) == 31


def test_a_write_moves_what_is_outboard_and_no_more() -> None:
    measured = chain(100)
    middle, last = measured.bodies[50], measured.bodies[-1]
    for body, moved in ((middle, ((50, 101),)), (last, ((100, 101),))):
        names = measured.names(body)
        exec(statement(WRITE_ONE, "poses"), names)
        assert names["poses"](measured.state).moved == moved
    names = measured.names()
    exec(statement(WRITE_ALL, "poses"), names)
    assert names["poses"](measured.state).moved == ((1, 101),)


@pytest.mark.parametrize(
    ("template", "read"),
    [
        (WRITE_ALL, "poses"),
        (WRITE_ONE, "poses"),
        (WRITE_ALL, "positions"),
        (WRITE_ALL, "jacobian"),
        (WRITE_U, "motions"),
    ],
)
def test_each_write_leaves_something_to_compute(template: str, read: str) -> None:
    measured = person()
    names = measured.names(measured.bodies[-1])
    read_entry, seen = names[read], []

    def noting(state: object) -> object:
        assert not read_entry.is_valid(state)
        seen.append(read_entry(state))
        return seen[-1]

    read_entry(measured.state)
    exec(statement(template, read), names | {read: noting})
    one, other = [getattr(value, "bodies", value) for value in seen]
    assert np.abs(one - other).max() > 0


def test_a_write_of_u_computes_no_poses() -> None:
    measured = bushy(10)
    names = measured.names()
    before = names["poses"](measured.state)
    exec(statement(WRITE_U, "motions"), names)
    assert names["poses"](measured.state) is before


@each_twin
@each_tree
def test_statements_of_the_others_compute_what_ours_do(
    name: str, make: Callable[[], Measured]
) -> None:
    measured = make()
    twin = twin_of(name, measured)
    names = twin.names()
    exec(JACOBIANS[name], names)
    state = measured.state
    expected = measured.markers.jacobian(state)
    np.testing.assert_allclose(names["jacobian"] @ twin.transfer, expected, atol=1e-12)
    start = state.copy()
    state.q, state.u = measured.other_q, measured.other_u
    other = twin_of(name, measured)
    names["q"][:], names["v"][:] = other.q, other.v
    for statements in (POSES, POSITIONS):
        twin.place(start)
        exec(statements[name], names)
        if name == "pinocchio" and statements is POSES:  # frames B are not among its joints
            names["updateFramePlacements"](names["model"], names["data"])
        for body in measured.bodies[1:]:
            np.testing.assert_allclose(twin.pose(body), body.pose(state).matrix, atol=1e-12)
        places = [marker_place(names["data"], number) for _, number in names["parts"]]
        np.testing.assert_allclose(places, measured.markers.positions(state), atol=1e-12)
    exec(JACOBIANS[name], names)  # MuJoCo's velocities are computed from what these need
    exec(MOTIONS[name], names)
    for body in measured.bodies[1:]:
        np.testing.assert_allclose(twin.velocity(body), body.velocity(state), atol=1e-11)


def test_the_other_computes_the_same_udot() -> None:
    measured = falling(30)
    twin = twin_of("pinocchio", measured)
    exec(statement(REALIZE, "realize"), measured.names())
    state = measured.state
    twin.place(state)
    found = eval(UDOT["pinocchio"], twin.names())
    np.testing.assert_allclose(state.udot, found, rtol=1e-9)


def marker_place(data: Any, number: int) -> Any:
    """Of a site of MuJoCo, or a frame of Pinocchio."""
    return data.site_xpos[number] if hasattr(data, "qpos") else data.oMf[number].translation


def test_what_is_left_out_beside_a_row_has_its_reason() -> None:
    def never() -> AbstractProbe:
        raise AssertionError("it was to be left out")

    row = Row("one", lambda _: Repeated("1", {}), beside={"far": never}, without={"far": "far"})
    found = measure(
        Section("one", ((row,),), peers=(OWN,)), [load_peer(OWN)], QUICK, lambda _: None
    )
    assert found.reasons == {("one", "far"): "far"}
    assert found.figures.keys() == {("one", OWN)}


@each_twin
@pytest.mark.parametrize("row", [row for row in ROWS if "1,000" not in row and "100" not in row])
def test_every_row_can_be_measured_beside_the_others(name: str, row: str) -> None:
    if name in ROWS[row].without:
        pytest.skip(ROWS[row].without[name])
    try:
        probe = ROWS[row].beside[name]()
    except NotInstalledError as error:
        pytest.skip(str(error))
    assert probe.sample() > 0


@pytest.mark.parametrize("name", [row for row in ROWS if "1,000" not in row])
def test_a_row_can_be_sampled(name: str) -> None:
    assert ROWS[name].build(load_peer(OWN)).sample() > 0


def test_a_twin_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TWINS, "mujoco", ("mujoco_twin", "MujocoTwin", "no_such", "no-such"))
    with pytest.raises(NotInstalledError, match="pip install no-such"):
        load_twin("mujoco")
