"""Conditions: errors and goals of an assembly."""
