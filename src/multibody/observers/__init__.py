"""Observers: markers and orientation sensors as assembly conditions."""
