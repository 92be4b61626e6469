"""Accelerations and multipliers of constrained dynamics."""
