"""Values computed from scratch, and comparison with cached ones."""
