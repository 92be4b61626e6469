"""Continuous states: a vector, its q, u and z, and views of its elements."""
