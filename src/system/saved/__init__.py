"""Saved States: snapshots by name, matched with a model that has changed."""
