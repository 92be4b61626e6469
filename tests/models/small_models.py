"""Small models of OpenSim as texts: one for each joint, function and constraint, and old versions.

The numbers that OpenSim finds for them are in `opensim_results.json`, which
``python -m tests.models.opensim_results`` writes.
"""

from typing import Final

FRAMES: Final = """
      <frames>
        <PhysicalOffsetFrame name="f">
          <socket_parent>{parent}</socket_parent>
          <translation>0.1 -0.2 0.3</translation>
          <orientation>0.3 -0.4 0.5</orientation>
        </PhysicalOffsetFrame>
        <PhysicalOffsetFrame name="m">
          <socket_parent>{child}</socket_parent>
          <translation>0.02 0.03 -0.04</translation>
          <orientation>-0.1 0.2 0.6</orientation>
        </PhysicalOffsetFrame>
      </frames>"""

LINEAR: Final = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
CONSTANT: Final = "<Constant><value>0</value></Constant>"
POINTS: Final = "<x>-1.5 -0.6 0.1 0.9 1.6</x><y>0.3 -0.1 0.2 0.4 -0.2</y>"

FUNCTIONS: Final = {
    "Constant": "<Constant><value>0.25</value></Constant>",
    "LinearFunction": "<LinearFunction><coefficients>0.7 -0.2</coefficients></LinearFunction>",
    "PolynomialFunction": (
        "<PolynomialFunction><coefficients>0.5 -0.3 0.2 0.1</coefficients></PolynomialFunction>"
    ),
    "SimmSpline": f"<SimmSpline>{POINTS}</SimmSpline>",
    "SimmSpline of three points": "<SimmSpline><x>-1 0 1.2</x><y>0.2 -0.3 0.4</y></SimmSpline>",
    "SimmSpline of two points": "<SimmSpline><x>-1 1</x><y>0.2 -0.3</y></SimmSpline>",
    "NaturalCubicSpline": f"<NaturalCubicSpline>{POINTS}</NaturalCubicSpline>",
    "PiecewiseLinearFunction": f"<PiecewiseLinearFunction>{POINTS}</PiecewiseLinearFunction>",
    "MultiplierFunction": (
        f"<MultiplierFunction><function><SimmSpline>{POINTS}</SimmSpline></function>"
        "<scale>1.3</scale></MultiplierFunction>"
    ),
}

JOINTS: Final = {
    "PinJoint": 1,
    "SliderJoint": 1,
    "UniversalJoint": 2,
    "GimbalJoint": 3,
    "BallJoint": 3,
    "FreeJoint": 6,
    "PlanarJoint": 3,
    "WeldJoint": 0,
    "EllipsoidJoint": 3,
}


def coordinate(name: str, **values: object) -> str:
    """Return a coordinate."""
    told = {"default_value": 0, "range": "-1.5 1.5", "clamped": "false", "locked": "false"}
    inside = "".join(f"<{tag}>{value}</{tag}>" for tag, value in (told | values).items())
    return f'<Coordinate name="{name}">{inside}</Coordinate>'


def joint(
    kind: str,
    name: str,
    parent: str,
    child: str,
    coordinates: list[str],
    inside: str = "",
    *,
    is_reversed: bool = False,
) -> str:
    """Return a joint of version 4."""
    ends = ("m", "f") if is_reversed else ("f", "m")
    return f"""
    <{kind} name="{name}">
      <socket_parent_frame>{ends[0]}</socket_parent_frame>
      <socket_child_frame>{ends[1]}</socket_child_frame>
      <coordinates>{"".join(map(coordinate, coordinates))}</coordinates>
      {FRAMES.format(parent=parent, child=child)}{inside}
    </{kind}>"""


def transform(*parts: tuple[str, str, str]) -> str:
    """Return the spatial transform of a CustomJoint: coordinate, axis and function of each part."""
    names = [f"{kind}{i}" for kind in ("rotation", "translation") for i in (1, 2, 3)]
    axes = [
        f'<TransformAxis name="{name}"><coordinates>{coordinate}</coordinates>'
        f"<axis>{axis}</axis><function>{function}</function></TransformAxis>"
        for name, (coordinate, axis, function) in zip(names, parts, strict=True)
    ]
    return f"<SpatialTransform>{''.join(axes)}</SpatialTransform>"


def body(name: str, inside: str = "") -> str:
    """Return a body of version 4."""
    return (
        f'<Body name="{name}"><mass>2</mass><mass_center>0.1 0 0.2</mass_center>'
        f"<inertia>0.1 0.2 0.15 0.01 0 0</inertia>{inside}</Body>"
    )


def document(
    joints: str, bodies: list[str], more: str = "", *, version: int = 40000, name: str = "small"
) -> str:
    """Return a file with a marker on each body."""
    markers = "".join(
        f'<Marker name="{b}_marker"><socket_parent_frame>/bodyset/{b}</socket_parent_frame>'
        "<location>0.1 0.2 0.3</location></Marker>"
        for b in bodies
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="{version}">
  <Model name="{name}">
    <gravity>0 -9.80665 0</gravity>
    <BodySet><objects>{"".join(map(body, bodies))}</objects></BodySet>
    <JointSet><objects>{joints}</objects></JointSet>
    <MarkerSet><objects>{markers}</objects></MarkerSet>
    {more}
  </Model>
</OpenSimDocument>"""


def of_joint(kind: str, *, is_reversed: bool = False) -> str:
    """Return a model of one joint."""
    names = [f"q{i}" for i in range(JOINTS[kind])]
    inside = "<radii_x_y_z>0.2 0.15 0.3</radii_x_y_z>" if kind == "EllipsoidJoint" else ""
    made = joint(kind, "j", "/ground", "/bodyset/b", names, inside, is_reversed=is_reversed)
    return document(made, ["b"])


def custom(*parts: tuple[str, str, str], coordinates: list[str], is_reversed: bool = False) -> str:
    """Return a CustomJoint between the ground and a body."""
    inside = transform(*parts)
    return joint(
        "CustomJoint", "j", "/ground", "/bodyset/b", coordinates, inside, is_reversed=is_reversed
    )


def of_function(function: str) -> str:
    """Return a model of a CustomJoint, one of whose rotations and translations are a function."""
    parts = (
        ("q0", "0 0 1", LINEAR),
        ("q1", "0.6 0.8 0", function),
        ("", "0 1 0", CONSTANT),
        ("q0", "1 0 0", function),
        ("", "0 1 0", "<Constant><value>0.3</value></Constant>"),
        ("q1", "0 0 1", LINEAR),
    )
    return document(custom(*parts, coordinates=["q0", "q1"]), ["b"])


def of_axes() -> str:
    """Return a model of a CustomJoint with axes of other lengths, and at odd angles."""
    parts = (
        ("q1", "0 0 3", LINEAR),
        ("q0", "1 1 0", LINEAR),
        ("q2", "0 1 0.5", LINEAR),
        ("q0", "2 0 0", LINEAR),
        ("q1", "1 1 0", LINEAR),
        ("q2", "0 0 -1", LINEAR),
    )
    return document(custom(*parts, coordinates=["q0", "q1", "q2"]), ["b"])


def of_pelvis() -> str:
    """Return a model of a CustomJoint as of a pelvis: turns about z, x, y, then along x, y, z."""
    axes = ("0 0 1", "1 0 0", "0 1 0", "1 0 0", "0 1 0", "0 0 1")
    parts = [(f"q{i}", axis, LINEAR) for i, axis in enumerate(axes)]
    return document(custom(*parts, coordinates=[f"q{i}" for i in range(6)]), ["b"])


def of_no_coordinate() -> str:
    """Return a model of a CustomJoint that does not move, and of a joint on it."""
    parts = [
        ("", axis, "<Constant><value>0.3</value></Constant>")
        for axis in ("1 0 0", "0 1 0", "0 0 1") * 2
    ]
    still = custom(*parts, coordinates=[])
    pin = joint("PinJoint", "pin", "/bodyset/b", "/bodyset/c", ["q0"])
    return document(still + pin, ["b", "c"])


def of_offsets() -> str:
    """Return a model with offset frames on offset frames, in bodies and joints, by all paths."""

    def frame(name: str, parent: str, inside: str = "") -> str:
        return (
            f'<PhysicalOffsetFrame name="{name}"><socket_parent>{parent}</socket_parent>'
            f"<translation>0.1 0.2 0.3</translation><orientation>0.2 0.1 -0.3</orientation>{inside}"
            "</PhysicalOffsetFrame>"
        )

    deep = frame("deep", "..", f"<components>{frame('deeper', '..')}</components>")
    bodies = body("b", f"<components>{deep}</components>") + body("c")
    frames = frame("here", "/bodyset/b/deep/deeper") + frame("there", "../../../bodyset/c")
    frames += frame("over", "../here")
    joints = (
        joint("PinJoint", "first", "/ground", "/bodyset/b", ["q0"])
        + f"""
    <PinJoint name="second">
      <socket_parent_frame>over</socket_parent_frame>
      <socket_child_frame>/jointset/second/there</socket_child_frame>
      <coordinates>{coordinate("q1")}</coordinates>
      <frames>{frames}</frames>
    </PinJoint>"""
    )
    markers = "".join(
        f'<Marker name="m{i}"><socket_parent_frame>{path}</socket_parent_frame>'
        "<location>0.1 0.2 0.3</location></Marker>"
        for i, path in enumerate(("/bodyset/b/deep", "/jointset/second/over", "/bodyset/c"))
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="40000">
  <Model name="offsets">
    <BodySet><objects>{bodies}</objects></BodySet>
    <JointSet><objects>{joints}</objects></JointSet>
    <MarkerSet><objects>{markers}</objects></MarkerSet>
  </Model>
</OpenSimDocument>"""


def of_old_version(version: int) -> str:
    """Return a model of version 2 or 3, whose joints are in the bodies."""

    def old_body(name: str, joint: str) -> str:
        return (
            f'<Body name="{name}"><mass>2</mass><mass_center>0.1 0 0.2</mass_center>'
            "<inertia_xx>0.1</inertia_xx><inertia_yy>0.2</inertia_yy><inertia_zz>0.15</inertia_zz>"
            "<inertia_xy>0.01</inertia_xy><inertia_xz>0</inertia_xz><inertia_yz>0</inertia_yz>"
            f"<Joint>{joint}</Joint></Body>"
        )

    def old_joint(kind: str, parent: str, coordinates: list[str], inside: str = "") -> str:
        return (
            f'<{kind} name="j_{parent}"><parent_body>{parent}</parent_body>'
            "<location_in_parent>0.1 -0.2 0.3</location_in_parent>"
            "<orientation_in_parent>0.3 -0.4 0.5</orientation_in_parent>"
            "<location>0.02 0.03 -0.04</location><orientation>-0.1 0.2 0.6</orientation>"
            f"<CoordinateSet><objects>{''.join(map(coordinate, coordinates))}</objects>"
            f"</CoordinateSet><reverse>false</reverse>{inside}</{kind}>"
        )

    spline = "NaturalCubicSpline" if version < 20300 else "SimmSpline"
    parts = (
        ("q0", "0 0 1", LINEAR),
        ("", "1 0 0", CONSTANT),
        ("", "0 1 0", CONSTANT),
        ("q0", "1 0 0", f"<{spline}>{POINTS}</{spline}>"),
        ("q1", "0 1 0", LINEAR),
        ("", "0 0 1", CONSTANT),
    )
    bodies = (
        '<Body name="ground"><mass>0</mass><Joint /></Body>'
        + old_body("b", old_joint("CustomJoint", "ground", ["q0", "q1"], transform(*parts)))
        + old_body("c", old_joint("PinJoint", "b", ["q2"]))
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="{version}">
  <Model name="old">
    <gravity>0 -9.80665 0</gravity>
    <BodySet><objects>{bodies}</objects></BodySet>
    <ConstraintSet><objects>
      <CoordinateCouplerConstraint name="coupler">
        <isDisabled>false</isDisabled>
        <coupled_coordinates_function><{spline}>{POINTS}</{spline}></coupled_coordinates_function>
        <independent_coordinate_names>q0</independent_coordinate_names>
        <dependent_coordinate_name>q2</dependent_coordinate_name>
      </CoordinateCouplerConstraint>
    </objects></ConstraintSet>
    <MarkerSet><objects>
      <Marker name="m"><body>c</body><location>0.1 0.2 0.3</location></Marker>
    </objects></MarkerSet>
  </Model>
</OpenSimDocument>"""


def constrained(constraint: str) -> str:
    """Return a model of two free bodies and a constraint between them."""
    joints = "".join(
        joint("FreeJoint", f"j{b}", "/ground", f"/bodyset/{b}", [f"{b}{i}" for i in range(6)])
        for b in "bc"
    )
    return document(
        joints,
        ["b", "c"],
        f"<ConstraintSet><objects>{constraint}</objects></ConstraintSet>",
    )


ENDS: Final = """
  <socket_body_1>/bodyset/b</socket_body_1><socket_body_2>/bodyset/c</socket_body_2>
  <location_body_1>0.1 0.2 0.3</location_body_1><location_body_2>-0.1 0.3 0.2</location_body_2>"""

CONSTRAINTS: Final = {
    "CoordinateCouplerConstraint": f"""
  <CoordinateCouplerConstraint name="x"><isEnforced>true</isEnforced>
    <coupled_coordinates_function><SimmSpline>{POINTS}</SimmSpline></coupled_coordinates_function>
    <independent_coordinate_names>b0</independent_coordinate_names>
    <dependent_coordinate_name>c1</dependent_coordinate_name>
    <scale_factor>1.5</scale_factor>
  </CoordinateCouplerConstraint>""",
    "CoordinateCouplerConstraint of two": """
  <CoordinateCouplerConstraint name="x"><isEnforced>true</isEnforced>
    <coupled_coordinates_function>
      <LinearFunction><coefficients>0.5 -0.25 0.1</coefficients></LinearFunction>
    </coupled_coordinates_function>
    <independent_coordinate_names>b0 b1</independent_coordinate_names>
    <dependent_coordinate_name>c1</dependent_coordinate_name>
  </CoordinateCouplerConstraint>""",
    "PointConstraint": f"""
  <PointConstraint name="x"><isEnforced>true</isEnforced>{ENDS}</PointConstraint>""",
    "ConstantDistanceConstraint": f"""
  <ConstantDistanceConstraint name="x"><isEnforced>true</isEnforced>{ENDS}
    <constant_distance>0.7</constant_distance></ConstantDistanceConstraint>""",
    "WeldConstraint": f"""
  <WeldConstraint name="x"><isEnforced>true</isEnforced>
    <socket_frame1>f</socket_frame1><socket_frame2>m</socket_frame2>
    {FRAMES.format(parent="/bodyset/b", child="/bodyset/c")}</WeldConstraint>""",
}

SMALL: Final = {
    **{kind: of_joint(kind) for kind in JOINTS},
    **{
        f"{kind}, reversed": of_joint(kind, is_reversed=True)
        for kind in ("PinJoint", "UniversalJoint", "WeldJoint")
    },
    **{name: of_function(function) for name, function in FUNCTIONS.items()},
    "axes": of_axes(),
    "offsets": of_offsets(),
    "version 2": of_old_version(20201),
    "version 3": of_old_version(30000),
    **{name: constrained(constraint) for name, constraint in CONSTRAINTS.items()},
    "pelvis": of_pelvis(),
}
"""The models by name."""
