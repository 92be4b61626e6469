"""Meshes of files, and looks of bodies of OpenSim."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stagecache import Stage
from stagecache.decorations import DecorativeBrick, DecorativeMesh, DecorativeSphere
from stagecache.errors import FileFormatError
from stagecache.models import ModelWarning, load_osim, meshes
from tests.models.conftest import Write
from tests.models.small_models import SMALL

OBJ = (
    "# a square\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\nf -4 -2 -1\n"
)
STL = """solid a
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid a
"""
VTP = """<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="4">
<Points><DataArray NumberOfComponents="3" format="ascii">0 0 0 1 0 0 1 1 0 0 1 0
</DataArray></Points>
<Polys><DataArray Name="connectivity">0 1 2 3</DataArray>
<DataArray Name="offsets">4</DataArray></Polys>
<Strips><DataArray Name="connectivity">0 1 2 3</DataArray>
<DataArray Name="offsets">4</DataArray></Strips>
</Piece></PolyData></VTKFile>"""


def binary_stl(*triangles: list[list[float]]) -> bytes:
    data = b"solid of zeros".ljust(80, b"\0") + struct.pack("<I", len(triangles))
    for corners in triangles:
        data += struct.pack("<12fH", 0, 0, 1, *np.ravel(corners).tolist(), 0)
    return data


def test_polygons_become_triangles(write: Write) -> None:
    vertices, faces = meshes.read_mesh(write(OBJ, "a.obj"))
    assert vertices.shape == (4, 3)
    assert faces.tolist() == [[0, 1, 2], [0, 2, 3], [0, 2, 3]]


def test_triangles_of_text_and_binary_files_are_the_same(write: Write, tmp_path: Path) -> None:
    vertices, faces = meshes.read_mesh(write(STL, "a.stl"))
    path = tmp_path / "b.STL"
    path.write_bytes(binary_stl([[0, 0, 0], [1, 0, 0], [0, 1, 0]]))
    others, same = meshes.read_mesh(path)
    np.testing.assert_array_equal(vertices[faces], others[same])
    np.testing.assert_array_equal(vertices[faces[0]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]])


def test_polygons_and_strips_of_vtk_are_read(write: Write) -> None:
    vertices, faces = meshes.read_mesh(write(VTP, "a.vtp"))
    assert len(vertices) == 4
    assert faces.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 2], [2, 1, 3]]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.obj", OBJ.replace("v 1 0 0", "v 1 0"), "line 3: is not a vertex"),
        ("a.obj", OBJ.replace("2//1", "x"), "has a corner that is not a number"),
        ("a.obj", OBJ.replace("2//1", "9"), "has a corner that does not exist"),
        ("a.obj", OBJ.replace("f -4 -2 -1", "f 1 2"), "line 8: is not a face"),
        ("a.obj", OBJ.replace("v 1 0 0", "v 1 0 nan"), "has a point that is not finite"),
        ("a.stl", "nothing", "is not a mesh .stl"),
        ("a.stl", STL.replace("vertex 1 0 0", "vertex 1 0"), "line 5: is not a vertex"),
        ("a.stl", STL.replace("vertex 1 0 0\n", ""), "is cut short"),
        ("a.vtp", "<VTKFile/>", "is not a mesh of VTK"),
        ("a.vtp", VTP.replace("ascii", "binary"), "has a form that is not read"),
        ("a.vtp", VTP.replace("1 1 0", "1 x 0"), "has words that are not numbers"),
        ("a.ply", "", "is not a mesh"),
    ],
)
def test_a_file_that_is_wrong_is_refused(name: str, text: str, told: str, write: Write) -> None:
    with pytest.raises(FileFormatError, match=told):
        meshes.read_mesh(write(text, name))


def test_a_mesh_is_found_by_its_name_alone(write: Write, tmp_path: Path) -> None:
    path = write(OBJ, "a.obj")
    for name in ("a.obj", "../../a.obj", "/etc/a.obj", "C:\\meshes\\a.obj", "a.vtp"):
        assert meshes.find_mesh(name, [tmp_path / "none", tmp_path]) == path
    for name in ("b.obj", "", "..", "a.txt/"):
        assert meshes.find_mesh(name, [tmp_path]) is None


def test_bodies_of_opensim_have_the_looks_that_are_there(write: Write, tmp_path: Path) -> None:
    looks = """<attached_geometry>
      <Mesh name="one"><mesh_file>a.obj</mesh_file><scale_factors>2 1 1</scale_factors>
        <Appearance><opacity>0.5</opacity><color>1 0 0</color></Appearance></Mesh>
      <Mesh name="two"><mesh_file>none.vtp</mesh_file></Mesh>
      <Sphere name="ball"><radius>0.1</radius></Sphere>
      <Brick name="box"><half_lengths>0.1 0.2 0.3</half_lengths></Brick>
      <Cone name="cone"/>
    </attached_geometry>"""
    text = SMALL["PinJoint"].replace("<mass>", f"{looks}<mass>")
    (tmp_path / "Geometry").mkdir()
    write(OBJ, "Geometry/a.obj")
    path = write(text)
    assert not load_osim(path).left_out
    with pytest.warns(ModelWarning, match=r"1 Mesh \(none.vtp\): the file is not there; 1 Cone"):
        model = load_osim(path, meshes=True)
    assert drawn(model.system) == [DecorativeMesh, DecorativeSphere, DecorativeBrick]


def test_bodies_of_old_versions_have_their_meshes(
    small: Callable[[str], Path], write: Write
) -> None:
    visible = """<VisibleObject><GeometrySet><objects><DisplayGeometry>
      <geometry_file>a.obj</geometry_file></DisplayGeometry></objects></GeometrySet>
      <scale_factors>1 2 3</scale_factors></VisibleObject>"""
    text = small("version 3").read_text(encoding="utf-8")
    write(OBJ, "a.obj")
    path = write(text.replace("<mass>2</mass>", f"<mass>2</mass>{visible}"))
    assert drawn(load_osim(path, meshes=True).system) == [DecorativeMesh, DecorativeMesh]


def drawn(system: Any) -> list[type]:
    state = system.new_state()
    geometry: list[Any] = []
    system.realize(state, Stage.POSITION)
    system.calc_decorative_geometry_and_append(state, Stage.POSITION, geometry)
    order = [DecorativeMesh, DecorativeSphere, DecorativeBrick]
    return [kind for kind in order for shape in geometry if type(shape) is kind]
