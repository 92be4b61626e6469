"""A robot arm from URDF: its tool follows a circle, within the limits of its joints.

Run it: python -m stagecache.examples.urdf_arm [OUTPUT FOLDER]

The arm is a file .urdf with four joints that turn, one that slides, and a gripper whose second
finger mimics the first. An Assembler finds the joints for each point of a circle, and keeps them
within their limits; then the motors are off, and the arm falls. It needs yourdfpy: pip install
'stagecache[robots]'. With viser, a page shows the arm, and with matplotlib a GIF.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stagecache import Assembler, Trajectory, animate, simulate
from stagecache.errors import MissingExtraError
from stagecache.models import Model, load_urdf
from stagecache.multibody import Markers

Array = NDArray[np.float64]

FRAMES = 60
CENTER, RADIUS = (0.45, 0.0, 0.45), 0.12  # of the circle, m
TOOL = (0.0, 0.0, 0.08)  # in the frame of the hand, m

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="steel"><color rgba="0.55 0.6 0.65 1"/></material>
  <material name="orange"><color rgba="0.9 0.5 0.1 1"/></material>
  <link name="base">
    <visual><origin xyz="0 0 0.05"/><geometry><cylinder radius="0.09" length="0.1"/></geometry>
      <material name="steel"/></visual>
  </link>
  <link name="shoulder">
    <inertial><origin xyz="0 0 0.1"/><mass value="3"/>
      <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.08"/><geometry><box size="0.1 0.1 0.16"/></geometry>
      <material name="steel"/></visual>
  </link>
  <link name="upper_arm">
    <inertial><origin xyz="0 0 0.17"/><mass value="2"/>
      <inertia ixx="0.02" iyy="0.02" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.17"/><geometry><box size="0.06 0.07 0.34"/></geometry>
      <material name="orange"/></visual>
  </link>
  <link name="forearm">
    <inertial><origin xyz="0 0 0.12"/><mass value="1"/>
      <inertia ixx="0.006" iyy="0.006" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.12"/><geometry><box size="0.05 0.06 0.24"/></geometry>
      <material name="orange"/></visual>
  </link>
  <link name="hand">
    <inertial><origin xyz="0 0 0.03"/><mass value="0.4"/>
      <inertia ixx="0.0004" iyy="0.0004" izz="0.0002" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.02"/><geometry><box size="0.04 0.1 0.04"/></geometry>
      <material name="steel"/></visual>
  </link>
  <link name="left_finger">
    <inertial><origin xyz="0 0 0.03"/><mass value="0.05"/>
      <inertia ixx="0.00002" iyy="0.00002" izz="0.00001" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.03"/><geometry><box size="0.02 0.01 0.06"/></geometry></visual>
  </link>
  <link name="right_finger">
    <inertial><origin xyz="0 0 0.03"/><mass value="0.05"/>
      <inertia ixx="0.00002" iyy="0.00002" izz="0.00001" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.03"/><geometry><box size="0.02 0.01 0.06"/></geometry></visual>
  </link>
  <joint name="turn" type="continuous">
    <parent link="base"/><child link="shoulder"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="lift" type="revolute">
    <parent link="shoulder"/><child link="upper_arm"/><origin xyz="0 0 0.16"/><axis xyz="0 1 0"/>
    <limit lower="-1.6" upper="1.6" effort="100" velocity="2"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper_arm"/><child link="forearm"/><origin xyz="0 0 0.34"/><axis xyz="0 1 0"/>
    <limit lower="0.05" upper="2.6" effort="60" velocity="2"/>
  </joint>
  <joint name="wrist" type="revolute">
    <parent link="forearm"/><child link="hand"/><origin xyz="0 0 0.25"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="20" velocity="3"/>
  </joint>
  <joint name="left" type="prismatic">
    <parent link="hand"/><child link="left_finger"/><origin xyz="0 0.01 0.04"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.035" effort="10" velocity="0.1"/>
  </joint>
  <joint name="right" type="prismatic">
    <parent link="hand"/><child link="right_finger"/><origin xyz="0 -0.01 0.04"/>
    <axis xyz="0 -1 0"/><limit lower="0" upper="0.035" effort="10" velocity="0.1"/>
    <mimic joint="left"/>
  </joint>
</robot>
"""


def circle() -> tuple[Array, Array]:
    """Times, and points of the circle that the tool is to follow (n, 3)."""
    times = np.linspace(0.0, 2.0, FRAMES)
    angle = np.pi * times
    x, y, z = CENTER
    points = np.column_stack(
        [x + 0.0 * times, y + RADIUS * np.cos(angle), z + RADIUS * np.sin(angle)]
    )
    return times, points


def follow(model: Model) -> Trajectory:
    """The joints for each point of the circle."""
    assembler = Assembler(model.system, accuracy=1e-6)
    tool = assembler.add_goal(Markers())
    tool.add_marker(model.bodies["hand"], TOOL, name="tool")
    assembler.lock_q("left")  # and the other finger mimics it
    state = model.system.new_state()
    model.coordinates["left"].set(state, 0.02)
    model.coordinates["elbow"].set(state, 1.2)
    times, points = circle()
    return assembler.track_all(times, points[:, None], state=state)


def main(folder: Path) -> None:
    """Read the arm, let it follow the circle, and let it fall."""
    path = folder / "arm.urdf"
    path.write_text(ARM, encoding="utf-8")
    try:
        model = load_urdf(path, meshes=True)
    except MissingExtraError as missing:
        print(missing)
        return
    print(model)
    for name, coordinate in model.coordinates.items():
        low, high = coordinate.range
        print(f"{name:>6}: {low:g} to {high:g} {model.units[name]}")

    print("\n-- Its tool follows a circle")
    trajectory = follow(model)
    worst = max(frame.worst_error for frame in trajectory.frames)
    print(f"{len(trajectory)} frames, largest distance {1e3 * worst:.3f} mm")
    for name in ("turn", "lift", "elbow", "wrist"):
        angles = np.degrees([model.coordinates[name](state) for state in trajectory])
        print(f"{name:>6}: {angles.min():.1f} to {angles.max():.1f} degrees")
    last = trajectory[-1]
    fingers = [model.coordinates[name](last) for name in ("left", "right")]
    print(f"fingers: {fingers[0]:.3f} and {fingers[1]:.3f} m")

    print("\n-- The motors are off")
    fall = simulate(model.system, last, last.time + 0.3, every=0.02)
    hand = [model.bodies["hand"].pose(state).translation[2] for state in fall]
    print(f"the hand falls from {hand[0]:.3f} m to {hand[-1]:.3f} m in 0.3 s")

    print("\n-- What does it look like?")
    for name, states in (
        ("urdf_arm.html", [*trajectory, *fall]),
        ("urdf_arm.gif", trajectory[::4]),
    ):
        try:
            animate(model.system, states, folder / name)
            print("wrote", name)
        except MissingExtraError as missing:
            print(missing)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
