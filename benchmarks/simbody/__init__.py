"""Simbody's State in C++, beside which ours is measured: a program, and a probe that runs it."""

from benchmarks.simbody.probe import SIMBODY, Simbody, simbody
from benchmarks.simbody.program import version

__all__ = ["SIMBODY", "Simbody", "simbody", "version"]
