"""Projection onto constraints, and relaxation of fast variables."""
