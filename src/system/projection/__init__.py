"""Projection onto constraints."""
