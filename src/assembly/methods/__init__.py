"""Solutions of the problem: own and library methods, restarts."""
