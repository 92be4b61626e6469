"""Models of OpenSim: small ones, against the numbers that OpenSim has found."""

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stagecache import Assembler, Stage
from stagecache.errors import FileFormatError, MassPropertiesError, WrongTypeError
from stagecache.models import Model, ModelWarning, load_osim
from stagecache.multibody import (
    Bushing,
    Gimbal,
    Gravity,
    MobilizedBody,
    Pin,
    Slider,
    Universal,
    Weld,
)
from tests.models import small_models as made
from tests.models.conftest import Write
from tests.models.opensim_results import RESULTS, results_of
from tests.models.small_models import SMALL

FOUND: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))["models"]
EXACT = 1e-13


def loaded(path: Path, **options: Any) -> Model:
    """Load a model from which nothing is left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load_osim(path, **options)


@pytest.mark.parametrize("name", SMALL)
def test_bodies_and_markers_are_where_opensim_has_them(
    name: str, small: Callable[[str], Path]
) -> None:
    model, found = loaded(small(name)), FOUND[name]
    assert sorted(model.coordinates) == sorted(found["coordinates"])
    state = model.system.new_state()
    rows = zip(found["q"], found["bodies"], found["markers"], found["errors"], strict=True)
    for q, bodies, markers, errors in rows:
        for coordinate, value in zip(found["coordinates"], q, strict=True):
            model.coordinates[coordinate].set(state, value)
        for body, pose in bodies.items():
            np.testing.assert_allclose(model.bodies[body].pose(state).matrix[:3], pose, atol=EXACT)
        own = model.marker_positions(state)
        for marker, place in markers.items():
            np.testing.assert_allclose(own[marker], place, atol=EXACT)
        model.system.realize(state, Stage.POSITION)
        assert len(state.qerr) == len(errors)  # in other axes
        if len(errors) % 3 == 0:
            np.testing.assert_allclose(
                np.linalg.norm(state.qerr[-3:]), np.linalg.norm(errors[-3:]), atol=EXACT
            )
        else:
            np.testing.assert_allclose(np.abs(state.qerr), np.abs(errors), atol=EXACT)


@pytest.mark.opensim
@pytest.mark.parametrize("name", ["FreeJoint", "SimmSpline", "version 2", "WeldConstraint"])
def test_the_numbers_are_those_that_opensim_finds_now(name: str) -> None:
    pytest.importorskip("opensim")
    found = results_of(SMALL[name], list(SMALL).index(name))
    assert found["q"] == FOUND[name]["q"]
    for own, kept in zip(found["bodies"], FOUND[name]["bodies"], strict=True):
        for body, pose in own.items():
            np.testing.assert_allclose(pose, kept[body], atol=EXACT)


def test_a_joint_that_does_not_move_is_a_weld(write: Write) -> None:
    model = loaded(write(made.of_no_coordinate()))
    assert isinstance(model.bodies["b"].mobilizer, Weld)
    place = model.bodies["b"].pose(model.system.new_state()).translation
    assert np.linalg.norm(place) > 0.1


@pytest.mark.parametrize(
    ("axes", "kind"),
    [
        (("0 0 1",), Pin),
        (("0.6 0.8 0",), Pin),
        (("0 0 1", "1 0 0"), Universal),
        (("0 0 1", "-1 0 0", "0 -1 0"), Gimbal),
    ],
)
def test_custom_joints_are_simple_ones_where_these_move_alike(
    axes: tuple[str, ...], kind: type, write: Write
) -> None:
    parts = [(f"q{i}", axis, made.LINEAR) for i, axis in enumerate(axes)]
    still = [("", axis, made.CONSTANT) for axis in ("1 0 0", "0 1 0", "0 0 1")]
    joint = made.custom(*parts, *still[len(axes) :], *still, coordinates=[p[0] for p in parts])
    model = loaded(write(made.document(joint, ["b"])))
    assert type(model.bodies["b"].mobilizer) is kind


def test_the_joint_of_a_pelvis_is_a_bushing_and_its_coordinates_keep_their_order(
    small: Callable[[str], Path],
) -> None:
    model = loaded(small("pelvis"))
    assert isinstance(model.bodies["b"].mobilizer, Bushing)
    assert list(model.coordinates) == [f"q{i}" for i in range(6)]
    assert list(model.units.values()) == ["rad"] * 3 + ["m"] * 3


def test_a_slide_along_any_axis_is_a_slider(write: Write) -> None:
    still = [("", axis, made.CONSTANT) for axis in ("1 0 0", "0 1 0", "0 0 1")]
    slide = (
        "q0",
        "0 0.6 -0.8",
        "<LinearFunction><coefficients>-1 0</coefficients></LinearFunction>",
    )
    joint = made.custom(*still, slide, *still[:2], coordinates=["q0"])
    model = loaded(write(made.document(joint, ["b"])))
    assert type(model.bodies["b"].mobilizer) is Slider
    body, state = model.bodies["b"], model.system.new_state()
    before = body.pose(state).translation
    model.coordinates["q0"].set(state, 2.0)
    turn = body.inboard_frame.rotation @ np.linalg.inv(body.outboard_frame.rotation)
    moved = np.linalg.inv(turn) @ (body.pose(state).translation - before)
    assert np.linalg.norm(moved) == pytest.approx(2.0)


def test_coordinates_have_defaults_ranges_clamps_and_locks(write: Write) -> None:
    text = SMALL["PlanarJoint"].replace(
        made.coordinate("q1"),
        made.coordinate("q1", default_value=0.3, range="-0.5 0.4", clamped="true"),
    )
    text = text.replace(
        made.coordinate("q2"), made.coordinate("q2", default_value=7, locked="true")
    )
    model = loaded(write(text))
    state = model.system.new_state()
    one, two = model.coordinates["q1"], model.coordinates["q2"]
    assert (one(state), one.range, one.is_clamped) == (0.3, (-0.5, 0.4), True)
    assert (two(state), two.is_locked(state), two.is_clamped) == (7.0, True, False)
    assert dict(model.units) == {"q0": "rad", "q1": "m", "q2": "m"}


def test_a_default_outside_of_its_range_is_moved_into_it_where_it_is_clamped(write: Write) -> None:
    text = SMALL["PinJoint"].replace("<default_value>0<", "<default_value>3<")
    assert loaded(write(text)).coordinates["q0"].default == 3.0
    text = text.replace("<clamped>false<", "<clamped>true<")
    assert loaded(write(text)).coordinates["q0"].default == 1.5


def test_masses_and_gravity_are_read_or_left_out(small: Callable[[str], Path]) -> None:
    path = small("PinJoint")
    model = loaded(path)
    body = model.bodies["b"]
    assert body.mass_properties.mass == 2.0
    np.testing.assert_allclose(
        body.mass_properties.central_inertia, [[0.1, 0.01, 0], [0.01, 0.2, 0], [0, 0, 0.15]]
    )
    gravity = model.system.get(Gravity, "gravity")
    assert gravity.acceleration(model.system.new_state()) == (0.0, -9.80665, 0.0)
    light = loaded(path, masses=False)
    assert light.bodies["b"].mass_properties.mass == 0.0
    assert len(light.system.subsystems) == len(model.system.subsystems) - 1


def test_an_inertia_that_no_body_can_have_is_an_error_only_where_masses_are_read(
    write: Write,
) -> None:
    path = write(SMALL["PinJoint"].replace("0.1 0.2 0.15 0.01 0 0", "0.1 0.2 0.5 0 0 0"))
    with pytest.raises(MassPropertiesError, match=r"small.osim, line \d+: <Body name='b'>"):
        load_osim(path)
    with pytest.warns(ModelWarning, match=r"1 mass properties \(b\): violates the triangle"):
        model = load_osim(path, masses=False)
    assert "triangle" in model.left_out[0].reason


def test_what_is_left_out_is_in_one_warning(write: Write) -> None:
    forces = "".join(f'<Thelen2003Muscle name="m{i}" />' for i in range(5))
    more = (
        f"<ForceSet><objects>{forces}<BushingForce name='x' /></objects></ForceSet>"
        "<ContactGeometrySet><objects><ContactSphere name='heel' /></objects></ContactGeometrySet>"
        "<ConstraintSet><objects><RollingOnSurfaceConstraint name='roll' /></objects>"
        "</ConstraintSet>"
    )
    joint = made.joint("PinJoint", "j", "/ground", "/bodyset/b", ["q0"])
    path = write(made.document(joint, ["b"], more))
    with pytest.warns(ModelWarning) as caught:
        model = load_osim(path)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "5 Thelen2003Muscle (m0, m1, m2 and 2 more)" in text
    assert caught[0].filename == __file__
    kinds = {part.kind: part.names for part in model.left_out}
    assert kinds["BushingForce"] == ("x",)
    assert kinds["ContactSphere"] == ("heel",)
    assert kinds["RollingOnSurfaceConstraint"] == ("roll",)


def test_a_constraint_that_is_not_enforced_is_left_out(write: Write) -> None:
    text = SMALL["PointConstraint"].replace(">true</isEnforced>", ">false</isEnforced>")
    with pytest.warns(ModelWarning, match="it is not enforced"):
        assert not load_osim(write(text)).constraints


def test_couplers_hold_in_an_assembly_and_the_model_can_be_pickled(
    small: Callable[[str], Path],
) -> None:
    model = loaded(small("version 3"))
    state = model.system.new_state()
    model.coordinates["q0"].set(state, 0.7)
    assembler = Assembler(model.system, accuracy=1e-9)
    assembler.lock_q("q0")
    assembler.assemble(state)
    function = model.constraints["coupler"].function
    assert function(np.array([0.7])) == pytest.approx(model.coordinates["q2"](state), abs=1e-9)
    twin = pickle.loads(pickle.dumps(state))
    body = twin.system.matter.body("c")
    assert isinstance(body, MobilizedBody)
    np.testing.assert_array_equal(body.pose(twin).matrix, model.bodies["c"].pose(state).matrix)


# ---------------------------------------------------------------------- refused


def refused(text: str, write: Write) -> str:
    with pytest.raises(FileFormatError) as caught:
        load_osim(write(text))
    assert caught.value.what.startswith("small.osim")
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('Version="40000"', 'Version="10905"', "is of a version that is not known"),
        ('Version="40000"', 'Version="50000"', "is of a version that is not known"),
        ("OpenSimDocument", "Document", "is not a document of OpenSim"),
        ("Model", "Tool", "has no model"),
        ("PinJoint", "EllipsoidJoint", "has no <radii_x_y_z>"),
        ("PinJoint", "ScapulothoracicJoint", "a joint of kind ScapulothoracicJoint is not known"),
        ("PinJoint", "GimbalJoint", "has another number of coordinates"),
        ("-1.5 1.5", "1.5 -1.5", "has a range that is empty"),
        ("0.1 -0.2 0.3", "0.1 -0.2", "not 3 numbers"),
        ("0.1 -0.2 0.3", "0.1 -0.2 north", "not 3 numbers"),
        ("0.1 -0.2 0.3", "0.1 -0.2 1e999", "not 3 numbers"),
        ("/bodyset/b<", "/bodyset/hand<", "names a frame that does not exist"),
        ("<socket_parent>/ground<", "<socket_parent>../f<", "frames are in a circle"),
        ("<socket_parent_frame>f<", "<socket_parent_frame><", "is not connected to a frame"),
        ("<clamped>false<", "<clamped>perhaps<", "not true or false"),
        ('<Body name="b">', '<Body name="">', "has no name of its own"),
        ('<Marker name="b_marker">', '<Marker name="">', "has no name of its own"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(
    old: str, new: str, told: str, write: Write
) -> None:
    text = SMALL["PinJoint"]
    assert old in text
    assert told in refused(text.replace(old, new), write)


def test_a_function_that_is_not_known_is_refused_by_its_name(write: Write) -> None:
    text = made.of_function("<GCVSpline />")
    assert "<GCVSpline> of TransformAxis 'rotation2': a function of kind GCVSpline" in refused(
        text, write
    )


def test_points_that_do_not_ascend_are_refused_with_their_line(write: Write) -> None:
    text = made.of_function("<SimmSpline><x>0 0 1</x><y>1 2 3</y></SimmSpline>")
    assert "do not ascend" in refused(text, write)


def test_a_function_of_several_coordinates_is_refused(write: Write) -> None:
    text = SMALL["axes"].replace(
        "<coordinates>q0</coordinates>", "<coordinates>q0 q1</coordinates>"
    )
    assert "is a function of several coordinates" in refused(text, write)


def test_a_coordinate_that_moves_nothing_is_refused(write: Write) -> None:
    text = SMALL["axes"].replace(
        made.coordinate("q2"), made.coordinate("q2") + made.coordinate("idle")
    )
    assert "coordinate 'idle' moves nothing" in refused(text, write)


def test_a_loop_of_joints_is_refused(write: Write) -> None:
    joints = "".join(
        made.joint("PinJoint", f"j{i}", "/ground", "/bodyset/b", [f"q{i}"]) for i in range(2)
    )
    assert "closes a loop" in refused(made.document(joints, ["b"]), write)


def test_bodies_that_do_not_reach_the_ground_are_refused(write: Write) -> None:
    joint = made.joint("PinJoint", "j", "/bodyset/b", "/bodyset/c", ["q0"])
    assert "is not joined to the ground" in refused(made.document(joint, ["b", "c"]), write)


def test_coordinates_of_one_name_are_refused(write: Write) -> None:
    joints = made.joint("PinJoint", "j", "/ground", "/bodyset/b", ["q0"]) + made.joint(
        "PinJoint", "k", "/bodyset/b", "/bodyset/c", ["q0"]
    )
    assert "which another joint has as well" in refused(made.document(joints, ["b", "c"]), write)


def test_a_coupler_of_an_unknown_coordinate_is_refused(write: Write) -> None:
    text = SMALL["CoordinateCouplerConstraint"].replace(">b0<", ">b9<")
    assert "couples a coordinate that does not exist" in refused(text, write)


def test_something_else_than_a_path_is_refused() -> None:
    with pytest.raises(WrongTypeError):
        load_osim(3)  # type: ignore[arg-type]  # is refused
    with pytest.raises(FileNotFoundError):
        load_osim("no such file.osim")
