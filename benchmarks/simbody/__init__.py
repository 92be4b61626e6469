"""Simbody in C++, beside which ours is measured: programs, and probes that run them."""

from benchmarks.simbody.probe import SIMBODY, Simbody, simbody
from benchmarks.simbody.program import version

__all__ = ["SIMBODY", "Simbody", "simbody", "version"]
