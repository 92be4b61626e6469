"""Transforms, rotations and spatial vectors."""
