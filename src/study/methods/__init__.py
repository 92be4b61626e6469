"""Integration methods, one in each file."""
