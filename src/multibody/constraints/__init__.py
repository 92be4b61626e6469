"""Constraints between bodies and coordinates."""
