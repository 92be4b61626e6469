"""Free coordinates: locks, bounds, scales."""
