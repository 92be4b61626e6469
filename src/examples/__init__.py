"""Small complete programs, which the gallery of the documentation shows."""
