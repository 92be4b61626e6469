"""Constraint errors, their Jacobians, rows and weights."""
