"""Mobilizers: how a body moves in its parent."""
