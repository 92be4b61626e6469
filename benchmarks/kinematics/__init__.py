"""Trees of bodies in other libraries, which know the poses, velocities and Jacobians of ours."""

from benchmarks.kinematics.registry import TWINS, load_twin, twin_versions
from benchmarks.kinematics.twin import AbstractTwin, Joint, Solid

__all__ = ["TWINS", "AbstractTwin", "Joint", "Solid", "load_twin", "twin_versions"]
