"""The checks: coherence, pickling, precision, strictness, threads."""
