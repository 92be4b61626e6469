"""Tests of forces on trees of bodies."""
