"""Small worlds: every graph of a few nodes with every program of a few operations."""
