"""Forces that are ready: gravity, springs, dampers, stops, bushings, and forces from outside."""
