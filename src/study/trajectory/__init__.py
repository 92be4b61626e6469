"""Trajectories: rows of States, columns, export, plots."""
