"""The optimization problem of an assembly, and the check of its conditions."""
