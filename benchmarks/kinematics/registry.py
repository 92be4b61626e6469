"""Which libraries have a twin of a tree, and whether they are installed."""

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Final

from benchmarks.errors import NotInstalledError
from benchmarks.kinematics.twin import AbstractTwin

TWINS: Final = {
    "mujoco": ("mujoco_twin", "MujocoTwin", "mujoco", "mujoco"),
    "pinocchio": ("pinocchio_twin", "PinocchioTwin", "pinocchio", "pin"),
}
"""By name: the module here, its class, the package it needs, and what to install for it."""


def load_twin(name: str) -> type[AbstractTwin]:
    """Import the twin of that name.

    Raises
    ------
    NotInstalledError
    """
    module, attribute, package, distribution = TWINS[name]
    if find_spec(package) is None:
        raise NotInstalledError(f"{name} is not installed: pip install {distribution}")
    found: type[AbstractTwin] = getattr(import_module(f".{module}", __package__), attribute)
    return found


def twin_versions() -> dict[str, str]:
    """Return the versions of those that are installed, by name."""
    return {
        name: version(distribution)
        for name, (_, _, package, distribution) in TWINS.items()
        if find_spec(package) is not None
    }
