"""Motions: prescribed coordinates as functions of time."""

from stagecache.multibody.motions.sinusoid import Sinusoid
from stagecache.multibody.motions.steady import Steady

__all__ = ["Sinusoid", "Steady"]
