"""Small models with planted faults, and whether the testing kit finds them."""
