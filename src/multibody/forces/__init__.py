"""Forces on bodies and joints: gravity, springs, dampers, stops, bushings."""
