"""Layouts of Subsystems, and their realization as nodes of a graph."""
