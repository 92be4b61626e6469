"""Robots in files of URDF, also against Pinocchio."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, System
from stagecache.decorations import DecorativeCylinder, DecorativeMesh
from stagecache.errors import FileFormatError, MissingExtraError
from stagecache.models import Model, ModelWarning, load_urdf
from stagecache.multibody import Free, Gravity, Pin, Slider, Weld
from tests.models.conftest import Write

if find_spec("yourdfpy") is None:
    pytest.skip("needs yourdfpy (the extra robots)", allow_module_level=True)

from stagecache.examples.urdf_arm import ARM, follow

ROBOT = """<?xml version="1.0"?>
<robot name="odd">
  <link name="base"/>
  <link name="a"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><mass value="2"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.25" ixy="0.01" ixz="0.02" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="c"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="a"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><axis xyz="1 2 3"/>
    <limit lower="-1" upper="2" effort="1" velocity="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="a"/><child link="b"/>
    <origin xyz="0.3 0 0" rpy="0.5 0 -0.7"/><axis xyz="-1 0.5 0"/>
    <limit lower="0.1" upper="0.5" effort="1" velocity="1"/></joint>
  <joint name="wheel" type="continuous"><parent link="a"/><child link="c"/>
    <origin xyz="0 -0.3 0"/><axis xyz="0 -1 0"/>{}</joint>
</robot>
"""
MIMIC = '<mimic joint="turn" multiplier="-2" offset="0.5"/>'


def loaded(text: str, write: Write, **options: Any) -> Model:
    return load_urdf(write(text, "odd.urdf"), **options)


def test_joints_are_coordinates_with_limits(write: Write) -> None:
    model = loaded(ROBOT.format(""), write)
    turn, slide, wheel = (model.coordinates[name] for name in ("turn", "slide", "wheel"))
    assert (turn.range, turn.is_clamped, turn.default) == ((-1.0, 2.0), True, 0.0)
    assert (slide.range, slide.default) == ((0.1, 0.5), 0.1)
    assert not wheel.is_clamped
    assert dict(model.units) == {"turn": "rad", "slide": "m", "wheel": "rad"}
    assert [type(b.mobilizer) for b in model.bodies.values()] == [Weld, Pin, Slider, Pin]
    assert (model.name, model.left_out, str(model.system.up_direction)) == ("odd", (), "+Z")


@pytest.mark.pinocchio
def test_frames_and_masses_are_those_of_pinocchio(write: Write) -> None:
    pinocchio = pytest.importorskip("pinocchio")
    text = ROBOT.format("")
    model = loaded(text, write)
    theirs = pinocchio.buildModelFromXML(text)
    data, rng = theirs.createData(), np.random.default_rng(0)
    state = model.system.new_state()
    for _ in range(5):
        own = {
            "turn": rng.uniform(-1, 2),
            "slide": rng.uniform(0.1, 0.5),
            "wheel": rng.uniform(-3, 3),
        }
        q = np.zeros(theirs.nq)
        for name, value in own.items():
            model.coordinates[name].set(state, value)
            joint = theirs.joints[theirs.getJointId(name)]
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                [np.cos(value), np.sin(value)] if name == "wheel" else value
            )
        pinocchio.framesForwardKinematics(theirs, data, q)
        for name, body in model.bodies.items():
            pose = data.oMf[theirs.getFrameId(name)].homogeneous
            np.testing.assert_allclose(body.pose(state).matrix, pose, atol=1e-14)
        order = [theirs.joints[theirs.getJointId(n)].idx_v for n in model.coordinates]
        mass = pinocchio.crba(theirs, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        model.system.realize(state, Stage.DYNAMICS)
        found = model.matter.m_matrix(state)
        np.testing.assert_allclose(found, mass[np.ix_(order, order)], atol=1e-14)


def test_a_joint_that_mimics_another_is_coupled_to_it(write: Write) -> None:
    model = loaded(ROBOT.format(MIMIC), write)
    state = model.system.new_state()
    model.coordinates["turn"].set(state, 0.75)
    model.coordinates["wheel"].set(state, -1.0)
    model.system.realize(state, Stage.POSITION)
    np.testing.assert_allclose(state.qerr, 0.0, atol=1e-15)
    assert list(model.constraints) == ["wheel"]


def test_the_first_link_may_be_free_and_masses_left_out(write: Write) -> None:
    model = loaded(ROBOT.format(""), write, floating=True, masses=False)
    assert isinstance(model.bodies["base"].mobilizer, Free)
    assert model.bodies["a"].mass_properties.mass == 0.0
    system: System = model.system
    assert not [s for s in system.subsystems if isinstance(s, Gravity)]


def test_looks_are_read_and_what_is_not_there_is_reported(write: Write, tmp_path: Path) -> None:
    def visual(shape: str) -> str:
        return f'<visual><geometry>{shape}</geometry><material name="red"/></visual>'

    mesh = '<mesh filename="package://odd/meshes/tri.obj" scale="2 2 2"/>'
    shapes = [mesh, '<cylinder radius="0.1" length="1"/>', mesh.replace("tri.obj", "no.stl")]
    link = f'<link name="base">{"".join(map(visual, shapes))}<collision><geometry>'
    link += '<box size="1 2 3"/></geometry></collision></link>'
    text = ROBOT.format("").replace('<link name="base"/>', link)
    text = text.replace(
        "<link", '<material name="red"><color rgba="1 0 0 0.5"/></material><link', 1
    )
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "tri.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.warns(ModelWarning) as caught:
        model = loaded(text, write, meshes=True)
    told = str(caught[0].message)
    assert "1 mesh (package://odd/meshes/no.stl): the file is not there" in told
    assert "1 collision (base)" in told
    geometry: list[Any] = []
    state = model.system.new_state()
    model.system.realize(state, Stage.POSITION)
    model.system.calc_decorative_geometry_and_append(state, Stage.POSITION, geometry)
    own = [g for g in geometry if g.color == (1.0, 0.0, 0.0)]
    assert [type(g) for g in own] == [DecorativeMesh, DecorativeCylinder]
    np.testing.assert_array_equal(own[0].vertices[1], [2.0, 0.0, 0.0])
    np.testing.assert_allclose(own[1].rotation[:, 1], [0, 0, 1])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<robot", "<!DOCTYPE a><robot", "has a document type or an entity"),
        ("robot", "machine", "is not a robot"),
        ('type="revolute"', 'type="planar"', "joint 'turn' is of a kind that is not known"),
        ('<child link="c"/>', '<child link="d"/>', "names a link that does not exist"),
        ('<child link="c"/>', '<child link="b"/>', "is not one tree"),
        ('lower="0.1"', 'lower="0.7"', "joint 'slide' has limits that are empty"),
        ('<mass value="1"/>', '<mass value="-1"/>', "cannot be added"),
        ('<mass value="1"/>', '<mass value="one"/>', "is not a robot that yourdfpy reads"),
        ('joint="turn"', 'joint="none"', "mimics a joint that does not move"),
    ],
)
def test_a_file_that_is_wrong_is_refused(old: str, new: str, told: str, write: Write) -> None:
    text = ROBOT.format(MIMIC)
    assert old in text
    with pytest.raises(FileFormatError, match=told) as caught:
        loaded(text.replace(old, new), write)
    assert caught.value.what.startswith("odd.urdf")


def test_the_arm_of_the_example_follows_its_circle(write: Write) -> None:
    model = loaded(ARM, write, meshes=True)
    assert not model.left_out
    trajectory = follow(model)
    assert max(frame.worst_error for frame in trajectory.frames) < 1e-4
    last = trajectory[-1]
    assert model.coordinates["right"](last) == pytest.approx(0.02, abs=1e-6)


def test_without_yourdfpy_the_extra_is_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys  # noqa: PLC0415

    monkeypatch.setitem(sys.modules, "yourdfpy", None)
    with pytest.raises(MissingExtraError, match=r"stagecache\[robots\]"):
        loaded(ROBOT.format(""), write)
