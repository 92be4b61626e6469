"""Hypothesis strategies for graphs, States and Systems."""
