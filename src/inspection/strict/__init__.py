"""Strict mode: reads that were not declared, and values that are wrong."""
