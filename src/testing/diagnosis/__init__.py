"""Shortened failures, their suspects, and the report."""
