"""Motions: prescribed coordinates as functions of time."""
