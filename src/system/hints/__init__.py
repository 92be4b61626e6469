"""Hints in errors: the declaration that a message proposes."""
