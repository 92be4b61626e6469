"""Declarations in the body of a Subsystem: variables, entries, families."""
